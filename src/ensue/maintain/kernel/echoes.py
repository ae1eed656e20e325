"""Rules that never conclude one of their own premises: the same closure for less work.

From `u p v`, `u sameAs u` and `v sameAs v` a rule of equality concludes `u p v`: an echo. It says
nothing new, since a conclusion is no fresher than the premise it repeats. Where everything is the
same as itself (RDFS and OWL say so), a join finds little else. So a rule is rewritten to leave its
echoes out: `?u sameAs ?v, ?v sameAs ?w` gets `?u != ?v` and `?v != ?w`, and a rule that echoes only
if two pairs are equal is split into the cases where they are not both. Then facts that relate a
thing to itself are no matches any more; the kernel counts matches per premise, and does not even
try a rule that has a premise without any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.maintain.program import CompiledCondition, CompiledRule, Program
from ensue.model import Triple
from ensue.rules.tree import Guard

Pair = tuple[int, int]
"""Two variables' slots."""

_MOST_CASES = 8


def without_echoes(program: Program) -> Program:
    """A program with the same closure, in which fewer rules conclude what they were given."""
    return replace(program, rules=tuple(case for rule in program.rules for case in _cases(rule)))


def _cases(rule: CompiledRule) -> list[CompiledRule]:
    """The rule, or the cases of it in which it does not echo."""
    if len(rule.conclusions) != 1:
        return [rule]
    if rule.conclusions[0] in rule.premises:
        return []
    for pairs in _echoes(rule):
        if len(pairs) > 1 and any(condition.target >= 0 for condition in rule.conditions):
            continue  # A minted node is named after all variables, so each must stay.
        if not any(_differ(rule, a, b) for a, b in pairs):
            cases = [case for part in _parted(rule, pairs) for case in _cases(part)]
            return cases if len(cases) <= _MOST_CASES else [rule]
    return [rule]


def _echoes(rule: CompiledRule) -> Iterator[list[Pair]]:
    """For each premise that the conclusion may repeat: the pairs that must then be equal.

    Only such pairs as are the subject and the object of another premise with a constant predicate:
    matches of such a premise are counted, so it pays to have fewer. Other splits would not.
    """
    (conclusion,) = rule.conclusions
    for at, premise in enumerate(rule.premises):
        counted = [other for k, other in enumerate(rule.premises) if k != at and other[1] >= 0]
        others = {(s, o) for s, _, o in counted if s < 0 and o < 0}
        unequal = {(a, b) for a, b in zip(conclusion, premise, strict=True) if a != b}
        pairs = [pair for pair in sorted(others) if unequal & {pair, pair[::-1]}]
        if pairs and unequal <= {p for pair in pairs for p in (pair, pair[::-1])}:
            yield pairs


def _parted(rule: CompiledRule, pairs: list[Pair]) -> Iterator[CompiledRule]:
    """The rule in every case but the one in which all pairs are equal."""
    for case in range(1, 1 << len(pairs)):
        part = rule
        for k, (a, b) in enumerate(pairs):
            part = _differing(part, a, b) if case >> k & 1 else _equal(part, a, b)
        yield part


def _differing(rule: CompiledRule, a: int, b: int) -> CompiledRule:
    guard = CompiledCondition(Guard("notEqual", ()), (a, b), -1)
    return replace(rule, conditions=(guard, *rule.conditions))


def _equal(rule: CompiledRule, a: int, b: int) -> CompiledRule:
    """The rule with one variable for both."""

    def renamed(triple: Triple) -> Triple:
        s, p, o = (a if slot == b else slot for slot in triple)
        return s, p, o

    return replace(
        rule,
        premises=tuple(map(renamed, rule.premises)),
        conclusions=tuple(map(renamed, rule.conclusions)),
        conditions=tuple(
            replace(c, args=tuple(a if slot == b else slot for slot in c.args)) for c in rule.conditions
        ),
    )


def is_difference(condition: CompiledCondition) -> bool:
    """Whether a condition says that two terms differ."""
    return isinstance(condition.condition, Guard) and condition.condition.name == "notEqual"


def _differ(rule: CompiledRule, a: int, b: int) -> bool:
    return any(is_difference(c) and c.args in ((a, b), (b, a)) for c in rule.conditions)


def wants_difference(rule: CompiledRule, premise: Triple) -> bool:
    """Whether a rule takes only such matches of a premise as relate two things, not one to itself."""
    s, _, o = premise
    return s < 0 and o < 0 and _differ(rule, s, o)
