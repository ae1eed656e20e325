"""The guard against stamps far in the future: time jumps only where a second statement confirms it.

One broken clock, or one line in other units, would make everything after it late. So a statement whose time
is more than `max_jump` ms ahead of its stream's newest time is *held*: it moves no time and is in no window,
until something of the same stream that arrives after it

    confirms it       a statement near its time or later, a heartbeat at or beyond it, or the end of the
                      stream: it is let in, and time has jumped
    contradicts it    a statement that is more than `max_jump` ms older: it is rejected, a dead letter

A statement of the same time does neither (the statements of one observation share their stamp): it is held,
too. The first statement of a stream has nothing before it to compare with: it is held if it is that far ahead
of the clock.

    arrives     100   101   9999   9999   102         100   101   9999   10002
    let in      100   101                 102         100   101          9999, 10002
    rejected                       9999, 9999
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER
from ensue.windows.frontier import Clock, Times, wall_clock

MAX_JUMP = 86_400_000
"""How many ms the time of a stream may go ahead at once without being confirmed: a day."""

REASON = "its time is far ahead of its stream's, and what came after it was back at the old time"
"""Why a statement was rejected."""

_LOOK = 256
"""So many statements are looked at first for the next one that is far ahead."""

Places = NDArray[np.int64]


def check_jump(max_jump: int | None) -> None:
    """Refuse what is no distance in time."""
    if max_jump is not None and max_jump < 1:
        raise UsageError(f"max_jump is {max_jump} ms", hint="it must be 1 or more; None lets time jump")


class Verdict(NamedTuple):
    """What becomes of statements, by their places: those to let in, in this order, and the others."""

    passed: Places
    rejected: Places
    held: Places
    newest: int
    """The stream's newest time, of what was let in; NEVER: nothing has been."""


def judged(times: Times, newest: int, most: int) -> Verdict:
    """Judge statements in order of arrival, of a stream whose newest time is known (NEVER: it is not).

    >>> verdict = judged(np.array([101, 9999, 102, 9998, 10002]), 100, 1000)
    >>> [part.tolist() for part in verdict[:3]], verdict.newest
    ([[0, 2, 3, 4], [1], []], 10002)
    """
    passed, rejected, held = [_NONE], [_NONE], [_NONE]
    ahead, at = NEVER, 0
    """The time of those that are held, if some are; and which place is looked at."""
    while at < len(times):
        if len(held) == 1:
            far = _next_far(times, at, newest, most)
            passed.append(np.arange(at, far))
            newest, at = max(newest, int(times[at:far].max(initial=NEVER))), far
            if far < len(times):
                ahead = int(times[far])
                held, at = [_NONE, np.arange(far, _end_of_same(times, far))], _end_of_same(times, far)
        elif (time := int(times[at])) == ahead:
            end = _end_of_same(times, at)
            held, at = [*held, np.arange(at, end)], end
        elif time >= ahead - most:
            passed, newest, held = [*passed, *held], max(newest, ahead), [_NONE]
        elif newest == NEVER:
            # Which of the two is wrong a third has to say: until then time is at the older one.
            passed, newest, at = [*passed, np.arange(at, at + 1)], time, at + 1
        else:
            rejected, held = [*rejected, *held], [_NONE]
    return Verdict(np.concatenate(passed), np.concatenate(rejected), np.concatenate(held), newest)


_NONE = np.empty(0, np.int64)


def _next_far(times: Times, at: int, newest: int, most: int) -> int:
    """The first place from `at` on whose time is too far ahead of all before; behind the last if none is."""
    look = _LOOK
    while at < len(times) and newest > NEVER:
        some = times[at : at + look]
        before = np.maximum.accumulate(np.concatenate([[newest], some[:-1]]))
        far = np.flatnonzero(some > np.minimum(before, FOREVER - most) + most)
        if len(far):
            return at + int(far[0])
        at, newest, look = at + len(some), int(max(before[-1], some[-1])), 2 * look
    return at


