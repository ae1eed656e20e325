"""`ensue bench pipeline` and `events` in little: real jobs, and what they must agree on."""

from __future__ import annotations

import pytest

from ensue import Reasoner
from ensue.bench import epsilon, events_spark
from ensue.bench.pipeline import Options, throughput
from ensue.bench.pipeline_latency import latencies
from ensue.bench.pipeline_overload import overload, overloaded
from ensue.streamfile import read_stream


@pytest.mark.long
def test_jobs_read_all_and_answer(spark, tmp_path):
    options = Options(statements=60_000, rate=3000, repeats=1, batch_bytes=2 << 20)
    result = throughput(options, spark, tmp_path)
    [table] = result.tables
    limit, quarter, whole = table.rows
    assert limit["of pass-through"] == 1
    # 20 s of stream: four windows of the stream itself, and one that its end leaves open.
    assert quarter["windows"] == whole["windows"] == 5
    assert quarter["answers"] * 4 == whole["answers"] > 0
    points = result.charts[0].series
    assert all(series[-1][1] == 60_000 for series in points.values())
    assert all(row["statements of one"] > 10_000 for row in table.rows)


@pytest.mark.long
def test_chains_through_spark_are_those_in_process(spark, tmp_path):
    options = events_spark.SparkOptions(40_000, 500, 5000, 1000, 1, 1, 2, 2, 300_000)
    [table] = events_spark.throughput(options, spark, tmp_path).tables
    limit, chain = table.rows
    assert limit["of pass-through"] == 1
    assert chain["micro-batches"] > 4
    assert chain["% gone in time"] == 100
    plan, reasoner = events_spark.plan(options, options.within_ms), Reasoner()
    reasoner.register(plan.job.parsed()[0])
    for batch in read_stream(events_spark.write(options, options.events, tmp_path)):
        reasoner.feed(events_spark.STREAM, batch)
    assert len(list(reasoner.end())) == chain["windows"]
    assert reasoner.counters()["composed"] == chain["composed"] > 10_000


def test_latency_is_counted_from_the_close(spark):
    found = latencies(spark, 300, 2, 2, 0, warm_up=1)
    assert len(found) == 2
    assert all(0 < ms < 60_000 for ms in found)


@pytest.mark.long
def test_what_is_derived_before_the_shuffle_is_right(spark):
    options = epsilon.Options(statements=20_000, block=5_000, repeats=1, sample=50)
    row = epsilon.measured(spark, "medium", options)
    assert row["check"] == "each of 50 as recompute has it, each once"
    assert row["types"] == 1_365
    assert row["arriving"] == 20_000
    assert row["derived"] > 100_000
    wrong = epsilon.table_of([("<urn:p>", "<urn:q>", "<urn:r>")])
    schema = epsilon.Hierarchy(2, 2, 5).schema()
    assert "WRONG" in epsilon.check(wrong, schema, epsilon.SIZES["small"], options)


@pytest.mark.long
def test_what_was_written_too_fast_is_caught_up_with(spark):
    samples = overload(spark, overloaded(2), 30_000, 3)
    # The writer stops at a tick before its time is up.
    assert 50_000 < samples[-1].statements <= 90_000
    assert not samples[-1].loaded
    counts = [sample.statements for sample in samples]
    assert counts == sorted(counts)
    assert all(sample.held > 100_000_000 for sample in samples)
