"""What a reasoner remembers in order to explain: the copies of the last two evaluations of each query.

A copy is known with its stream, its time, its number, and between which moments it was there: so what a
window held when it was read can be told later, whatever came late or was taken back since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.tree import ContinuousQuery
from ensue.windows.registered import Evaluation, Read
from ensue.windows.spec import CountWindow, Window

_ROOM = 1_000
"""So many copies more than after the last look are held before it is looked again which can go."""


@dataclass(slots=True)
class Copy:
    """A copy of a statement on a stream."""

    row: Arrival
    """Time, subject, predicate, object, graph name."""
    number: int
    came: int
    """The moment at which it was admitted."""
    went: int | None = None
    """The moment at which it was taken back."""


class Moment(NamedTuple):
    """An evaluation, the moment at which each of its windows was read, and which background there was."""

    evaluation: Evaluation
    read: tuple[int, ...]
    background: int = 0
    """The number of updates by then."""


@dataclass(slots=True)
class Memory:
    """The copies that windows held, and when.

    >>> memory = Memory()
    >>> memory.admit("urn:s", Arrivals.of([10], [1], [2], [3], [0]))
    >>> then = memory.now
    >>> memory.retract("urn:s", (0, 1, 2, 3, 0), every=False)
    >>> window = Window(0, 10)
    >>> len(list(memory.within("urn:s", window, then))), len(list(memory.within("urn:s", window, memory.now)))
    (1, 0)
    """

    now: int = 0
    """Moments are counted: each thing that happens makes a new one."""
    background: int = 0
    """How often the background was updated."""
    _copies: dict[str, list[Copy]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _reads: dict[tuple[str, int], tuple[Window, int]] = field(default_factory=dict)
    _moments: dict[str, list[Moment]] = field(default_factory=dict)
    _queries: dict[str, ContinuousQuery] = field(default_factory=dict)
    _room: int = _ROOM

    def follow(self, query: ContinuousQuery) -> None:
        """A query is answered from now on."""
        if query.event_window is None:  # An event is gone when it has been answered.
            self._queries[query.name] = query

    def follows(self, stream: str) -> bool:
        """Whether somebody may ask what a window over a stream held."""
        return any(on.stream == stream for query in self._queries.values() for on in query.streams)

    def remove(self, name: str) -> None:
        """A query is answered no more."""
        self._queries.pop(name, None)
        self._moments.pop(name, None)

    def admit(self, stream: str, arrivals: Arrivals) -> None:
        """Statements of a stream are let in."""
        self.now += 1
        kept, first = self._copies.setdefault(stream, []), self._numbers.get(stream, 0) + 1
        kept += [Copy(row, number, self.now) for number, row in enumerate(arrivals, start=first)]
        self._numbers[stream] = first + len(arrivals) - 1

    def retract(self, stream: str, row: Arrival, *, every: bool) -> None:
        """The newest copy (or every copy) of a statement is taken back."""
        self.now += 1
        there = (copy for copy in self._copies.get(stream, ()) if copy.went is None)
        found = sorted(
            (copy for copy in there if copy.row[1:] == row[1:]), key=lambda copy: (copy.row[0], copy.number)
        )
        for copy in found if every else found[-1:]:
            copy.went = self.now

    def start_over(self) -> None:
        """The background is another from now on."""
        self.now += 1
        self.background += 1

    @property
    def oldest_background(self) -> int:
        """The number of the first background that an evaluation which is remembered has seen."""
        moments = (moment.background for each in self._moments.values() for moment in each)
        return min(moments, default=self.background)

    def read(self, read: Read) -> None:
        """A window is read, for an evaluation now or later."""
        self._reads[read.query, read.position] = (read.window, self.now)

    def evaluated(self, evaluation: Evaluation) -> None:
        """A query was answered."""
        read = tuple(
            self._read_at(evaluation.query, at, window) for at, window in enumerate(evaluation.windows)
        )
        before = self._moments.get(evaluation.query, [])
        self._moments[evaluation.query] = [*before[-1:], Moment(evaluation, read, self.background)]
        self.now += 1  # What comes from now on came after.
        if sum(map(len, self._copies.values())) > self._room:
            self._forget()

    def _read_at(self, query: str, position: int, window: Window) -> int:
        # A window that goes by numbers is looked at when the query is answered, and not read before.
        seen, moment = self._reads.get((query, position), (None, 0))
        return moment if seen == window else self.now

    def moments(self, query: str) -> list[Moment]:
        """The evaluations of a query that are remembered, the last one last."""
        return self._moments.get(query, [])

    def within(self, stream: str, window: Window, moment: int, *, counted: bool = False) -> Iterator[Copy]:
        """The copies that a window held at a moment; `counted`: it goes by numbers."""
        for copy in self._copies.get(stream, ()):
            was_there = copy.came <= moment and (copy.went is None or copy.went > moment)
            if was_there and window.holds(copy.number if counted else copy.row[0]):
                yield copy

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers still in use."""
        return [[term for copy in kept for term in copy.row[1:]] for kept in self._copies.values()]

    def _forget(self) -> None:
        """Let go of what was in neither of the last two windows, and will be in none."""
        opens: dict[str, list[tuple[bool, int]]] = {}
        for name, query in self._queries.items():
            moments = self._moments.get(name)
            for at, on in enumerate(query.streams):
                # A query that was never answered may be about all there is.
                opened = moments[0].evaluation.windows[at].open if moments else None
                if opened is None:
                    return
                opens.setdefault(on.stream, []).append((isinstance(on.spec, CountWindow), opened))
        for stream, kept in self._copies.items():
            self._copies[stream] = [
                copy
                for copy in kept
                if any(
                    (copy.number if counted else copy.row[0]) > at for counted, at in opens.get(stream, ())
                )
            ]
        self._room = 2 * sum(map(len, self._copies.values())) + _ROOM
