"""Stretches of time without statements, in which evaluations are passed over by arithmetic.

Between two statements that are years apart a query may be due a billion times, and from the moment on at
which the last statement has left its windows all those evaluations see the same. Of a long run of them the
first two are made (the second is the first without a difference to the one before) and the last one; the
others are passed over, and the result of the last one says how many they were.

    statement                                                      statement
        |    !    !    !    !    !    .    .    .    .    .    !        |
        |---window---|   1st  2nd       passed over          last
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd

from ensue.windows.spec import Grid

MAX_EMPTY = 1000
"""How many evaluations of a query in a row that see the same are all made."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Evaluations of one query that were passed over: how many, and the first and the last instant."""

    count: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Leap:
    """A move of time by one arrival, one heartbeat or one end: from `start` to `end`."""

    start: int
    end: int


def count_instants(grids: Sequence[Grid], after: int, to: int) -> int:
    """How many different closes some grids have after one time and up to another.

    >>> from ensue.windows.spec import TimeWindow
    >>> count_instants([TimeWindow(1, 4).grid, TimeWindow(1, 6).grid], 0, 24)      # 4 6 8 12 16 18 20 24
    8
    """
    distinct = {(grid.origin % grid.step, grid.step, grid.close(grid.first)): grid for grid in grids}
    found = 0
    for size in range(1, len(distinct) + 1):
        for some in combinations(distinct.values(), size):
            found += (-1) ** (size - 1) * _common(some, after, to)
    return found


def _common(grids: Iterable[Grid], after: int, to: int) -> int:
    """How many closes are common to all of some grids: by the Chinese remainder theorem."""
    origin, step = 0, 1
    for grid in grids:
        after = max(after, grid.close(grid.first) - 1)
        shared = gcd(step, grid.step)
        if (grid.origin - origin) % shared:
            return 0
        rest = grid.step // shared
        origin += step * ((grid.origin - origin) // shared * pow(step // shared, -1, rest) % rest)
        step *= rest
    return max(0, (to - origin) // step - (after - origin) // step)
