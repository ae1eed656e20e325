"""When a query is evaluated, over which windows, and what these hold: every millisecond is tried."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache

from query.equivalence.history import Arrival, History, Registered
from windows.reference import HIGH, LOW, instants, latest
from windows.test_spec import every_window

from ensue.model import FOREVER, NEVER
from ensue.windows.registered import On, Query
from ensue.windows.spec import CountWindow, TimeWindow, Window

_latest = lru_cache(10_000)(latest)
"""Every window is looked for many times, among all that there are."""


@lru_cache(10_000)
def _first_close(spec: TimeWindow, time: int) -> int:
    return next(window.close for window in every_window(spec, time, HIGH + 60))


class Runs:
    """The evaluations of one query: when, over which windows, and what these hold."""

    def __init__(self, history: History, registered: Registered) -> None:
        self.history, self.registered = history, registered
        self.query, self.windows = registered.query, registered.windows
        counts = [isinstance(on.spec, CountWindow) for on in self.windows]
        self.on_count = all(counts) and len(self._streams) == 1 and self.query.every_ms is None
        self.moving = [k for k, is_count in enumerate(counts) if is_count == self.on_count]
        self._specs = [_on_axis(on.spec) if self.on_count else on.spec for on in self.windows]
        self._arrivals = {stream: self._on_axis(stream) for stream in self._streams}
        self.since = registered.counted[self.windows[0].stream] if self.on_count else registered.since
        self.instants = self._instants()
        self.last = max((at for at in self.instants if self._is_due(at)), default=NEVER)

    @property
    def _streams(self) -> set[str]:
        return {on.stream for on in self.windows}

    def _on_axis(self, stream: str) -> list[Arrival]:
        """The arrivals; on the axis of counts the time of each is its number."""
        if not self.on_count:
            return self.history.arrivals[stream]
        return [
            Arrival(number, x.statement, number - 1, x.order)
            for number, x in enumerate(self.history.counted(stream), 1)
        ]

    def _instants(self) -> list[int]:
        every = self.query.every_ms
        if not self.moving:
            return [at for at in range(LOW, HIGH) if at % every == 0]
        moving = tuple(On(self.windows[k].stream, self._specs[k]) for k in self.moving)
        return instants(Query(self.query.name, moving, every))

    def __iter__(self) -> Iterator[tuple[int, tuple[Window, ...]]]:
        for at in self.instants:
            windows = tuple(self._latest(k, at) for k in range(len(self.windows)))
            if self._is_due(at) and self._is_readable(windows):
                yield at, windows

    def moment(self, at: int) -> tuple[int, int]:
        """The time of an instant, and the frontier just before; of a number, those of the statement."""
        if not self.on_count:
            return at, at - 1
        stream = self.windows[0].stream
        counted = self.history.counted(stream)
        if at > len(counted):  # The stream has ended, and its newest statement is all that tells the time.
            newest = max(x.time for x in counted)
            return newest, max(newest - 1, self.history.ended_at[stream])
        return counted[at - 1].time, max(counted[at - 1].time - 1, counted[at - 1].frontier)

    def content(self, position: int, window: Window) -> list[Arrival]:
        """What one of the windows holds."""
        stream = self.windows[position].stream
        if position in self.moving:
            return [x for x in self._arrivals[stream] if x.is_in(window)]
        return self.history.counted(stream)[max(0, window.open) : window.close]

    def _latest(self, position: int, at: int) -> Window:
        on = self.windows[position]
        if position in self.moving:
            return _latest(On(on.stream, self._specs[position]), at)
        close = len(self.history.admitted(on.stream, at)) // on.spec.step * on.spec.step
        return Window(close - on.spec.size, close)

    def is_whole(self, windows: tuple[Window, ...]) -> bool:
        """Whether nothing of these windows can have been gone when the query was registered."""
        return all(window.open >= self.since for window in windows)

    def _is_due(self, at: int) -> bool:
        """Whether the query is evaluated at an instant: something came, and not all is over."""
        begun = any(
            x.frontier < at and self._first_close(k, x.time) <= at
            for k, on in enumerate(self.windows)
            for x in self._arrivals[on.stream]
        )
        return begun and at > self.since and (at <= self._goes_on_to() or at <= self._horizon)

    def _first_close(self, position: int, time: int) -> int:
        if position not in self.moving:
            return time
        return _first_close(self._specs[position], time)

    def _is_readable(self, windows: tuple[Window, ...]) -> bool:
        """Whether no window closed, with something in its past, before the query came."""
        for k in self.moving:
            first = min((x.time for x in self._arrivals[self.windows[k].stream]), default=FOREVER)
            if first <= windows[k].close <= self.since:
                return False
        return True

    def _goes_on_to(self) -> int:
        """Up to where time went on while one of the streams had not ended."""
        return NEVER if self.on_count else max(self.history.ended_at[stream] for stream in self._streams)

    @cached_property
    def _horizon(self) -> int:
        """The last instant that sees a statement, or that the newest one had reached."""
        times = [x.time for arrivals in self._arrivals.values() for x in arrivals]
        return max([*times, *(at for at in self.instants if self._sees(at))], default=NEVER)

    def _sees(self, at: int) -> bool:
        for k, on in enumerate(self.windows):
            arrivals = self._arrivals[on.stream]
            if k in self.moving:
                if self.content(k, self._latest(k, at)):
                    return True
            elif arrivals:
                # Once is enough: nothing moves a count window after the last statement.
                newest = max(x.time for x in arrivals)
                if at == min(instant for instant in self.instants if instant >= newest):
                    return True
        return False


def _on_axis(spec: CountWindow) -> TimeWindow:
    """A count window as a time window over sequence numbers, which start at 1."""
    return TimeWindow(spec.size, spec.step)
