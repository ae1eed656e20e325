"""How far time has come: watermarks, what is late, and the buffer that restores order.

The frontier is the time up to which everything has arrived, as far as is promised: each stream
promises its watermark, and the frontier is the least of them. A statement at or below the frontier
when it arrives is late. Time is whatever the statements and the injected clock say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from time import time_ns
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from ensue.errors import InputError, UsageError
from ensue.model import FOREVER, NEVER
from ensue.windows.spec import Grid

Clock = Callable[[], int]
"""Says what time it is, in ms. Tests pass their own; the engine passes the wall's or none."""


def wall_clock() -> int:
    """The clock of the machine, in ms since 1970."""
    return time_ns() // 1_000_000


MAX_PENDING = 1_000_000
"""How many statements may wait for their time before more are refused."""

LatePolicy = Literal["admit", "drop", "error"]
Missed = Literal["none", "some", "all"]
Times = NDArray[np.int64]
Mask = NDArray[np.bool_]
Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Disorder:
    """What is allowed of a stream, and what happens beyond that.

    With `allowed_ms` d, a statement may be up to d ms older than the newest one seen on its stream,
    so the stream is complete up to `newest - d - 1`: at `newest - d` more may come, even in a stream
    that is perfectly in order (d = 0). None: only heartbeats and the end move its watermark.
    """

    allowed_ms: int | None = 0
    late: LatePolicy = "admit"
    idle_after_ms: int | None = None

    def __post_init__(self) -> None:
        if self.allowed_ms is not None and self.allowed_ms < 0:
            raise UsageError(f"allowed disorder of {self.allowed_ms} ms", hint="it must be 0 or more")
        if self.idle_after_ms is not None and self.idle_after_ms <= 0:
            raise UsageError(f"idle time-out of {self.idle_after_ms} ms", hint="it must be 1 or more")
        if self.late not in ("admit", "drop", "error"):
            raise UsageError(f"unknown policy '{self.late}' for late data", hint="one of admit, drop, error")


@dataclass(slots=True)
class Counters:
    """What became of a stream's statements. Each late one is in exactly one of the `missed_*`."""

    admitted: int = 0
    dropped: int = 0
    missed_none: int = 0
    missed_some: int = 0
    missed_all: int = 0

    @property
    def late(self) -> int:
        """How many came late, whatever became of them."""
        return self.missed_none + self.missed_some + self.missed_all


@dataclass(slots=True)
class _Stream:
    disorder: Disorder
    active_at: int
    watermark: int = NEVER
    ended: bool = False


class Frontier:
    """Follows the streams and says how far time has come. It never goes back.

    >>> frontier = Frontier()
    >>> for name in ("a", "b"): frontier.add(name, Disorder(allowed_ms=10))
    >>> frontier.see("a", 100)
    >>> frontier.time == NEVER        # b has said nothing yet
    True
    >>> frontier.heartbeat("b", 95)   # nothing at or below 95 will follow on b
    >>> frontier.time
    89
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock
        self._streams: dict[str, _Stream] = {}
        self._time = NEVER
        self._may_idle = False

    def add(self, stream: str, disorder: Disorder | None = None) -> None:
        """Follow one more stream. It holds the others back until it speaks, ends, or is idle."""
        if stream in self._streams:
            raise UsageError(f"stream '{stream}' is there already", hint="add each stream once")
        disorder = disorder or Disorder()
        if disorder.idle_after_ms is not None and self._clock is None:
            raise UsageError("an idle time-out needs a clock", hint="pass clock= to Frontier")
        self._may_idle |= disorder.idle_after_ms is not None
        self._streams[stream] = _Stream(disorder, self._now())

    def remove(self, stream: str) -> None:
        """Follow a stream no more: the others need not wait for it."""
        self._stream(stream)
        del self._streams[stream]
        self._time = max(self._time, self._least())

    def see(self, stream: str, time: int) -> None:
        """A statement with this time has arrived (judge it first: see `Gate`)."""
        state = self._open_stream(stream)
        state.active_at = self._now()
        allowed = state.disorder.allowed_ms
        if allowed is not None:
            self._raise(state, time - allowed - 1)

    def heartbeat(self, stream: str, time: int) -> None:
        """The source promises that nothing at or below `time` will follow on this stream."""
        state = self._open_stream(stream)
        state.active_at = self._now()
        self._raise(state, time)

    def advance(self, time: int) -> None:
        """A heartbeat on every stream that has not ended."""
        for name, state in self._streams.items():
            if not state.ended:
                self.heartbeat(name, time)

    def end(self, stream: str) -> None:
        """The source promises that nothing at all will follow. Once all have ended, time is FOREVER."""
        state = self._stream(stream)
        state.ended = True
        self._raise(state, FOREVER)

    @property
    def time(self) -> int:
        """The frontier now. Asking again later may give more, as streams become idle."""
        if self._may_idle:
            self._time = max(self._time, self._least())
        return self._time

    def _raise(self, state: _Stream, watermark: int) -> None:
        if watermark > state.watermark:
            # Only the stream that holds the others back can let time go on: look at the rest then only.
            holds_back = state.watermark <= self._time
            state.watermark = watermark
            if holds_back:
                self._time = max(self._time, self._least())

    def _least(self) -> int:
        if not self._streams:
            return NEVER
        now = self._now()
        awake = [state.watermark for state in self._streams.values() if not _is_idle(state, now)]
        if all(mark == FOREVER for mark in awake) and len(awake) < len(self._streams):
            # Nobody is left to wait for: go as far as any idle stream has promised, not to the end,
            # for an idle stream may wake up.
            return max(state.watermark for state in self._streams.values() if not state.ended)
        return min(awake)

    def copied(self) -> Frontier:
        """Another one that is as far, to see how far it would come."""
        found = copy(self)
        found._streams = {name: copy(state) for name, state in self._streams.items()}
        return found

    def state(self) -> dict[str, Any]:
        """How far each stream has come, as plain data: for `resume`."""
        marks = {name: [state.watermark, state.ended] for name, state in self._streams.items()}
        return {"time": self._time, "streams": marks}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state. Streams that were not there then have said nothing yet."""
        self._time = state["time"]
        for name, (watermark, ended) in state["streams"].items():
            stream = self._stream(name)
            stream.watermark, stream.ended = watermark, ended

    def disorder(self, stream: str) -> Disorder:
        """What was allowed of a stream."""
        return self._stream(stream).disorder

    def _stream(self, name: str) -> _Stream:
        if name not in self._streams:
            known = ", ".join(self._streams) or "none"
            raise UsageError(f"unknown stream '{name}'", hint=f"streams: {known}")
        return self._streams[name]

    def _open_stream(self, name: str) -> _Stream:
        state = self._stream(name)
        if state.ended:
            raise UsageError(f"stream '{name}' has ended", hint="end a stream after its last statement")
        return state

    def _now(self) -> int:
        return self._clock() if self._clock is not None else 0


