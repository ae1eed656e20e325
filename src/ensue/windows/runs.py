"""Times in order of arrival, with equal neighbours told once: what comes together has mostly one time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensue.model import FOREVER, NEVER
from ensue.windows.frontier import Times


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Times, and how often each is there in a row.

    >>> runs = Runs.of(np.array([5, 5, 7, 5]))
    >>> runs.times.tolist(), runs.counts.tolist(), len(runs), runs.newest
    ([5, 7, 5], [2, 1, 1], 4, 7)
    >>> runs.each().tolist()
    [5, 5, 7, 5]
    """

    times: Times
    counts: NDArray[np.int32]
    _size: int

    @classmethod
    def of(cls, each: Times) -> Runs:
        """The runs of times one by one."""
        if not len(each):
            return cls.told(each, np.empty(0, np.int32))
        ends = np.append(np.flatnonzero(each[1:] != each[:-1]) + 1, len(each))
        return cls(each[ends - 1], np.diff(ends, prepend=0).astype(np.int32), len(each))

    @classmethod
    def one_by_one(cls, each: Times) -> Runs:
        """Times of which each is a run: where it is not worth while to look for neighbours."""
        return cls(each, np.ones(len(each), np.int32), len(each))

    @classmethod
    def told(cls, times: Times, counts: NDArray[np.int32]) -> Runs:
        """These times, so often each."""
        return cls(times, counts, int(counts.sum()))

    @classmethod
    def joined(cls, parts: Sequence[Runs]) -> Runs:
        """One after the other."""
        times = np.concatenate([part.times for part in parts])
        return cls(times, np.concatenate([part.counts for part in parts]), sum(map(len, parts)))

    def each(self) -> Times:
        """The times one by one."""
        return self.times if len(self.times) == self._size else np.repeat(self.times, self.counts)

    @property
    def starts(self) -> NDArray[np.int64]:
        """How many times come before each run, and before the end."""
        return np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])

    def __len__(self) -> int:
        """How many times there are, one by one."""
        return self._size

    @property
    def newest(self) -> int:
        """The greatest time."""
        return int(self.times.max(initial=NEVER))

    @property
    def oldest(self) -> int:
        """The least time."""
        return int(self.times.min(initial=FOREVER))
