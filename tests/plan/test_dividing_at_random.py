"""Several reasoners, each with its part of the streams, together give the answers of one.

ENSUE_SEED sets the first seed, ENSUE_PLAN_CASES how many cases there are.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

import pytest
from plan.stars import make_star
from plan.support import BLANKED, blanked, block, job_of, masked, statements_of
from query.equivalence.cases import Case
from query.equivalence.replay import bag, render, run

from ensue.plan import relevance, routing
from ensue.plan.matches import Matches
from ensue.plan.routing import Routing
from ensue.query.output import Result
from ensue.query.tree import Form

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_PLAN_CASES", "250"))


@dataclass
class Tally:
    divided: int = 0
    rules: int = 0
    """How many of these have rules."""
    with_answers: int = 0
    sent: int = 0
    stated: int = 0
    needs_acceptance: int = 0
    """Cases in which all answers of all shards together are too many, or wrong."""


def test_shards_together_answer_as_one_reasoner(capsys):
    tally = Tally()
    for case in map(make_star, range(SEED, SEED + CASES)):
        check(case, tally)
    with capsys.disabled():
        print(
            f"\n{CASES} cases from seed {SEED}: {tally.divided} can be divided,"
            f" {tally.rules} of them with rules,"
            f" {tally.with_answers} with answers; each statement goes to {tally.sent / tally.stated:.2f} of 4"
            f" shards; in {tally.needs_acceptance} a shard must leave out answers"
        )
    assert tally.divided >= max(30, CASES / 4)
    assert tally.rules >= CASES / 10
    assert tally.with_answers >= CASES / 5
    assert tally.needs_acceptance >= CASES / 20
    assert tally.sent / tally.stated < 2


def check(case: Case, tally: Tally) -> None:
    job = job_of(case)
    found = routing.find(*job, relevance.find(*job))
    if found.one_shard_because is not None:
        return
    stated = statements_of(case)
    allowed = blanked(case, masked(stated, Matches(found.assumed)(*block(stated))))
    whole = answers(run(allowed, "expiration", "compiled").results, found)
    if whole is None:
        return
    for shards in (2, 4):
        parts, loose = divided(allowed, found, shards, tally)
        if parts != whole:
            report = "\n".join((render(case), *found.describe(), f"{shards} shards", str(whole), str(parts)))
            pytest.fail(f"case {case.seed}\n{report}", pytrace=False)
    tally.divided += 1
    tally.rules += bool(case.rules.rules)
    tally.with_answers += any(whole.values())
    tally.needs_acceptance += loose != whole


def divided(case: Case, found: Routing, shards: int, tally: Tally):
    """The answers of all shards together: those that they accept, and those that they find."""
    stated = statements_of(case)
    bits = found.router(shards).route(*block(stated))
    parts, loose = Counter(), Counter()
    for shard in range(shards):
        needed = bits >> shard & 1 == 1
        results = run(blanked(case, masked(stated, ~needed)), "expiration", "compiled").results
        _add(parts, answers(results, found, (shards, shard)))
        _add(loose, answers(results, found))
        if shards == 4:
            tally.sent += int(needed.sum())
    tally.stated += len(stated) if shards == 4 else 0
    return parts, loose


def answers(results: list[Result], found: Routing, part: tuple[int, int] | None = None) -> dict | None:
    """The bag of each evaluation, about what a shard accepts; None where rows do not hold the key."""
    bags = {}
    for result in results:
        share = found.share(result.query, *(part or (1, 0)))
        variable, accepts = share.variable, share.owns
        if result.answers.form is not Form.SELECT or variable not in result.answers.variables:
            return None
        at = sorted(result.answers.variables).index(variable)
        rows = bag(result).items()
        kept = {row: n for row, n in rows if row[at] != BLANKED[0] and accepts(row[at])}
        bags[result.query, result.open, result.close] = Counter(kept)
    return bags


def _add(total: dict, bags: dict) -> None:
    for evaluation, found in bags.items():
        total[evaluation] = total.get(evaluation, Counter()) + found
