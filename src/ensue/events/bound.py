"""How long what is composed may last: within a length of time, and inside a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensue.events.occurrences import Times
from ensue.model import FOREVER
from ensue.windows.spec import Grid


@dataclass(frozen=True, slots=True)
class Bound:
    """What lasts longer than `within`, or lies in no window of the grid, is none.

    >>> from ensue.windows.spec import TimeWindow
    >>> bound = Bound(TimeWindow(range_ms=10, step_ms=5).grid, within=8)
    >>> bound.until(np.array([1, 5])).tolist(), bound.span
    ([9, 10], 8)
    """

    grid: Grid
    within: int | None = None

    def shorter(self, within: int | None) -> Bound:
        """The same with one more limit."""
        if within is None or (self.within is not None and self.within <= within):
            return self
        return Bound(self.grid, within)

    @property
    def whole(self) -> Bound:
        """What the window alone allows."""
        return Bound(self.grid)

    @property
    def span(self) -> int | None:
        """The longest that anything can last; None: for ever."""
        lengths = [self.within, None if self.grid.length is None else self.grid.length - 1]
        return min((length for length in lengths if length is not None), default=None)

    def deadline(self, start: Times) -> Times:
        """The close of the last window that holds something with this start; before it, if none does."""
        length, origin, step = self.grid.length, self.grid.origin, self.grid.step
        if length is None:
            return np.full(len(start), FOREVER)
        return origin + (start - origin + length - 1) // step * step

    def until(self, start: Times) -> Times:
        """The last instant at which something can end that has this start."""
        last = self.deadline(start)
        return last if self.within is None else np.minimum(last, start + self.within)

    def holds(self, start: Times, end: Times) -> NDArray[np.bool_]:
        """Whether occurrences with these starts and ends are within it."""
        found: NDArray[np.bool_] = end <= self.until(start)
        return found
