"""Whether a rule can be run: everything that it concludes or asks about is bound. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ensue.errors import Place, RuleError, UnsafeRuleError
from ensue.rules import lists, violations
from ensue.rules.textlimits import MAX_PREMISES
from ensue.rules.tree import Guard, Mint, Node, Pattern, Rule, RuleSet, Var
from ensue.terms import Kind, kind_of

Places = Mapping[str, Place]
"""Where in the file each variable first stands, by its name."""


def check(rule: Rule, places: Places | None = None) -> None:
    """Raise UnsafeRuleError if a variable is used that nothing before it binds.

    >>> from ensue.rules.tree import Premise
    >>> x, y = Var("x"), Var("y")
    >>> check(Rule("r", (Premise(Pattern(x, "<urn:p>", x)),), (Pattern(x, "<urn:p>", y),)))
    Traceback (most recent call last):
    ensue.errors.UnsafeRuleError: rule 'r': nothing binds ?y, ... (hint: ...)
    """
    places = places or {}
    if len(rule.premises) > MAX_PREMISES:
        what, hint = f"rule '{rule.name}' has more than {MAX_PREMISES} premises", "make it several rules"
        raise RuleError(what, place=rule.place, hint=hint)
    bound = lists.bound(rule).union(*(premise.pattern.variables() for premise in rule.premises))
    lists.check(rule, places)
    for condition in rule.conditions:
        used: Iterable[Node] = (condition.key or ()) if isinstance(condition, Mint) else condition.args
        _require(rule, used, bound, places, f"which {condition} asks about")
        if isinstance(condition, Mint) and condition.key is None and condition.target in bound:
            what = f"rule '{rule.name}': {condition} makes a node, but {condition.target} is bound already"
            raise RuleError(
                what, place=places.get(condition.target.name, rule.place), hint="use a new variable"
            )
        if not isinstance(condition, Guard):
            bound.add(condition.target)
    for conclusion in rule.conclusions:
        _require(rule, conclusion, bound, places, "which it concludes about")
    for pattern in (*(premise.pattern for premise in rule.premises), *rule.conclusions):
        _check_predicate(rule, pattern)
    violations.check(rule)


def _require(rule: Rule, used: Iterable[Node], bound: set[Var], places: Places, why: str) -> None:
    for node in used:
        if isinstance(node, Var) and node not in bound:
            raise UnsafeRuleError(
                f"rule '{rule.name}': nothing binds {node}, {why}",
                place=places.get(node.name, rule.place),
                hint=f"use {node} in a premise, or make it in a condition that stands earlier",
            )


def _check_predicate(rule: Rule, pattern: Pattern) -> None:
    if isinstance(pattern.p, str) and kind_of(pattern.p) is not Kind.IRI:
        raise RuleError(
            f"rule '{rule.name}': the predicate of {pattern} is not an IRI",
            place=rule.place,
            hint="a predicate is an IRI or a variable",
        )


def check_set(rules: RuleSet) -> RuleSet:
    """The same rules, once each; raise RuleError where two rules would mint the same nodes.

    Nodes are known by the rule that made them, so two such rules must not share a name.
    """
    once = tuple(dict.fromkeys(rules.rules))
    makers: dict[str, Rule] = {}
    for rule in once:
        for condition in rule.conditions:
            if isinstance(condition, Mint) and condition.key is None:
                other = makers.setdefault(condition.source, rule)
                if other is not rule:
                    what = f"two rules that make nodes are called '{condition.source}' (see {other.place})"
                    raise RuleError(what, place=rule.place, hint="give one of them another name")
    return replace(rules, rules=once, axioms=tuple(dict.fromkeys(rules.axioms)))


def check_names(rules: Iterable[Rule]) -> None:
    """Raise RuleError if two rules of one file have the same name."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        other = seen.setdefault(rule.name, rule)
        if other is not rule:
            what = f"a second rule is called '{rule.name}' (the first is at {other.place})"
            raise RuleError(what, place=rule.place, hint="names are unique within a file")
