"""One serial order over everything that happens: statements are admitted, windows close, queries answer.

Each level of queries (see `levels.py`) has a schedule over time, and each stream that count windows move
along has a schedule over its numbers. What a query constructs is admitted before the level above is
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.model import DEFAULT_GRAPH, FOREVER, NEVER, by_column
from ensue.query.admission import Admission
from ensue.query.arrivals import Arrivals
from ensue.query.background import Background
from ensue.query.describe import describe
from ensue.query.eventquery import EventQuery
from ensue.query.eventtrack import Answered
from ensue.query.eventtracks import EventTracks
from ensue.query.levels import check_events, levels
from ensue.query.output import Result
from ensue.query.running import RunningQuery
from ensue.query.together import evaluate_together
from ensue.query.tree import ContinuousQuery, Kind
from ensue.windows.count import Numbering
from ensue.windows.registered import Axis, On, Query
from ensue.windows.report import Report
from ensue.windows.schedule import Schedule
from ensue.windows.spec import CountWindow

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder
    from ensue.proof.memory import Memory


class Timeline:
    """Knows what comes next, and does it."""

    def __init__(
        self,
        admission: Admission,
        dictionary: Dictionary,
        memory: Memory | None = None,
        explain: Callable[[Result], None] | None = None,
        background_came: Callable[[str], None] | None = None,
    ) -> None:
        """`memory` is told what happens, for somebody who may have to explain it.

        `explain` is given each result while what the query saw is the last that `memory` has of it.
        `background_came` is told the name of the background that a stream has brought.
        """
        self._explain = explain
        self._admission = admission
        self._memory = memory
        self._encode = dictionary.encode_all
        self._running: dict[str, RunningQuery] = {}
        self._reports: dict[str, Report] = {}
        self._levels: dict[str, int] = {}
        self._by_time: list[Schedule] = []
        self._by_count: dict[str, Schedule] = {}
        self.events = EventTracks(admission, dictionary, background_came)
        self._numbering = Numbering()
        self._now = self._newest = NEVER
        self._begun = False
        self._seen: dict[str, tuple[int, int]] = {}
        """The first and the newest time that has arrived on each stream."""
        self._results: list[Result] = []
        self._feeding: set[str] = set()
        """The queries whose last result was statements for others to read."""
        self._made: dict[str, list[Arrivals]] | None = None
        """What queries have constructed, if somebody takes it."""

    @property
    def queries(self) -> list[RunningQuery]:
        """The queries, in order of registration."""
        return list(self._running.values())

    def query(self, name: str) -> RunningQuery:
        """A query by its name."""
        return self._running[name]

    @property
    def constructed(self) -> set[str]:
        """The streams that queries construct."""
        return {name for name, running in self._running.items() if running.query.kind is Kind.STREAM}

    @property
    def in_step(self) -> bool:
        """Whether every query sees each window when it closes, and then never again."""
        return all(running.in_step for running in self._running.values())

    @property
    def counts_construct(self) -> bool:
        """Whether what is constructed as counts or events go on is read by others, as time passes."""
        return self.depth > 1 and any(self._running[name].scopes.axis != "time" for name in self.constructed)

    def add(self, running: RunningQuery, report: Report) -> int | None:
        """Take one more query; from which instant on it is exact (see `Schedule.add`)."""
        name = running.name
        if name in self._running:
            raise UsageError(f"query '{name}' is registered already", hint="give it another name")
        every = {each.name: each.query for each in self._running.values()} | {name: running.query}
        found = levels(every)
        check_events(every.values())
        if self._begun:
            self._check_late(running.query, found)
        missing = self._admission.serve(running)
        self._running[name], self._reports[name] = running, report
        if self._memory is not None:
            self._memory.follow(running.query)
        moved = found != self._levels | {name: found[name]}
        self._levels = found
        if not moved:
            return self._enter(running, missing)
        # Nothing has come yet, so everything can be put in order anew.
        self._by_time, self._by_count = [], {}
        self.events.clear()
        return [self._enter(each, [NEVER] * len(each.query.streams)) for each in self.queries][-1]

    def remove(self, name: str) -> RunningQuery:
        """Forget a query."""
        if name not in self._running:
            known = ", ".join(self._running) or "none"
            raise UsageError(f"no query '{name}' is registered", hint=f"registered: {known}")
        running = self._running[name]
        if isinstance(running, EventQuery):
            self.events.remove(running)
        else:
            self._schedule(running).remove(name)
        del self._running[name]
        del self._reports[name], self._levels[name]
        if self._memory is not None:
            self._memory.remove(name)
        return running

    def start_over(self, background: Background) -> None:
        """The background is another for all that happens from now on."""
        self._admission.start_over(background)
        for running in self._running.values():
            running.start_over()
        if self._memory is not None:
            self._memory.start_over()

    def begin(self) -> None:
        """Something has arrived, though its time may be in doubt."""
        self._begun = True

    def arrive(self, stream: str, time: int) -> None:
        """A statement has arrived that will be admitted when its time has come."""
        self.begin()
        first, newest = self._seen.get(stream, (time, time))
        self._seen[stream] = (min(first, time), max(newest, time))
        for schedule in self._by_time:
            schedule.arrive(stream, time)

    def next_stop(self, limit: int) -> int | None:
        """The next time, up to a limit, at which admission has to pause."""
        stops = [schedule.next_stop(limit) for schedule in self._by_time]
        return min((stop for stop in stops if stop is not None), default=None)

    @property
    def now(self) -> int:
        """How far time has come."""
        return self._now

    @property
    def shortest_step(self) -> int:
        """How much later than one evaluation of a query the next one is at least; FOREVER: there are none."""
        return min((schedule.shortest_step for schedule in self._by_time), default=FOREVER)

    def pass_over(self, after: int, to: int, most: int) -> None:
        """Pass over evaluations if no statement will be admitted after one time and up to another.

        The queries of a level may construct something at their next stop, so those above go on to there only.
        """
        for schedule in self._by_time:
            schedule.pass_over(after, to, most, self._feeding)
            stop = schedule.next_stop()
            if stop is not None:
                to = min(to, stop - 1)

    def admit(self, stream: str, arrivals: Arrivals) -> None:
        """Let statements of a stream in: in order, and up to the next stop, or late."""
        if not len(arrivals):
            return
        if self._memory is not None and self._memory.follows(stream):
            self._memory.admit(stream, arrivals)
        self._admission.admit("time", stream, arrivals)
        self._newest = max(self._newest, int(arrivals.times[-1]))
        for schedule in self._by_time:
            schedule.admit(stream, arrivals.times)
        numbers = self._numbering.take(stream, len(arrivals))
        self._count(stream, arrivals, numbers)
        each = np.arange(numbers.start, numbers.stop)
        self._give(self.events.admit(stream, arrivals, each, self._now))

    def passed(self, stream: str, time: int) -> None:
        """Statements of a stream up to this time would have been admitted if they mattered."""
        for schedule in self._by_time:
            schedule.passed(stream, time)

    def admitted(self, time: int) -> None:
        """Everything up to `time` has been admitted: events that can have no more statements are over."""
        self._give(self.events.pass_time(time))

    def retract(self, stream: str, arrivals: Arrivals, *, every: bool) -> None:
        """Take statements back."""
        for row in arrivals:
            if self._memory is not None:
                self._memory.retract(stream, row, every=every)
            self._admission.retract(stream, row, every=every)
            self.events.retract(stream, row, every=every)

    def reach(self, time: int) -> list[Result]:
        """Everything up to `time` has been admitted: the answers that are due, and those of counts before."""
        for schedule in self._by_time:
            self._stop(schedule, time, time)
        self._now = time
        here = {name: self._at(running) for name, running in self._running.items()}
        self._admission.forget(self._running.values(), here)
        return self.take()

    def take(self) -> list[Result]:
        """The answers that have come up while statements were admitted."""
        results, self._results = self._results, []
        return results

    def is_busy(self, level: int) -> bool:
        """Whether a query up to this level still has something due."""
        return any(schedule.next_stop() is not None for schedule in self._by_time[: level + 1])

    def end(self, stream: str) -> None:
        """Nothing will arrive on a stream any more, though some may wait to be admitted."""
        for schedule in self._by_time:
            schedule.end(stream)

    def end_count(self, stream: str) -> None:
        """Nothing more will be admitted on a stream: events end, and count windows that hold some fire."""
        if stream in self._by_count:
            schedule = self._by_count[stream]
            schedule.end(stream)
            while (number := schedule.next_stop()) is not None:
                self._stop(schedule, number, self._newest)
        self._give(self.events.end(stream, self._newest))

    def end_level(self, level: int) -> None:
        """The queries of a level have nothing due any more, so what they construct has ended."""
        for name in self.constructed:
            if self._levels[name] == level:
                self.end(name)
                self.end_count(name)

    @property
    def depth(self) -> int:
        """How many levels there are, counts included."""
        return 1 + max(self._levels.values(), default=0)

    # -- going on from a checkpoint ----------------------------------------------------------------

    @property
    def numbers(self) -> dict[str, int]:
        """How many statements of each stream have been admitted."""
        return self._numbering.snapshot()

    def horizon(self, stream: str) -> tuple[int, int]:
        """The time and the number of a stream at or below which nothing matters any more."""
        time, number = self._admission.horizon(stream)
        number = min(number, self.events.before(stream))
        return min([time, *(schedule.compare_after(stream) for schedule in self._by_time)]), number

    def take_made(self) -> dict[str, Arrivals]:
        """What queries have constructed for others to read since the last call; from the first call on."""
        made = {stream: Arrivals.joined(parts) for stream, parts in (self._made or {}).items()}
        self._made = {}
        return made

    def state(self) -> dict[str, Any]:
        """How far everything has come, as plain data, without what is held: for `resume`."""
        return {
            "now": self._now,
            "newest": self._newest,
            "begun": self._begun,
            "seen": self._seen,
            "numbers": self.numbers,
            "thresholds": self._admission.state(),
            "by_time": [schedule.state() for schedule in self._by_time],
            "by_count": {stream: schedule.state() for stream, schedule in self._by_count.items()},
            "tracks": self.events.state(),
            "evaluations": {name: running.evaluations for name, running in self._running.items()},
            "skipped": {name: running.skipped for name, running in self._running.items()},
            "unkeyed": {name: running.unkeyed for name, running in self._running.items()},
            "events": {name: each.events.tally for name, each in self._running.items() if each.events},
        }

    def start_again(
        self, state: Mapping[str, Any], before: Mapping[str, int], memories: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Hold nothing of the streams, of which so many were admitted `before`: for `admit_again`.

        `memories` are what queries remember.
        """
        self.events.start_again(state["tracks"], memories)
        self._admission.start_again(state["thresholds"], before)
        self._numbering = Numbering(dict(before))
        for schedule in [*self._by_time, *self._by_count.values()]:
            schedule.start_again(before)

    def move_again(self, now: int) -> None:
        """What comes next was admitted after everything up to `now`."""
        self._admission.advance_events(now)

    def admit_again(self, stream: str, arrivals: Arrivals, now: int) -> None:
        """Let in once more what was admitted after everything up to `now`: nothing is evaluated."""
        self._admission.admit("time", stream, arrivals)
        for schedule in self._by_time:
            schedule.admit_again(stream, arrivals.times, now)
        numbers = self._numbering.take(stream, len(arrivals))
        self._admission.reach("count", stream, numbers[-1])
        if stream in self._by_count:
            numbered = arrivals.at(np.arange(numbers.start, numbers.stop))
            self._admission.admit("count", stream, numbered)
            self._by_count[stream].admit_again(stream, numbered.times, numbers.start - 1)
        self.events.admit_again(stream, arrivals, np.arange(numbers.start, numbers.stop), now)

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a state, with what it held let in again."""
        self._now, self._newest, self._begun = state["now"], state["newest"], state["begun"]
        self._seen = {stream: (first, newest) for stream, (first, newest) in state["seen"].items()}
        self._numbering = Numbering(state["numbers"])
        for schedule, saved in zip(self._by_time, state["by_time"], strict=True):
            schedule.resume(saved)
        for stream, schedule in self._by_count.items():
            schedule.resume(state["by_count"][stream])
        self.events.resume(state["tracks"])
        for name, count in state["evaluations"].items():
            self._running[name].evaluations = count
            self._running[name].skipped = state["skipped"][name]
            self._running[name].unkeyed = state["unkeyed"][name]
        here = {name: self._at(running) for name, running in self._running.items()}
        self._admission.forget(self._running.values(), here)
        for name, counted in state["events"].items():
            events = self._running[name].events
            assert events is not None
            events.tally = counted

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let what is held lie in a folder from now on; what `state` leaves out besides."""
        schedules = [*self._by_time, *self._by_count.values()]
        return {"tallies": [each.tallies() for each in schedules], **self._admission.park(folder)}

    def adopt(self, state: Mapping[str, Any], folder: Folder, plain: dict[str, Any]) -> None:
        """Go on from a state, with what another has put away."""
        self._admission.adopt(folder, plain)
        for schedule, tallies in zip(
            [*self._by_time, *self._by_count.values()], plain["tallies"], strict=True
        ):
            schedule.adopt(tallies)
        self.resume(state)

    def plan(self) -> dict[str, Any]:
        """How queries are answered and what they share, as plain data."""
        return describe(self._running.values(), self._levels, self._admission.source)

    def _at(self, running: RunningQuery) -> int:
        """How far a query has come on its axis."""
        if running.scopes.axis == "count":
            return self._numbering.count(running.query.streams[0].stream)
        return self._now

    def _enter(self, running: RunningQuery, missing: Sequence[int]) -> int | None:
        query = running.query
        if isinstance(running, EventQuery):
            self.events.add(running, self._reports[query.name])
            return NEVER
        windows = tuple(On(on.stream, on.spec) for on in query.streams)
        entered = Query(query.name, windows, query.every_ms, self._reports[query.name])
        return self._schedule(running).add(entered, missing)

    def _give(self, answered: Iterable[Answered]) -> None:
        """Results are there, of events whose end was known at these times."""
        for result, time in answered:
            if self._explain is not None:
                self._explain(result)
            self._results.append(result)
            self._pass_on(result, time)

    def _schedule(self, running: RunningQuery) -> Schedule:
        if running.scopes.axis == "count":
            stream = running.query.streams[0].stream
            if stream not in self._by_count:
                count = self._numbering.count(stream)
                seen = {stream: (1, count)} if count else {}
                self._by_count[stream] = _schedule("count", seen, count)
            return self._by_count[stream]
        while len(self._by_time) <= self._levels[running.name]:
            self._by_time.append(_schedule("time", self._seen, self._now))
        return self._by_time[self._levels[running.name]]

    def _check_late(self, query: ContinuousQuery, found: dict[str, int]) -> None:
        """Refuse what would change the past of a query that runs already."""
        if any(found[name] != level for name, level in self._levels.items()):
            what = f"the stream <{query.name}> is read already, and streams have begun"
            raise UsageError(
                what, hint="register a query that constructs a stream before the first statement"
            )
        if query.event_window is not None:
            what = f"query '{query.name}' is about events, and streams have begun"
            raise UsageError(what, hint="register it before the first statement")
        counts = any(isinstance(on.spec, CountWindow) for on in query.streams)
        if counts and len({on.stream for on in query.streams}) + (query.every_ms is not None) > 1:
            what = f"query '{query.name}' looks at a count window as time passes, and streams have begun"
            raise UsageError(what, hint="register it before the first statement")

    def _count(self, stream: str, arrivals: Arrivals, numbers: range) -> None:
        """Stop wherever a count window closes among statements of these numbers."""
        schedule = self._by_count.get(stream)
        if schedule is None:
            self._admission.reach("count", stream, numbers[-1])
            return
        numbered = arrivals.at(np.arange(numbers.start, numbers.stop))
        schedule.arrive(stream, numbers[0])
        schedule.arrive(stream, numbers[-1])
        done = 0
        while done < len(numbered):
            stop = schedule.next_stop(numbers[-1])
            end = len(numbered) if stop is None else stop - numbers.start + 1
            self._admission.admit("count", stream, numbered[done:end])
            schedule.admit(stream, numbered.times[done:end])
            self._stop(schedule, numbers[end - 1], int(arrivals.times[end - 1]))
            done = end

    def _stop(self, schedule: Schedule, at: int, time: int) -> None:
        """Read the windows that close at a point of a schedule's axis, then answer what is due."""
        stop = schedule.reach(at)
        readers = {read.query: self._running[read.query] for read in stop.reads}
        for read in stop.reads:
            readers[read.query].read(read)
            if self._memory is not None:
                self._memory.read(read)
        results = evaluate_together((self._running[due.query], due) for due in stop.reports)
        for running in readers.values():
            running.keep()
        if self._memory is not None:
            for due in stop.reports:
                self._memory.evaluated(due)
        if self._explain is not None:
            for result in results:
                self._explain(result)
        self._results += results
        for result in results:
            self._pass_on(result, time)

    def _pass_on(self, result: Result, time: int) -> None:
        """Admit what a query constructs to the queries that read it as a stream."""
        if result.part or self._running[result.query].query.kind is not Kind.STREAM:
            return  # Of parts nobody can read anything yet, and nobody in this job wants to.
        if result.partial is not None:
            self._admission.miss(result.query, time, result.partial)
        count = len(result.answers.rows)
        self._feeding.discard(result.query)
        if not count:
            return
        if any(on.stream == result.query for each in self._running.values() for on in each.query.streams):
            self._feeding.add(result.query)
        # A triple has no part without a value: the answers of CONSTRUCT are made so.
        columns = ([term or "" for term in column] for column in by_column(result.answers.rows, 3))
        s, p, o = map(self._encode, columns)
        arrivals = Arrivals.of([time] * count, s, p, o, [DEFAULT_GRAPH] * count)
        if self._made is not None:
            self._made.setdefault(result.query, []).append(arrivals)
        self.arrive(result.query, time)
        self.admit(result.query, arrivals)


def _schedule(axis: Axis, seen: Mapping[str, tuple[int, int]], now: int) -> Schedule:
    """A schedule that knows what has come before it was there."""
    made = Schedule(axis)
    for stream, (first, newest) in seen.items():
        made.arrive(stream, first)
        made.arrive(stream, newest)
    if now > NEVER:
        made.reach(now)
    return made
