r"""How oxigraph spells terms, and how they were spelled before.

Oxigraph keeps numbers, truth values, dates and times by value: it takes `"01"^^xsd:integer` and
`"1"^^xsd:long` in, and both come out as `"1"^^xsd:integer`. So a term is stored by the integer of
oxigraph's spelling, and on its way out gets the spelling that the data has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np
from pyoxigraph import NamedNode, RdfFormat, Store, parse

from ensue.dictionary import Dictionary
from ensue.query.dataset import Integers
from ensue.rules.expressions import write_term
from ensue.terms import XSD, Kind

_UNKNOWN = 0  # the one integer that is no term
# The commonest spellings that oxigraph leaves as they are; the others are found by trying.
_KEPT = re.compile(
    rf'"(?:(?:0|-?[1-9]\d{{0,17}})"\^\^<{XSD}integer>'
    rf'|-?(?:0|[1-9]\d{{0,8}})\.\d{{0,8}}[1-9]"\^\^<{XSD}decimal>'
    rf'|[12]\d{{3}}-(?:0[1-9]|1[0-2])-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ?"\^\^<{XSD}dateTime>)'
)


def spelled(texts: Iterable[str]) -> list[str]:
    """Terms as oxigraph spells them.

    >>> spelled([f'"01"^^<{XSD}integer>', '"01"', f'"x"^^<{XSD}integer>']) == [
    ...     f'"1"^^<{XSD}integer>', '"01"', f'"x"^^<{XSD}integer>']
    True
    """
    lines = [f"<urn:{number}> <urn:is> {text} .\n" for number, text in enumerate(texts)]
    scratch = Store()
    scratch.extend(parse("".join(lines).encode(), format=RdfFormat.N_TRIPLES, lenient=True))
    found = [""] * len(lines)
    for quad in scratch:
        assert isinstance(quad.subject, NamedNode)
        found[int(quad.subject.value[4:])] = write_term(quad.object)
    return found


class Spellings:
    """The two spellings of the terms of one generation of a dictionary.

    `constants` are terms of the query that may come out without being in the data.

    >>> d = Dictionary()
    >>> spellings, odd = Spellings(d), d.encode(f'"01"^^<{XSD}integer>')
    >>> one, = spellings.by_value(np.array([odd]))
    >>> d.decode(one) == f'"1"^^<{XSD}integer>'
    True
    >>> spellings.writer([np.array([odd])])(d.decode(one)) == d.decode(odd)
    True
    """

    def __init__(self, dictionary: Dictionary, constants: Iterable[str] = ()) -> None:
        self._dictionary = dictionary
        self._values = np.zeros(0, np.int32)
        self._respelled: dict[str, list[int]] = {}
        self._constants = np.array([dictionary.encode(text) for text in constants], np.int32)
        self.by_value(self._constants)

    @property
    def respells(self) -> bool:
        """Whether there is a term that oxigraph spells in another way."""
        return bool(self._respelled)

    def by_value(self, numbers: Integers) -> Integers:
        """For each term the integer of oxigraph's spelling of it."""
        self._grow()
        found = self._values[numbers]
        new = numbers[found == _UNKNOWN]
        if len(new) == 0:
            return found
        self._learn(np.unique(new))
        return self._values[numbers]

    def _grow(self) -> None:
        more = len(self._dictionary.kinds) - len(self._values)
        if more > 0:
            self._values = np.concatenate([self._values, np.full(more, _UNKNOWN, np.int32)])

    def _learn(self, numbers: Integers) -> None:
        self._values[numbers] = numbers
        kinds = np.frombuffer(self._dictionary.kinds, np.uint8)[numbers]
        doubtful = numbers[(kinds == Kind.TYPED) | (kinds == Kind.TRIPLE)].tolist()
        tried = [
            (number, text)
            for number, text in zip(doubtful, map(self._dictionary.decode, doubtful), strict=True)
            if not _KEPT.fullmatch(text)
        ]
        for (number, text), now in zip(tried, spelled(text for _, text in tried), strict=True):
            if now != text:
                value = self._dictionary.encode(now)
                self._grow()
                self._values[number] = self._values[value] = value
                self._respelled.setdefault(now, []).append(number)

    def writer(self, objects: Iterable[Integers]) -> Callable[[str], str]:
        """From oxigraph's spelling to that of these objects; to oxigraph's own if they have that, too."""
        if not self._respelled:
            return str
        present = np.zeros(len(self._dictionary.kinds), bool)
        for column in (*objects, self._constants):
            present[column] = True
        written: dict[str, str] = {}

        def write(text: str) -> str:
            if text not in self._respelled:
                return text
            if text not in written:
                written[text] = self._written(text, present)
            return written[text]

        return write

    def _written(self, text: str, present: Integers) -> str:
        if present[self._dictionary.encode(text)]:
            return text
        candidates = [number for number in self._respelled[text] if present[number]]
        return min(map(self._dictionary.decode, candidates), default=text)
