"""Facts that nobody asks for need not be there: what follows from them is enough.

Where all that is ever read are the solutions of watched patterns, a fact matters if it can match a premise,
of a pattern or of a rule that joins. Of a statement that only linear rules ask for, and these for ever (their
other premises are cut), the epsilon table says all that follows; of that, too, most may match nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ensue.maintain.kernel.layout import Array
from ensue.maintain.kernel.plans import PlanSet
from ensue.maintain.program import Program


@dataclass(frozen=True, slots=True)
class Needed:
    """Which facts must be there."""

    done: frozenset[int]
    """The plans that the epsilon table stands for, whatever comes: they ask for no fact."""
    wanted: Array
    """For each alpha whether some other plan asks for what matches it."""


def needed(program: Program, planned: PlanSet, linear: set[int]) -> Needed | None:
    """What plans ask for, if the epsilon table stands for `linear` ones; None: for everything."""
    done = {
        plan
        for (number, at), plan in planned.given.items()
        if plan in linear and all(cut for k, cut in enumerate(program.rules[number].cut) if k != at)
    }
    wanted = np.zeros(max(1, len(planned.tables.alphas)), np.uint8)
    for (number, at), plan in planned.given.items():
        if plan not in done and not program.rules[number].cut[at]:
            alpha = planned.alpha[number, at]
            if alpha < 0:
                return None
            wanted[alpha] = 1
    return Needed(frozenset(done), wanted)
