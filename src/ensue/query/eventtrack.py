"""The events of one stream, as one kind of window sees them: split, let in, answered, and dropped.

Statements go into the context of their event. Those of events that have ended are answered together, and then
all that they brought is dropped at once: what is held is never more than the events that are open, and those
that ended since the last look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ensue.dictionary import Dictionary
from ensue.query.admission import Admission
from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.eventquery import EventQuery
from ensue.query.output import Result
from ensue.query.scopes import background_name
from ensue.query.splitting import Ended, Matcher, Splitter, splitter_of
from ensue.windows.events import EventWindow
from ensue.windows.frontier import Times
from ensue.windows.report import Report

_AT_ONCE = 50_000
"""So many statements are split, and their events answered, at once."""

Answered = tuple[Result, int]
"""A result, and the time at which it was known that its event had ended."""


@dataclass
class _Waiting:
    """What has come before the first event that holds a match of the switch."""

    until: Matcher
    parts: list[tuple[Arrivals, Times]] = field(default_factory=list)
    """Statements, and their numbers on the stream."""

    def joined(self) -> tuple[Arrivals, Times]:
        """All of it."""
        arrivals, numbers = zip(*self.parts, strict=True)
        return Arrivals.joined(arrivals), np.concatenate(numbers)

    def retract(self, row: Arrival, *, every: bool) -> None:
        """Take back the newest (or `every`) copy of a statement, as if it had not come."""
        if self.parts:
            arrivals, numbers = self.joined()
            same = np.ones(len(arrivals), np.bool_)
            for column, term in zip(arrivals.columns, row[1:], strict=True):
                same &= column == term
            if not every:
                same[np.flatnonzero(same)[:-1]] = False
            self.parts = [(arrivals[~same], numbers[~same])]


class EventTrack:
    """Goes along a stream, event by event."""

    def __init__(
        self,
        stream: str,
        window: EventWindow,
        admission: Admission,
        dictionary: Dictionary,
        background_came: Callable[[str], None] | None = None,
    ) -> None:
        """`background_came` is told the name of the background that the stream has brought."""
        self._background_came = background_came
        self.stream, self.window = stream, window
        self._decode, self._encode = dictionary.decode_all, dictionary.encode
        self.outside = 0
        """How many statements were in no event."""
        self.before = 0
        """How many statements of the stream came before the first that is held."""
        self._seen = 0
        self._owns: Callable[[str], bool] | None = None
        self._admission = admission
        self._queries: dict[str, tuple[EventQuery, Report]] = {}
        self._pin = dictionary.pin
        self._splitter = self._make()
        self._waiting = None if window.until is None else _Waiting(Matcher(window.until, self._pin))

    def _make(self) -> Splitter:
        return splitter_of(self.window, self._pin, self._decode)

    def add(self, query: EventQuery, report: Report) -> None:
        """Answer one more query."""
        self._queries[query.name] = (query, report)
        self._owns = query.owns

    def remove(self, name: str) -> None:
        """Answer a query no more."""
        del self._queries[name]

    def __len__(self) -> int:
        """How many queries there are."""
        return len(self._queries)

    @property
    def ended(self) -> int:
        """The number of the last event that has ended."""
        return self._splitter.ended

    def admit(self, arrivals: Arrivals, numbers: Times, now: int) -> list[Answered]:
        """Let statements in, which have these numbers on the stream; results of what has ended by them.

        What is at or below `now` is late: its place in the order of the stream is gone.
        """
        self._seen = int(numbers[-1])
        arrivals, numbers = self._own(*_in_time(arrivals, numbers, now))
        if self._waiting is not None and len(arrivals):
            arrivals, numbers = self._switched(self._waiting, arrivals, numbers)
        found: list[Answered] = []
        for first in range(0, len(arrivals), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            found += self._take(arrivals[part], numbers[part])
        self._let_go()
        return found

    def _own(self, arrivals: Arrivals, numbers: Times) -> tuple[Arrivals, Times]:
        """Those of one's own events, of which others may have some: they go by the names of graphs."""
        if self._owns is None or not len(arrivals):
            return arrivals, numbers
        graphs, places = np.unique(arrivals.graph, return_inverse=True)
        names = self._decode(graphs.tolist())
        kept = np.array([self._owns(name or "") for name in names])[places]
        return arrivals[kept], numbers[kept]

    def _switched(self, waiting: _Waiting, arrivals: Arrivals, numbers: Times) -> tuple[Arrivals, Times]:
        """What is no background of all that has come: nothing, or from the first event with a match on."""
        matches = waiting.until(arrivals)
        waiting.parts.append((arrivals, numbers))
        if not matches.any():
            return arrivals[:0], numbers[:0]
        every, of = waiting.joined()
        match = len(every) - len(arrivals) + int(matches.argmax())
        if self.window.by_element:
            cut = int(np.searchsorted(every.times, every.times[match]))
        else:
            events, _ = self._make().split(every)
            cut = int((events == events[match]).argmax()) if events[match] else match
            if cut:
                self._splitter.split(every[:cut])
                self._splitter.restart()
        self._begin(every[:cut])
        self.before = int(of[cut]) - 1
        return every[cut:], of[cut:]

    def _begin(self, background: Arrivals) -> None:
        """The switch has come, and this before it."""
        self._waiting = None
        first, *_ = self._queries.values()
        first[0].brought = background
        self._admission.background_came(self.stream, self.window, background)
        if self._background_came is not None:
            self._background_came(background_name(self.stream, self.window))

    def _take(self, arrivals: Arrivals, numbers: Times) -> list[Answered]:
        began = self._splitter.number
        events, ended = self._splitter.split(arrivals)
        inside = events > 0
        if not inside.all():
            self.outside += int((~inside).sum())
        self._admission.admit_events(self.stream, self.window, arrivals[inside], events[inside])
        if began <= self._splitter.ended < self._splitter.number:
            self.before = int(numbers[np.argmax(events > self._splitter.ended)]) - 1
        return self._answered(ended)

    def pass_time(self, time: int) -> list[Answered]:
        """No more will come up to a time."""
        return self._over(self._splitter.pass_time(time))

    def end(self, time: int) -> list[Answered]:
        """No more will come at all; the newest time there is."""
        return self._over(self._splitter.end(time))

    def _over(self, ended: Ended) -> list[Answered]:
        found = self._answered(ended)
        self._let_go()
        return found

    def _let_go(self) -> None:
        """Where no event is open, nothing is held of all that was seen."""
        if self._waiting is None and self._splitter.ended == self._splitter.number:
            self.before = self._seen

    def _answered(self, ended: Ended) -> list[Answered]:
        """The results of all queries, event by event; then the events are dropped."""
        if not len(ended):
            return []
        found = [query.answer(ended, report.nth) for query, report in self._queries.values()]
        self._admission.drop_events(self.stream, self.window, self._splitter.ended)
        times = zip(ended.numbers.tolist(), ended.known.tolist(), strict=True)
        return [(of[number], time) for number, time in times for of in found if number in of]

    def retract(self, row: Arrival, *, every: bool) -> None:
        """Take a statement back from the event that is open; those that have ended are as they were."""
        if self._waiting is not None:
            self._waiting.retract(row, every=every)
            return
        number = self._splitter.open_for(row[4])
        if number is not None:
            self._admission.retract_event(self.stream, self.window, number, row, every=every)

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use."""
        used: list[Iterable[int]] = [self._splitter.used_terms()]
        if self._waiting is not None:
            used.append(self._waiting.until.used_terms())
            used += [column for part, _ in self._waiting.parts for column in part.terms]
        return used

    # -- going on from a checkpoint ----------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """How far it has come, as plain data, without what is held: for `resume`."""
        return {
            "splitter": self._splitter.state(self._decode),
            "before": self.before,
            "seen": self._seen,
            "outside": self.outside,
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._splitter.resume(state["splitter"], self._encode)
        self.before, self._seen, self.outside = state["before"], state["seen"], state["outside"]

    def start_again(self, state: Mapping[str, Any], memories: Mapping[str, Mapping[str, Any]]) -> None:
        """The same, before what is held is let in again; `memories` are those of queries."""
        self.resume(state)
        for name in self._queries:
            columns = memories.get(name, {}).get("background")
            if columns is not None:
                terms = ([self._encode(term) if term else 0 for term in column] for column in columns)
                self._begin(Arrivals.of([0] * len(columns[0]), *terms))

    def admit_again(self, arrivals: Arrivals, numbers: Times, now: int) -> None:
        """Let in once more what was admitted after everything up to `now`: nothing is answered."""
        arrivals, numbers = self._own(*_in_time(arrivals, numbers, now))
        if self._waiting is not None:
            self._waiting.until(arrivals)  # It remembers what has come of it.
            self._waiting.parts.append((arrivals, numbers))
            return
        # What is held is all that came last, and in events that are open.
        arrivals = arrivals[numbers > self.before]
        events = [self._splitter.open_for(graph) for graph in arrivals.graph.tolist()]
        self._admission.admit_events(self.stream, self.window, arrivals, np.array(events, np.int64))


def _in_time(arrivals: Arrivals, numbers: Times, now: int) -> tuple[Arrivals, Times]:
    kept = arrivals.times > now
    return (arrivals, numbers) if kept.all() else (arrivals[kept], numbers[kept])
