"""A relation: a bag of solutions in columns, as the operators take and give it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ensue.model import FOREVER
from ensue.query.dataset import Integers

PARTITION = " partition"
"""The column of contexts, where rows are of several partitions: no variable can be called so."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Solutions, one row each. An integer of 0, or no column at all: the variable has no value.

    >>> Relation({"x": np.array([4, 5], np.int32)}, 2).column("y")
    array([0, 0], dtype=int32)
    """

    columns: Mapping[str, Integers]
    length: int
    stamps: Integers | None = None
    """The stamp of the oldest thing each row rests on; None once a row can go because something came."""

    @classmethod
    def unit(cls) -> Relation:
        """The one solution that says nothing: it joins with everything, and holds for ever."""
        return cls({}, 1, np.array([FOREVER], np.int64))

    @classmethod
    def empty(cls) -> Relation:
        """No solutions."""
        return cls({}, 0, np.empty(0, np.int64))

    def column(self, variable: str) -> Integers:
        """The values of a variable."""
        found = self.columns.get(variable)
        return np.zeros(self.length, np.int32) if found is None else found

    def take(self, which: Integers) -> Relation:
        """The rows that row numbers choose, in their order."""
        columns = {variable: column[which] for variable, column in self.columns.items()}
        return Relation(columns, len(which), None if self.stamps is None else self.stamps[which])

    def where(self, mask: Integers) -> Relation:
        """The rows that a mask chooses."""
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def project(self, variables: Iterable[str]) -> Relation:
        """The same rows with these variables only."""
        kept = {variable: self.columns[variable] for variable in variables if variable in self.columns}
        return Relation(kept, self.length, self.stamps)

    def without(self, variable: str) -> Relation:
        """The same rows with one variable less."""
        return self.project(name for name in self.columns if name != variable)

    def extended(self, variable: str, column: Integers) -> Relation:
        """The same rows with one more variable."""
        return Relation({**self.columns, variable: column}, self.length, self.stamps)

    def unstamped(self) -> Relation:
        """The same rows, which can come and go for other reasons than age."""
        return Relation(self.columns, self.length)


def concatenated(parts: Sequence[Relation]) -> Relation:
    """The rows of all parts.

    >>> both = concatenated([Relation({"x": np.array([4])}, 1), Relation({"y": np.array([5])}, 1)])
    >>> both.columns["x"].tolist(), both.columns["y"].tolist()
    ([4, 0], [0, 5])
    """
    if len(parts) == 1:
        return parts[0]
    variables = dict.fromkeys(variable for part in parts for variable in part.columns)
    columns = {v: np.concatenate([part.column(v) for part in parts]) for v in variables} if parts else {}
    stamps = [part.stamps for part in parts if part.stamps is not None]
    every = len(stamps) == len(parts)
    length = sum(part.length for part in parts)
    return Relation(columns, length, np.concatenate([*stamps, np.empty(0, np.int64)]) if every else None)


def merged(left: Relation, right: Relation, at_left: Integers, at_right: Integers) -> Relation:
    """Rows of two relations put together, pair by pair. They are compatible: that is for the caller."""
    columns = {variable: column[at_left] for variable, column in left.columns.items()}
    for variable, column in right.columns.items():
        values = column[at_right]
        mine = columns.get(variable)
        columns[variable] = values if mine is None else np.where(mine != 0, mine, values)
    stamps = None
    if left.stamps is not None and right.stamps is not None:
        stamps = np.minimum(left.stamps[at_left], right.stamps[at_right])
    return Relation(columns, len(at_left), stamps)


def numbered(columns: Iterable[Integers], length: int) -> Integers:
    """A number for each row, the same for two rows iff they are the same.

    The cells are integers of at least 0 and below 2**31, so two fit into one.

    >>> numbers = numbered([np.array([1, 1, 2]), np.array([3, 3, 3]), np.array([4, 4, 4])], 3)
    >>> numbers[0] == numbers[1], numbers[0] == numbers[2]
    (np.True_, np.False_)
    """
    wide = [column.astype(np.int64) for column in columns]
    return reduce(_packed, wide) if wide else np.zeros(length, np.int64)


def _packed(numbers: Integers, column: Integers) -> Integers:
    if len(numbers) and numbers.max() >= 2**31:
        numbers = np.unique(numbers, return_inverse=True)[1]
    return (numbers << 32) | column


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by what they have in common: the group of each row, and the first row of each group."""

    of_row: Integers
    first: Integers

    def __len__(self) -> int:
        return len(self.first)


def groups(columns: Iterable[Integers], length: int) -> Groups:
    """The groups of equal rows, in the order in which they first appear.

    >>> found = groups([np.array([7, 5, 7])], 3)
    >>> found.of_row.tolist(), found.first.tolist()
    ([0, 1, 0], [0, 1])
    """
    _, first, of_row = np.unique(numbered(columns, length), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Groups(rank[of_row], first[order])


def freshest(stamps: Integers, found: Groups) -> Integers:
    """The largest stamp in each group."""
    largest = stamps[found.first].copy()
    np.maximum.at(largest, found.of_row, stamps)
    return largest
