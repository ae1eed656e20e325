"""The operators of SPARQL's algebra that need no expressions, on relations, with bags as SPARQL has them."""

from __future__ import annotations

import numpy as np

from ensue.model import FOREVER
from ensue.query.compiled.compatible import matched, pairs
from ensue.query.compiled.relation import Relation, freshest, groups, merged


def join(left: Relation, right: Relation) -> Relation:
    """Every compatible pair.

    >>> both = join(Relation({"x": np.array([4, 5])}, 2), Relation({"x": np.array([5, 5])}, 2))
    >>> both.columns["x"].tolist()
    [5, 5]
    """
    return merged(left, right, *pairs(left, right))


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
