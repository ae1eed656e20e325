"""Occurrences in columns: what each variable has for a value, and the interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder

Column = NDArray[Any]
Times = NDArray[np.int64]

UNKNOWN_TIME = -(2**63)
"""The start and end of a named operand where a cumulated occurrence has several."""

KEY = " key"
"""The column of the keys of partitions, where a query is partitioned: all that is composed is of one.

It is a column like that of a variable, but no variable can be called so.
"""

_MIX = np.int64(-7046029254386353131)  # The golden ratio in 64 bits, as a multiplier that mixes.


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Rows in the order of detection: by end, then start, then by what they are made of.

    Columns are integers of terms, by variable; times, by names no variable has (`@...`), and what else is
    to go along (`#...`).
    """

    columns: Mapping[str, Column]
    start: Times
    end: Times
    order: Times
    """Rises in the order of detection, from step to step; no two rows of an operand have the same."""

    @classmethod
    def none(cls, names: Iterable[str] = ()) -> Occurrences:
        """No rows."""
        nothing = np.empty(0, np.int64)
        return cls({name: empty_column(name) for name in names}, nothing, nothing, nothing)

    def __len__(self) -> int:
        return len(self.start)

    def take(self, which: Column | slice) -> Occurrences:
        """The rows that a mask, row numbers or a slice choose."""
        columns = {name: column[which] for name, column in self.columns.items()}
        return Occurrences(columns, self.start[which], self.end[which], self.order[which])

    def only(self, names: Iterable[str]) -> Occurrences:
        """The same rows with fewer columns."""
        kept = {name: self.columns[name] for name in names}
        return Occurrences(kept, self.start, self.end, self.order)

    def park(self, folder: Folder) -> Occurrences:
        """The same rows as they lie in a folder, by the places of their columns."""
        columns = [*self.columns.values(), self.start, self.end, self.order]
        kept = [folder.keep(str(place), column) for place, column in enumerate(columns)]
        return Occurrences(dict(zip(self.columns, kept, strict=False)), *kept[-3:])

    @classmethod
    def adopted(cls, folder: Folder, names: Sequence[str]) -> Occurrences:
        """What another has left in a folder, of columns of these names."""
        found = [folder.find(str(place)) for place in range(len(names) + 3)]
        return cls(dict(zip(names, found, strict=False)), *found[-3:])

    @classmethod
    def joined(cls, parts: Sequence[Occurrences]) -> Occurrences:
        """One after the other; all have the same columns."""
        if len(parts) == 1:
            return parts[0]
        columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
        times = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "end", "order")
        )
        return cls(columns, *times)


def empty_column(name: str) -> Column:
    """A column of no rows, of the kind that its name says."""
    return np.empty(0, np.int64 if name[0] in "@#" else np.int32)


def keyed(columns: Sequence[Column], length: int) -> Times:
    """A number for each row, the same for rows that have the same in these columns.

    Of more than two columns it can be the same for others as well: see `is_exact`.

    >>> keyed([np.array([1, 2]), np.array([3, 3])], 2).tolist()
    [4294967299, 8589934595]
    """
    if not columns:
        return np.zeros(length, np.int64)
    wide = [column.astype(np.int64) for column in columns]
    if is_exact(columns):
        return wide[0] if len(wide) == 1 else wide[0] << 32 | wide[1]
    with np.errstate(over="ignore"):
        return reduce(lambda mixed, column: (mixed ^ mixed >> 29) * _MIX + column, wide)


def is_exact(columns: Sequence[object]) -> bool:
    """Whether keys of so many columns are the same for equal rows only."""
    return len(columns) <= 2


def agree(left: Sequence[Column], right: Sequence[Column]) -> NDArray[np.bool_] | None:
    """Which rows have the same in all columns, where keys do not say so already (None: they do)."""
    if is_exact(left):
        return None
    found: NDArray[np.bool_] = np.logical_and.reduce(
        [one == other for one, other in zip(left, right, strict=True)]
    )
    return found


def ranges(begin: Column, end: Column) -> tuple[Column, Column]:
    """Every number from each begin to before its end, and which range it is of.

    >>> [column.tolist() for column in ranges(np.array([5, 7]), np.array([7, 8]))]
    [[0, 0, 1], [5, 6, 7]]
    """
    counts = np.maximum(end - begin, 0)
    of = np.repeat(np.arange(len(begin)), counts)
    before = np.cumsum(counts) - counts
    return of, np.arange(len(of)) - np.repeat(before - begin, counts)
