"""Random programs agree between one shard and four: with rules, of all forms, put together by the merge.

ENSUE_SEED sets the first seed, ENSUE_PROGRAMS how many programs there are (`make soak`: 340).
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from plan.programs import HEADS, Program, make_program
from plan.shards import in_process, job_of, listed, over_shards, streams_of
from query.equivalence.replay import render

from ensue.query.output import Result
from ensue.spark.plan import plan_of

SEED = int(os.environ.get("ENSUE_SEED", "1"))
PROGRAMS = int(os.environ.get("ENSUE_PROGRAMS", "120"))
SHARDS = 4
CHANCE = "by chance"


def test_four_shards_answer_as_one(capsys):
    drawn, divided, told = Counter(), Counter(), Counter()
    for program in map(make_program, range(SEED, SEED + PROGRAMS)):
        drawn[program.kind] += 1
        plan, results = check(program)
        if len(plan.keys) == SHARDS:
            divided[program.kind] += 1
            told["chains"] += program.is_chain
            told["with rules"] += bool(program.case.rules.rules)
            told["merged"] += bool(plan.merging().queries)
            told["with answers"] += any(result.answers.rows for result in results)
            told[str(program.relation)] += 1
    with capsys.disabled():
        parts = ", ".join(f"{kind} {divided[kind]}/{count}" for kind, count in sorted(drawn.items()))
        print(
            f"\n{PROGRAMS} programs from seed {SEED}: {divided.total()} on {SHARDS} shards ({parts});"
            f" of these {dict(told)}"
        )
    assert divided.total() >= PROGRAMS / 2
    assert all(divided[kind] >= drawn[kind] / 4 for kind in HEADS if kind != CHANCE)
    assert divided[CHANCE] == 0
    assert told["merged"] >= PROGRAMS / 3
    assert told["with answers"] >= PROGRAMS / 3
    assert told["chains"] >= PROGRAMS / 10
    assert min(told[relation] for relation in ("RSTREAM", "ISTREAM", "DSTREAM")) >= PROGRAMS / 20


def check(program: Program):
    """Compare, and give the plan and the results of a single reasoner."""
    job = job_of(program.case, until=program.case.seed % 3 == 0)
    plan = plan_of(job, shards=SHARDS)
    streams = streams_of(program.case, plan, job)
    one = in_process(job, streams)
    if program.kind == CHANCE:
        return plan, one  # Which answer it is depends on the order of solutions, even in one shard.
    many = over_shards(plan, streams, forgets=program.case.seed % 2 == 0)
    if listed(one) != listed(many) or (is_settled(program) and rows_of(one) != rows_of(many)):
        text = (
            f"seed {program.case.seed}",
            render(program.case),
            *map(str, listed(one)["urn:q"]),
            "",
            *map(str, listed(many)["urn:q"]),
        )
        pytest.fail("\n".join(text), pytrace=False)
    return plan, one


def is_settled(program: Program) -> bool:
    """Whether the order of the answers is certain."""
    return program.kind == "limit" and program.relation in (None, "RSTREAM")


def rows_of(results: list[Result]) -> list:
    return [list(result.answers.rows) for result in results]
