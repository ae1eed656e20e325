"""Integers in a row, put behind and taken away in front, many at once."""

from __future__ import annotations

import numpy as np

from ensue.windows.frontier import Times

_FIRST = 64


class Appended:
    """A column that grows behind by doubling, and shrinks in front by moving on.

    >>> column = Appended()
    >>> column.extend(np.array([3, 5, 9]))
    >>> column.drop_first(1)
    >>> column.all.tolist(), len(column)
    ([5, 9], 2)
    """

    def __init__(self) -> None:
        self._room = np.empty(_FIRST, np.int64)
        self._begin = self._end = 0

    def __len__(self) -> int:
        return self._end - self._begin

    @property
    def all(self) -> Times:
        """What is in it: to be read, until the next change."""
        return self._room[self._begin : self._end]

    def extend(self, values: Times) -> None:
        """Put values behind."""
        if self._end + len(values) > len(self._room):
            self._make_room(len(values))
        self._room[self._end : self._end + len(values)] = values
        self._end += len(values)

    def drop_first(self, count: int) -> None:
        """Take so many away in front."""
        self._begin += count

    def drop_last(self) -> None:
        """Take the last one away."""
        self._end -= 1

    def _make_room(self, more: int) -> None:
        """Move everything to the front, of a larger array unless half of this one is free."""
        held, needed = self.all, len(self) + more
        room = self._room if 2 * needed <= len(self._room) else np.empty(max(_FIRST, 2 * needed), np.int64)
        room[: len(held)] = held.copy() if room is self._room else held
        self._room, self._begin, self._end = room, 0, len(held)
