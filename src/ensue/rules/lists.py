"""What list premises ask of a rule: where its lists come from, and whose variables are whose.

A list is a constant, or a variable that a premise with a named predicate binds (an *anchor*:
`(?c owl:unionOf ?l)`), or a member of another list. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ensue.errors import Place, RuleError, UnsafeRuleError
from ensue.rules.tree import (
    Chain,
    Each,
    Guard,
    ListPremise,
    Member,
    Node,
    Pair,
    Pattern,
    Premise,
    Rule,
    Var,
)

NAMES = ("member", "pair", "each", "chain")
"""What list premises are called."""

NAMESPACE = "urn:ensue:list:"
"""Where SPARQL rules have `pair` and `chain`, for which SPARQL has no words of its own."""


def check(rule: Rule, places: Mapping[str, Place]) -> None:
    """Raise RuleError if a list comes from nowhere, or a variable means two things.

    >>> l, x = Var("l"), Var("x")
    >>> check(Rule("r", (), (), (), None, (Member(l, x),)), {})
    Traceback (most recent call last):
    ensue.errors.UnsafeRuleError: rule 'r': nothing binds ?l, whose members member(?l, ?x) asks for ...
    """
    given = {v for premise in rule.premises for v in premise.pattern.variables()}
    for premise in rule.lists:
        if isinstance(premise.of, Var) and premise.of not in given:
            raise UnsafeRuleError(
                f"rule '{rule.name}': nothing binds {premise.of}, whose members {premise} asks for",
                place=places.get(premise.of.name, rule.place),
                hint=f"use {premise.of} in a premise, such as (?c owl:unionOf {premise.of})",
            )
        given.update(item for item in _items(premise) if isinstance(item, Var))
        if isinstance(premise, Each):
            _check_each(rule, premise, places)
    for anchor in anchors(rule):
        if isinstance(anchor.pattern.p, Var):
            raise RuleError(
                f"rule '{rule.name}': {anchor} binds a list, and anything could be one",
                place=places.get(anchor.pattern.p.name, rule.place),
                hint="name the predicate",
            )
    if not rule.premises and rule.lists and not all(isinstance(each, Guard) for each in rule.conditions):
        what = f"rule '{rule.name}' has conditions but no premise"
        raise RuleError(what, place=rule.place, hint="add a premise, or leave the conditions out")


def _check_each(rule: Rule, each: Each, places: Mapping[str, Place]) -> None:
    item = each.item
    if item in _elsewhere(rule, each) or item == each.of:
        raise RuleError(
            f"rule '{rule.name}': {item} is every member in turn, so it means nothing outside of {each}",
            place=places.get(item.name, rule.place),
            hint="use another variable there; member(...) is for some member",
        )
    if not any(item in pattern.variables() for pattern in each.patterns):
        raise RuleError(
            f"rule '{rule.name}': {each} says nothing about {item}",
            place=places.get(item.name, rule.place),
            hint=f"it is written each(?list, {item}, (?x rdf:type {item}))",
        )


def anchors(rule: Rule) -> tuple[Premise, ...]:
    """The premises that bind lists."""
    items = {node for premise in rule.lists for node in _items(premise)}
    roots = {premise.of for premise in rule.lists} - items
    return tuple(premise for premise in rule.premises if premise.pattern.variables() & roots)


def bound(rule: Rule) -> set[Var]:
    """The variables that list premises bind, as long as the lists are not empty."""
    found: set[Var] = set()
    for premise in rule.lists:
        found |= variables(premise) - (local(rule, premise) if isinstance(premise, Each) else set())
    return found


def local(rule: Rule, each: Each) -> set[Var]:
    """The variables that are other ones for each member.

    >>> l, p, x, v = map(Var, "lpxv")
    >>> each = Each(l, p, (Pattern(x, p, v),))
    >>> rule = Rule("r", (), (Pattern(x, "<urn:has>", l),), lists=(each,))
    >>> sorted(map(str, local(rule, each)))
    ['?p', '?v']
    """
    return variables(each) - {each.of} - _elsewhere(rule, each)


def variables(premise: ListPremise) -> set[Var]:
    """All variables of a list premise."""
    match premise:
        case Each():
            nodes = [premise.of, premise.item, *(node for pattern in premise.patterns for node in pattern)]
        case Chain():
            nodes = [premise.of, premise.start, premise.end]
        case _:
            nodes = [premise.of, *_items(premise)]
    return {node for node in nodes if isinstance(node, Var)}


def substituted(premise: ListPremise, terms: Mapping[Var, str]) -> ListPremise:
    """A list premise with terms for some of its variables."""

    def put(node: Node) -> Node:
        return terms.get(node, node) if isinstance(node, Var) else node

    match premise:
        case Member():
            return Member(put(premise.of), put(premise.item))
        case Pair():
            return Pair(put(premise.of), put(premise.first), put(premise.second))
        case Chain():
            return Chain(put(premise.of), put(premise.start), put(premise.end))
    patterns = tuple(Pattern(*map(put, pattern)) for pattern in premise.patterns)
    return Each(put(premise.of), premise.item, patterns)


def check_unfolded(rules: Iterable[Rule]) -> None:
    """Raise RuleError if a rule has list premises still, for whoever runs plain rules."""
    for rule in rules:
        if rule.lists:
            raise RuleError(
                f"rule '{rule.name}' asks for the members of lists: {rule.lists[0]}",
                place=rule.place,
                hint="unfold it over its background first (ensue.plan.unfold)",
            )


def _items(premise: ListPremise) -> tuple[Node, ...]:
    """What is sure to be a member of the list."""
    match premise:
        case Member():
            return (premise.item,)
        case Pair():
            return premise.first, premise.second
    return ()


def _elsewhere(rule: Rule, each: Each) -> set[Var]:
    """The variables of a rule outside of one of its list premises."""
    patterns = [*(premise.pattern for premise in rule.premises), *rule.conclusions]
    found = {variable for pattern in patterns for variable in pattern.variables()}
    for condition in rule.conditions:
        found |= condition.variables()
    return found.union(*(variables(premise) for premise in rule.lists if premise is not each))
