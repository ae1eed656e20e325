"""What is remembered because something to come may complete it: rows by key, each with its lifetime."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ensue.events.occurrences import Column, Occurrences, Times, keyed

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder


@dataclass(slots=True)
class Tally:
    """What became of partial matches."""

    collected: int = 0
    """Dropped at the end of their lifetime."""
    consumed: int = 0
    """Dropped before: used up, replaced, or cut off by what was not to be."""
    collects: bool = True
    """Whether garbage is collected at all; if not, it stays and only is not matched."""


@dataclass(slots=True, eq=False)
class Memory:
    """Rows sorted by key, and those of a key by their end; the columns of the key are named.

    >>> memory = Memory(("x",), ("x",), Tally())
    >>> x, time = np.array([7, 8, 7], np.int32), np.array([1, 2, 3])
    >>> memory.add(Occurrences({"x": x}, time, time, time), time + 10)
    >>> place = memory.places(np.array([7]), np.array([2]), np.array([9]))
    >>> [ends.tolist() for ends in place], memory.collect(12), len(memory)
    ([[1], [2]], 2, 1)
    """

    key: tuple[str, ...]
    names: tuple[str, ...]
    tally: Tally
    rows: Occurrences = field(init=False)
    until: Times = field(init=False)
    _keys: Times = field(init=False)

    def __post_init__(self) -> None:
        self.rows = Occurrences.none(self.names)
        self.until = self._keys = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self.until)

    def keys_of(self, rows: Occurrences) -> Times:
        """The keys of rows, of this operand or another that has the columns."""
        return keyed([rows.columns[name] for name in self.key], len(rows))

    def add(self, rows: Occurrences, until: Times) -> None:
        """Remember rows, each up to its last instant."""
        if not len(rows):
            return
        rows = rows.only(self.names)
        keys = np.concatenate([self._keys, self.keys_of(rows)])
        is_late = len(self.rows) and int(rows.end.min()) < int(self.rows.end.max())
        self.rows = Occurrences.joined([self.rows, rows])
        self.until = np.concatenate([self.until, until])
        # What is there is in order already, so a stable sort merges; ends rise from step to step.
        order = np.lexsort((self.rows.end, keys)) if is_late else np.argsort(keys, kind="stable")
        self._keys = keys
        self._keep(order)

    def places(self, keys: Times, least: Times, most: Times) -> tuple[Column, Column]:
        """For each key where those of its rows begin and end that have ended from `least` to `most`."""
        if not len(self):
            nowhere = np.zeros(len(keys), np.int64)
            return nowhere, nowhere
        first = np.ones(len(self), np.bool_)
        first[1:] = self._keys[1:] != self._keys[:-1]
        distinct = self._keys[first]
        ends = self.rows.end
        low = int(ends.min())
        span = int(ends.max()) - low + 1
        places = (np.cumsum(first) - 1) * (span + 1) + (ends - low)
        rank = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
        base = rank * (span + 1)
        begin = np.searchsorted(places, base + np.clip(least, low, low + span) - low, "left")
        end = np.searchsorted(places, base + np.clip(most, low - 1, low + span - 1) - low, "right")
        return begin, np.where(distinct[rank] == keys, end, begin)

    @property
    def keys(self) -> Times:
        """The key of each row."""
        return self._keys

    def drop(self, which: NDArray[np.bool_]) -> int:
        """Forget rows that a mask marks, before their time; how many they are."""
        gone = int(np.count_nonzero(which))
        if gone:
            self._keep(np.flatnonzero(~which))
            self.tally.consumed += gone
        return gone

    def collect(self, now: int) -> int:
        """Forget what nothing that comes after `now` can complete; how many rows that is."""
        if not self.tally.collects:
            return 0
        alive = self.until > now
        gone = len(alive) - int(np.count_nonzero(alive))
        if gone:
            self._keep(np.flatnonzero(alive))
            self.tally.collected += gone
        return gone

    def _keep(self, which: Column) -> None:
        self.rows, self.until, self._keys = self.rows.take(which), self.until[which], self._keys[which]

    def restore(self, rows: Occurrences, until: Times) -> None:
        """Hold what another has held, and nothing else."""
        self.__post_init__()
        self.add(rows, until)

    def park(self, folder: Folder) -> None:
        """Let what is held lie in a folder from now on."""
        self.rows, self.until = self.rows.park(folder), folder.keep("until", self.until)

    def adopt(self, folder: Folder) -> None:
        """Go on with what another has put away."""
        self.rows, self.until = Occurrences.adopted(folder, self.names), folder.find("until")
        self._keys = self.keys_of(self.rows)
