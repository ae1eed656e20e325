"""Conditions of rules, compiled: cheap tests as early as possible, the rest when the body is complete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ensue.dictionary import Dictionary
from ensue.maintain.program import UNBOUND, CompiledCondition, CompiledRule, conclude
from ensue.maintain.rete.token import Values
from ensue.model import Triple
from ensue.rules.tree import Bind, Guard
from ensue.terms import Kind

Test = Callable[[Values], bool]
Tests = tuple[tuple[str, tuple[int, ...]], ...]
"""Tests by name; an argument is a position in the binding, or `~term` for a constant."""

PremiseTests = tuple[Triple, Tests]

_KINDS: dict[str, frozenset[int]] = {
    "notLiteral": frozenset((Kind.IRI, Kind.BLANK, Kind.TRIPLE)),
    "isLiteral": frozenset((Kind.PLAIN, Kind.TYPED)),
    "isPLiteral": frozenset((Kind.PLAIN,)),
    "isDLiteral": frozenset((Kind.TYPED,)),
    "datatype": frozenset((Kind.PLAIN, Kind.TYPED)),
    "simplerSpelling": frozenset((Kind.TYPED,)),
    "isIRI": frozenset((Kind.IRI,)),
    "isBlank": frozenset((Kind.BLANK,)),
}
"""Tests that the kind of the term decides (of functions such as `isDLiteral`, whether they can have a value)."""

_ALWAYS = "notExistSomeValuesFromRestriction"


@dataclass(slots=True)
class Waiting:
    """The early tests of a rule that have not found their place yet, with slots for arguments."""

    tests: list[tuple[str, tuple[int, ...]]]

    def take_own(self, premise: Triple) -> Tests:
        """Those that compare terms of one premise, with positions in it.

        They are asked before a join, because they leave few facts. Tests of a term's kind leave many,
        and are not worth an index of their own.
        """
        own = [test for test in self.tests if len(test[1]) == 2 and set(test[1]) <= set(premise)]
        self.tests = [test for test in self.tests if test not in own]
        return tuple((name, tuple(premise.index(slot) for slot in args)) for name, args in own)

    def take_ready(self, layout: dict[int, int]) -> Tests:
        """Those whose variables are all in `layout` now, with positions for variables."""
        ready = [test for test in self.tests if all(slot >= 0 or ~slot in layout for slot in test[1])]
        self.tests = [test for test in self.tests if test not in ready]
        return tuple((name, tuple(layout[~a] if a < 0 else ~a for a in args)) for name, args in ready)


def early_tests(rule: CompiledRule) -> Waiting:
    """The tests of a rule that its premises alone decide."""
    tests = [(c.condition.name, c.args) for c in rule.conditions if _is_early(c, rule)]  # type: ignore[union-attr]
    return Waiting([test for test in tests if test[0] != _ALWAYS])


def premise_tests(rule: CompiledRule) -> list[PremiseTests]:
    """Each premise of a rule with the tests that compare its own terms."""
    return [(premise, early_tests(rule).take_own(premise)) for premise in rule.premises]


def _is_early(compiled: CompiledCondition, rule: CompiledRule) -> bool:
    condition = compiled.condition
    if any(slot < 0 and ~slot >= rule.body_variables for slot in compiled.args):
        return False
    if isinstance(condition, Guard):
        return condition.name in _KINDS or condition.name in ("equal", "notEqual", _ALWAYS)
    return isinstance(condition, Bind) and condition.name in _KINDS


def all_of(tests: Tests, dictionary: Dictionary) -> Test | None:
    """All the tests as one function of a binding, None if there are none."""
    made = [_make(test, dictionary) for test in tests]
    if len(made) <= 1:
        return made[0] if made else None
    return lambda values: all(test(values) for test in made)


def _make(test: tuple[str, tuple[int, ...]], dictionary: Dictionary) -> Test:
    """The test as a function of a binding."""
    name, args = test
    if any(arg < 0 for arg in args):
        return _with_constants(name, args, dictionary)
    if name in ("equal", "notEqual"):
        i, j = args
        return (lambda v: v[i] == v[j]) if name == "equal" else (lambda v: v[i] != v[j])
    (position,) = args
    wanted = _KINDS[name]
    # `dictionary.kinds` is looked up each time: it is another buffer once the dictionary has grown.
    return lambda v: dictionary.kinds[v[position]] in wanted


def _with_constants(name: str, args: tuple[int, ...], dictionary: Dictionary) -> Test:
    plain = _make((name, tuple(range(len(args)))), dictionary)
    return lambda v: plain(tuple(v[arg] if arg >= 0 else ~arg for arg in args))


def slow_head(
    rule: CompiledRule, layout: dict[int, int], dictionary: Dictionary
) -> Callable[[Values], list[Triple]] | None:
    """What a rule concludes from a complete binding, or None if picking terms from it is enough."""
    late = tuple(c for c in rule.conditions if not (isinstance(c.condition, Guard) and _is_early(c, rule)))
    if not late:
        return None
    rest = replace(rule, conditions=late)
    places = [layout[number] for number in range(rule.body_variables)]
    room = [UNBOUND] * (rule.variables - rule.body_variables)

    def head(values: Values) -> list[Triple]:
        return conclude(rest, [values[place] for place in places] + room, dictionary)

    return head
