"""Partitioned queries at random: every strategy and evaluator answers as the parts do, each by itself."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from plan.shards import over_shards
from query.partition_cases import STREAM, Case, difference, expected, make_case, run

from ensue.errors import InputError, StrategyError
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.spark.plan import plan_of
from ensue.spark.shelf import Shelf
from ensue.windows.frontier import Disorder

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_CASES", "24"))
RUNS = (
    ("auto", "auto"),
    ("expiration", "oxigraph"),
    ("recompute", "auto"),
    ("dred", "auto"),
    ("rete", "auto"),
    ("hybrid", "auto"),
    ("expiration-keep-all", "auto"),
    ("rewrite", "auto"),
)


def runs(case: Case):
    """The case as every engine has it: also with keys that no stream may bring, if none does."""
    for strategy, evaluator in RUNS:
        yield f"{strategy}/{evaluator}", {"strategy": strategy, "evaluator": evaluator}
    yield "checked", {"check": 1}
    if case.by != "GRAPH":
        yield "fixed", {"fixed_schema": True}
        yield "fixed/dred", {"fixed_schema": True, "strategy": "dred"}


def test_every_strategy_answers_as_the_parts_do():
    counted = Counter()
    for seed in range(SEED, SEED + CASES):
        case = make_case(seed)
        first = case.reasoner()
        first.register(case.text())
        windows = [(result.open, result.close) for result in run(case, first)]
        wanted = expected(case, windows)
        unkeyed = sum(each for each, _ in wanted)
        for name, options in runs(case):
            reasoner = case.reasoner(**options)
            try:
                reasoner.register(case.text())
                results = run(case, reasoner)
            except StrategyError:
                counted["refused"] += 1
                continue
            except InputError:
                assert "fixed" in name, f"seed {seed}, {name}"
                counted["schema came"] += 1
                continue
            where = f"seed {seed}, {name}: {case.text()}"
            assert [(result.open, result.close) for result in results] == windows, where
            if problem := difference(case, results, wanted):
                pytest.fail(f"{where}, {problem}", pytrace=False)
            assert reasoner.counters()["unkeyed"] == unkeyed, where
            counted[name.split("/")[0]] += 1
        parts = [answers for _, found in wanted for _, answers in found]
        counted["partitions"] += len(parts)
        counted["with answers"] += sum(map(bool, parts))
        counted["unkeyed"] += unkeyed > 0
    print(f"{CASES} cases from seed {SEED} on: {dict(counted)}")
    assert counted["partitions"] > 5 * CASES
    assert counted["with answers"] > 2 * CASES
    assert counted["unkeyed"] > CASES / 8
    assert counted["fixed"] > CASES / 10


def test_shards_answer_as_the_parts_do(tmp_path):
    """Each step of the data path as Spark runs it; shards are made anew, or adopted, between any two."""
    counted = Counter()
    for seed in range(SEED, SEED + CASES):
        case = without_surprises(make_case(seed))
        first = case.reasoner()
        first.register(case.text())
        results = run(case, first)
        wanted = expected(case, [(result.open, result.close) for result in results])
        streams = {STREAM: [(event.time, *event.statement, event.graph) for event in case.events]}
        how = ("kept", "forgotten", "adopted")[seed % 3]
        for shards in (1, 4):
            plan = plan_of(job_of(case, fixed=shards > 1), shards=shards)
            if len(plan.keys) != shards:
                counted[f"not {shards}"] += 1
                continue
            shelf = Shelf(tmp_path, f"{seed}-{shards}") if how == "adopted" else None
            try:
                found = over_shards(plan, streams, 4, forgets=how == "forgotten", shelf=shelf)
            except InputError:
                counted["schema came"] += 1
                continue
            where = f"seed {seed}, {shards} shards, {how}: {case.text()}"
            assert [(r.open, r.close) for r in found] == [(r.open, r.close) for r in results], where
            if problem := difference(case, found, wanted):
                pytest.fail(f"{where}, {problem}", pytrace=False)
            counted[f"{how}, {shards}"] += 1
    print(f"{CASES} cases from seed {SEED} on: {dict(counted)}")
    assert min(counted[f"{how}, 1"] for how in ("kept", "forgotten", "adopted")) > CASES / 5
    assert sum(counted[f"{how}, 4"] for how in ("kept", "forgotten", "adopted")) > CASES / 4


def without_surprises(case: Case) -> Case:
    """The case without what is taken back, and without what comes too late, which micro-batches decide."""
    events, newest = [], -(2**62)
    for event in case.events:
        if not event.retracts and event.time >= newest - case.allowed:
            events.append(event)
            newest = max(newest, event.time)
    return replace(case, events=tuple(events))


def job_of(case: Case, fixed: bool) -> Job:
    knowledge = Sent(tuple((*statement, None) for statement in case.background))
    settings = Settings(disorder=Disorder(case.allowed), fixed_schema=fixed)
    return Job.of([parse_query(case.text())], case.rules, knowledge, settings)
