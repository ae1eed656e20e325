"""One registered query: at which instants it is evaluated, and which windows it then sees.

Everything here follows from the query, from what has come on its streams, and from how far admission
has gone; `schedule.py` puts the queries in one order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER
from ensue.windows.report import Glimpse, Report, Tally
from ensue.windows.spec import CountWindow, Grid, Spec, Window, evenly
from ensue.windows.stretch import Stretch, count_instants

Axis = Literal["time", "count", "event"]
"""What windows move along. On `event` every event of a stream is a step: that takes no schedule."""


class On(NamedTuple):
    """A window over a stream."""

    stream: str
    spec: Spec


@dataclass(frozen=True, slots=True)
class Query:
    """What the schedule knows of a query: its windows, and when it is evaluated and reports.

    Without `every_ms` it is evaluated whenever one of its windows closes.
    """

    name: str
    windows: tuple[On, ...]
    every_ms: int | None = None
    report: Report = field(default_factory=Report)


@dataclass(frozen=True, slots=True)
class Read:
    """The window number `position` of a query closes here: read it now, or never."""

    query: str
    position: int
    window: Window


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A query's answers over these windows (one for each of the query's `windows`) are due `at`.

    It is `exact` unless the query was registered when retention had already let go of some of it.
    """

    query: str
    at: int
    windows: tuple[Window, ...]
    exact: bool = True
    skipped: Stretch | None = None
    """The evaluations just before it that were passed over, since they would have seen the same."""


class Ahead(NamedTuple):
    """The next stop of a query, and the evaluation that it stops at or reads a window for."""

    stop: int
    instant: int


@dataclass(slots=True, eq=False)
class StreamState:
    """What has come on a stream so far."""

    first: int = FOREVER
    newest: int = NEVER
    ended: bool = False
    admitted: int = NEVER
    """The newest time that has been admitted."""
    tally: Tally = field(default_factory=Tally)


class _Jump(NamedTuple):
    """Evaluations to be passed over, and the instant of the one that follows them."""

    over: Stretch
    to: int


