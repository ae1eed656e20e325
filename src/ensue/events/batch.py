"""What came in one step, as matchers see it: facts, stated and derived, in the order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensue.events.occurrences import Column, Times

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Facts with the time and the number of the copy that each is, or is derived from by linear rules."""

    time: Times
    copy: Times
    stream: Column
    """The number of the stream that the copy came on."""
    s: Column
    p: Column
    o: Column
    key: Column | None = None
    """The key of the partition that each is in; None: the query is not partitioned."""

    def __len__(self) -> int:
        return len(self.time)

    def take(self, which: Column) -> Batch:
        """Some of them, by a mask or by number."""
        return Batch(
            self.time[which],
            self.copy[which],
            self.stream[which],
            self.s[which],
            self.p[which],
            self.o[which],
            None if self.key is None else self.key[which],
        )
