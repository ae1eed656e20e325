"""Facts as N-Triples, by the column: each term becomes text once, however many facts have it.

Lines are in the order of their text. No term but the last of a line can begin like another one and go on with
something less than a space, so to compare lines is to compare their terms, one after the other.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensue.dictionary import Dictionary
from ensue.model import Facts, Triple
from ensue.terms import Kind

_LINES_AT_ONCE = 1 << 16

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Statements that are to be written: the places of their terms in a list of texts."""

    terms: list[str]
    """In order."""
    s: Numbers
    p: Numbers
    o: Numbers

    def __len__(self) -> int:
        return len(self.s)

    def texts(self) -> Iterator[str]:
        """Many lines at a time."""
        begun, ended = [f"{term} " for term in self.terms], [f"{term} .\n" for term in self.terms]
        for at in range(0, len(self), _LINES_AT_ONCE):
            s, p, o = (column[at : at + _LINES_AT_ONCE].tolist() for column in (self.s, self.p, self.o))
            parts = [""] * (3 * len(s))
            parts[::3] = map(begun.__getitem__, s)
            parts[1::3] = map(begun.__getitem__, p)
            parts[2::3] = map(ended.__getitem__, o)
            yield "".join(parts)


def lines_of(facts: Facts, dictionary: Dictionary, hidden: Container[Triple] = ()) -> Lines:
    r"""What of the facts is RDF, but for what is hidden.

    >>> d = Dictionary()
    >>> b, p, a, x = map(d.encode, ("<urn:b>", "<urn:p>", "<urn:a>", '"x"'))
    >>> facts = Facts.of([(0, b, p, a, 1), (0, x, p, a, 1), (0, a, p, x, 1), (0, a, p, b, 1)])
    >>> lines = lines_of(facts, d, {(a, p, b)})
    >>> print(len(lines), *lines.texts(), end="", sep="\n")
    2
    <urn:a> <urn:p> "x" .
    <urn:b> <urn:p> <urn:a> .
    """
    kinds = np.frombuffer(bytes(dictionary.kinds), np.uint8)
    columns = np.stack([np.asarray(column, np.int64) for column in (facts.s, facts.p, facts.o)])
    wanted = (kinds[columns[0]] <= Kind.BLANK) & (kinds[columns[1]] == Kind.IRI)
    if hidden:
        triples = zip(*columns.tolist(), strict=True)
        wanted &= np.fromiter((triple not in hidden for triple in triples), np.bool_, columns.shape[1])
    return _in_order(columns[:, wanted], dictionary)


def _in_order(columns: Numbers, dictionary: Dictionary) -> Lines:
    used = np.unique(columns)
    texts = [text or "" for text in dictionary.decode_all(used.tolist())]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    places = np.zeros(int(used.max(initial=0)) + 1, np.int64)
    places[used[order]] = np.arange(len(used))
    s, p, o = places[columns]
    rows = np.lexsort((o, p, s))
    return Lines([texts[at] for at in order], s[rows], p[rows], o[rows])