def _end_of_same(times: Times, at: int) -> int:
    """Where the statements end that have the same time as that at a place, and follow it."""
    end, look = at + 1, _LOOK
    while end < len(times):
        others = np.flatnonzero(times[end : end + look] != times[at])
        if len(others):
            return end + int(others[0])
        end, look = min(len(times), end + look), 2 * look
    return end


T = TypeVar("T")


@dataclass
class JumpGuard(Generic[T]):
    """Holds back what is far ahead on each of some streams.

    What statements are is the caller's: `join` puts parts together, `take` gives those at some places, and
    `times` the time of each.

    >>> def take(times, places): return [times[place] for place in places]
    >>> guard = JumpGuard(1000, lambda parts: sum(parts, []), take, np.array, max)
    >>> [guard.let_in("s", [time]) for time in (100, 101, 9999, 102)]
    [([100], None), ([101], None), ([], None), ([102], [9999])]
    >>> guard.let_in("s", [9999]), guard.heartbeat("s", 9999)
    (([], None), [9999])
    """

    most: int | None
    join: Callable[[list[T]], T]
    take: Callable[[T, Places], T]
    times: Callable[[T], Times]
    last: Callable[[T], int]
    """Gives the greatest time of some; NEVER of none."""
    clock: Clock = wall_clock
    newest: dict[str, int] = field(default_factory=dict)
    held: dict[str, T] = field(default_factory=dict)
    rejected: int = 0
    """How many statements were rejected."""

    def let_in(self, stream: str, came: T) -> tuple[T, T | None]:
        """What of statements and of those held is let in, in order; and what is rejected, if any is."""
        if self.most is None:
            return came, None
        newest, last = self._newest(stream, came), self.last(came)
        if stream not in self.held and newest > NEVER and last <= newest + self.most:
            self.newest[stream] = max(newest, last)
            return came, None
        if stream in self.held:
            came = self.join([self.held.pop(stream), came])
        verdict = judged(self.times(came), newest, self.most)
        self.newest[stream] = verdict.newest
        if len(verdict.held):
            self.held[stream] = self.take(came, verdict.held)
        self.rejected += len(verdict.rejected)
        rejected = self.take(came, verdict.rejected) if len(verdict.rejected) else None
        return self.take(came, verdict.passed), rejected

    def _newest(self, stream: str, came: T) -> int:
        """The stream's newest time. The first statement says what it is, unless the clock contradicts it."""
        known = self.newest.get(stream, NEVER)
        if known > NEVER or stream in self.held or self.last(came) == NEVER or self.most is None:
            return known
        first = int(self.times(came)[0])
        return first if first <= self.clock() + self.most else NEVER

    def heartbeat(self, stream: str, time: int) -> T | None:
        """What is let in because the source promises that nothing at or below a time will follow."""
        if self.most is None:
            return None
        newest = self.newest[stream] = max(time, self.newest.get(stream, NEVER))
        if stream not in self.held or int(self.times(self.held[stream])[0]) > newest + self.most:
            return None
        return self.end(stream)

    def end(self, stream: str) -> T | None:
        """What is let in because nothing at all will follow."""
        found = self.held.pop(stream, None)
        if found is not None:
            self.newest[stream] = max(int(self.times(found)[0]), self.newest.get(stream, NEVER))
        return found

    @property
    def waiting(self) -> int:
        """How many statements are held."""
        return sum(len(self.times(each)) for each in self.held.values())

    def state(self, plain: Callable[[T], Any]) -> dict[str, Any]:
        """How far it is, as plain data: for `resume`."""
        held = {stream: plain(each) for stream, each in self.held.items()}
        return {"newest": self.newest, "held": held, "rejected": self.rejected}

    def resume(self, state: dict[str, Any], read: Callable[[Any], T]) -> None:
        """Go on from a state."""
        self.newest, self.rejected = dict(state["newest"]), state["rejected"]
        self.held = {stream: read(each) for stream, each in state["held"].items()}
