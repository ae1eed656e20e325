"""The events of one stream, as one kind of window sees them: split, let in, answered, and dropped.

Statements go into the context of their event. Those of events that have ended are answered together, and then
all that they brought is dropped at once: what is held is never more than the events that are open, and those
that ended since the last look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ensue.dictionary import Dictionary
from ensue.model import FOREVER, NEVER
from ensue.query.admission import Admission
from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.eventquery import EventQuery
from ensue.query.output import Result
from ensue.query.scopes import background_name
from ensue.query.splitting import Ended, splitter_of
from ensue.query.switching import Numbered, Switch, together
from ensue.windows.events import EventWindow
from ensue.windows.frontier import Times
from ensue.windows.report import Report

_AT_ONCE = 50_000
"""So many statements are split, and their events answered, at once."""

Answered = tuple[Result, int]
"""A result, and the time at which it was known that its event had ended."""


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
        self._splitter = splitter_of(window, dictionary.pin, self._decode)
        self._switch = Switch(window, dictionary.pin)
        self._brought: Arrivals | None = None
        """What the stream has brought for background."""
        self._holds = window.by_element and window.again is not None
        """Whether elements wait until all of their time have come: one of those may begin background."""
        self._held = Numbered.joined([])
        self._complete = NEVER
        """The time up to which none wait."""

    def add(self, query: EventQuery, report: Report) -> None:
        """Answer one more query."""
        self._queries[query.name] = (query, report)
        self._owns = query.owns

    def remove(self, name: str) -> None:
        """Answer a query no more."""
        del self._queries[name]
        self._remember()

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
        came = self._own(Numbered(arrivals, numbers).after(now))
        if self._holds:
            return self._complete_to(came, None)
        found = self._walk(came)
        self._let_go()
        return found

    def _complete_to(self, came: Numbered, time: int | None) -> list[Answered]:
        """Elements come, of which those wait whose time is the newest (or later than this)."""
        every = Numbered.joined([self._held, came])
        if not len(every):
            self._let_go()
            return []
        times = every.arrivals.times
        complete = int(times[-1]) - 1 if time is None else time
        cut = int(np.searchsorted(times, complete, "right"))
        self._held, self._complete = every[cut:], max(complete, self._complete)
        found = self._walk(every[:cut])
        return found + self._over(self._splitter.pass_time(self._complete))

    def _walk(self, came: Numbered) -> list[Answered]:
        """Go on through background and events, as they come; results of what has ended."""
        found: list[Answered] = []
        looked = 0
        while len(came):
            if self._switch.loading is not None:
                came, looked = self._load(came)
                continue
            stop, end = self._switch.begin(came, looked)
            for first in range(0, stop, _AT_ONCE):
                found += self._take(came[first : min(stop, first + _AT_ONCE)])
            if stop < len(came):
                found += self._answered(self._splitter.end(int(came.arrivals.times[stop])))
                self.before = int(came.numbers[stop]) - 1
            came, looked = came[end:], 0
        return found

    def _own(self, came: Numbered) -> Numbered:
        """Those of one's own events, of which others may have some: they go by the names of graphs."""
        if self._owns is None or not len(came):
            return came
        graphs, places = np.unique(came.arrivals.graph, return_inverse=True)
        names = self._decode(graphs.tolist())
        return came[np.array([self._owns(name or "") for name in names])[places]]

    def _load(self, came: Numbered) -> tuple[Numbered, int]:
        """Take in background; what is left for events, and how much of that was looked at already."""
        done = self._switch.load(came, self._splitter)
        if done is None:
            return came[:0], 0
        if len(done.background) and not self.window.by_element:
            number = self._splitter.number
            self._splitter.split(done.background)
            self._splitter.go_back(number)
        self._bring(done.background)
        self.before = done.before
        return done.rest, done.looked

    def _bring(self, more: Arrivals) -> None:
        """All of some background has come: events go on over it."""
        known = self._brought
        self._brought = together(None if self.window.anew else known, more)
        if known is not None and not self.window.anew and len(known) == len(self._brought):
            return
        self._remember()
        self._admission.background_came(self.stream, self.window, self._brought)
        if self._background_came is not None:
            self._background_came(background_name(self.stream, self.window))

    def _remember(self) -> None:
        """One of the queries writes down what the stream has brought."""
        for query, _ in list(self._queries.values())[:1]:
            query.remember_background(self._brought)

    def _take(self, came: Numbered) -> list[Answered]:
        began = self._splitter.number
        events, ended = self._splitter.split(came.arrivals)
        inside = events > 0
        if not inside.all():
            self.outside += int((~inside).sum())
        self._admission.admit_events(self.stream, self.window, came.arrivals[inside], events[inside])
        if began <= self._splitter.ended < self._splitter.number:
            self.before = int(came.numbers[np.argmax(events > self._splitter.ended)]) - 1
        return self._answered(ended)

    def pass_time(self, time: int) -> list[Answered]:
        """No more will come up to a time."""
        if self._holds:
            return self._complete_to(self._held[:0], time)
        return self._over(self._splitter.pass_time(time))

    def end(self, time: int) -> list[Answered]:
        """No more will come at all; the newest time there is."""
        return self.pass_time(FOREVER) if self._holds else self._over(self._splitter.end(time))

    def _over(self, ended: Ended) -> list[Answered]:
        found = self._answered(ended)
        self._let_go()
        return found

    def _let_go(self) -> None:
        """Where no event is open, nothing is held of all that was seen but what waits."""
        if self._switch.loading is None and self._splitter.ended == self._splitter.number:
            self.before = int(self._held.numbers[0]) - 1 if len(self._held) else self._seen

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
        waiting = len(self._held)
        self._held = self._held.without(row, every=every)
        if len(self._held) < waiting and not every:
            return
        if self._switch.loading is not None:
            self._switch.loading.retract(row, every=every)
            return
        number = self._splitter.open_for(row[4])
        if number is not None:
            self._admission.retract_event(self.stream, self.window, number, row, every=every)

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use."""
        return [self._splitter.used_terms(), *self._switch.used_terms(), *self._held.arrivals.terms]

    # -- going on from a checkpoint ----------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """How far it has come, as plain data, without what is held: for `resume`."""
        return {
            "splitter": self._splitter.state(self._decode),
            "before": self.before,
            "seen": self._seen,
            "outside": self.outside,
            "switch": self._switch.state(self._decode),
            "complete": self._complete,
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._splitter.resume(state["splitter"], self._encode)
        self._switch.resume(state["switch"], self._encode)
        self.before, self._seen, self.outside = state["before"], state["seen"], state["outside"]
        self._complete = state["complete"]

    def start_again(self, state: Mapping[str, Any], memories: Mapping[str, Mapping[str, Any]]) -> None:
        """The same, before what is held is let in again; `memories` are those of queries."""
        self._switch.start_again(state["switch"], self._encode)
        self.resume(state)
        for name in self._queries:
            columns = memories.get(name, {}).get("background")
            if columns is not None:
                terms = ([self._encode(term) if term else 0 for term in column] for column in columns)
                self._bring(Arrivals.of([0] * len(columns[0]), *terms))

    def admit_again(self, arrivals: Arrivals, numbers: Times, now: int) -> None:
        """Let in once more what was admitted after everything up to `now`: nothing is answered."""
        came = self._own(Numbered(arrivals, numbers).after(now))
        # What is held is all that came last.
        came = came[came.numbers > self.before]
        if self._holds:
            waits = came.arrivals.times > self._complete
            self._held = Numbered.joined([self._held, came[waits]])
            came = came[~waits]
        if self._switch.loading is not None:
            self._switch.load_again(came)
            return
        # It is in events that are open.
        events = [self._splitter.open_for(graph) for graph in came.arrivals.graph.tolist()]
        self._admission.admit_events(self.stream, self.window, came.arrivals, np.array(events, np.int64))
