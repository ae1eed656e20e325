"""Classes of equal terms, each with a representative that stands for all of its members.

Terms that the background says are equal are equal for ever, and then whatever holds of one holds of each,
as long: so a fact is kept once, of representatives, and stands for the facts of all members. To get there
is a look-up by column (`over`), and to get back is a product of the members of each position (`expanded`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensue.model import Copies, Facts

Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Which term stands for which. Terms in no class of two or more stand for themselves.

    >>> some = Classes.of([(5, 3), (7, 5)], first=lambda members: min(members))
    >>> some.over(np.array([3, 5, 7, 900])).tolist(), some.members(3)
    ([3, 3, 3, 900], [3, 5, 7])
    >>> rows, values = some.each(np.array([3, 4]))
    >>> rows.tolist(), values.tolist()
    ([0, 0, 0, 1], [3, 5, 7, 4])
    """

    representative: Numbers
    """Of each term, by number; larger numbers are in no class."""
    start: Numbers
    """Where the members of each representative begin in `listed`."""
    size: Numbers
    """How many members each representative has; 1 for all others."""
    listed: Numbers
    """The members, class by class."""
    same: int = -1
    """The predicate of equalities; -1: they are not written otherwise."""
    link: int = -1
    """What is written for it in statements that come (`ensue.plan.spanning`)."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]] | Numbers, first: Callable[[Sequence[int]], int]) -> Classes:
        """The classes of which these pairs are members; `first` chooses one of them to stand for all."""
        ends = np.asarray(pairs if isinstance(pairs, np.ndarray) else list(pairs), np.int64).reshape(-1, 2)
        ends = ends[ends[:, 0] != ends[:, 1]]
        labels = components(int(ends.max(initial=-1)) + 1, ends[:, 0], ends[:, 1])
        inside = np.unique(ends)
        order = inside[np.argsort(labels[inside], kind="stable")]
        cuts = np.flatnonzero(np.diff(labels[order])) + 1
        size, start, stands = np.ones(len(labels), np.int64), np.zeros(len(labels), np.int64), labels.copy()
        begin = 0
        for group in np.split(order, cuts) if len(order) else ():
            chosen = first(group.tolist())
            stands[group], start[chosen], size[chosen] = chosen, begin, len(group)
            begin += len(group)
        return cls(stands.astype(np.int32), start, size, order.astype(np.int32))

    @classmethod
    def none(cls) -> Classes:
        """Every term stands for itself."""
        return cls.of((), min)

    def __len__(self) -> int:
        """How many classes there are with more than one member."""
        return int(np.count_nonzero(self.size > 1))

    @property
    def is_trivial(self) -> bool:
        """Whether everything is written as it is."""
        return not len(self.listed) and self.link < 0

    def linking(self, same: int, link: int) -> Classes:
        """The same classes, where equalities that come are written as links."""
        return replace(self, same=same, link=link)

    def pairs(self) -> Numbers:
        """Each member with its representative."""
        return np.stack([self.listed, self.representative[self.listed]], axis=1).astype(np.int64)

    def is_like(self, other: Classes) -> bool:
        """Whether the same terms stand for the same."""
        return np.array_equal(self.pairs(), other.pairs())

    def members(self, number: int) -> list[int]:
        """What a representative stands for."""
        if number >= len(self.size) or self.size[number] == 1:
            return [number]
        found: list[int] = self.listed[self.start[number] :][: self.size[number]].tolist()
        return found

    def over(self, column: Numbers) -> Numbers:
        """The representatives of terms."""
        if not len(self.listed):
            return column
        known = np.minimum(column, len(self.representative) - 1)
        return np.where(column < len(self.representative), self.representative[known], column).astype(
            np.int32
        )

    def shared(self, column: Numbers) -> NDArray[np.bool_]:
        """Which terms, representatives all of them, stand for more than themselves."""
        found: NDArray[np.bool_] = self._sizes(column) > 1
        return found

    def each(self, column: Numbers) -> tuple[Numbers, Numbers]:
        """The members of the classes of a column's representatives: of which row, and which terms."""
        sizes = self._sizes(column)
        rows = np.repeat(np.arange(len(column)), sizes)
        if len(rows) == len(column):
            return rows, column
        within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        values = column[rows].copy()
        many = sizes[rows] > 1
        values[many] = self.listed[self.start[values[many]] + within[many]]
        return rows, values

    def over_copies(self, copies: Copies) -> Copies:
        """Copies as statements about representatives."""
        if self.is_trivial:
            return copies
        s, p, o = map(self.over, _terms(copies))
        if self.link >= 0:
            p = np.where(p == self.same, np.int32(self.link), p)
        terms = {name: array("i", column.tobytes()) for name, column in zip("spo", (s, p, o), strict=True)}
        return replace(copies, **terms)

    def touched(self, copies: Copies) -> NDArray[np.bool_]:
        """Which copies, over representatives, stand for more than themselves."""
        s, p, o = _terms(copies)
        if self.link >= 0:
            p = np.where(p == self.link, np.int32(self.same), p)
        return self.shared(s) | self.shared(p) | self.shared(o)

    def expanded(self, facts: Facts) -> Facts:
        """All facts that facts about representatives stand for, each with the same stamp.

        >>> some = Classes.of([(5, 3)], first=min)
        >>> list(some.expanded(Facts.of([(1, 3, 9, 3, 70)])))[1:3]
        [(1, 3, 9, 5, 70), (1, 5, 9, 3, 70)]
        """
        if self.is_trivial:
            return facts
        return Facts(**self.expanded_columns(self._columns(facts), ("s", "p", "o")))

    def without_links(self, facts: Facts) -> Facts:
        """Facts about representatives without what mentions links, of which nobody knows."""
        return Facts(**self._seen(self._columns(facts), ("s", "p", "o"))) if self.link >= 0 else facts

    def expanded_columns(self, columns: Mapping[str, Numbers], terms: Iterable[str]) -> dict[str, Numbers]:
        """Rows that stand for others, by the members of these columns."""
        found = self._seen(columns, terms := tuple(terms))
        for name in terms:
            rows, values = self.each(found[name])
            if len(rows) > len(found[name]):
                found = {other: column[rows] for other, column in found.items()} | {name: values}
        return found

    def _seen(self, columns: Mapping[str, Numbers], terms: Iterable[str]) -> dict[str, Numbers]:
        """The rows without links."""
        found = dict(columns)
        if self.link >= 0:
            for name in terms:
                seen = found[name] != self.link
                if not seen.all():
                    found = {other: column[seen] for other, column in found.items()}
        return found

    @staticmethod
    def _columns(facts: Facts) -> dict[str, Numbers]:
        names = ("context", "s", "p", "o", "stamp")
        return {
            name: np.asarray(getattr(facts, name), np.int64 if name == "stamp" else np.int32)
            for name in names
        }

    def _sizes(self, column: Numbers) -> Numbers:
        if not len(self.listed):
            return np.ones(len(column), np.int64)
        known = np.minimum(column, len(self.size) - 1)
        sizes: Numbers = np.where(column < len(self.size), self.size[known], 1)
        return sizes


def _terms(copies: Copies) -> tuple[Numbers, ...]:
    return tuple(np.frombuffer(column, np.int32) for column in (copies.s, copies.p, copies.o))


def components(count: int, one: Numbers, other: Numbers) -> Numbers:
    """For each of so many numbers the least one that it is connected with.

    >>> components(5, np.array([3, 1]), np.array([4, 3])).tolist()
    [0, 1, 2, 1, 1]
    """
    labels = np.arange(count)
    while True:
        here, there = labels[one], labels[other]
        if np.array_equal(here, there):
            return labels
        least = np.minimum(here, there)
        np.minimum.at(labels, here, least)
        np.minimum.at(labels, there, least)
        # Long chains are folded up: each looks where the one it points to points to.
        while not np.array_equal(labels, shorter := labels[labels]):
            labels = shorter
