"""Lateness on Spark is judged in order of arrival, as in process, whatever the micro-batches and shards."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from spark.in_memory import cut, local_run, spark_run, told

from ensue.errors import InputError
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.windows.frontier import Disorder
from ensue.windows.report import Report

ISIN = "<http://example.org/isIn>"
QUERIES = (
    "REGISTER QUERY pairs AS SELECT ?a ?b FROM STREAM <urn:s> [RANGE 20ms STEP 5ms] "
    f"{{ ?x {ISIN} ?a . ?x <urn:p> ?b }}",
    "REGISTER QUERY counted AS SELECT (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 7ms STEP 7ms] "
    "{ ?x <urn:p> ?b }",
    "REGISTER QUERY few AS SELECT ?x FROM STREAM <urn:s> [RANGE TRIPLES 4 STEP 3] { ?x <urn:p> ?b }",
    f"REGISTER QUERY grown AS SELECT DISTINCT ?x FROM STREAM <urn:s> [LANDMARK STEP 30ms] {{ ?x {ISIN} ?b }}",
    "REGISTER QUERY gone COMPUTE EVERY 4ms AS SELECT ?x FROM STREAM <urn:s> [RANGE 9ms STEP 3ms] "
    "{ ?x <urn:p> ?b }",
)


def random_rows(random, size):
    time, rows = 0, []
    for number in range(size):
        time += random.choice([0, 0, 1, 1, 2, 3, 9])
        back = random.choice([0, 0, 0, 0, 1, 2, 5, 12, 40])
        predicate = random.choice([ISIN, "<urn:p>", "<urn:noise>"])
        rows.append((time - back, f"<urn:{random.choice('abcdef')}>", predicate, f"<urn:{number % 5}>"))
    return rows


def random_job(random, late, size=3):
    texts = random.sample(QUERIES, random.randint(1, size))
    settings = Settings(
        disorder=Disorder(random.choice([0, 3]), late),
        report=random.choice([Report(), Report("change")]),
        max_empty=random.choice([3, 1000]),
    )
    return Job.of(map(parse_query, texts), load_rules("transitive-isin"), Sent(), settings)


@pytest.mark.parametrize("late", ["admit", "drop"])
@pytest.mark.parametrize("seed", range(12))
def test_spark_answers_as_in_process_however_the_stream_is_cut(seed, late):
    check(seed, late)


@pytest.mark.long
def test_spark_answers_as_in_process_however_the_stream_is_cut_at_length():
    for seed in range(100, 600):
        check(seed, Random(seed).choice(["admit", "drop"]))


def check(seed, late):
    print(seed, late)
    random = Random(seed)
    job, rows = random_job(random, late), random_rows(random, 60)
    wanted, reasoner = local_run(job, "urn:s", cut(random, rows, [1, 4, 50]))
    for sizes, shards in (([1000], 1), ([1, 2, 30], random.choice([2, 4])), ([5], 1)):
        forgets = random.choice([lambda: False, lambda: True, lambda: random.random() < 0.3])
        found, _, outcomes = spark_run(job, "urn:s", cut(random, rows, sizes), shards, forgets)
        assert told(found) == told(wanted)
        for outcome in outcomes.values():
            assert outcome.counters["streams"] == reasoner.counters()["streams"]


def test_a_late_statement_is_an_error_wherever_it_comes():
    job = random_job(Random(1), "error")
    rows = [(10, "<urn:a>", "<urn:p>", "<urn:b>"), (30, "<urn:a>", "<urn:p>", "<urn:b>")]
    rows.append((12, "<urn:a>", "<urn:noise>", "<urn:b>"))
    for batches in ([[rows]], [[rows[:2]], [rows[2:]]], [[rows[:1]], [rows[1:2], rows[2:]]]):
        with pytest.raises(InputError, match="12 on stream 'urn:s' is late"):
            spark_run(job, "urn:s", batches)
        with pytest.raises(InputError, match="12 on stream 'urn:s' is late"):
            local_run(job, "urn:s", batches)


@pytest.mark.parametrize("seed", range(12))
def test_stamps_far_ahead_are_judged_as_in_process(seed):
    random = Random(seed)
    job, rows = random_job(random, "admit"), random_rows(random, 60)
    job = replace(job, settings=replace(job.settings, max_jump=100))
    for place in sorted(random.sample(range(len(rows)), random.randint(1, 12))):
        how_many, ahead = random.choice([1, 1, 2, len(rows)]), random.choice([90, 150, 5000])
        rows[place : place + how_many] = [
            (time + ahead, *terms) for time, *terms in rows[place : place + how_many]
        ]
    wanted, reasoner = local_run(job, "urn:s", cut(random, rows, [1, 4, 50]))
    rejected = [letter.text for letter in reasoner.dead_letters()]
    for sizes, shards in (([1000], 1), ([1, 2, 30], random.choice([2, 4])), ([5], 1)):
        forgets = random.choice([lambda: False, lambda: random.random() < 0.3])
        found, letters, outcomes = spark_run(job, "urn:s", cut(random, rows, sizes), shards, forgets)
        assert told(found) == told(wanted)
        assert [each["line"].split("\t")[0] for each in letters] == [t.split("\t")[0] for t in rejected]
        assert {each["line"] for each in letters if "#" not in each["line"]} <= set(rejected)
        for outcome in outcomes.values():
            assert outcome.counters["rejected"] == reasoner.counters()["rejected"]
            assert outcome.counters["streams"] == reasoner.counters()["streams"]


def test_what_is_held_is_confirmed_by_a_heartbeat_or_contradicted_in_a_later_micro_batch():
    job = Job.of([parse_query(QUERIES[1])], load_rules("transitive-isin"), Sent(), Settings(max_jump=100))
    rows = [(time, "<urn:a>", "<urn:p>", f"<urn:{time}>") for time in (1, 2, 5000, 3)]
    first, last = rows[:3], rows[3:]
    for batches, rejected in (
        ([[first], [last]], ["5000\t<urn:a> <urn:p> <urn:5000> ."]),
        ([[first], [], [5000]], []),
        ([[first], [4000, last]], rejected_by_heartbeat(4000)),
        ([[first, 4950]], []),
    ):
        wanted, reasoner = local_run(job, "urn:s", batches)
        found, letters, _ = spark_run(job, "urn:s", batches, forgets=lambda: True)
        assert [letter.text for letter in reasoner.dead_letters()] == rejected
        assert [letter["line"] for letter in letters] == rejected
        if not any(
            4000 in blocks for blocks in batches
        ):  # A heartbeat comes behind all statements of a micro-batch.
            assert told(found) == told(wanted)


def rejected_by_heartbeat(time):
    """A statement beyond a heartbeat is as far ahead as before."""
    return ["5000\t<urn:a> <urn:p> <urn:5000> ."] if time < 4900 else []
