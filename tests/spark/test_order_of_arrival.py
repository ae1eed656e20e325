"""Lateness on Spark is judged in order of arrival, as in process, whatever the micro-batches and shards."""

from __future__ import annotations

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
