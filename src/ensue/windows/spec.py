"""What a window is: (open, close], with closes at even distances on one axis.

The axis is time in ms (`TimeWindow`, `Landmark`) or sequence numbers (`CountWindow`). A specification
is what the user wrote; its `grid` is the same, normalised: `[open, close)` has become
`(open - 1, close - 1]`, so everything else in Ensue knows one kind of bound only.

Additions saturate: an open is never below NEVER, a close never above FOREVER, and the close at FOREVER
is the last one there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Literal, NamedTuple

from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER

Bounds = Literal["(]", "[)"]


class Window(NamedTuple):
    """One window: what has a stamp above `open` and at most `close`.

    >>> Window(0, 10).holds(10), Window(0, 10).holds(0)
    (True, False)
    """

    open: int
    close: int

    def holds(self, stamp: int) -> bool:
        """Whether a statement with this stamp is in it."""
        return self.open < stamp <= self.close


@dataclass(frozen=True, slots=True)
class Grid:
    """Windows on one axis. Window number k closes at `origin + k * step`, for every k from `first`.

    It opens `length` before; where `length` is None it opens at the origin (a landmark).

    >>> sliding = TimeWindow(range_ms=10, step_ms=5).grid
    >>> sliding.window(3), list(sliding.holding(12))
    (Window(open=5, close=15), [3, 4])
    """

    origin: int
    step: int
    length: int | None
    first: int
    top: int
    """The number of the last window: the first one whose close saturates."""

    def close(self, index: int) -> int:
        """When window number `index` closes."""
        return _saturate(self.origin + index * self.step)

    def window(self, index: int) -> Window:
        """Window number `index`.

        >>> Landmark(t0=100, step_ms=10).grid.window(4)
        Window(open=100, close=140)
        """
        if self.length is None:
            return Window(self.origin, self.close(index))
        # The open is taken from the close before it saturates, or the last window would be too long.
        return Window(_saturate(self.origin + index * self.step - self.length), self.close(index))

    def at_or_after(self, time: int) -> int:
        """The first window that closes at `time` or later."""
        return max(self.first, min(self.top, -((self.origin - time) // self.step)))

    def after(self, time: int) -> int:
        """The first window that closes later than `time`."""
        return self.at_or_after(time + 1)

    def latest(self, time: int) -> int:
        """The last window that has closed by `time`; one before `first`, and empty, if none has.

        >>> grid = Landmark(t0=100, step_ms=10).grid
        >>> grid.latest(139), grid.window(grid.latest(50))
        (3, Window(open=100, close=100))
        """
        if time >= FOREVER:
            return self.top
        return max(self.first - 1, min(self.top - 1, (time - self.origin) // self.step))

    def holding(self, time: int) -> range:
        """The numbers of the windows that hold `time`: none if it falls in a gap between two windows.

        >>> gaps = TimeWindow(range_ms=2, step_ms=5).grid
        >>> [list(gaps.holding(time)) for time in (3, 4, 5)]
        [[], [1], [1]]
        """
        if self.length is None:
            last = self.top if time > self.origin else self.first - 1
        else:
            last = min(self.top, (time - self.origin + self.length - 1) // self.step)
        return range(self.at_or_after(time), last + 1)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A window of `range_ms` that moves every `step_ms`: sliding, tumbling, or with gaps between.

    `t0` is where the closes are aligned to, not where they begin: with t0 in the future (or times
    before it) the windows before t0 are there as well.
    """

    range_ms: int
    step_ms: int
    t0: int = 0
    bounds: Bounds = "(]"

    def __post_init__(self) -> None:
        _check_positive("the range of a window", self.range_ms)
        _check_positive("the step of a window", self.step_ms)
        _check_start(self.t0, self.bounds)

    @property
    def grid(self) -> Grid:
        """The windows, normalised.

        >>> TimeWindow(10, 10, bounds="[)").grid.window(1)
        Window(open=-1, close=9)
        """
        return evenly(self.t0 - _shift(self.bounds), self.step_ms, self.range_ms)


