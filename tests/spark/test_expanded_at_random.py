"""Whole jobs with and without linear expansion, shard by shard but without Spark: random rules and streams.

ENSUE_SEED sets the first seed, ENSUE_EXPAND_JOBS how many jobs there are.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from spark.test_expand import CLASSES, LINKS, NO_LINKS, STANDARD, TYPE, X, Y, _schema, _statement, block_of

from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.plan.shapes import overlap
from ensue.query.language import parse_query
from ensue.rules.tree import Guard, Pattern, Premise, Rule, RuleSet, Var
from ensue.spark.plan import plan_of
from ensue.spark.prepare import Sorter
from ensue.windows.runs import Runs

SEED = int(os.environ.get("ENSUE_SEED", "1"))
JOBS = int(os.environ.get("ENSUE_EXPAND_JOBS", "60"))
STREAM = "urn:s"
Z = Var("z")


def _joining(name, *premises, then):
    return Rule(name, tuple(Premise(Pattern(*p)) for p in premises), (Pattern(*then),))


JOINING = (
    _joining("some", (X, LINKS[0], Y), (Y, TYPE, CLASSES[0]), then=(X, TYPE, CLASSES[1])),
    _joining("both", (X, LINKS[1], Y), (X, LINKS[2], Y), then=(X, LINKS[3], Y)),
    _joining("of one", (X, TYPE, CLASSES[2]), (X, LINKS[1], Y), then=(X, TYPE, CLASSES[3])),
)
PATTERNS = (
    *(f"?x a {name}" for name in CLASSES[:3]),
    *(f"?x {name} ?y" for name in LINKS[:3]),
    "?x ?p ?y",
    "OPTIONAL { ?x a ?c }",
)
SELECTS = ("SELECT *", "SELECT DISTINCT ?x", "SELECT ?x", "SELECT ?x (COUNT(*) AS ?n)")


def make_job(random):
    rules = random.sample(STANDARD, random.randrange(2, 7)) + random.sample(JOINING, random.randrange(3))
    rules += random.sample(NO_LINKS, random.random() < 0.3)
    where = " . ".join(sorted(random.sample(PATTERNS, random.randrange(1, 3)), key=len))
    head = random.choice(SELECTS)
    group = " GROUP BY ?x" if "COUNT" in head else ""
    text = f"{head} FROM STREAM <{STREAM}> [RANGE 2s STEP 1s] WHERE {{ {where} }}{group}"
    query = parse_query(text, "q.rq", "q")
    background = tuple((*statement, None) for statement in _schema(random))
    settings = Settings(fixed_schema=True, prune=random.random() < 0.8)
    return Job.of([query], RuleSet("random", tuple(rules)), Sent(background), settings)


def assumed_by(plan):
    parts = [part for part in (plan.expansion, plan.relevance, plan.routing) if part is not None]
    return [shape for part in parts for shape in part.assumed]


def blocks_of(statements):
    """Two blocks, in which time goes on."""
    half = len(statements) // 2
    for first, part in ((0, statements[:half]), (half, statements[half:])):
        block = block_of(part)
        times = 100 * (first + block.times.each() - 10)
        yield replace(block, times=Runs.of(times))


def answers(plan, statements):
    """What the shards of a plan answer together, window by window, and what one of them has counted."""
    sorter = Sorter(plan.lane(STREAM))
    reasoners = [shard.reasoner() for _, shard in plan.shards()]
    results = []
    for block in blocks_of(statements):
        for reasoner, part in zip(reasoners, sorter.parts(block), strict=True):
            results += reasoner.step({STREAM: part.batch(reasoner.terms)}, [], {})
    for reasoner in reasoners:
        results += reasoner.step({}, [STREAM], {})
    found = {}
    for result in results:
        rows = (tuple(zip(result.answers.variables, row, strict=True)) for row in result.answers.rows)
        found.setdefault((result.open, result.close), Counter()).update(map(str, rows))
    counted = [reasoner.counters() for reasoner in reasoners]
    return found, [{name: each[name] for name in ("admitted", "late", "frontier")} for each in counted]


def check(seed, tally):
    random = Random(seed)
    job = make_job(random)
    plans = {(n, expand): plan_of(job, shards=n, expand=expand) for n in (1, 2) for expand in (False, True)}
    tally["not expanded"] += plans[1, True].expansion is None
    away = [shape for plan in plans.values() for shape in assumed_by(plan)]
    said = [_statement(random) for _ in range(50)]
    said = [statement for statement in said if not any(overlap(statement, shape) for shape in away)]
    want, counted = answers(plans[1, False], said)
    tally["answers"] += sum(sum(rows.values()) for rows in want.values())
    for (shards, expand), plan in plans.items():
        if (shards, expand) == (1, False) or (expand and plan.expansion is None):
            continue
        tally[f"{len(plan.keys)} shards, {'expanded' if expand else 'whole'}"] += 1
        found, others = answers(plan, said)
        about = f"case {seed}, {shards} shards, expanded {expand}: {job.queries[0].text}"
        assert found == want, f"{about}\n{job.rules.rules}\n{job.knowledge.stated}"
        assert all(each == counted[0] for each in others), about


@pytest.mark.parametrize("chunk", range(3))
def test_expansion_shows_in_no_answer(chunk, capsys):
    tally = Counter()
    for seed in range(SEED + chunk, SEED + JOBS, 3):
        check(seed, tally)
    with capsys.disabled():
        print(f"\nexpanded jobs: {JOBS // 3} from seed {SEED + chunk}, every third: {dict(tally)}")
    if JOBS >= 120:
        assert tally["answers"] > 10 * JOBS
        assert tally["not expanded"] < JOBS / 12
        assert tally["2 shards, expanded"] >= 3


def test_a_guard_that_rules_look_at_is_still_looked_at():
    """Of a literal no type is made where the rule says so."""
    named = Rule(
        "range",
        (Premise(Pattern(X, LINKS[0], Y)),),
        (Pattern(Y, TYPE, CLASSES[0]),),
        (Guard("notLiteral", (Y,)),),
    )
    query = parse_query(
        f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 9s STEP 9s] WHERE {{ ?x a {CLASSES[0]} }}", "q.rq", "q"
    )
    plan = plan_of(Job.of([query], RuleSet("test", (named,)), Sent()), expand=True)
    [part] = Sorter(plan.lane(STREAM)).parts(
        block_of(
            [("<urn:a>", LINKS[0], "<urn:b>"), ("<urn:a>", LINKS[0], '"b"'), ("<urn:a>", LINKS[1], "<urn:b>")]
        )
    )
    assert part.places.tolist() == [0]
    assert len(part.times) == 3
    assert sorted(part.terms.to_pylist()) == sorted(["<urn:b>", TYPE, CLASSES[0]])
