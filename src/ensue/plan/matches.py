"""Which of many shapes the statements of a block have, decided by distinct terms and not by statement.

A block is columns of numbers, and the texts of its own numbers. For each choice of positions that shapes
name, the shapes are a tree: by predicate, then by object, then by subject. A table over the block's
numbers says which of them a level of the tree names. The texts are looked up in the tree itself, so there
is nothing to remember from block to block.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.marks import mark
from ensue.plan.shapes import ANY, Shape

Numbers = NDArray[Any]
Mask = NDArray[np.bool_]
Bits = NDArray[np.uint8]
Tree = dict[str, Any]
"""By text: the next level, or bits."""

_ORDER = (1, 2, 0)
"""Predicates first: there are few of them."""

_A_FEW = 16
"""So many parts of a block are found faster one by one than by sorting it."""


class Roles:
    """Shapes, each with bits that say what statements of it are for.

    >>> roles = Roles([((None, "<urn:p>", "<urn:a>"), 1), ((None, "<urn:p>", None), 2)])
    >>> terms = ["<urn:a>", "<urn:b>", "<urn:p>", "<urn:q>"]
    >>> s, p, o = np.array([[1, 2, 0], [1, 2, 1], [1, 3, 1]], np.int32).T
    >>> roles(terms, s, p, o).tolist()
    [3, 2, 0]
    """

    def __init__(self, shapes: Iterable[tuple[Shape, int]]) -> None:
        self._any = 0
        self._trees: dict[tuple[int, ...], Tree] = {}
        for shape, bits in shapes:
            places = tuple(at for at in _ORDER if shape[at] is not None)
            if places:
                _put(self._trees.setdefault(places, {}), [shape[at] for at in places], bits)
            else:
                self._any |= bits

    def __call__(self, terms: Sequence[str], s: Numbers, p: Numbers, o: Numbers) -> Bits:
        """The bits of all shapes that each statement of a block has."""
        found = np.full(len(p), self._any, np.uint8)
        columns = (s, p, o)
        for places, tree in sorted(self._trees.items(), key=lambda item: len(item[0])):
            if len(places) == 1:
                found |= _named(tree, terms, columns[places[0]])
            else:
                _mark(found, tree, terms, [columns[at] for at in places], None)
        return found


class Matches:
    """Shapes, to find the statements that have one of them.

    >>> wanted = Matches([(None, "<urn:p>", "<urn:a>"), (None, "<urn:q>", None)])
    >>> terms = ["<urn:a>", "<urn:b>", "<urn:p>", "<urn:q>"]
    >>> s, p, o = np.array([[1, 2, 0], [1, 2, 1], [1, 3, 1]], np.int32).T
    >>> wanted(terms, s, p, o).tolist()
    [True, False, True]
    """

    def __init__(self, shapes: Iterable[Shape]) -> None:
        every = list(shapes)
        # Next to the shape that all have, no other one makes a difference.
        self._roles = Roles((shape, 1) for shape in ([ANY] if ANY in every else every))

    def __call__(self, terms: Sequence[str], s: Numbers, p: Numbers, o: Numbers) -> Mask:
        """Whether each statement of a block has one of the shapes."""
        return self._roles(terms, s, p, o).view(np.bool_)


def _put(tree: Tree, texts: Sequence[str | None], bits: int) -> None:
    *path, last = map(str, texts)
    for text in path:
        tree = tree.setdefault(text, {})
    tree[last] = tree.get(last, 0) | bits


def distinct(column: Numbers, size: int) -> Numbers:
    """The numbers below `size` that a column has."""
    there = np.zeros(size, np.bool_)
    mark(there, column)
    return np.flatnonzero(there)


def _numbers_in(tree: Tree, terms: Sequence[str], column: Numbers) -> list[int]:
    """The numbers in a column that the tree names."""
    return [number for number in distinct(column, len(terms)).tolist() if terms[number] in tree]


def _named(tree: Tree, terms: Sequence[str], column: Numbers) -> Bits:
    """What the tree, which has one level, says of what a column has."""
    table = np.zeros(len(terms), np.uint8)
    for number in _numbers_in(tree, terms, column):
        table[number] = tree[terms[number]]
    return table[column]


def _mark(
    found: Bits, tree: Tree, terms: Sequence[str], columns: list[Numbers], rows: Numbers | None
) -> None:
    """Mark those of some rows (None: all) whose terms are a path through the tree."""
    column = columns[0] if rows is None else columns[0][rows]
    if len(columns) == 1:
        found[rows] |= _named(tree, terms, column)  # Shapes that name one position are not looked up here.
        return
    named = _numbers_in(tree, terms, column)
    table = np.zeros(len(terms), np.bool_)
    table[named] = True
    here = np.flatnonzero(table[column])
    for number, part in _parts(column[here], named):
        inner = here[part]
        _mark(found, tree[terms[number]], terms, columns[1:], inner if rows is None else rows[inner])


def _parts(column: Numbers, numbers: list[int]) -> Iterable[tuple[int, Numbers]]:
    """For each number the rows of a column that have it; the column has no others."""
    if len(numbers) == 1:
        return [(numbers[0], np.arange(len(column)))]
    if len(numbers) <= _A_FEW:
        return [(number, np.flatnonzero(column == number)) for number in numbers]
    order = np.argsort(column, kind="stable")
    ends = np.searchsorted(column[order], numbers, side="right")
    return zip(numbers, np.split(order, ends[:-1]), strict=True)
