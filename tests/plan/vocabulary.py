"""Random cases in the words of the standards, so that premises are cut by assumption."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from equivalence.rulegen import SCHEMA, SUB, TYPE
from plan.support import rules_of
from query.equivalence.cases import Case, Push

from ensue.plan.schema import SUB_PROPERTY
from ensue.plan.schema import TYPE as RDF_TYPE
from ensue.rules.tree import Pattern, Premise

UP = "[up: (?x ?p ?y), (?p rdfs:subPropertyOf ?q) -> (?x ?q ?y)]"
ABOVE = "[above: (?p rdfs:subPropertyOf ?q), (?q rdfs:subPropertyOf ?r) -> (?p rdfs:subPropertyOf ?r)]"
ITSELF = "[itself: (?x ?p ?y) -> (?p rdfs:subPropertyOf ?p)]"
RDFS = [rules_of(text).rules for text in ("", UP, UP + ABOVE, UP + ABOVE + ITSELF)]
"""Rules that are added to a case: without schema the random ones rarely cut anything."""
STANDARD = {SUB: SUB_PROPERTY, TYPE: RDF_TYPE}


def with_standard_vocabulary(case: Case) -> Case:
    def statement(terms):
        return tuple(STANDARD.get(term, term) for term in terms)

    def pattern(given: Pattern) -> Pattern:
        return Pattern(*statement(given))

    def premise(given: Premise) -> Premise:
        return replace(given, pattern=pattern(given.pattern))

    rules = tuple(
        replace(
            rule,
            premises=tuple(map(premise, rule.premises)),
            conclusions=tuple(map(pattern, rule.conclusions)),
        )
        for rule in case.rules.rules
    )
    actions = tuple(
        replace(action, rows=tuple((time, statement(terms)) for time, terms in action.rows))
        if isinstance(action, Push)
        else action
        for action in case.actions
    )
    random = Random(case.seed)
    schema = random.sample(SCHEMA, random.randrange(4))
    return replace(
        case,
        rules=replace(
            case.rules, rules=(*rules, *random.choice(RDFS)), axioms=tuple(map(pattern, case.rules.axioms))
        ),
        background=tuple(map(statement, (*case.background, *schema))),
        graphs={iri: tuple(map(statement, graph)) for iri, graph in case.graphs.items()},
        actions=actions,
    )
