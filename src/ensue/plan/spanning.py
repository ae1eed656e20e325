"""The axioms of equality along the equalities that somebody states, not along all that follow from them.

Equalities of a stream have stamps of their own, so no term stands for another one, and what is said of one
of n equal terms is said of all of them. But to get there, it is enough to go from a term to those it is
*linked* to: by a statement, or by a rule that is no axiom. What a term gets from a distant equal it gets
from neighbour to neighbour, with the same stamp, since a way is as old as its oldest step. So instead of n
times n pairs at every turn there are as many as links; and that all pairs are equal is derived only if
somebody asks for it.

Links have a predicate of their own, LINK. No statement has it: who takes statements in writes it for E, and
who reads leaves out whatever mentions it (`ensue.maintain.represented`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.plan.equality import Equality, axioms_of, renamed_pattern
from ensue.plan.heads import filled, value
from ensue.plan.schema import LINK
from ensue.rules.tree import Guard, Mint, Pattern, Premise, Rule, RuleSet, Var


def spanned(rules: RuleSet, equality: Equality) -> RuleSet:
    """The rules with links in their axioms of equality.

    >>> from ensue.plan.equality import equality_of
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules('''[a: (?x <urn:same> ?y) -> (?y <urn:same> ?x)]
    ...     [b: (?x <urn:same> ?y), (?y <urn:same> ?z) -> (?x <urn:same> ?z)]
    ...     [c: (?s ?p ?o), (?s <urn:same> ?t) -> (?t ?p ?o)]
    ...     [d: (?s ?p ?o), (?o <urn:same> ?t) -> (?s ?p ?t)]
    ...     [e: (?s ?p ?o), (?p <urn:same> ?t) -> (?s ?t ?o)] [f: (?x <urn:id> ?y) -> (?x <urn:same> ?y)]''')
    >>> for rule in spanned(rules, equality_of(rules)).rules:
    ...     print(str(rule).replace("urn:ensue:equality:", ""))
    [a: (?x <link> ?y) -> (?y <link> ?x), (?x <urn:same> ?y)]
    [b: (?x <urn:same> ?y), (?y <link> ?z) -> (?x <urn:same> ?z)]
    [c: (?s ?p ?o), (?s <link> ?t), notEqual(?p, <link>) -> (?t ?p ?o)]
    [d: (?s ?p ?o), (?o <link> ?t), notEqual(?p, <link>) -> (?s ?p ?t)]
    [e: (?s ?p ?o), (?p <link> ?t) -> (?s ?t ?o)]
    [e: (?s ?p ?o), (?p <link> <urn:same>) -> (?s <link> ?o)]
    [f: (?x <urn:id> ?y) -> (?x <link> ?y)]
    """
    found = [each for rule in rules.rules for each in _spanned(rule, equality)]
    links = {equality.predicate: LINK}
    axioms = (_linked(axiom, links) for axiom in rules.axioms)
    return replace(rules, rules=tuple(dict.fromkeys(found)), axioms=tuple(axioms))


def can_be_spanned(rules: RuleSet, equality: Equality) -> bool:
    """Whether no rule can tell a link from an equality: none asks what a predicate is.

    (That two terms differ is asked only where nothing follows for equals: so `ensue.plan.equality` has it.)
    """
    for rule in rules.rules:
        predicates = {premise.pattern.p for premise in rule.premises} | {equality.predicate}
        asked = {node for each in rule.conditions if not isinstance(each, Mint) for node in each.args}
        if asked & predicates and rule not in equality.axioms:
            return False
        # A node is known by all that the premises bound.
        mints = any(isinstance(each, Mint) and each.key is None for each in rule.conditions)
        if mints and any(isinstance(conclusion.p, Var) for conclusion in rule.conclusions):
            return False
    return True


def _spanned(rule: Rule, equality: Equality) -> Iterator[Rule]:
    same, links = equality.predicate, {equality.predicate: LINK}
    if rule in equality.axioms:
        for conclusion, (_, kind) in zip(rule.conclusions, axioms_of(rule), strict=True):
            yield from _axiom(replace(rule, conclusions=(conclusion,)), kind, equality)
        return
    yield replace(rule, conclusions=tuple(_linked(each, links) for each in rule.conclusions))
    for conclusion in rule.conclusions:
        if isinstance(conclusion.p, Var):
            # What it makes may be an equality: then it is a link as well.
            made = _where(replace(rule, conclusions=(conclusion,)), conclusion.p, same)
            yield replace(made, conclusions=tuple(_linked(each, links) for each in made.conclusions))


def _linked(pattern: Pattern, links: dict[str, str]) -> Pattern:
    """An equality of two terms as a link; that a term is equal to itself links nothing."""
    is_link = pattern.p in links and pattern.s != pattern.o
    return Pattern(pattern.s, LINK, pattern.o) if is_link else pattern


def _axiom(rule: Rule, kind: str, equality: Equality) -> Iterator[Rule]:
    same, links = equality.predicate, {equality.predicate: LINK}
    [conclusion] = rule.conclusions
    if kind == "symmetric":
        [premise] = rule.premises
        linked = renamed_pattern(premise.pattern, links)
        made = (renamed_pattern(conclusion, links), premise.pattern)
        yield replace(rule, premises=(replace(premise, pattern=linked),), conclusions=made)
        return
    old = [each for each in rule.premises if _is_step(each, kind, conclusion, same)][-1]
    step = replace(old, pattern=renamed_pattern(old.pattern, links))
    premises = tuple(step if each is old else each for each in rule.premises)
    if kind in ("subject", "object"):
        assert isinstance(conclusion.p, Var)
        only = Guard("notEqual", (conclusion.p, LINK))  # Links of links would be all pairs again.
        yield replace(rule, premises=premises, conditions=(*rule.conditions, only))
        return
    yield replace(rule, premises=premises)
    if kind == "predicate":
        assert isinstance(conclusion.p, Var)
        made_link = _where(replace(rule, premises=premises), conclusion.p, same)
        yield replace(made_link, conclusions=(Pattern(conclusion.s, LINK, conclusion.o),))


def _where(rule: Rule, variable: Var, term: str) -> Rule:
    """A rule in the case that one of its variables is a term."""
    binding = {variable: term}
    premises = (replace(each, pattern=filled(each.pattern, binding)) for each in rule.premises)
    conclusions = (filled(each, binding) for each in rule.conclusions)
    conditions = (
        each
        if isinstance(each, Mint)
        else replace(each, args=tuple(value(arg, binding) for arg in each.args))
        for each in rule.conditions
    )
    return replace(
        rule, premises=tuple(premises), conclusions=tuple(conclusions), conditions=tuple(conditions)
    )


def _is_step(premise: Premise, kind: str, conclusion: Pattern, same: str) -> bool:
    """Whether a premise is the equality by which an axiom goes from one term to another."""
    if kind == "transitive":
        return premise.pattern.o == conclusion.o
    return premise.pattern.p == same
