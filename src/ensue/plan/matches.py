"""Which statements of a block have one of many shapes, decided by distinct terms and not by statement.

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
Tree = dict[str, Any]
"""By text: what the next level says, or True."""

_ORDER = (1, 2, 0)
"""Predicates first: there are few of them."""

_A_FEW = 16
"""So many parts of a block are found faster one by one than by sorting it."""


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
        self._any = ANY in every
        self._trees: dict[tuple[int, ...], Tree] = {}
        for shape in every:
            places = tuple(at for at in _ORDER if shape[at] is not None)
            if places:
                _put(self._trees.setdefault(places, {}), [shape[at] for at in places])

    def __call__(self, terms: Sequence[str], s: Numbers, p: Numbers, o: Numbers) -> Mask:
        """Whether each statement of a block has one of the shapes."""
        if self._any:
            return np.ones(len(p), np.bool_)
        found = np.zeros(len(p), np.bool_)
        columns = (s, p, o)
        for places, tree in sorted(self._trees.items(), key=lambda item: len(item[0])):
            if len(places) == 1:
                found |= _named(tree, terms, columns[places[0]])
            else:
                _mark(found, tree, terms, [columns[at] for at in places], None)
        return found


def _put(tree: Tree, texts: Sequence[str | None]) -> None:
    *path, last = map(str, texts)
    for text in path:
        tree = tree.setdefault(text, {})
    tree[last] = True


def distinct(column: Numbers, size: int) -> Numbers:
    """The numbers below `size` that a column has."""
    there = np.zeros(size, np.bool_)
    mark(there, column)
    return np.flatnonzero(there)


def _table(tree: Tree, terms: Sequence[str], column: Numbers) -> tuple[Mask, list[int]]:
    """For each number whether the tree names its text, and the numbers in the column that it names."""
    named = [number for number in distinct(column, len(terms)).tolist() if terms[number] in tree]
    table = np.zeros(len(terms), np.bool_)
    table[named] = True
    return table, named


def _named(tree: Tree, terms: Sequence[str], column: Numbers) -> Mask:
    """Where the tree names what a column has."""
    return _table(tree, terms, column)[0][column]


def _mark(
    found: Mask, tree: Tree, terms: Sequence[str], columns: list[Numbers], rows: Numbers | None
) -> None:
    """Mark those of some rows (None: all) whose terms are a path through the tree."""
    column = columns[0] if rows is None else columns[0][rows]
    if len(columns) == 1:
        here = np.flatnonzero(_named(tree, terms, column))
        found[here if rows is None else rows[here]] = True
        return
    table, named = _table(tree, terms, column)
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