def _is_idle(state: _Stream, now: int) -> bool:
    after = state.disorder.idle_after_ms
    return not state.ended and after is not None and now - state.active_at >= after


def missed(grids: Iterable[Grid], time: int, frontier: int) -> Missed:
    """Which of the windows that hold `time` have closed by `frontier`.

    >>> from ensue.windows.spec import TimeWindow
    >>> sliding = TimeWindow(range_ms=10, step_ms=5).grid     # 12 is in (5, 15] and (10, 20]
    >>> [missed([sliding], 12, frontier) for frontier in (14, 15, 20)]
    ['none', 'some', 'all']
    """
    some_closed = some_open = False
    for grid in grids:
        numbers = grid.holding(time)
        if numbers:
            some_closed |= grid.close(numbers[0]) <= frontier
            some_open |= grid.close(numbers[-1]) > frontier
    if not some_closed:
        return "none"
    return "some" if some_open else "all"


def _refuse(time: int) -> NoReturn:
    raise InputError(f"{time} is not a time in milliseconds", hint="it must fit into 64 bits")


class Gate:
    """Judges each statement as it arrives: whether it is late, and whether it may still come in.

    >>> from ensue.windows.spec import TimeWindow
    >>> frontier = Frontier()
    >>> frontier.add("s")
    >>> gate = Gate(frontier)
    >>> windows = [TimeWindow(10, 5).grid]
    >>> [gate.admits("s", time, windows) for time in (12, 17, 13, 4)]
    [True, True, True, False]
    >>> gate.counters("s")
    Counters(admitted=3, dropped=1, missed_none=0, missed_some=1, missed_all=1)
    """

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._counters: dict[str, Counters] = {}

    def is_late(self, time: int) -> bool:
        """Whether a statement of this time would be late if it arrived now."""
        return time <= self._frontier.time

    def admits(self, stream: str, time: int, grids: Iterable[Grid], count: int = 1) -> bool:
        """Whether statements of a time may come in; `grids` are the windows over the stream. Counts them."""
        if not NEVER < time < FOREVER:
            _refuse(time)
        counters = self.counters(stream)
        accepted = not self.is_late(time) or self._admits_late(
            stream, time, grids, self._frontier.time, count
        )
        self._frontier.see(stream, time)
        if accepted:
            counters.admitted += count
        else:
            counters.dropped += count
        return accepted

    def admits_all(self, stream: str, times: Times, count: int | None = None) -> bool:
        """Let a batch in at once and count it, if none of it can be late; otherwise do nothing.

        `count`: how many statements have these times; None: as many as there are times.

        >>> frontier = Frontier()
        >>> frontier.add("s", Disorder(allowed_ms=2))
        >>> gate = Gate(frontier)
        >>> gate.admits_all("s", np.array([10, 12, 11])), gate.admits_all("s", np.array([20, 15]))
        (True, False)
        >>> frontier.time
        9
        """
        if not len(times):
            return True
        if self._doubtful(stream, times).any():
            return False
        self._frontier.see(stream, int(times.max()))
        self.counters(stream).admitted += len(times) if count is None else count
        return True

    def runs(self, stream: str, times: Times) -> Iterator[slice]:
        """A batch in parts: those that can be late by themselves, so that what is between can come at once.

        >>> frontier = Frontier()
        >>> frontier.add("s", Disorder(allowed_ms=2))
        >>> [(run.start, run.stop) for run in Gate(frontier).runs("s", np.array([10, 11, 5, 12, 12]))]
        [(0, 2), (2, 3), (3, 5)]
        """
        begin = 0
        for at in np.flatnonzero(self._doubtful(stream, times)).tolist():
            if begin < at:
                yield slice(begin, at)
            yield slice(at, at + 1)
            begin = at + 1
        if begin < len(times):
            yield slice(begin, len(times))

    def _doubtful(self, stream: str, times: Times) -> Mask:
        """Which of a batch can be late as they come, or are no times at all."""
        allowed = self._frontier.disorder(stream).allowed_ms
        doubtful: Mask = (times <= self._frontier.time) | (times >= FOREVER)
        if allowed is not None and not in_order(times):
            doubtful |= _out_of_bound(times, allowed)
        return doubtful

    def counters(self, stream: str) -> Counters:
        """The counters of a stream."""
        if stream not in self._counters:
            self._counters[stream] = Counters()
        return self._counters[stream]

    def resume(self, stream: str, counters: Counters) -> None:
        """Go on counting from there."""
        self._counters[stream] = counters

    def _admits_late(self, stream: str, time: int, grids: Iterable[Grid], frontier: int, count: int) -> bool:
        counters, policy = self.counters(stream), self._frontier.disorder(stream).late
        lost = missed(grids, time, frontier)
        if lost == "none":
            counters.missed_none += count
        elif lost == "some":
            counters.missed_some += count
        else:
            counters.missed_all += count
        if policy == "error":
            raise InputError(
                f"a statement of time {time} on stream '{stream}' is late: the frontier is at {frontier}",
                hint="allow more disorder, or admit or drop what is late",
            )
        return policy == "admit" and lost != "all"


