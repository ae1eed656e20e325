"""The operators of SPARQL's algebra that need no expressions, on relations, with bags as SPARQL has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ensue.model import FOREVER
from ensue.query.compiled.compatible import matched, pairs
from ensue.query.compiled.relation import PARTITION, Relation, freshest, groups, merged

Settle = Callable[[Relation, frozenset[str]], Relation]
"""What is done with the rows of a join after each step, given the variables that are still to be joined."""


def join(left: Relation, right: Relation) -> Relation:
    """Every compatible pair.

    >>> both = join(Relation({"x": np.array([4, 5])}, 2), Relation({"x": np.array([5, 5])}, 2))
    >>> both.columns["x"].tolist()
    [5, 5]
    """
    return merged(left, right, *pairs(left, right))


def joined(relations: Iterable[Relation], settle: Settle = lambda rows, _: rows) -> Relation:
    """All of several relations joined, the one that has fewest rows first.

    After it always the smallest that shares a variable with what there is. What shares none, directly or
    through others, is joined by itself first: so a cross product is made only where there is no way around.

    >>> one, other = Relation({"x": np.array([4, 5])}, 2), Relation({"x": np.array([5])}, 1)
    >>> joined([one, other]).columns["x"].tolist()
    [5]
    """
    solved = sorted((_in_order(each) for each in _hanging_together(relations)), key=_size)
    rows = settle(Relation.unit(), _variables(solved))
    for at, following in enumerate(solved, 1):
        to_come = _variables(solved[at:])
        rows = settle(join(rows, settle(following, _variables([rows, *solved[at:]]))), to_come)
    return rows


def _in_order(relations: list[Relation]) -> Relation:
    """Relations that hang together, joined."""
    waiting = sorted(relations, key=_size)
    solved = waiting.pop(0)
    while waiting:
        at = next(at for at, each in enumerate(waiting) if _variables([solved]) & _variables([each]))
        solved = join(solved, waiting.pop(at))
    return solved


def _hanging_together(relations: Iterable[Relation]) -> Iterator[list[Relation]]:
    """Relations in groups: those of different groups have no variable in common."""
    groups: list[list[Relation]] = []
    for each in relations:
        with_it = [group for group in groups if _variables(group) & _variables([each])]
        groups = [group for group in groups if not any(group is other for other in with_it)]
        groups.append([each, *(relation for group in with_it for relation in group)])
    return iter(groups)


def _variables(relations: Iterable[Relation]) -> frozenset[str]:
    return frozenset(name for each in relations for name in each.columns if name != PARTITION)


def _size(relation: Relation) -> int:
    return relation.length


def minus(left: Relation, right: Relation) -> Relation:
    """The left rows without those that are compatible with a right one and share a variable with it."""
    return left.where(~matched(left, right, overlapping=True)).unstamped()


def distinct(relation: Relation) -> Relation:
    """Each row once, where it came first, with the largest stamp that it had.

    >>> distinct(Relation({"x": np.array([5, 4, 5])}, 3)).columns["x"].tolist()
    [5, 4]
    """
    found = groups(relation.columns.values(), relation.length)
    kept = relation.take(found.first)
    stamps = None if relation.stamps is None else freshest(relation.stamps, found)
    return Relation(kept.columns, kept.length, stamps)


def sliced(relation: Relation, start: int, length: int | None) -> Relation:
    """The rows from `start` on, at most `length`."""
    end = relation.length if length is None else min(start + length, relation.length)
    return relation.take(np.arange(start, end)).unstamped()


def table(variables: tuple[str, ...], rows: tuple[tuple[int, ...], ...]) -> Relation:
    """The rows of VALUES, which hold for ever."""
    cells = np.array(rows, np.int32).reshape(len(rows), len(variables))
    columns = {variable: cells[:, at] for at, variable in enumerate(variables)}
    return Relation(columns, len(rows), np.full(len(rows), FOREVER, np.int64))
