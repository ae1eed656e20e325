"""Jobs whose background changes, over shards as Spark runs them: the answers of one process.

What is dropped before the shuffle, and who gets the rest, must be right under every background that there
will be. ENSUE_SEED sets the first seed.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

from plan import stars
from plan.shards import in_process, job_of, listed, over_shards, streams_of
from query import test_partitions as partitions
from query.partition_cases import STREAM, make_case
from query.test_updates import other_partitions

from ensue.errors import InputError
from ensue.job import Job
from ensue.knowledge import Sent, Update
from ensue.plan.routing import Routing
from ensue.plan.spread import spread
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.spark.plan import plan_of
from ensue.spark.shelf import Shelf
from ensue.terms import RDFS

SEED = int(os.environ.get("ENSUE_SEED", "1"))


def stated(statements):
    return tuple((*statement, None) for statement in statements)


def random_updates(background, random):
    """One or two updates of a background: some of it goes, and some comes."""
    for _ in range(random.choice((1, 1, 2))):
        gone = [each for each in background if random.random() < 0.5]
        news = [stars._background(random) for _ in range(random.randrange(4))]
        yield Update(random.randint(2, 30), added=stated(news), removed=stated(gone))


def test_shards_answer_as_one_process_does(tmp_path):
    tally = Counter()
    for seed in range(SEED, SEED + 24):
        random, case = Random(f"{seed}/updates"), stars.make_star(seed)
        updates = sorted(random_updates(case.background, random), key=lambda update: update.at)
        job = replace(job_of(case), updates=tuple(updates))
        plan = plan_of(job, shards=(1, 3)[seed % 3 > 0])
        streams = streams_of(case, plan, job)
        how = ("kept", "forgotten", "adopted")[seed % 3]
        shelf = Shelf(tmp_path, str(seed)) if how == "adopted" else None
        found = over_shards(plan, streams, 8, forgets=how == "forgotten", shelf=shelf)
        wanted = in_process(job, streams)
        assert listed(found) == listed(wanted), f"seed {seed}, {len(plan.keys)} shards, {how}"
        before = listed(in_process(replace(job, updates=()), streams))
        tally[f"{len(plan.keys)} shards", plan.relevance is not None] += 1
        tally["other answers"] += listed(wanted) != before
    print(f"seeds from {SEED}: {dict(tally)}")
    assert tally["3 shards", True] >= 5
    assert tally["1 shards", True] >= 3
    assert tally["other answers"] >= 4


def test_partitions_move_to_the_shards_of_their_keys(tmp_path):
    tally = Counter()
    for seed in range(SEED, SEED + 20):
        random, case = Random(f"{seed}/updates"), partitions.without_surprises(make_case(seed))
        other = other_partitions(case, random)
        update = Update(random.randint(0, 30), reloaded=stated(other))
        for shards in (1, 4):
            job = replace(partitions.job_of(case, fixed=shards > 1), updates=(update,))
            plan = plan_of(job, shards=shards)
            if len(plan.keys) != shards:
                continue
            streams = {STREAM: [(event.time, *event.statement, event.graph) for event in case.events]}
            shelf = Shelf(tmp_path, f"{seed}-{shards}") if seed % 2 else None
            try:
                found = over_shards(plan, streams, 4, shelf=shelf)
            except InputError:
                continue
            reasoner = job.reasoner()
            reasoner.push(STREAM, streams[STREAM])
            wanted = list(reasoner.end())
            assert listed(found) == listed(wanted), f"seed {seed}, {shards} shards"
            tally[shards, case.by == "GRAPH"] += 1
    print(dict(tally))
    assert tally[4, False] >= 4


BELOW = ("<urn:p>", f"<{RDFS}subPropertyOf>", "<urn:q>", None)
QUERY = "REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 5ms STEP 5ms] { ?x <urn:q> ?y }"


def job_with(*updates):
    return Job.of([parse_query(QUERY)], load_rules("rhodf"), Sent(), updates=updates)


def test_what_matters_later_is_not_dropped_before():
    fixed = replace(job_with().settings, fixed_schema=True)
    plain = spread(replace(job_with(), settings=fixed)).relevance
    later = spread(replace(job_with(Update(100, added=(BELOW,))), settings=fixed)).relevance
    assert (None, "<urn:p>", None) not in plain.patterns
    assert {*plain.patterns, (None, "<urn:p>", None)} <= {*later.patterns}


def test_rules_are_not_applied_before_the_shuffle_by_a_background_that_changes():
    found = spread(job_with(Update(100, added=(BELOW,))), expand=True)
    assert found.not_expanded_because == "the background changes, and what it made of statements would stay"


def test_queries_that_go_by_other_keys_are_in_one_shard():
    one = Routing(None, variables=(("q", "x"),))
    assert one.also(replace(one, keyed=(((None, "<urn:p>", None), "s"),))).keyed
    assert one.also(replace(one, variables=(("q", "y"),))) is None
