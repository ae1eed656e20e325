"""Which rules of a regime a test needs: INSTANS's tables 4 and 5.

Rules are left out as long as the test passes without them, many at once first. What is left is a smallest
set in the sense that no rule of it can be spared; another set may do as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ensue.conformance.question import Question, ask
from ensue.rules.catalogue import written
from ensue.rules.tree import RuleSet

AXIOMS = "axioms"
"""What a regime states without premises, taken as one rule."""


def needed_rules(question: Question, rules: RuleSet) -> tuple[str, ...]:
    """The names of rules without which the test fails, where it passes with all of them."""

    def passes(names: Sequence[str]) -> bool:
        return ask(question, only(rules, names)) is None

    return tuple(needed(rule_names(rules), passes))


def rule_names(rules: RuleSet) -> list[str]:
    """The names of rules as they are written, in order; what is stated without premises comes last.

    >>> from ensue.rules.load import parse_rules
    >>> rule_names(parse_rules("[a: (?x <urn:p> ?y) -> (?y <urn:p> ?x)] [-> (<urn:a> <urn:p> <urn:b>)]"))
    ['a', 'axioms']
    """
    names = [each.name for each in written(rules) if not each.is_condition]
    return [*names, AXIOMS] if rules.axioms else names


def only(rules: RuleSet, names: Iterable[str]) -> RuleSet:
    """The rules of these names."""
    kept = set(names)
    chosen = tuple(rule for each in written(rules) if each.name in kept for rule in each.rules)
    return replace(rules, rules=chosen, axioms=rules.axioms if AXIOMS in kept else ())


def needed(items: Sequence[str], passes: Callable[[Sequence[str]], bool]) -> list[str]:
    """Items of which none can be spared, given that all together pass.

    >>> needed("abcdefgh", lambda left: {"b", "g"} <= set(left))
    ['b', 'g']
    """
    left = list(items)
    size = len(left)
    while size >= 1:
        at = 0
        while at < len(left):
            without = left[:at] + left[at + size :]
            if passes(without):
                left = without
            else:
                at += size
        size //= 2
    return left


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a regime a suite stresses: a line of table 5."""

    regime: str
    rules: int
    tested: int
    passed: int
    """The tests that pass with it and not without rules."""

    @classmethod
    def of(cls, regime: str, rules: RuleSet, tests: Mapping[str, Sequence[str]]) -> Coverage:
        """`tests`: those that pass with the regime and need rules, and which rules they need."""
        tested = {name for names in tests.values() for name in names} - {AXIOMS}
        return cls(regime, len(rule_names(replace(rules, axioms=()))), len(tested), len(tests))
