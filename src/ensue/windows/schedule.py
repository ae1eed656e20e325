"""When queries are evaluated: one serial order over the closes of all windows.

A window can be read at its close only: when everything up to the close has been admitted, and nothing
beyond. So the engine goes from stop to stop: admit up to the next stop, read the windows that close
there, report the evaluations that are due there, go on.

Reading and reporting are two things because COMPUTE EVERY (when a query is evaluated) need not be STEP
(when its window moves). An evaluation sees the latest window that has closed by then: that window was
read at its close, and only if an evaluation will see it.

    time      0   2   4   6   8  10  12  14  16  18
    STEP 4    |-------|-------|-------|-------|----     closes at 4, 8, 12, 16
    EVERY 6   |-----------|-----------|-----------|     instants at 6, 12, 18
    stops             R   !           R!      R   !     R read, ! report; nobody sees the window of 8

The loop of an engine, with `frontier.py`'s gate and buffer in front:

    for each statement that arrives:
        if gate.is_late(time): run              or a closed window not read yet would still get it
        if gate.admits(stream, time, grids):
            schedule.arrive(stream, time)
            buffer.put(times, statements)
    run:
        while (time := schedule.next_stop(frontier.time)) is not None:
            admit buffer.release(time)          to the maintainer, and tell schedule.admit
            stop = schedule.reach(time)
            read stop.reads, then report stop.reports
        admit buffer.release(frontier.time), then schedule.reach(frontier.time)

The first evaluation is at the first close at or after a query's first statement; when its streams have
ended the last is the last one that sees a statement (or that the newest statement had reached).

A schedule lives on one axis: time, or the sequence numbers of one stream. On the time axis a count
window is seen as it is when the query is evaluated, and moves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER
from ensue.windows.frontier import Times
from ensue.windows.registered import Ahead, Axis, Evaluation, On, Query, Read, Registered, StreamState
from ensue.windows.report import Tally

__all__ = ["Axis", "Evaluation", "On", "Query", "Read", "Schedule", "Stop"]


@dataclass(frozen=True, slots=True)
class Stop:
    """A time at which admission pauses: first the reads, then the reports."""

    time: int
    reads: tuple[Read, ...]
    reports: tuple[Evaluation, ...]


class Schedule:
    """Says where the next stop is and what is due there.

    >>> from ensue.windows.spec import TimeWindow
    >>> schedule = Schedule()
    >>> schedule.add(Query("q", (On("s", TimeWindow(range_ms=10, step_ms=5)),))) == NEVER
    True
    >>> schedule.arrive("s", 12)
    >>> schedule.end("s")
    >>> while (time := schedule.next_stop()) is not None:
    ...     print(schedule.reach(time).reports)
    (Evaluation(query='q', at=15, windows=(Window(open=5, close=15),), exact=True, skipped=None),)
    (Evaluation(query='q', at=20, windows=(Window(open=10, close=20),), exact=True, skipped=None),)
    """

    def __init__(self, axis: Axis = "time") -> None:
        self._axis: Axis = axis
        self._now = NEVER
        self._admitted_to = NEVER
        self._queries: dict[str, Registered] = {}
        self._streams: dict[str, StreamState] = {}
        # What comes next of each query, kept: few events change it, and to ask them all is dear.
        self._ahead: dict[str, Ahead] = {}

    def add(self, query: Query, missing: Sequence[int] | None = None) -> int | None:
        """Register a query; say from which instant on it is exact.

        `missing` says for each window up to which time its stream may not be held. NEVER as the answer
        means from the start; None means never (a landmark that opened before what is held) or that it
        cannot be told (a count window on the time axis). Windows that closed before are not seen.
        """
        if query.name in self._queries:
            raise UsageError(f"query '{query.name}' is registered already", hint="give it another name")
        streams = [self._stream(on.stream) for on in query.windows]
        # At the newest time admitted more may come, and nothing beyond it has: a close there is readable.
        registered = Registered(query, self._axis, streams, max(self._now, self._admitted_to - 1))
        registered.exact_from = registered.find_exact(missing or [NEVER] * len(query.windows))
        self._queries[query.name] = registered
        self._look(registered)
        return registered.exact_from

    def remove(self, name: str) -> None:
        """Forget a query."""
        if name not in self._queries:
            known = ", ".join(self._queries) or "none"
            raise UsageError(f"no query '{name}' is registered", hint=f"registered: {known}")
        del self._queries[name]
        self._ahead.pop(name, None)

    def arrive(self, stream: str, time: int) -> None:
        """A statement has arrived that will be (or was) admitted; from the first one on windows fire."""
        state = self._stream(stream)
        if state.ended:
            raise UsageError(f"stream '{stream}' has ended", hint="end a stream after its last statement")
        state.newest = max(state.newest, time)
        if time < state.first:
            state.first = time
            self._look_again(stream)

    def admit(self, stream: str, times: Times) -> None:
        """These have been admitted: in order and up to the next stop, or late.

        To be told of every one: what windows hold decides which reports are due, and where the end is.
        """
        newest = int(times.max(initial=NEVER))
        self._stream(stream).tally.admit(times, self._now)
        self.passed(stream, newest)
        self._admitted_to = max(self._admitted_to, newest)

    def passed(self, stream: str, time: int) -> None:
        """Statements up to this time have been admitted, or would have been if they mattered."""
        state = self._stream(stream)
        state.admitted = max(state.admitted, time)

    def end(self, stream: str) -> None:
        """Nothing will follow: windows that still hold a statement fire, and then no more."""
        self._stream(stream).ended = True
        self._look_again(stream)

    def next_stop(self, limit: int = FOREVER) -> int | None:
        """The time of the next stop, if the frontier, at `limit`, has reached it."""
        first = min((ahead.stop for ahead in self._ahead.values()), default=None)
        return first if first is not None and first <= limit else None

    def pass_over(self, after: int, to: int, most: int, feeding: Collection[str] = ()) -> None:
        """Pass over evaluations if nothing will be admitted after one time and up to another.

        Of more than `most` evaluations of a query in a row that see the same, only the first two and the last
        one are made. `feeding` are queries whose last results are a stream's statements: all of theirs are.
        """
        for name, query in self._queries.items():
            feeds = name in feeding and query.has_reported
            if name in self._ahead and not feeds and query.pass_over(self._now, after, to, most):
                self._look(query)

    @property
    def shortest_step(self) -> int:
        """How much later than one evaluation of a query the next one is at least; FOREVER: there are none."""
        return min((query.shortest_step for query in self._queries.values()), default=FOREVER)

    def reach(self, time: int) -> Stop:
        """Everything up to `time` has been admitted: what is due here, in order of registration.

        A time before the next stop is fine too: nothing is due, and what is admitted from now on at or
        below it is late.
        """
        if time == self._now:
            return Stop(time, (), ())
        due = self.next_stop()
        if time < self._now or (due is not None and due < time):
            hint = f"it is at {self._now} and its next stop is {due}"
            raise UsageError(f"the schedule cannot go to {time}", hint=hint)
        reads: list[Read] = []
        reports: list[Evaluation] = []
        due_here = [query for query in self._queries.values() if self._stops(query, time)]
        for query in due_here:
            ahead = self._ahead[query.query.name]
            reads.extend(query.read(time, ahead.instant))
            if ahead.instant == time and (evaluation := query.evaluate(time)) is not None:
                reports.append(evaluation)
        self._now = time
        for query in due_here:
            self._look(query)
        self._forget()
        return Stop(time, tuple(reads), tuple(reports))

    def keep_after(self, stream: str) -> int:
        """The threshold at or below which nothing of a stream is in a window still to be read.

        NEVER where it cannot be told: a count window on the time axis goes by sequence number.

        >>> from ensue.windows.spec import TimeWindow
        >>> schedule = Schedule()
        >>> _ = schedule.add(Query("q", (On("s", TimeWindow(range_ms=10, step_ms=5)),)))
        >>> schedule.arrive("s", 12)
        >>> _ = schedule.reach(15)
        >>> schedule.keep_after("s")      # the next window is (10, 20]
        10
        """
        state = self._stream(stream)
        return min((q.keep_after(state, self._now) for q in self._readers(stream)), default=self._now)

    def compare_after(self, stream: str) -> int:
        """The threshold above which the times of a stream still decide when a query reports."""
        state = self._stream(stream)
        readers = (query for query in self._readers(stream) if query.compares)
        return min((query.compare_after(state, self._now) for query in readers), default=FOREVER)

    def state(self) -> dict[str, Any]:
        """How far it has come, as plain data, without the tallies: for `resume`."""
        return {
            "now": self._now,
            "admitted_to": self._admitted_to,
            "streams": {
                name: [it.first, it.newest, it.ended, it.admitted] for name, it in self._streams.items()
            },
            "queries": {name: query.state() for name, query in self._queries.items()},
        }

    def start_again(self, before: Mapping[str, int]) -> None:
        """Count anew, for `admit_again`: so many of each stream were admitted `before`."""
        for name, count in before.items():
            self._stream(name).tally = Tally(count)

    def admit_again(self, stream: str, times: Times, now: int) -> None:
        """Count once more what was admitted after everything up to `now`."""
        self._stream(stream).tally.admit(times, now)

    def tallies(self) -> dict[str, list[Any]]:
        """What `state` leaves out, as plain data; where nobody compares, how many there were is enough."""
        compared = {name: any(each.compares for each in self._readers(name)) for name in self._streams}
        counted = {name: state.tally for name, state in self._streams.items()}
        return {
            name: (tally if compared[name] else Tally(tally.admitted)).state()
            for name, tally in counted.items()
        }

    def adopt(self, tallies: dict[str, list[Any]]) -> None:
        """Go on with tallies that were counted elsewhere: for `resume`."""
        for name, state in tallies.items():
            self._stream(name).tally = Tally.resumed(state)

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state, with what was admitted before counted once more."""
        self._now, self._admitted_to = state["now"], state["admitted_to"]
        for name in {*self._streams, *state["streams"]}:
            stream = self._stream(name)
            nothing = (FOREVER, NEVER, False, NEVER)
            found = state["streams"].get(name, nothing)
            stream.first, stream.newest, stream.ended, stream.admitted = found
        for name, query in self._queries.items():
            query.resume(state["queries"][name])
            self._look(query)

    def _stops(self, query: Registered, time: int) -> bool:
        ahead = self._ahead.get(query.query.name)
        return ahead is not None and ahead.stop == time

    def _look(self, query: Registered) -> None:
        ahead = query.look(self._now)
        if ahead is not None:
            self._ahead[query.query.name] = ahead
        else:
            self._ahead.pop(query.query.name, None)

    def _forget(self) -> None:
        for name, state in self._streams.items():
            if state.tally.is_long():
                thresholds = (query.compare_after(state, self._now) for query in self._readers(name))
                state.tally.forget(min(thresholds, default=self._now))

    def _look_again(self, stream: str) -> None:
        for query in self._readers(stream):
            self._look(query)

    def _readers(self, stream: str) -> list[Registered]:
        return [query for query in self._queries.values() if query.reads_from(self._stream(stream))]

    def _stream(self, name: str) -> StreamState:
        if name not in self._streams:
            self._streams[name] = StreamState()
        return self._streams[name]
