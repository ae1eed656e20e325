"""Windows without scalar stamps: their copies are collected at the close, and closed from scratch."""

from __future__ import annotations

from collections.abc import Iterable

from ensue.model import NEVER
from ensue.query.arrivals import Arrival
from ensue.windows.spec import Window

_GONE: Arrival = (NEVER, 0, 0, 0, 0)
"""What stands in a log where a copy was that has been retracted: it is in no window."""


class StreamLog:
    """The copies of one stream, in order of admission, as long as a loose window may hold them.

    >>> log = StreamLog()
    >>> log.add([(10, 1, 2, 3, 0), (20, 1, 2, 4, 0), (30, 1, 2, 5, 0)])
    >>> len(log.within(Window(10, 30))), len(log.numbered(Window(0, 2)))
    (2, 2)
    >>> log.retract((0, 1, 2, 4, 0), every=False), len(log.within(Window(0, 30)))
    (1, 2)
    >>> log.forget(before_time=20, before_number=9)
    >>> len(log)
    1
    """

    def __init__(self, missing: int = NEVER) -> None:
        self.missing = missing
        """The time up to which some of the stream is not here."""
        self._arrivals: list[Arrival] = []
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._arrivals)

    def start_again(self, before: int) -> None:
        """Hold nothing: so many were admitted `before`."""
        self._arrivals, self._dropped = [], before

    def add(self, arrivals: Iterable[Arrival]) -> None:
        """Take copies in, in order of admission."""
        self._arrivals.extend(arrivals)

    def within(self, window: Window) -> list[Arrival]:
        """The copies whose time is in a window."""
        return [arrival for arrival in self._arrivals if window.holds(arrival[0])]

    def numbered(self, window: Window) -> list[Arrival]:
        """The copies whose number on the stream (from 1) is in a window."""
        first, last = (max(0, number - self._dropped) for number in window)
        return [arrival for arrival in self._arrivals[first:last] if arrival is not _GONE]

    def retract(self, row: Arrival, *, every: bool) -> int:
        """Take back the newest (or `every`) copy of a statement; numbers stay as they are."""
        found = [k for k, each in enumerate(self._arrivals) if each[1:] == row[1:]]
        chosen = found if every else sorted(found, key=lambda k: (self._arrivals[k][0], k))[-1:]
        for k in chosen:
            self._arrivals[k] = _GONE
        return len(chosen)

    def forget(self, before_time: int, before_number: int) -> None:
        """Drop what is at or below both, as far as nothing to be kept came before it."""
        count = 0
        while count < len(self._arrivals) and self._dropped + count < before_number:
            if self._arrivals[count][0] > before_time:
                break
            count += 1
        self.missing = max([self.missing, *(arrival[0] for arrival in self._arrivals[:count])])
        del self._arrivals[:count]
        self._dropped += count

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers still in use."""
        return [[term for arrival in self._arrivals for term in arrival[1:]]]
