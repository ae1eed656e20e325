"""Dropping what is not relevant changes no answer, nor does pruning the rules.

Whole queries with random rules, backgrounds and streams.

ENSUE_SEED sets the first seed, ENSUE_PLAN_CASES how many cases there are. In every second case the made-up
vocabulary of rules is the standard's, so that premises are cut by assumption.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from random import Random

import pytest
from equivalence.rulegen import SCHEMA, SUB, TYPE
from plan.support import BLANKED, blanked, block, job_of, masked, rules_of, statements_of
from query.equivalence.cases import Case, Push, make_case
from query.equivalence.replay import bag, render, run

from ensue.plan import relevance
from ensue.plan.matches import Matches
from ensue.plan.schema import SUB_PROPERTY
from ensue.plan.schema import TYPE as RDF_TYPE
from ensue.rules.tree import Pattern, Premise

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_PLAN_CASES", "350"))
UP = "[up: (?x ?p ?y), (?p rdfs:subPropertyOf ?q) -> (?x ?q ?y)]"
ABOVE = "[above: (?p rdfs:subPropertyOf ?q), (?q rdfs:subPropertyOf ?r) -> (?p rdfs:subPropertyOf ?r)]"
ITSELF = "[itself: (?x ?p ?y) -> (?p rdfs:subPropertyOf ?p)]"
RDFS = [rules_of(text).rules for text in ("", UP, UP + ABOVE, UP + ABOVE + ITSELF)]
"""Rules that are added to a case: without schema the random ones rarely cut anything."""
STANDARD = {SUB: SUB_PROPERTY, TYPE: RDF_TYPE}


@dataclass
class Tally:
    filtered: int = 0
    with_drops: int = 0
    assuming: int = 0
    pruned: int = 0
    kept: int = 0
    dropped: int = 0
    lost: int = 0
    """Cases whose answers change if every statement is dropped: in others nothing can go wrong."""


def test_dropping_what_is_irrelevant_changes_no_answer(capsys):
    tally = Tally()
    for seed in range(SEED, SEED + CASES):
        case = make_case(seed)
        check(with_standard_vocabulary(case) if seed % 2 else case, tally)
    share = tally.dropped / (tally.dropped + tally.kept)
    with capsys.disabled():
        print(
            f"\n{CASES} cases from seed {SEED}: {tally.filtered} with a filter,"
            f" {tally.with_drops} of them drop ({share:.0%} of all statements),"
            f" {tally.assuming} assume something, {tally.pruned} have rules pruned,"
            f" {tally.lost} have answers that rest on the streams"
        )
    assert tally.filtered >= CASES / 2
    assert tally.with_drops >= CASES / 3
    assert tally.lost >= CASES / 3
    assert tally.assuming >= CASES / 10
    assert tally.pruned >= CASES / 4
    assert share > 0.1


def check(case: Case, tally: Tally) -> None:
    found, pruned = relevance.find(*job_of(case))
    if found.everything:
        return
    wanted, stated = Matches(found.patterns), statements_of(case)
    assert not wanted(*block([BLANKED])).any()
    # What is assumed away must not come; where it does, the job would stop.
    allowed = blanked(case, masked(stated, Matches(found.assumed)(*block(stated))))
    stated = [statement for statement in statements_of(allowed) if statement != BLANKED]
    keep = wanted(*block(stated))
    whole = answers(allowed)
    dropped = blanked(allowed, masked(stated, ~keep))
    # Where nothing is dropped, or no rule is pruned, that is the same case.
    variants = [dropped] * (not keep.all()) + [replace(dropped, rules=pruned)] * (pruned != case.rules)
    for variant in variants:
        if answers(variant) != whole:
            report = "\n".join([render(variant), *found.describe()])
            pytest.fail(f"case {case.seed}\n{report}", pytrace=False)
    tally.filtered += 1
    tally.with_drops += bool((~keep).any())
    tally.assuming += bool(found.assumed)
    tally.pruned += pruned != case.rules
    tally.kept += int(keep.sum())
    tally.dropped += int((~keep).sum())
    tally.lost += answers(blanked(allowed, lambda _: True)) != whole


def answers(case: Case) -> list:
    results = run(case, "expiration", "compiled").results
    return [(result.query, result.open, result.close, bag(result)) for result in results]


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
