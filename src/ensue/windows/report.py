"""Which evaluations are worth a report: all, those whose content changed, those with content.

The content of a window is its copies (not its statements: a second copy is a change). To tell what
changed without keeping the copies, a `Tally` keeps how many came at each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ensue.errors import UsageError
from ensue.model import NEVER
from ensue.windows.appended import Appended
from ensue.windows.frontier import Times, in_order
from ensue.windows.spec import Window

_SHORT = 1024
"""Entries of a tally that are not worth a look for what can go."""


@dataclass(frozen=True, slots=True)
class Report:
    """When a query reports: `on` says what its windows must show, `nth` keeps every n-th instant only.

    `nth` goes by the instant's number on its axis, not by when the query was registered, so a query
    that is registered again reports at the same instants.
    """

    on: Literal["close", "change", "content"] = "close"
    nth: int = 1

    def __post_init__(self) -> None:
        if self.on not in ("close", "change", "content"):
            raise UsageError(f"unknown report policy '{self.on}'", hint="one of close, change, content")
        if self.nth < 1:
            raise UsageError(f"a report every {self.nth} evaluations", hint="it must be 1 or more")


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What a window held when it was read: the copies in it among the first `admitted` ones."""

    window: Window
    admitted: int
    empty: bool


class Tally:
    """How many copies of one stream were admitted at each time.

    >>> tally = Tally()
    >>> tally.admit(np.array([3, 5, 5, 9]))
    >>> before = tally.glimpse(Window(0, 5))
    >>> tally.count(Window(3, 9)), tally.changed(before, tally.glimpse(Window(2, 7)))
    (3, False)
    >>> tally.changed(before, tally.glimpse(Window(3, 8)))      # 3 has left
    True
    """

    def __init__(self, before: int = 0) -> None:
        """`before`: how many were admitted that are forgotten already."""
        self.admitted = self._dropped = before
        self._times = Appended()
        self._up_to = Appended()
        """How many there were up to and at each of the times."""
        self._kept = 0
        # Few, if the stream keeps to its bound; each with how many copies came before it.
        self._stragglers: list[tuple[int, int]] = []

    def admit(self, times: Times, frontier: int = NEVER) -> None:
        """Count copies. One at or below `frontier`, or older than one before it, is a straggler."""
        if not len(times):
            return
        if times[0] >= max(frontier + 1, self._newest()) and in_order(times):
            self._append(times)
            return
        newest = np.maximum.accumulate(np.maximum(times, self._newest()))
        late = (times <= frontier) | (times < newest)
        at = np.flatnonzero(late)
        numbers = self.admitted + at + 1
        self._append(times[~late])
        self.admitted += len(at)
        self._stragglers += zip(times[at].tolist(), numbers.tolist(), strict=True)

    def _newest(self) -> int:
        return int(self._times.all[-1]) if len(self._times) else NEVER

    def _append(self, times: Times) -> None:
        """Count copies that are in order and no older than the last."""
        if not len(times):
            return
        ends = np.append(np.flatnonzero(times[1:] != times[:-1]) + 1, len(times))
        before = int(self._up_to.all[-1]) if len(self._up_to) else self._dropped
        if times[0] == self._newest():
            self._times.drop_last()
            self._up_to.drop_last()
        self._times.extend(times[ends - 1])
        self._up_to.extend(before + ends)
        self.admitted += len(times)

    def count(self, window: Window) -> int:
        """How many copies a window holds now."""
        late = sum(window.holds(time) for time, _ in self._stragglers)
        return late + self._ordered(window.open, window.close)

    def glimpse(self, window: Window) -> Glimpse:
        """What a window holds now, to be compared later."""
        return Glimpse(window, self.admitted, self.count(window) == 0)

    def changed(self, before: Glimpse, now: Glimpse) -> bool:
        """Whether the content differs between two glimpses, each taken at the close of its window."""
        (old_open, old_close), (new_open, new_close) = before.window, now.window
        if self._ordered(max(new_open, old_close), new_close):
            return True
        if self._ordered(old_open, min(new_open, old_close)):
            return True
        return any(_saw(before, time, number) != _saw(now, time, number) for time, number in self._stragglers)

    def __len__(self) -> int:
        """How many entries it keeps."""
        return len(self._times) + len(self._stragglers)

    def is_long(self) -> bool:
        """Whether it has doubled since `forget` last looked: so forgetting costs O(1) a copy."""
        return len(self) > max(_SHORT, 2 * self._kept)

    def forget(self, threshold: int) -> None:
        """Drop what is at or below a threshold: no glimpse will be compared with it any more."""
        self._stragglers = [entry for entry in self._stragglers if entry[0] > threshold]
        gone = int(np.searchsorted(self._times.all, threshold, "right"))
        if gone:
            self._dropped = int(self._up_to.all[gone - 1])
            self._times.drop_first(gone)
            self._up_to.drop_first(gone)
        self._kept = len(self)

    def state(self) -> list[Any]:
        """Everything, as plain data: for `resumed`."""
        times, up_to = self._times.all.tolist(), self._up_to.all.tolist()
        return [self._dropped, self.admitted, self._kept, times, up_to, self._stragglers]

    @classmethod
    def resumed(cls, state: list[Any]) -> Tally:
        """A tally that goes on from a state."""
        made = cls(state[0])
        _, made.admitted, made._kept, times, up_to, stragglers = state
        made._times.extend(np.array(times, np.int64))
        made._up_to.extend(np.array(up_to, np.int64))
        made._stragglers = [(time, number) for time, number in stragglers]
        return made

    def _ordered(self, after: int, to: int) -> int:
        return max(0, self._before(to) - self._before(after))

    def _before(self, time: int) -> int:
        index = int(np.searchsorted(self._times.all, time, "right"))
        return int(self._up_to.all[index - 1]) if index else self._dropped


def _saw(glimpse: Glimpse, time: int, number: int) -> bool:
    return number <= glimpse.admitted and glimpse.window.holds(time)
