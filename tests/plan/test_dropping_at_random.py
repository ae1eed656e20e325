"""Dropping what is not relevant changes no answer.

Whole queries with random rules, backgrounds and streams.

ENSUE_SEED sets the first seed, ENSUE_PLAN_CASES how many cases there are. In every second case the made-up
vocabulary of rules is the standard's, so that premises are cut by assumption.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest
from plan.support import BLANKED, blanked, block, job_of, masked, statements_of
from plan.vocabulary import with_standard_vocabulary
from query.equivalence.cases import Case, make_case
from query.equivalence.replay import bag, render, run

from ensue.plan import relevance
from ensue.plan.matches import Matches

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_PLAN_CASES", "350"))


@dataclass
class Tally:
    filtered: int = 0
    with_drops: int = 0
    assuming: int = 0
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
            f" {tally.assuming} assume something,"
            f" {tally.lost} have answers that rest on the streams"
        )
    assert tally.filtered >= CASES / 2
    assert tally.with_drops >= CASES / 3
    assert tally.lost >= CASES / 3
    assert tally.assuming >= CASES / 10
    assert share > 0.1


def check(case: Case, tally: Tally) -> None:
    found = relevance.find(*job_of(case))
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
    if answers(dropped) != whole:
        report = "\n".join([render(dropped), *found.describe()])
        pytest.fail(f"case {case.seed}\n{report}", pytrace=False)
    tally.filtered += 1
    tally.with_drops += bool((~keep).any())
    tally.assuming += bool(found.assumed)
    tally.kept += int(keep.sum())
    tally.dropped += int((~keep).sum())
    tally.lost += answers(blanked(allowed, lambda _: True)) != whole


def answers(case: Case) -> list:
    results = run(case, "expiration", "compiled", prune=False).results
    return [(result.query, result.open, result.close, bag(result)) for result in results]
