"""Rules over triples as a Datalog program over the single ternary predicate P, as the papers do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ensue.rules.lists import check_unfolded
from ensue.rules.maintenance.datalog import Atom, Clause, Literal, Program
from ensue.rules.tree import Condition, Mint, Premise, Rule, RuleSet, Var

BACKGROUND = "PBackground"
"""What cut premises match: the closed background, which no step changes."""


def over_triples(rules: RuleSet) -> Program:
    """The rules as Datalog, one clause for each conclusion; an axiom is a clause without a body.

    >>> from ensue.rules.tree import Pattern
    >>> x, p, y, c = map(Var, "xpyc")
    >>> domain, kind = (f"<http://www.w3.org/{end}>" for end in ("2000/01/rdf-schema#domain", "x#type"))
    >>> premises = (Premise(Pattern(p, domain, c), cut=True), Premise(Pattern(x, p, y)))
    >>> print(over_triples(RuleSet("r", (Rule("rdfs2", premises, (Pattern(x, kind, c),)),))))
    (rdfs2) P(x, <http://www.w3.org/x#type>, c) :- PBackground(p, rdfs:domain, c), P(x, p, y)
    """
    check_unfolded(rules.rules)
    axioms = (Clause(Atom("P", tuple(axiom)), (), "axiom") for axiom in rules.axioms)
    clauses = (clause for rule in rules.rules for clause in _clauses(rule))
    return Program((*axioms, *clauses), static=frozenset({BACKGROUND}))


def _clauses(rule: Rule) -> Iterator[Clause]:
    premises = tuple(map(_atom, rule.premises))
    bound = tuple(dict.fromkeys(node for atom in premises for node in atom.args if isinstance(node, Var)))
    conditions: tuple[Literal, ...] = tuple(_keyed(condition, bound) for condition in rule.conditions)
    for conclusion in rule.conclusions:
        yield Clause(Atom("P", tuple(conclusion)), (*premises, *conditions), rule.name, rule.place)


def _atom(premise: Premise) -> Atom:
    return Atom(BACKGROUND if premise.cut else "P", tuple(premise.pattern))


def _keyed(condition: Condition, bound: tuple[Var, ...]) -> Condition:
    # A rewritten rule can bind more than the rule did, so what a node is minted from is spelt out.
    if isinstance(condition, Mint) and condition.key is None:
        return replace(condition, key=bound)
    return condition
