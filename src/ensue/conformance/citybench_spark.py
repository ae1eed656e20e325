"""CityBench's queries on Spark: one session for all, a job for each query."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ensue.conformance.citybench import Case, Engine, Run
from ensue.query.output import Result
from ensue.spark.plan import plan_of
from ensue.spark.runner import Feed, MicroBatch
from ensue.spark.runner import Run as SparkRun
from ensue.spark.session import embedded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class OnSpark:
    """Runs cases in a session that is there."""

    spark: SparkSession

    def __call__(self, case: Case) -> Run:
        """All windows of a case, and what came before: its time is the whole job's, but for the session."""
        started = time.perf_counter()
        plan = plan_of(case.job())
        results: list[Result] = []

        def take(batch: MicroBatch) -> None:
            results.extend(batch.results)

        feed = Feed({iri: str(path) for iri, path in case.streams.items()})
        run = SparkRun(self.spark, plan, feed, take)
        ready = time.perf_counter()
        run.until_it_ends()
        seconds = time.perf_counter() - ready
        stages = [counted.get("seconds", {}) for counted in run.counters.values()]
        in_shards = sum(sum(each.values()) for each in stages)
        return Run(results, seconds, ready - started, in_shards)


@contextmanager
def on_spark(cases: Sequence[Case]) -> Iterator[Engine]:
    """A session, in which one of the cases has started what is started once: Python's workers, say."""
    with embedded(cores=None, shards=1, memory=None) as spark:
        engine = OnSpark(spark)
        engine(min(cases, key=lambda case: len(case.graphs)))
        yield engine