class Registered:
    """A query as it runs. What closed at or before `added_at` was over when it was registered."""

    def __init__(self, query: Query, axis: Axis, streams: list[StreamState], added_at: int) -> None:
        _check(query, axis)
        self.query = query
        self.exact_from: int | None = NEVER
        self._streams = streams
        self._added_at = added_at
        self._grids = [on.spec.grid for on in query.windows]
        self._moving = {
            position: self._grids[position]
            for position, on in enumerate(query.windows)
            if isinstance(on.spec, CountWindow) == (axis == "count")
        }
        self._instants = _instants(query, list(self._moving.values()))
        self._last_read: dict[int, Glimpse] = {}
        self._last_seen: dict[int, Glimpse] = {}
        self._jump: _Jump | None = None
        self.has_reported = False
        """Whether the last evaluation was worth a report."""

    def reads_from(self, stream: StreamState) -> bool:
        """Whether one of its windows is over this stream."""
        return stream in self._streams

    def state(self) -> dict[str, Any]:
        """Which windows were read and seen last, as plain data: for `resume`."""
        return {"read": _plain(self._last_read), "seen": _plain(self._last_seen)}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._last_read, self._last_seen = _glimpses(state["read"]), _glimpses(state["seen"])

    def look(self, now: int) -> Ahead | None:
        """What comes after `now`: nothing before a statement has come, nothing after the last sight."""
        now = max(now, self._added_at)
        start = self._start()
        if start is None or now >= FOREVER:
            return None
        instant = _first_instant(self._instants, max(now + 1, start))
        if self._jump is not None and self._jump.over.first <= instant <= self._jump.over.last:
            instant = self._jump.to
        if self._is_over() and instant > self._horizon():
            return None
        closes = [close for close in self._closes_by(instant) if now < close]
        return Ahead(min(closes, default=instant), instant)

    def pass_over(self, now: int, after: int, to: int, most: int) -> bool:
        """Pass over what comes after `now` if nothing is admitted after `after` and up to `to`.

        Only where it is one of more than `most` evaluations in a row that see the same, and neither among the
        first two of them nor the last. Says whether that is so.
        """
        ahead = self.look(now)
        if self._is_over():
            to = min(to, self._horizon())
        if ahead is None or (self._jump is not None and ahead.instant == self._jump.to):
            return False
        first = self._first_of_the_same(after)
        last = _last_instant(self._instants, to)
        if not _first_instant(self._instants, first + 1) < ahead.instant < last:
            return False
        if count_instants(self._instants, first - 1, last) <= most:
            return False
        count = count_instants(self._instants, ahead.instant - 1, last - 1)
        self._jump = _Jump(Stretch(count, ahead.instant, _last_instant(self._instants, last - 1)), last)
        return True

    def _first_of_the_same(self, after: int) -> int:
        """The first instant after a time at which nothing admitted so far will enter or leave a window."""
        least = after + 1
        for position, grid in self._moving.items():
            newest = self._streams[position].admitted
            if newest > NEVER:
                least = max(least, grid.close(grid.at_or_after(newest + (grid.length or 0))))
        return _first_instant(self._instants, least)

    @property
    def shortest_step(self) -> int:
        """How much later than one evaluation the next one is at least, of the same grid."""
        return min(grid.step for grid in self._instants)

    def _closes_by(self, instant: int) -> Iterator[int]:
        """When the windows close that an evaluation at an instant sees, if anything can be in them."""
        for position, grid in self._moving.items():
            number = grid.latest(instant)
            if number >= grid.first and grid.close(number) >= self._streams[position].first:
                yield grid.close(number)

    def read(self, time: int, instant: int) -> Iterator[Read]:
        """The windows that close at `time` and that the evaluation at `instant` will see."""
        for position, grid in self._moving.items():
            window = grid.window(grid.latest(instant))
            if window.close == time:
                self._last_read[position] = self._streams[position].tally.glimpse(window)
                yield Read(self.query.name, position, window)

    def evaluate(self, at: int) -> Evaluation | None:
        """The evaluation at an instant, unless a window could not be read or nothing is to report."""
        skipped, self._jump = self._jump.over if self._jump is not None else None, None
        windows = tuple(self._window(position, at) for position in range(len(self._streams)))
        self.has_reported = self._readable(windows) and self._worth_a_report(windows)
        if not self.has_reported:
            return None
        exact = self.exact_from is not None and at >= self.exact_from
        return Evaluation(self.query.name, at, windows, exact, skipped)

    def keep_after(self, stream: StreamState, now: int) -> int:
        """The threshold at or below which nothing of a stream is in a window still to be read."""
        if self._is_over() and self.look(now) is None:
            return now
        counted = (state for position, state in enumerate(self._streams) if position not in self._moving)
        return NEVER if stream in counted else self._opens_at(stream, now)

    def compare_after(self, stream: StreamState, now: int) -> int:
        """The same for the times of a tally, which the windows seen last are compared by as well."""
        seen = (self._last_seen[position] for position in self._moving if position in self._last_seen)
        return min([self._opens_at(stream, now), *(glimpse.window.open for glimpse in seen)])

    @property
    def compares(self) -> bool:
        """Whether what its windows hold decides when it reports, or when it reports last."""
        return self.query.report.on != "close" or self.query.every_ms is not None

    def _opens_at(self, stream: StreamState, now: int) -> int:
        """Where the next window to close opens; `now`, if that is earlier."""
        grids = (grid for position, grid in self._moving.items() if self._streams[position] is stream)
        return min([now, *(grid.window(grid.after(now)).open for grid in grids)])

    def find_exact(self, missing: Sequence[int]) -> int | None:
        """From which instant on every window is held whole; see `Schedule.add`."""
        closes: list[int] = []
        for position, stream in enumerate(self._streams):
            if stream.first > self._added_at:
                continue  # Nothing of it has been admitted, so nothing of it can be gone.
            held = missing[position] if missing[position] >= stream.first else NEVER
            close = self._whole_from(position, held)
            if close is None:
                return None
            closes.append(close)
        return _first_instant(self._instants, max(closes)) if closes else NEVER

    def _whole_from(self, position: int, held: int) -> int | None:
        """The first close from which on a window opens at `held` or later."""
        grid = self._moving.get(position)
        if grid is None:
            return self._added_at + 1 if held == NEVER else None
        index = grid.after(self._added_at)
        if grid.length is not None:
            index = max(index, grid.at_or_after(held + grid.length))
        elif held > grid.origin:
            return None
        elif grid.origin >= self._added_at:
            return self._added_at + 1
        return grid.close(index)

    def _window(self, position: int, at: int) -> Window:
        grid = self._grids[position]
        reached = at if position in self._moving else self._streams[position].tally.admitted
        return grid.window(grid.latest(reached))

    def _readable(self, windows: tuple[Window, ...]) -> bool:
        """Whether no window closed, with something in its past, before the query was registered."""
        return not any(
            self._streams[position].first <= windows[position].close <= self._added_at
            for position in self._moving
        )

    def _worth_a_report(self, windows: tuple[Window, ...]) -> bool:
        now = {position: self._glimpse(position, window) for position, window in enumerate(windows)}
        before, self._last_seen = self._last_seen, now
        if self.query.report.on == "close":
            return True
        if self.query.report.on == "content":
            return not all(glimpse.empty for glimpse in now.values())
        return any(self._changed(position, before.get(position), now[position]) for position in now)

    def _glimpse(self, position: int, window: Window) -> Glimpse:
        if position in self._moving:
            # A window that was not read closed before anything came: it is empty.
            return self._last_read.get(position, Glimpse(window, 0, empty=True))
        return Glimpse(window, window.close, empty=window.close == 0)

    def _changed(self, position: int, before: Glimpse | None, now: Glimpse) -> bool:
        if before is None:
            return not now.empty
        if position in self._moving:
            return self._streams[position].tally.changed(before, now)
        return before.window != now.window

    def _start(self) -> int | None:
        """The first close at or after the first statement: before it, there is nothing to see."""
        starts: list[int] = []
        for position, stream in enumerate(self._streams):
            if stream.first < FOREVER:
                grid = self._moving.get(position)
                starts.append(grid.close(grid.at_or_after(stream.first)) if grid else stream.first)
        return min(starts, default=None)

    def _is_over(self) -> bool:
        return all(stream.ended for stream in self._streams)

    def _horizon(self) -> int:
        """The last instant that can be, now that the streams have ended."""
        newest = max(stream.newest for stream in self._streams)
        return max([newest, *(self._last_sight(position) for position in range(len(self._streams)))])

    def _last_sight(self, position: int) -> int:
        """The last time at which an evaluation sees a window that holds a statement of its stream."""
        stream, grid = self._streams[position], self._moving.get(position)
        if stream.newest == NEVER:
            return NEVER
        if grid is None:
            return _first_instant(self._instants, stream.newest)
        numbers = grid.holding(stream.newest)
        if grid.length is None:
            # A landmark holds it for ever; once is enough.
            return _first_instant(self._instants, grid.close(numbers[0])) if numbers else NEVER
        if numbers:
            end = FOREVER if numbers[-1] == grid.top else grid.close(numbers[-1] + 1) - 1
            if _first_instant(self._instants, grid.close(numbers[0])) <= end:
                return end
        return self._last_sight_of_the_window_before(position, grid)

    def _last_sight_of_the_window_before(self, position: int, grid: Grid) -> int:
        """The same where no evaluation sees the newest statement, but one may see older ones again."""
        stream, read = self._streams[position], self._last_read.get(position)
        window = grid.window(grid.latest(stream.newest))
        if window.close < stream.first or (read is not None and read.window == window and read.empty):
            return NEVER
        return grid.close(grid.after(stream.newest)) - 1


