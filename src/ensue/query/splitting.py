"""Where events begin and end: the statements of a stream, in order, become numbered events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ensue.model import NEVER
from ensue.query.arrivals import Arrivals
from ensue.windows.events import EventWindow, Marker, Triple
from ensue.windows.frontier import Times

Mask = NDArray[np.bool_]
Pin = Callable[[str], int]
Decode = Callable[[Sequence[int]], Sequence[str | None]]

_CONTEXTS = 2_147_483_646
"""So many numbers there are for contexts."""


class _One:
    """A triple pattern at work: which statements match it."""

    def __init__(self, triple: Triple, pin: Pin) -> None:
        slots = list(enumerate(triple))
        self._terms = [(at, pin(term)) for at, term in slots if not term.startswith("?")]
        self._same = [(a, b) for (a, one), (b, other) in combinations(slots, 2) if one == other]
        self.variables = {term: at for at, term in slots if term.startswith("?")}
        """Each, and where it stands."""

    def __call__(self, arrivals: Arrivals) -> Mask:
        columns = (arrivals.s, arrivals.p, arrivals.o)
        found = np.ones(len(arrivals), np.bool_)
        for at, number in self._terms:
            found &= columns[at] == number
        for one, other in self._same:
            found &= columns[one] == columns[other]
        return found


class Matcher:
    """A marker at work: which statements complete a match. Of several triples it remembers what came of each.

    >>> pin = {"<urn:p>": 5}.__getitem__
    >>> some = Arrivals.of([1, 2, 3], [7, 7, 8], [5, 5, 5], [7, 8, 9], [0, 0, 0])
    >>> Matcher(Marker((("?x", "<urn:p>", "?x"),)), pin)(some).tolist()
    [True, False, False]
    >>> Matcher(Marker((("?x", "<urn:p>", "?y"), ("?y", "<urn:p>", "?z"))), pin)(some[1:]).tolist()
    [False, True]
    """

    def __init__(self, marker: Marker, pin: Pin) -> None:
        """`pin` gives the number of a text, which it keeps for ever."""
        self._each = [_One(triple, pin) for triple in marker.triples]
        self._seen: list[dict[tuple[int, ...], None]] = [{} for _ in self._each]
        """Of each triple what its variables had for values, since the last match; kept of several only."""

    def __call__(self, arrivals: Arrivals) -> Mask:
        """Whether each of some statements, which follow those of the last call, completes a match."""
        masks = [one(arrivals) for one in self._each]
        if len(masks) == 1:
            return masks[0]
        found = np.zeros(len(arrivals), np.bool_)
        for row in np.flatnonzero(np.logical_or.reduce(masks)).tolist():
            terms = (int(arrivals.s[row]), int(arrivals.p[row]), int(arrivals.o[row]))
            for one, mask, seen in zip(self._each, masks, self._seen, strict=True):
                if mask[row]:
                    seen[tuple(terms[at] for at in one.variables.values())] = None
            if self._agree({}, 0):
                found[row] = True
                self._seen = [{} for _ in self._each]
        return found

    def _agree(self, values: Mapping[str, int], at: int) -> bool:
        """Whether the triples from one on have come, with these values of variables."""
        if at == len(self._each):
            return True
        names = self._each[at].variables
        for found in self._seen[at]:
            own = dict(zip(names, found, strict=True))
            agrees = all(values.get(name, value) == value for name, value in own.items())
            if agrees and self._agree({**values, **own}, at + 1):
                return True
        return False

    def used_terms(self) -> list[int]:
        """The integers in use."""
        return [number for seen in self._seen for values in seen for number in values]

    def state(self, decode: Decode) -> list[Any]:
        """What it remembers, as plain data: for `resume`."""
        return [[decode(values) for values in seen] for seen in self._seen]

    def resume(self, state: Sequence[Any], encode: Callable[[str], int]) -> None:
        """Go on from a state."""
        self._seen = [{tuple(map(encode, values)): None for values in seen} for seen in state]


@dataclass(frozen=True, slots=True, eq=False)
class Ended:
    """Events that have ended, in their order: numbers, and the times of their first and last statements."""

    numbers: Times
    first: Times
    last: Times
    known: Times
    """The times at which it was known that they had ended."""
    graphs: Sequence[int] | None = None
    """The names of their graphs, where these are what tells them apart."""

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, int, int]]) -> Ended:
        """From rows of number, first and last time, and when it was known."""
        return cls(*np.array(list(rows), np.int64).reshape(-1, 4).T)

    def and_then(self, others: Ended) -> Ended:
        """These, and then others."""
        return Ended(
            np.concatenate([self.numbers, others.numbers]),
            np.concatenate([self.first, others.first]),
            np.concatenate([self.last, others.last]),
            np.concatenate([self.known, others.known]),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice | Mask | Times) -> Ended:
        """Some of them."""
        graphs = None if self.graphs is None else np.array(self.graphs)[part].tolist()
        return Ended(self.numbers[part], self.first[part], self.last[part], self.known[part], graphs)


def context_of(numbers: Times) -> NDArray[np.int32]:
    """The contexts of events, by their numbers: used again when so many others have come that nobody knows
    of the first any more.

    >>> context_of(np.array([1, 2**31 - 2, 2**31 - 1])).tolist()
    [1, 2147483646, 1]
    """
    return ((numbers - 1) % _CONTEXTS + 1).astype(np.int32)


class Splitter(Protocol):
    """Says which event each statement is in, and which events have ended."""

    number: int
    """That of the event that began last."""

    @property
    def ended(self) -> int:
        """The number of the last event that has ended, with all before it."""

    def split(self, arrivals: Arrivals) -> tuple[Times, Ended]:
        """The numbers of the events that statements are in, 0 for none; and what has ended by then."""

    def pass_time(self, time: int) -> Ended:
        """No more will come up to a time."""

    def end(self, time: int) -> Ended:
        """No more will come at all; the newest time there is."""

    def open_for(self, graph: int) -> int | None:
        """The number of the open event that a statement of this graph would be in; None: there is none."""

    def go_back(self, number: int) -> None:
        """What was split since the event of a number was background: go on behind that event."""

    def used_terms(self) -> list[int]:
        """The integers in use."""

    def state(self, decode: Decode) -> list[Any]:
        """Everything, as plain data: for `resume`."""

    def resume(self, state: Sequence[Any], encode: Callable[[str], int]) -> None:
        """Go on from a state."""


def splitter_of(window: EventWindow, pin: Pin, decode: Decode) -> Splitter:
    """Who splits a stream as a window says."""
    if window.by_element:
        return ByElement(decode)
    return ByMarkers(*(None if each is None else Matcher(each, pin) for each in (window.starts, window.ends)))


class ByMarkers:
    """Events from a marker on, up to a marker, or both.

    >>> starts = Matcher(Marker((("?x", "<urn:p>", "?y"),)), {"<urn:p>": 5}.__getitem__)
    >>> by = ByMarkers(starts, None)
    >>> numbers, ended = by.split(Arrivals.of([1, 2, 3], [7, 7, 7], [6, 5, 6], [8, 8, 8], [0, 0, 0]))
    >>> numbers.tolist(), ended.numbers.tolist(), by.end(3).numbers.tolist()
    ([1, 2, 2], [1], [2])
    """

    def __init__(self, starts: Matcher | None, ends: Matcher | None) -> None:
        self.number = 0
        self._starts, self._ends = starts, ends
        self._is_open = False
        self._first = self._last = NEVER

    @property
    def ended(self) -> int:
        """The number of the last event that has ended, with all before it."""
        return self.number - self._is_open

    def split(self, arrivals: Arrivals) -> tuple[Times, Ended]:
        """The numbers of the events that statements are in, 0 for none; and what has ended by then."""
        begins, inside, ends = self._borders(arrivals)
        numbers = np.where(inside, self.number + np.cumsum(begins), 0)
        rows = np.flatnonzero(inside)
        heads = np.flatnonzero(np.diff(numbers[rows], prepend=0))
        tails = rows[np.append(heads[1:], len(rows))[: len(heads)] - 1]
        heads = rows[heads]
        ended = self._runs(arrivals.times, numbers, heads, tails, ends)
        self.number += int(begins.sum())
        self._is_open = bool(inside[-1] and not ends[-1])
        if self._is_open:
            self._first, self._last = int(ended.first[-1]), int(ended.last[-1])
            ended = ended[:-1]
        return numbers, ended

    def _borders(self, arrivals: Arrivals) -> tuple[Mask, Mask, Mask]:
        """Where events begin, what is inside of one, and where the last statement of one is."""
        none, every = np.zeros(len(arrivals), np.bool_), np.ones(len(arrivals), np.bool_)
        starts = none if self._starts is None else self._starts(arrivals)
        ends = none if self._ends is None else self._ends(arrivals)
        if self._ends is None:
            begins = starts.copy()
            begins[0] |= not self._is_open
            return begins, every, ends
        before = np.append(not self._is_open, ends[:-1])
        if self._starts is None:
            return before, every, ends
        at = np.arange(len(arrivals))
        # Inside, where the last start is behind the last end: an event that is open began before all.
        started = np.maximum.accumulate(np.where(starts, at, -1 if self._is_open else -2))
        ended = np.maximum.accumulate(np.where(np.append(False, ends[:-1]), at - 1, -2))
        return starts, started > ended, ends

    def _runs(self, times: Times, numbers: Times, heads: Times, tails: Times, ends: Mask) -> Ended:
        """The events that have statements here, or that ended without one, the last one open or not."""
        events, first, last = numbers[heads], times[heads].copy(), times[tails]
        # Without a marker behind it an event ends as the next one begins.
        known = np.where(ends[tails], last, np.append(times[heads[1:]], times[-1])[: len(heads)])
        if self._is_open and len(events) and events[0] == self.number:
            first[0] = self._first
        elif self._is_open:
            before = Ended.of([(self.number, self._first, self._last, int(times[heads[0]]))])
            return before.and_then(Ended(events, first, last, known))
        return Ended(events, first, last, known)

    def pass_time(self, time: int) -> Ended:
        """An event has no end in time."""
        return Ended.of(())

    def end(self, time: int) -> Ended:
        """No more will come at all; the newest time there is."""
        found = Ended.of([(self.number, self._first, self._last, time)] if self._is_open else ())
        self._is_open = False
        return found

    def open_for(self, graph: int) -> int | None:
        """The number of the open event that a statement of this graph would be in; None: there is none."""
        return self.number if self._is_open else None

    def go_back(self, number: int) -> None:
        """What came since an event was background: count on from there. Markers stay as they are."""
        self.number, self._is_open = number, False

    def used_terms(self) -> list[int]:
        """Those that have come of markers."""
        return [number for each in self._markers for number in each.used_terms()]

    @property
    def _markers(self) -> list[Matcher]:
        return [each for each in (self._starts, self._ends) if each is not None]

    def state(self, decode: Decode) -> list[Any]:
        """Everything, as plain data: for `resume`."""
        markers = [each.state(decode) for each in self._markers]
        return [self.number, self._is_open, self._first, self._last, markers]

    def resume(self, state: Sequence[Any], encode: Callable[[str], int]) -> None:
        """Go on from a state."""
        self.number, self._is_open, self._first, self._last, markers = state
        for each, seen in zip(self._markers, markers, strict=True):
            each.resume(seen, encode)


class ByElement:
    """Each element of the stream is an event: what has the same time and the same graph name.

    Elements of one time come in the order of their names.

    >>> by = ByElement(lambda numbers: [f"<urn:{number}>" for number in numbers])
    >>> numbers, ended = by.split(Arrivals.of([1, 1, 1, 2], [7] * 4, [5] * 4, [8] * 4, [3, 2, 3, 3]))
    >>> numbers.tolist(), ended.numbers.tolist(), by.pass_time(2).numbers.tolist()
    ([2, 1, 2, 3], [1, 2], [3])
    """

    def __init__(self, decode: Decode) -> None:
        self.number = 0
        self._decode = decode
        self._time = NEVER
        self._open: dict[int, int] = {}
        """The numbers of the events of the newest time, by graph."""

    @property
    def ended(self) -> int:
        """The number of the last event that has ended, with all before it."""
        return self.number - len(self._open)

    def split(self, arrivals: Arrivals) -> tuple[Times, Ended]:
        """The numbers of the events that statements are in, 0 for none; and what has ended by then."""
        times, graphs = arrivals.times, arrivals.graph
        again = int(np.searchsorted(times, self._time, "right")) if self._open else 0
        numbers = np.zeros(len(times), np.int64)
        for row, graph in enumerate(graphs[:again].tolist()):
            if graph not in self._open:
                self.number += 1
                self._open[graph] = self.number
            numbers[row] = self._open[graph]
        if again == len(times):
            return numbers, Ended.of(())
        order = again + np.lexsort((graphs[again:], times[again:]))
        by_time, by_graph = times[order], graphs[order]
        new = np.append(True, (np.diff(by_time) != 0) | (np.diff(by_graph) != 0))
        numbers[order] = self.number + np.cumsum(new)
        before = [(number, self._time, graph) for graph, number in self._open.items()]
        rows = zip(numbers[order][new].tolist(), by_time[new].tolist(), by_graph[new].tolist(), strict=True)
        every = [*before, *rows]
        self.number, self._time = int(numbers.max()), int(times[-1])
        self._open = {graph: number for number, time, graph in every if time == self._time}
        return numbers, self._in_order([each for each in every if each[1] < self._time])

    def _in_order(self, elements: list[tuple[int, int, int]]) -> Ended:
        """Elements (number, time, graph) as they come one after the other."""
        times = [time for _, time, _ in elements]
        if len(set(times)) < len(times):
            names = self._decode([graph for _, _, graph in elements])
            keyed = zip(times, (name or "" for name in names), elements, strict=True)
            elements = [element for _, _, element in sorted(keyed)]
        found = Ended.of((number, time, time, time) for number, time, _ in elements)
        return replace(found, graphs=[graph for _, _, graph in elements])

    def pass_time(self, time: int) -> Ended:
        """No more will come up to a time."""
        return self.end(time) if self._time <= time else Ended.of(())

    def end(self, time: int) -> Ended:
        """No more will come at all; the newest time there is."""
        elements = [(number, self._time, graph) for graph, number in self._open.items()]
        self._open = {}
        return self._in_order(elements)

    def open_for(self, graph: int) -> int | None:
        """The number of the open event that a statement of this graph would be in; None: there is none."""
        return self._open.get(graph)

    def go_back(self, number: int) -> None:
        """Nothing came that was background."""

    def used_terms(self) -> list[int]:
        """The names of the graphs of open events."""
        return list(self._open)

    def state(self, decode: Decode) -> list[Any]:
        """Everything, as plain data: for `resume`."""
        return [self.number, self._time, decode(list(self._open)), list(self._open.values())]

    def resume(self, state: Sequence[Any], encode: Callable[[str], int]) -> None:
        """Go on from a state."""
        self.number, self._time, names, numbers = state
        graphs = (encode(name) if name else 0 for name in names)
        self._open = dict(zip(graphs, numbers, strict=True))
