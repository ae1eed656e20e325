"""What is not to be: whether something lies wholly between the two halves of a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ensue.events.memory import Memory
from ensue.events.occurrences import Column, Occurrences, Times, agree, keyed, ranges

Mask = NDArray[np.bool_]


def lies_between(memory: Memory, given: list[Column], after: Times, before: Times) -> Mask:
    """For each pair whether some remembered row of its key has after < start and end < before.

    `given` are the values that each pair has for the key's variables.

    >>> from ensue.events.memory import Tally
    >>> times = np.array([5, 20])
    >>> memory = Memory((), (), Tally())
    >>> memory.add(Occurrences({}, times, times, times), times)
    >>> lies_between(memory, [], np.array([4, 5]), np.array([9, 9])).tolist()
    [True, False]
    """
    if not len(memory) or not len(after):
        return np.zeros(len(after), np.bool_)
    keys = keyed(given, len(after))
    if len(memory.key) > 2:
        return _one_by_one(memory, given, keys, after, before)
    index = _Index.of(memory.keys, memory.rows)
    return index.earliest_end(keys, after) < before


def _one_by_one(memory: Memory, given: list[Column], keys: Times, after: Times, before: Times) -> Mask:
    """The same where keys do not tell all rows apart."""
    rows, found = memory.rows, np.zeros(len(after), np.bool_)
    low, high = np.searchsorted(memory.keys, keys, "left"), np.searchsorted(memory.keys, keys, "right")
    pair, at = ranges(low, high)
    fits = (rows.start[at] > after[pair]) & (rows.end[at] < before[pair])
    same = agree([rows.columns[name][at] for name in memory.key], [column[pair] for column in given])
    found[pair[fits if same is None else fits & same]] = True
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    """Rows by key and start, with the earliest end of all rows of the key from each on."""

    distinct: Times
    places: Times
    earliest: Times
    last: Column
    """Where the rows of each key end."""
    low: int
    span: int

    @classmethod
    def of(cls, keys: Times, rows: Occurrences) -> _Index:
        order = np.lexsort((rows.start, keys))
        keys, start, end = keys[order], rows.start[order], rows.end[order]
        first = np.ones(len(keys), np.bool_)
        first[1:] = keys[1:] != keys[:-1]
        rank = np.cumsum(first) - 1
        low, span = int(start.min()), int(end.max()) - int(start.min()) + 1
        # From the last to the first; what is of another key is higher by a whole span.
        lifted = rank * (span + 1) + (end - low)
        earliest = np.minimum.accumulate(lifted[::-1])[::-1] - rank * (span + 1) + low
        last = np.append(np.flatnonzero(first)[1:], len(keys))
        return cls(keys[first], rank * (span + 1) + (start - low), earliest, last, low, span)

    def earliest_end(self, keys: Times, after: Times) -> Times:
        """The earliest end of what starts later than `after`, of each key; FOREVER if there is none."""
        rank = np.minimum(np.searchsorted(self.distinct, keys), len(self.distinct) - 1)
        base = rank * (self.span + 1)
        wanted = base + np.clip(after, self.low - 1, self.low + self.span - 1) - self.low
        at = np.searchsorted(self.places, wanted, "right")
        there = (self.distinct[rank] == keys) & (at < self.last[rank])
        found = self.earliest[np.minimum(at, len(self.earliest) - 1)]
        return np.where(there, found, np.iinfo(np.int64).max)


def cut_off(memory: Memory, shared: tuple[str, ...], new: Occurrences) -> Mask:
    """Which remembered initiators have something new behind them that was not to be.

    `shared` are the variables of what was not to be that the initiators have, too: all that matter.
    """
    if not len(memory) or not len(new):
        return np.zeros(len(memory), np.bool_)
    keys = keyed([new.columns[name] for name in shared], len(new))
    own = keyed([memory.rows.columns[name] for name in shared], len(memory))
    order = np.lexsort((new.start, keys))
    keys = keys[order]
    at = np.searchsorted(keys, own, "right") - 1
    found: Mask = (at >= 0) & (keys[at] == own) & (new.start[order][at] > memory.rows.end)
    return found
