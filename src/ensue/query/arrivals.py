"""Statements of one stream on their way in, in columns of integers."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ensue.model import Copies

Arrival = tuple[int, int, int, int, int]
"""A copy: time (or number), subject, predicate, object, graph name."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Copies of statements in order of admission.

    >>> two = Arrivals([10, 20], [1, 2], [5, 5], [3, 4], [0, 0])
    >>> list(two[1:])
    [(20, 2, 5, 4, 0)]
    """

    times: Sequence[int]
    s: Sequence[int]
    p: Sequence[int]
    o: Sequence[int]
    graph: Sequence[int]

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Arrival]:
        return zip(self.times, self.s, self.p, self.o, self.graph, strict=True)

    def __getitem__(self, part: slice) -> Arrivals:
        return Arrivals(self.times[part], self.s[part], self.p[part], self.o[part], self.graph[part])

    def at(self, stamps: Sequence[int]) -> Arrivals:
        """The same statements with other times, or with numbers."""
        return Arrivals(stamps, self.s, self.p, self.o, self.graph)

    def copies(self, context: int, offset: int) -> Copies:
        """The same as copies in a context, stamped with the time plus an offset."""
        times = [time + offset for time in self.times] if offset else self.times
        s, p, o, graph = (array("i", column) for column in (self.s, self.p, self.o, self.graph))
        return Copies(array("i", [context]) * len(self), s, p, o, graph, array("q", times))
