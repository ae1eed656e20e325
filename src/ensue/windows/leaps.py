"""The moves of time by one arrival that are so far that many evaluations of a query may lie within.

Which evaluations are passed over must not depend on how arrivals are cut into batches. So they are passed
over only within a *leap*: a long move of the frontier by one arrival, heartbeat or end.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from ensue.model import FOREVER, NEVER
from ensue.windows.frontier import Frontier, Times
from ensue.windows.stretch import Leap


class Leaps:
    """Follows a frontier, and keeps those of its moves that are longer than `least`.

    >>> frontier = Frontier()
    >>> frontier.add("s")
    >>> leaps = Leaps(frontier)
    >>> leaps.least = 100
    >>> times = np.array([10, 20, 500, 510])
    >>> frontier.see("s", 510)
    >>> leaps.moved("s", times)
    >>> leaps.next(9), leaps.next(499)
    (Leap(start=19, end=499), None)
    """

    def __init__(self, frontier: Frontier) -> None:
        self.least = FOREVER
        self._frontier = frontier
        self._at = NEVER
        self._found: deque[Leap] = deque()

    def moved(self, stream: str | None = None, times: Times | None = None) -> None:
        """Look how far time has moved: by one event, or by arrivals of these times on a stream."""
        start, self._at = self._at, self._frontier.time
        if self._at - start <= self.least:
            return
        path = np.array([start, self._at])
        if stream is not None and times is not None:
            allowed = min(self._frontier.disorder(stream).allowed_ms or 0, FOREVER)
            marks = np.maximum.accumulate(np.maximum(times, NEVER + allowed + 1)) - (allowed + 1)
            path = np.concatenate([path[:1], np.clip(marks, start, self._at), path[1:]])
        # Unsigned: from NEVER to FOREVER is farther than an int64 can say.
        far = np.diff(path.view(np.uint64)) > np.uint64(self.least)
        for at in np.flatnonzero(far).tolist():
            self._found.append(Leap(int(path[at]), int(path[at + 1])))

    def next(self, now: int) -> Leap | None:
        """The leap that time is in, or that comes next, if it has come to `now`."""
        while self._found and self._found[0].end <= now:
            self._found.popleft()
        return self._found[0] if self._found else None

    def clear(self) -> None:
        """Forget them: time is somewhere else."""
        self._found.clear()
        self._at = self._frontier.time
