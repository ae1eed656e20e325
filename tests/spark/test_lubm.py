"""LUBM on Spark under the complete OWL 2 RL: the reference answers, whatever the number of shards."""

from __future__ import annotations

from collections import Counter

import pytest

from ensue.bench.lubm.queries import STREAM
from ensue.bench.lubm.workload import complete_rules, job, stream_file, tumbling
from ensue.spark.plan import plan_of
from ensue.spark.runner import Feed, Run

from lubm_answers import plain, reference

DEPARTMENTS = 15


@pytest.mark.parametrize(
    ("shards", "apart"),
    [
        (2, True),
        pytest.param(1, True, marks=pytest.mark.long),
        pytest.param(1, False, marks=pytest.mark.long),
        pytest.param(4, True, marks=pytest.mark.long),
    ],
)
def test_one_window_has_the_reference_answers(spark, shared_data, tmp_path, shards, apart):
    plan = plan_of(job(complete_rules(), tumbling(DEPARTMENTS), by_department=apart), shards=shards)
    assert len(plan.keys) == shards
    bags: dict[str, Counter] = {}

    def take(batch):
        for result in batch.results:
            bags.setdefault(result.query, Counter()).update(result.answers.rows)

    Run(spark, plan, Feed({STREAM: str(stream_file(1, tmp_path))}), take).until_it_ends()
    assert plain(bags) == reference(shared_data / "lubm" / "answers")