class Buffer:
    """Holds what has arrived and gives it out in order of (time, arrival), up to a time.

    What comes is put behind the rest, and sorted when somebody looks: mostly it is in order already.
    A row is whatever the caller makes of it; all have the same width.

    >>> buffer = Buffer()
    >>> buffer.put(np.array([5, 3, 5, 9]), np.array(["a", "b", "c", "d"]))
    >>> times, rows = buffer.release(5)
    >>> rows.tolist(), len(buffer), buffer.earliest
    (['b', 'a', 'c'], 1, 9)
    """

    def __init__(self) -> None:
        self._parts: list[tuple[Times, Rows]] = []

    def put(self, times: Times, rows: Rows) -> None:
        """Take statements in."""
        if len(times):
            self._parts.append((times, rows))

    def release(self, to: int) -> tuple[Times, Rows]:
        """Give out, and forget, everything up to and at `to`."""
        times, rows = self.waiting()
        count = int(np.searchsorted(times, to, "right"))
        self._parts = [(times[count:], rows[count:])] if count < len(times) else []
        return times[:count], rows[:count]

    @property
    def earliest(self) -> int | None:
        """The least time it holds."""
        return min((int(times.min()) for times, _ in self._parts), default=None)

    @property
    def newest(self) -> int | None:
        """The greatest time it holds."""
        return max((int(times.max()) for times, _ in self._parts), default=None)

    def __len__(self) -> int:
        return sum(len(times) for times, _ in self._parts)

    def waiting(self) -> tuple[Times, Rows]:
        """What it holds, in order."""
        if not self._parts:
            return np.empty(0, np.int64), np.empty(0, np.int32)
        columns = zip(*self._parts, strict=True)
        times, rows = self._parts[0] if len(self._parts) == 1 else map(np.concatenate, columns)
        if not in_order(times):
            # Stable, so that of equal times the first to arrive stays the first.
            order = np.argsort(times, kind="stable")
            times, rows = times[order], rows[order]
        self._parts = [(times, rows)]
        return times, rows


def _out_of_bound(times: Times, allowed: int) -> Mask:
    """Which are older than the newest before them by more than is allowed."""
    # As each comes, time is at most this far: only its own stream moves while a batch comes.
    allowed = min(allowed, FOREVER)
    newest = np.maximum.accumulate(np.maximum(times, NEVER + allowed))
    outside: Mask = times < newest - allowed
    return outside


def in_order(times: Times) -> bool:
    """Whether none is older than the one before it."""
    return bool((times[1:] >= times[:-1]).all())


class ArrivalTimes:
    """Stamps for a source that has no times: when each statement arrived. They never go back.

    >>> wall = iter([10, 12, 11, 13])     # a wall clock that was set back once
    >>> times = ArrivalTimes(lambda: next(wall))
    >>> [times() for _ in range(4)]
    [10, 12, 12, 13]
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = NEVER

    def __call__(self) -> int:
        """The time of a statement that arrives now."""
        self._last = max(self._last, self._clock())
        return self._last
