"""Statements of one stream on their way in, in columns of integers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensue.errors import InputError
from ensue.model import FOREVER, NEVER, Copies
from ensue.windows.frontier import Times
from ensue.windows.runs import Runs

Arrival = tuple[int, int, int, int, int]
"""A copy: time (or number), subject, predicate, object, graph name."""

Terms = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Arrivals:
    """Copies of statements of one stream, in order.

    >>> two = Arrivals.of([10, 20], [1, 2], [5, 5], [3, 4], [0, 0])
    >>> list(two[1:])
    [(20, 2, 5, 4, 0)]
    """

    times: Times
    s: Terms
    p: Terms
    o: Terms
    graph: Terms

    @classmethod
    def of(
        cls, times: Sequence[int], s: Sequence[int], p: Sequence[int], o: Sequence[int], graph: Sequence[int]
    ) -> Arrivals:
        """From columns of plain integers."""
        try:
            at = np.array(times, np.int64)
        except OverflowError:
            wrong = next(time for time in times if not NEVER < time < FOREVER)
            what, hint = f"{wrong} is not a time in milliseconds", "it must fit into 64 bits"
            raise InputError(what, hint=hint) from None
        return cls(at, *(np.array(column, np.int32) for column in (s, p, o, graph)))

    @classmethod
    def joined(cls, parts: Sequence[Arrivals]) -> Arrivals:
        """One after the other."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls.of((), (), (), (), ())
        return cls(
            *(np.concatenate(columns) for columns in zip(*(each._columns for each in parts), strict=True))
        )

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Arrival]:
        """Rows of plain integers."""
        return zip(*(column.tolist() for column in self._columns), strict=True)

    def __getitem__(self, part: slice | NDArray[Any]) -> Arrivals:
        """Some of them: a slice, those that a mask marks, or by their numbers."""
        return Arrivals(self.times[part], self.s[part], self.p[part], self.o[part], self.graph[part])

    @property
    def newest(self) -> int:
        """The greatest time; NEVER if there are none."""
        return int(self.times.max(initial=NEVER))

    @property
    def _columns(self) -> tuple[Times, Terms, Terms, Terms, Terms]:
        return self.times, self.s, self.p, self.o, self.graph

    @property
    def columns(self) -> tuple[Terms, Terms, Terms, Terms]:
        """Subjects, predicates, objects and the names of graphs."""
        return self.s, self.p, self.o, self.graph

    @property
    def terms(self) -> list[Iterable[int]]:
        """The columns of integers that stand for terms."""
        return [*self.columns]

    def at(self, stamps: Times) -> Arrivals:
        """The same statements with other times, or with numbers."""
        return Arrivals(stamps, self.s, self.p, self.o, self.graph)

    def copies(self, context: int | Terms, offset: int) -> Copies:
        """The same as copies in a context, or each in its own, stamped with the time plus an offset."""
        s, p, o, graph = (array("i", column.tobytes()) for column in self._columns[1:])
        # Saturated below FOREVER, which is for what never expires.
        stamps = array("q", (np.minimum(self.times, FOREVER - 1 - offset) + offset).tobytes())
        if isinstance(context, int):
            return Copies(array("i", [context]) * len(self), s, p, o, graph, stamps)
        return Copies(array("i", context.astype(np.int32).tobytes()), s, p, o, graph, stamps)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What came of a stream at once: the times of all, and those of them that matter.

    >>> one = Arrivals.of([20], [1], [5], [3], [0])
    >>> some = Batch(Runs.of(np.array([10, 20])), one, np.array([1]))
    >>> len(some.between(0, 1)), len(some.between(1, 2))
    (0, 1)
    """

    times: Runs
    arrivals: Arrivals
    rows: NDArray[np.int64] | None = None
    """Which of all they are, in order; None: all matter."""

    @classmethod
    def of(cls, arrivals: Arrivals) -> Batch:
        """All of them matter."""
        return cls(Runs.of(arrivals.times), arrivals)

    @classmethod
    def one_by_one(cls, arrivals: Arrivals) -> Batch:
        """The same for few, of which each has a time of its own."""
        return cls(Runs.one_by_one(arrivals.times), arrivals)

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """One after the other."""
        times = Runs.joined([part.times for part in parts])
        arrivals = Arrivals.joined([part.arrivals for part in parts])
        if all(part.rows is None for part in parts):
            return cls(times, arrivals)
        starts = accumulate((len(part.times) for part in parts[:-1]), initial=0)
        rows = [start + part._numbers for start, part in zip(starts, parts, strict=True)]
        return cls(times, arrivals, np.concatenate(rows))

    def between(self, first: int, end: int) -> Arrivals:
        """What matters of those that come from one place up to before another."""
        if self.rows is None:
            return self.arrivals[first:end]
        start, stop = np.searchsorted(self.rows, [first, end]).tolist()
        return self.arrivals[start:stop]

    @property
    def _numbers(self) -> NDArray[np.int64]:
        return np.arange(len(self.times)) if self.rows is None else self.rows
