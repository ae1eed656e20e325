"""The log of steps that is the truth of a reasoner: which of them are still needed, and for what.

A step brings a batch; some of it waits, and is admitted by a later step. So a step is needed for what
it admitted, as long as that is within a horizon, and as the source of what later steps admitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ensue.query.arrivals import Arrivals, Batch

Horizons = Mapping[str, tuple[int, int]]
"""For each stream the time and the number at or below which nothing matters any more."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a reasoner had come before a step: its frontier, and how many of each stream were in."""

    frontier: int
    numbers: Mapping[str, int]
    streams: Mapping[str, tuple[int, bool]] = field(default_factory=dict)
    """The watermark of each stream, and whether it had ended."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A step: where it began, what came, and what queries constructed in it."""

    mark: Mark
    batches: Mapping[str, Batch]
    made: Mapping[str, Arrivals] = field(default_factory=dict)


def first_needed(marks: Sequence[Mark], horizons: Horizons) -> int:
    """The number of the first step of which something that it admitted still matters.

    `marks` are where the steps began, and where the last one ended.

    >>> marks = [Mark(0, {"s": 0}), Mark(10, {"s": 5}), Mark(20, {"s": 9})]
    >>> first_needed(marks, {"s": (10, 2**63 - 1)}), first_needed(marks, {"s": (20, 3)})
    (1, 0)
    """
    for number, after in enumerate(marks[1:]):
        for stream, (time, count) in horizons.items():
            if after.frontier > time or after.numbers.get(stream, 0) > count:
                return number
    return len(marks) - 1


def first_kept(marks: Sequence[Mark], newest: Sequence[int], horizons: Horizons) -> int:
    """The number of the first step to keep; `newest` are the greatest times that each step brought.

    >>> marks = [Mark(0, {"s": 0}), Mark(10, {"s": 5}), Mark(20, {"s": 9})]
    >>> horizons = {"s": (10, 2**63 - 1)}
    >>> first_kept(marks, [12, 25], horizons), first_kept(marks, [9, 25], horizons)
    (0, 1)
    """
    needed = first_needed(marks, horizons)
    sources = (number for number in range(needed) if newest[number] > marks[needed].frontier)
    return min(sources, default=needed)
