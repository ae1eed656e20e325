"""Residual rules: what is left of a rule once its cut premises are filled in from the background.

`(?p a owl:TransitiveProperty), (?x ?p ?y), (?y ?p ?z) -> (?x ?p ?z)` becomes, for each transitive
property, a rule about that property alone. Rules that are linear then are left as they are: the kernel fills
them in by itself and closes them into one table (`maintain/kernel/epsilon.py`), however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ensue.plan.heads import filled, value
from ensue.plan.known import Known
from ensue.rules import builtins
from ensue.rules.tree import Condition, Guard, Node, Pattern, Premise, Rule, Var

_MOST = 200
"""A rule that would become more than so many is left as it is."""


def residual(rule: Rule, known: Known) -> list[Rule] | None:
    """A joining rule for each way to match its cut premises; None: it is better left as it is.

    >>> from ensue.plan.known import Closed
    >>> transitive = ("<urn:in>", "<urn:is>", "<urn:Transitive>")
    >>> p, x, y, z = (Var(name) for name in "pxyz")
    >>> live = Premise(Pattern(x, p, y)), Premise(Pattern(y, p, z))
    >>> cut = Premise(Pattern(p, "<urn:is>", "<urn:Transitive>"), cut=True)
    >>> rule = Rule("trans", (*live, cut), (Pattern(x, p, z),))
    >>> for each in residual(rule, Known(Closed.of([transitive]), [])):
    ...     print(each)
    [trans: (?x <urn:in> ?y), (?y <urn:in> ?z) -> (?x <urn:in> ?z)]
    """
    live = [premise for premise in rule.premises if not premise.cut]
    cut = [premise.pattern for premise in rule.premises if premise.cut]
    if not cut or len(live) < 2 or not all(_can_be_filled(each, cut) for each in rule.conditions):
        return None
    found: dict[Rule, None] = {}
    for binding in known.ground(cut, {}):
        filled = filled_rule(rule, live, binding)
        if filled is not None:
            found[filled] = None
        if len(found) > _MOST:
            return None
    return list(found)


def _can_be_filled(condition: Condition, cut: Iterable[Pattern]) -> bool:
    """Whether a condition says the same of terms that are filled in.

    A node is made of all that a rule matched, so what makes one needs it all; expressions name variables.
    """
    if not isinstance(condition, Guard):
        return False
    return not condition.text or not {*condition.args} & {v for pattern in cut for v in pattern.variables()}


def filled_rule(rule: Rule, live: Iterable[Premise], binding: Mapping[Var, Node]) -> Rule | None:
    """A rule with these premises and with the values of variables that are bound; None: it never fires."""
    if any(never_holds(condition, binding) for condition in rule.conditions):
        return None
    conditions: list[Condition] = []
    for condition in rule.conditions:
        assert isinstance(condition, Guard)
        args = tuple(value(arg, binding) for arg in condition.args)
        if any(isinstance(arg, Var) for arg in args):
            conditions.append(replace(condition, args=args))
    return replace(
        rule,
        premises=tuple(replace(each, pattern=filled(each.pattern, binding)) for each in live),
        conclusions=tuple(filled(each, binding) for each in rule.conclusions),
        conditions=tuple(conditions),
    )


def never_holds(condition: Condition, binding: Mapping[Var, Node]) -> bool:
    """Whether a test fails, whatever the variables are that are not bound.

    >>> never_holds(Guard("notEqual", (Var("x"), Var("y"))), {Var("x"): Var("y")})
    True
    """
    if not isinstance(condition, Guard):
        return False
    args = [value(arg, binding) for arg in condition.args]
    if any(isinstance(arg, Var) for arg in args):
        return condition.name == "notEqual" and args[0] == args[1]
    return not builtins.holds(condition.name, condition.text, (), tuple(map(str, args)))
