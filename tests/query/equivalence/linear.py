"""Random settings in which every rule is linear: what `rewrite` takes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from equivalence.linear import linear_rules, some_of
from query.equivalence.cases import BLANK, Case, Push


def linear(case: Case) -> Case:
    """The case with linear rules, and background that their cut premises match now and then."""
    random = Random(f"linear {case.seed}")
    said = [statement for push in case.actions if isinstance(push, Push) for _, statement in push.rows]
    # In a file of its own a blank node would be another one.
    background = (*case.background, *some_of([each for each in said if BLANK not in each], random))
    return replace(case, rules=linear_rules(case.rules, random), background=background)
