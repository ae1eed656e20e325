"""What a query is evaluated over: graphs at one moment, in columns of integers.

A graph is the closure of a window over the background, or a graph that does not change. A query sees no
fact about a node that a rule minted, and none with a literal for a subject: those are not in a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ensue.dictionary import Dictionary
from ensue.model import Facts
from ensue.terms import Kind

Integers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Columns:
    """Timed facts in numpy columns: integers of the dictionary, and stamps."""

    s: Integers
    p: Integers
    o: Integers
    stamp: Integers

    @classmethod
    def of(cls, facts: Facts) -> Columns:
        """The facts of a maintainer's closure."""
        s, p, o = (np.asarray(column, np.int32) for column in (facts.s, facts.p, facts.o))
        return cls(s, p, o, np.asarray(facts.stamp, np.int64))

    @classmethod
    def none(cls) -> Columns:
        """No facts."""
        return cls.of(Facts.of([]))

    def __len__(self) -> int:
        return len(self.stamp)

    def take(self, which: Integers | slice) -> Columns:
        """The facts that a mask, row numbers or a slice choose."""
        return Columns(self.s[which], self.p[which], self.o[which], self.stamp[which])

    @classmethod
    def joined(cls, parts: Iterable[Columns]) -> Columns:
        """All the facts of several columns."""
        every = [*parts, cls.none()]
        return cls(
            *(np.concatenate([getattr(part, name) for part in every]) for name in ("s", "p", "o", "stamp"))
        )


def visible(facts: Columns, dictionary: Dictionary) -> Columns:
    """The facts that a query sees: not about minted nodes, and with no literal for a subject.

    >>> d = Dictionary()
    >>> a, p, x = d.encode("<urn:a>"), d.encode("<urn:p>"), d.encode('"x"')
    >>> facts = Columns.of(Facts.of([(1, a, p, x, 5), (1, x, p, a, 5), (1, a, p, d.mint("r", (a,)), 5)]))
    >>> len(visible(facts, d))
    1
    """
    seen = are_visible(facts.s, facts.p, facts.o, dictionary)
    return facts if seen.all() else facts.take(seen)


def are_visible(s: Integers, p: Integers, o: Integers, dictionary: Dictionary) -> NDArray[np.bool_]:
    """A mask: which facts a query sees (`visible`)."""
    kinds = np.frombuffer(dictionary.kinds, np.uint8)
    minted = np.frombuffer(dictionary.depths, np.uint8) > 0
    seen: NDArray[np.bool_] = (kinds[s] < Kind.TRIPLE) & (kinds[p] == Kind.IRI)
    return seen & ~(minted[s] | minted[o])


Slot = int | str
"""A position of a triple pattern: the integer of a term, or the name of a variable (a blank node of the
query is a variable whose name begins with `_:`)."""
Pattern = tuple[Slot, Slot, Slot]


@dataclass(frozen=True, slots=True)
class Solutions:
    """The solutions of a basic graph pattern: one column a variable, no two rows the same.

    Each row has the stamp of the oldest fact that it rests on.
    """

    columns: Mapping[str, Integers]
    stamps: Integers


class Graph(Protocol):
    """One graph at one moment."""

    @property
    def still(self) -> Columns:
        """Facts that never change: the same object at every evaluation."""

    @property
    def live(self) -> Columns:
        """The other facts; none of them is among those that never change."""

    def solutions(self, patterns: tuple[Pattern, ...]) -> Solutions | None:
        """The solutions of a basic graph pattern, if somebody maintains them; None: nobody does."""


@dataclass(frozen=True, slots=True)
class PlainGraph:
    """A graph of which nothing but the facts is known."""

    still: Columns = field(default_factory=Columns.none)
    live: Columns = field(default_factory=Columns.none)

    def solutions(self, patterns: tuple[Pattern, ...]) -> Solutions | None:
        """Nobody maintains any."""
        return None


@dataclass(frozen=True, slots=True)
class Composed:
    """The composed occurrences of a temporal expression inside a window."""

    columns: Mapping[str, Integers]
    starts: Integers
    lasting: bool
    """Whether each is there until it leaves by age."""
    keys: Integers | None = None
    """Of the partition that each is in, if the query is partitioned."""

    @property
    def stamps(self) -> Integers | None:
        """Stamps as relations have them: an occurrence leaves with the oldest statement that it rests on."""
        return self.starts if self.lasting else None

    def plain(self, decode: Callable[[Sequence[int]], list[str | None]]) -> dict[str, Any]:
        """The same in terms, for `of_plain`."""
        columns = {name: decode(column.tolist()) for name, column in self.columns.items()}
        keys = None if self.keys is None else decode(self.keys.tolist())
        return {"columns": columns, "starts": self.starts.tolist(), "lasting": self.lasting, "keys": keys}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any], encode: Callable[[Sequence[str]], list[int]]) -> Composed:
        """From what `plain` gave."""
        columns = {name: column_of_terms(terms, encode) for name, terms in plain["columns"].items()}
        keys = None if plain["keys"] is None else column_of_terms(plain["keys"], encode)
        return cls(columns, np.array(plain["starts"], np.int64), plain["lasting"], keys)

    @property
    def terms(self) -> list[Integers]:
        """The columns of integers."""
        return [*self.columns.values(), *([] if self.keys is None else [self.keys])]

    def take(self, which: Integers | slice) -> Composed:
        """Those that a mask, row numbers or a slice choose."""
        columns = {name: column[which] for name, column in self.columns.items()}
        keys = None if self.keys is None else self.keys[which]
        return Composed(columns, self.starts[which], self.lasting, keys)


def column_of_terms(
    terms: Sequence[str | None], encode: Callable[[Sequence[str]], list[int]]
) -> NDArray[np.int32]:
    """A column of terms, 0 where there is none.

    >>> column_of_terms(["<urn:a>", None], lambda texts: [7 for _ in texts])
    array([7, 0], dtype=int32)
    """
    found = np.zeros(len(terms), np.int32)
    found[[at for at, term in enumerate(terms) if term]] = encode([term for term in terms if term])
    return found


@dataclass(frozen=True, slots=True)
class Dataset:
    """The graphs of an evaluation. IRIs are text without brackets."""

    dictionary: Dictionary
    default: Graph
    named: Mapping[str, Graph] = field(default_factory=dict)
    """Named graphs and named windows."""
    windows: frozenset[str] = frozenset()
    """Which of the named ones are windows."""
    partition: str = ""
    """Tells the partition that this is from others of the same query; nothing if there are none."""
    occurrences: Mapping[int, Composed] = field(default_factory=dict)
    """What temporal expressions, by number, have composed."""
