"""Leave out derivations that conclude one of their own premises: they can never make it fresher.

Such a derivation is as old as its oldest premise, so its conclusion holds already, and as fresh.
`rdfs9` with a class that is its own subclass is one; with owl:sameAs, which everything has to
itself, they are nearly all there are. The rule is told to skip them by tests on its variables, and
since the tests leave few facts, joins begin there and hardly a token is kept (`order.py`).
"""

from __future__ import annotations

from dataclasses import replace

from ensue.maintain.program import CompiledCondition, CompiledRule
from ensue.model import Triple
from ensue.rules.tree import Guard

Equality = tuple[int, int]


def without_trivial(rule: CompiledRule) -> list[CompiledRule]:
    """Rules that together derive what the rule does, but not from itself.

    A conclusion is the premise if one equality holds: then the rule gets the test that it does not.
    If it takes two (as in the replacement of equals), the rule becomes two: one where the first
    fails, one where it holds and the second fails.
    """
    variants = [rule]
    if len(rule.conclusions) == 1:
        for premise in dict.fromkeys(rule.premises):
            equalities = _equalities(rule, premise)
            if equalities is not None and 1 <= len(equalities) <= 2:
                variants = [v for variant in variants for v in _split(variant, equalities)]
    return variants


def _equalities(rule: CompiledRule, premise: Triple) -> list[Equality] | None:
    """What variables must be equal for the conclusion to be the premise; None if that is not all."""
    found: dict[Equality, None] = {}
    for head, slot in zip(rule.conclusions[0], premise, strict=True):
        if head == slot:
            continue
        if head >= 0 or slot >= 0 or ~head >= rule.body_variables:
            return None
        found[min(head, slot), max(head, slot)] = None
    return list(found)


def _split(rule: CompiledRule, equalities: list[Equality]) -> list[CompiledRule]:
    variants = []
    for number, equality in enumerate(equalities):
        tests = [_test("equal", earlier) for earlier in equalities[:number]] + [_test("notEqual", equality)]
        variants.append(replace(rule, conditions=(*rule.conditions, *tests)))
    return variants


def _test(name: str, equality: Equality) -> CompiledCondition:
    return CompiledCondition(Guard(name, ()), equality, -1)