@dataclass(frozen=True, slots=True)
class Landmark:
    """A window that opens at `t0` and stays open; it is looked at every `step_ms`."""

    t0: int
    step_ms: int
    bounds: Bounds = "(]"

    def __post_init__(self) -> None:
        _check_positive("the step of a window", self.step_ms)
        _check_start(self.t0, self.bounds)

    @property
    def grid(self) -> Grid:
        """The windows, normalised."""
        origin = self.t0 - _shift(self.bounds)
        return Grid(origin, self.step_ms, None, 1, _top(origin, self.step_ms))


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `size` statements, looked at after every `step` statements.

    The first windows are not full: there is no need to wait for `size` statements to see some.
    """

    size: int
    step: int

    def __post_init__(self) -> None:
        _check_positive("the size of a count window", self.size)
        _check_positive("the step of a count window", self.step)

    @property
    def grid(self) -> Grid:
        """The windows, over sequence numbers (which start at 1).

        >>> CountWindow(size=3, step=2).grid.window(2)
        Window(open=1, close=4)
        """
        return Grid(0, self.step, self.size, 1, _top(0, self.step))


Spec = TimeWindow | Landmark | CountWindow


def evenly(origin: int, step: int, length: int | None = None) -> Grid:
    """A grid that has no first window: it goes back as far as time does.

    >>> evenly(3, 10).close(-2)
    -17
    """
    return Grid(origin, step, length, (NEVER - origin) // step + 1, _top(origin, step))


def closes_after(spec: Spec, time: int) -> Iterator[int]:
    """The closes later than `time`, in order, without end (up to FOREVER).

    >>> from itertools import islice
    >>> list(islice(closes_after(TimeWindow(10, 5), -7), 3))
    [-5, 0, 5]
    """
    grid = spec.grid
    if time < FOREVER:
        yield from map(grid.close, takewhile(lambda index: index <= grid.top, count(grid.after(time))))


def windows_holding(spec: Spec, time: int) -> Iterator[Window]:
    """The windows that hold a statement of this time, in order (a landmark's without end).

    >>> list(windows_holding(TimeWindow(10, 5), 12))
    [Window(open=5, close=15), Window(open=10, close=20)]
    """
    grid = spec.grid
    return map(grid.window, grid.holding(time))


def first_close(spec: Spec, time: int) -> int | None:
    """The first close that a statement of this time matters to; None if it is in no window.

    >>> first_close(TimeWindow(10, 5), 12), first_close(TimeWindow(2, 5), 3)
    (15, None)
    """
    grid = spec.grid
    numbers = grid.holding(time)
    return grid.close(numbers[0]) if numbers else None


def last_close(spec: Spec, time: int) -> int | None:
    """The last close that a statement of this time matters to; FOREVER for a landmark.

    >>> last_close(TimeWindow(10, 5), 12), last_close(Landmark(0, 5), 12) == FOREVER
    (20, True)
    """
    grid = spec.grid
    numbers = grid.holding(time)
    return grid.close(numbers[-1]) if numbers else None


def shown(spec: Spec, window: Window) -> Window:
    """A window with the numbers of the user's own bounds.

    >>> spec = TimeWindow(10, 10, bounds="[)")
    >>> spec.grid.window(1), shown(spec, spec.grid.window(1))
    (Window(open=-1, close=9), Window(open=0, close=10))
    """
    shift = 0 if isinstance(spec, CountWindow) else _shift(spec.bounds)
    return Window(_saturate(window.open + shift), _saturate(window.close + shift))


def _saturate(time: int) -> int:
    return time if NEVER < time < FOREVER else NEVER if time < 0 else FOREVER


def _shift(bounds: Bounds) -> int:
    return 1 if bounds == "[)" else 0


def _top(origin: int, step: int) -> int:
    return -((origin - FOREVER) // step)


def _check_positive(what: str, number: int) -> None:
    if not 0 < number <= FOREVER:
        raise UsageError(f"{what} is {number}", hint="it must be at least 1 and fit into 64 bits")


def _check_start(t0: int, bounds: str) -> None:
    if not NEVER < t0 < FOREVER:
        raise UsageError(f"t0 = {t0} is not a time in milliseconds", hint="it must fit into 64 bits")
    if bounds not in ("(]", "[)"):
        raise UsageError(f"unknown window bounds '{bounds}'", hint="one of '(]', '[)'")
