"""Consumption strategies: which of the pairs that fit are detected, and who is used up by that.

Pairs are of an initiator and a terminator, by number. Terminators are looked at in the order of their
numbers, initiators are in the order that is given with them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ensue.events.occurrences import Column, Times
from ensue.events.tree import Strategy

USES_UP = (Strategy.CHRONICLE, Strategy.CONTINUOUS, Strategy.CUMULATIVE)
"""The strategies by which initiators of detected pairs are gone."""


class Pairs(NamedTuple):
    """Initiators and terminators side by side."""

    initiator: Column
    terminator: Column

    def only(self, which: Column) -> Pairs:
        """Some of them."""
        return Pairs(self.initiator[which], self.terminator[which])


def detected(strategy: Strategy, pairs: Pairs, order: Times) -> Pairs:
    """The pairs that are detected, of all that fit; `order` is that of each pair's initiator.

    Those of CUMULATIVE that have the same terminator are together one occurrence.

    >>> fit = Pairs(np.array([0, 1, 0, 1, 2]), np.array([0, 0, 1, 1, 1]))  # A1 A2 B1 A3 B2
    >>> [[column.tolist() for column in detected(strategy, fit, fit.initiator)] for strategy in Strategy][1:4]
    [[[1, 2], [0, 1]], [[0, 1], [0, 1]], [[0, 1, 2], [0, 0, 1]]]
    """
    if strategy is Strategy.UNRESTRICTED or not len(pairs.initiator):
        return pairs
    sorted_ = np.lexsort((order, pairs.terminator))
    pairs = pairs.only(sorted_)
    if strategy is Strategy.RECENT:
        last = np.ones(len(pairs.terminator), np.bool_)
        last[:-1] = pairs.terminator[1:] != pairs.terminator[:-1]
        return pairs.only(last)
    if strategy is Strategy.CHRONICLE:
        return pairs.only(_first_come(pairs))
    # Each initiator goes to the first terminator that it fits.
    _, first = np.unique(pairs.initiator, return_index=True)
    return pairs.only(np.sort(first))


def _first_come(pairs: Pairs) -> Column:
    """Which pairs are made if each terminator, in turn, takes the first initiator that is left."""
    gone: set[int] = set()
    served, chosen = -1, []
    rows = zip(pairs.initiator.tolist(), pairs.terminator.tolist(), strict=True)
    for number, (initiator, terminator) in enumerate(rows):
        if terminator != served and initiator not in gone:
            gone.add(initiator)
            served = terminator
            chosen.append(number)
    return np.array(chosen, np.int64)