def _plain(glimpses: dict[int, Glimpse]) -> dict[str, Any]:
    return {str(at): [*it.window, it.admitted, it.empty] for at, it in glimpses.items()}


def _glimpses(plain: dict[str, Any]) -> dict[int, Glimpse]:
    return {
        int(at): Glimpse(Window(open_, close), admitted, empty)
        for at, (open_, close, admitted, empty) in plain.items()
    }


def _first_instant(instants: list[Grid], time: int) -> int:
    return min(grid.close(grid.at_or_after(time)) for grid in instants)


def _last_instant(instants: list[Grid], time: int) -> int:
    latest = ((grid, grid.latest(time)) for grid in instants)
    return max((grid.close(number) for grid, number in latest if number >= grid.first), default=NEVER)


def _instants(query: Query, grids: list[Grid]) -> list[Grid]:
    """When a query is evaluated, as the closes of grids."""
    if query.every_ms is not None:
        # Aligned to the first window, so that EVERY = STEP means the closes, whatever the bounds.
        grids = [evenly(grids[0].origin if grids else 0, query.every_ms)]
    nth = query.report.nth
    if nth == 1:
        return grids
    if any((grid.origin, grid.step) != (grids[0].origin, grids[0].step) for grid in grids):
        what = f"query '{query.name}' reports every {nth} evaluations, but its windows do not step together"
        raise UsageError(what, hint="say when it is evaluated: COMPUTE EVERY")
    return [evenly(grids[0].origin, grids[0].step * nth)]


def _check(query: Query, axis: Axis) -> None:
    name, every = f"query '{query.name}'", query.every_ms
    counts = [isinstance(on.spec, CountWindow) for on in query.windows]
    if not counts:
        raise UsageError(f"{name} has no window", hint="a continuous query reads at least one stream")
    if every is not None and every <= 0:
        raise UsageError(f"{name} is evaluated every {every} ms", hint="it must be 1 or more")
    if axis == "time" and every is None and all(counts):
        hint = "schedule it on the count axis, or say COMPUTE EVERY"
        raise UsageError(f"{name} has count windows only, which do not close with time", hint=hint)
    one_stream = len({on.stream for on in query.windows}) == 1
    if axis == "count" and not (every is None and all(counts) and one_stream):
        hint = "schedule it on the time axis"
        raise UsageError(f"{name} does not go by the sequence numbers of one stream alone", hint=hint)
