"""Allen's relations over columns of intervals, and what follows from each for matching and memory.

The *initiator* of a pair is the one that ends first by the relation; where both end together, the left one.
Every relation is brought into the form in which the left operand initiates, so that in the order of time all
partners of a terminator are there when it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensue.events.bound import Bound
from ensue.events.tree import Allen
from ensue.model import FOREVER

Times = NDArray[np.int64]
Mask = NDArray[np.bool_]

_INVERSES = {
    Allen.AFTER: Allen.BEFORE,
    Allen.MET_BY: Allen.MEETS,
    Allen.OVERLAPPED_BY: Allen.OVERLAPS,
    Allen.STARTED_BY: Allen.STARTS,
    Allen.CONTAINS: Allen.DURING,
}
"""The relations whose right operand initiates, and the same seen from there."""

Holds = Callable[[Any, Any, Any, Any], Any]
"""Of the start and end of one and the start and end of the other: whether the relation holds."""

_HOLDS: dict[Allen, Holds] = {
    Allen.BEFORE: lambda s, e, t, f: e < t,
    Allen.MEETS: lambda s, e, t, f: (e == t) & (s < t) & (e < f),
    Allen.OVERLAPS: lambda s, e, t, f: (s < t) & (t < e) & (e < f),
    Allen.STARTS: lambda s, e, t, f: (s == t) & (e < f),
    Allen.DURING: lambda s, e, t, f: (t < s) & (e < f),
    Allen.FINISHES: lambda s, e, t, f: (t < s) & (e == f),
    Allen.FINISHED_BY: lambda s, e, t, f: (s < t) & (e == f),
    Allen.EQUALS: lambda s, e, t, f: (s == t) & (e == f),
}

_TOGETHER = (Allen.FINISHES, Allen.FINISHED_BY, Allen.EQUALS)
"""The relations of which both operands end at the same time."""


def initiated(relation: Allen) -> tuple[Allen, bool]:
    """The relation from its initiator to its terminator, and whether that turns it round.

    >>> initiated(Allen.CONTAINS)
    (<Allen.DURING: 'DURING'>, True)
    """
    return _INVERSES.get(relation, relation), relation in _INVERSES


def holds(relation: Allen, start: Any, end: Any, other_start: Any, other_end: Any) -> Any:
    """Whether a relation holds between intervals: of two numbers each, or of columns.

    >>> holds(Allen.STARTED_BY, 1, 5, 1, 2), holds(Allen.MEETS, 1, 1, 1, 2)
    (True, False)
    """
    relation, turned = initiated(relation)
    if turned:
        start, end, other_start, other_end = other_start, other_end, start, end
    return _HOLDS[relation](start, end, other_start, other_end)


def ends_between(relation: Allen, start: Times, end: Times, span: int | None) -> tuple[Times, Times]:
    """From when to when an initiator can have ended whose terminator has this interval."""
    match relation:
        case Allen.BEFORE:
            least = np.full(len(end), -FOREVER) if span is None else end - span
            return least, start - 1
        case Allen.MEETS:
            return start, start
        case Allen.STARTS:
            return start, end - 1
        case Allen.OVERLAPS | Allen.DURING:
            return start + 1, end - 1
        case _:
            return end, end


def lifetime(relation: Allen, start: Times, end: Times, bound: Bound) -> Times:
    """The last instant at which a statement can come that completes an initiator; then it can go.

    >>> from ensue.windows.spec import Landmark
    >>> lifetime(Allen.BEFORE, np.array([10]), np.array([15]), Bound(Landmark(0, 5).grid, within=20)).tolist()
    [30]
    """
    if relation in _TOGETHER:
        return end
    return bound.until(start - (relation is Allen.DURING))
