"""A timed fact is a statement with the stamp of the oldest thing its freshest derivation rests on.

Statements travel in columns of integers (see `dictionary.py` for the integers), because a stream
brings them by the thousand. The columns are `array.array`, so the standard library is enough here
and numpy can look at the same memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

FOREVER = 2**63 - 1
"""The stamp of background knowledge: the largest int64."""

NEVER = -(2**63)
"""A threshold below every stamp: nothing has expired yet."""

BACKGROUND = 0
"""The context that every other context sees."""

DEFAULT_GRAPH = 0
"""The graph name of a statement that came without one."""

Triple = tuple[int, int, int]
Fact = tuple[int, int, int, int]
"""Context, subject, predicate, object."""


def _ints() -> array[int]:
    return array("i")


def _longs() -> array[int]:
    return array("q")


Column = Any
"""A sequence of integers: a tuple, an array, or a numpy array (which is none to a type checker)."""


def by_column(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """The columns of rows, also where there are none.

    Not by `zip(*rows)`: that makes an iterator a row, and the garbage collector then looks at them all.

    >>> by_column([(1, 2), (3, 4)], 2), by_column([], 2)
    ([[1, 3], [2, 4]], [[], []])
    """
    return [list(map(itemgetter(number), rows)) for number in range(width)]


@dataclass(frozen=True, slots=True)
class Copies:
    """Statements as they arrived, one row a copy: the log that is the truth is made of these.

    >>> batch = Copies.of([(1, 10, 11, 12, 1000), (1, 10, 11, 13, 1001)])
    >>> len(batch), list(batch)[0]
    (2, (1, 10, 11, 12, 0, 1000))
    """

    context: array[int] = field(default_factory=_ints)
    s: array[int] = field(default_factory=_ints)
    p: array[int] = field(default_factory=_ints)
    o: array[int] = field(default_factory=_ints)
    graph: array[int] = field(default_factory=_ints)
    stamp: array[int] = field(default_factory=_longs)

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int, int, int]]) -> Copies:
        """Copies from rows of (context, s, p, o, stamp), all in the default graph."""
        batch = cls()
        for context, s, p, o, stamp in rows:
            batch.append(context, s, p, o, stamp)
        return batch

    @classmethod
    def background(cls, triples: Iterable[Triple]) -> Copies:
        """Copies that never expire and that every context sees."""
        return cls.of((BACKGROUND, s, p, o, FOREVER) for s, p, o in triples)

    @classmethod
    def lasting(cls, s: Column, p: Column, o: Column) -> Copies:
        """The same of columns, arrays of 32-bit integers, without a look at each row.

        >>> list(Copies.lasting(array("i", [5]), array("i", [6]), array("i", [7])))[0][:5]
        (0, 5, 6, 7, 0)
        """
        context, graph = (array("i", [of_all]) * len(s) for of_all in (BACKGROUND, DEFAULT_GRAPH))
        s, p, o = (array("i", bytes(memoryview(column))) for column in (s, p, o))
        return cls(context, s, p, o, graph, array("q", [FOREVER]) * len(s))

    def append(self, context: int, s: int, p: int, o: int, stamp: int, graph: int = DEFAULT_GRAPH) -> None:
        """Add one copy at the end."""
        self.context.append(context)
        self.s.append(s)
        self.p.append(p)
        self.o.append(o)
        self.graph.append(graph)
        self.stamp.append(stamp)

    def extend(self, others: Copies) -> None:
        """Add others at the end, by the column."""
        self.context.extend(others.context)
        self.s.extend(others.s)
        self.p.extend(others.p)
        self.o.extend(others.o)
        self.graph.extend(others.graph)
        self.stamp.extend(others.stamp)

    def __len__(self) -> int:
        return len(self.stamp)

    def __iter__(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """Rows of (context, s, p, o, graph, stamp)."""
        return zip(self.context, self.s, self.p, self.o, self.graph, self.stamp, strict=True)


@dataclass(frozen=True, slots=True)
class Facts:
    """Timed facts as a maintainer hands them out, in columns."""

    context: Column
    s: Column
    p: Column
    o: Column
    stamp: Column

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int, int, int]]) -> Facts:
        """Facts from rows of (context, s, p, o, stamp)."""
        return cls(*by_column(list(rows), 5))

    def __len__(self) -> int:
        return len(self.stamp)

    def __iter__(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Rows of (context, s, p, o, stamp), as plain integers."""
        columns = (self.context, self.s, self.p, self.o, self.stamp)
        # numpy's own iterator would make a numpy scalar of each cell: `tolist` makes plain integers.
        return zip(*(c.tolist() if hasattr(c, "tolist") else c for c in columns), strict=True)

    def stamps(self) -> dict[Fact, int]:
        """The same as a mapping from (context, s, p, o) to its stamp."""
        return {(c, s, p, o): t for c, s, p, o, t in self}


@dataclass(frozen=True, slots=True)
class Change:
    """What one step changed in the closure, net: P+ and P- of the papers.

    A fact that merely got a fresher stamp is in neither.
    """

    inserted: Facts
    deleted: Facts
