"""All queries in one pass under the complete regime, departments as contexts: in process and on Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from ensue.bench.harness import Chart, Result, Row, Table, progress, ratio
from ensue.bench.lubm.lanes import run_local
from ensue.bench.lubm.queries import STREAM
from ensue.bench.lubm.workload import complete_rules, job, stream_file, tumbling
from ensue.bench.pipeline_jobs import Ran, answer, pass_through
from ensue.bench.processes import workers_bytes
from ensue.spark.plan import plan_of
from ensue.spark.runner import MicroBatch
from ensue.streamfile import read_stream

_MB = 1_000_000
_BATCH = 64 << 20
"""Bytes of a micro-batch: some 300,000 statements."""


@dataclass
class Watched(Ran):
    """A job on Spark, the answers of each query, and after each micro-batch what workers and state take."""

    spark: Any = None
    of_query: Counter[str] = field(default_factory=Counter)
    workers: list[int] = field(default_factory=list)
    state: list[int] = field(default_factory=list)

    def take(self, batch: MicroBatch) -> None:
        """A micro-batch is there."""
        Ran.take(self, batch)
        for result in batch.results:
            self.of_query[result.query] += len(result.answers.rows)
        self.workers.append(workers_bytes())
        self.state += [state_bytes(query.lastProgress) for query in self.spark.streams.active]

    @property
    def held(self) -> int:
        """Bytes of workers and state together, the most after any micro-batch but the first."""
        return max(self.workers[1:] or self.workers) + max(self.state, default=0)


def state_bytes(progress: dict[str, Any] | None) -> int:
    """The bytes of the state as of the micro-batch before, as Spark tells them.

    >>> state_bytes({"stateOperators": [{"memoryUsedBytes": 7}, {"memoryUsedBytes": 5}]})
    12
    """
    return sum(each["memoryUsedBytes"] for each in (progress or {}).get("stateOperators", ()))


def local(univ: int, window: int, folder: Path) -> Result:
    """In process, from the file on."""
    file = stream_file(univ, folder)
    progress(f"all queries in process, {univ} universities")
    ran = run_local(job(complete_rules(), tumbling(window)), read_stream(file), keep=False)
    row: Row = {
        "universities": univ,
        "statements": ran.statements,
        "answers": ran.answers.total(),
        "planned in s": ran.planned,
        "s": ran.seconds,
        "statements/s": round(ran.rate),
    }
    return Result([Table("all queries in one pass, in process", [row])])


def on_spark(
    spark: Any, sizes: Sequence[int], window: int, shards: int, repeats: int, folder: Path
) -> Result:
    """The same on Spark, for several sizes."""
    plan = plan_of(job(complete_rules(), tumbling(window)), shards=shards)
    warm = stream_file(1, folder)
    progress("warming up")
    _answered(spark, plan, warm)
    rows: list[Row] = []
    held: dict[int, int] = {}
    series: dict[str, list[tuple[float, float]]] = {}
    for univ in sizes:
        file = stream_file(univ, folder)
        runs = []
        for turn in range(repeats):
            runs.append(_answered(spark, plan, file))
            progress(f"{univ} universities, run {turn + 1} of {repeats}: {runs[-1].steady:,.0f} statements/s")
        limit = pass_through(spark, file, bytes_per_batch=_BATCH, stream=STREAM)
        held[univ] = round(median(each.held for each in runs))
        rows.append(_row(univ, runs, limit))
        last = runs[-1]
        series[f"{univ} universities"] = [
            (float(seen.statements), size / _MB) for seen, size in zip(last.seen, last.workers, strict=True)
        ]
    first, last_size = min(held), max(held)
    note = (
        f"workers and state: {ratio(held[last_size], held[first])} times as much at {last_size} universities "
        f"as at {first}"
    )
    title = f"all queries in one pass, on Spark, {shards} shards"
    chart = Chart("memory of workers (PSS)", "statements", "MB", series)
    return Result([Table(title, rows)], [chart], [note])


def _answered(spark: Any, plan: Any, file: Path) -> Watched:
    with TemporaryDirectory() as checkpoint:
        ran = Watched(spark=spark)
        answer(spark, plan, file, bytes_per_batch=_BATCH, checkpoint=Path(checkpoint), stream=STREAM, ran=ran)
    return ran


def _row(univ: int, runs: Sequence[Watched], limit: Ran) -> Row:
    rates, last = [each.steady for each in runs], runs[-1]
    return {
        "universities": univ,
        "statements": last.seen[-1].statements,
        "answers": last.answers,
        "statements/s": round(median(rates)),
        "min-max": f"{min(rates):,.0f}-{max(rates):,.0f}",
        "with its start": round(median(each.whole for each in runs)),
        "read, decoded and counted/s": round(limit.steady),
        "CPU us a statement": median(each.cpu_us for each in runs),
        "workers MB": max(last.workers[1:] or last.workers) / _MB,
        "state MB": max(last.state, default=0) / _MB,
        "facts held at most": max(each.facts for each in runs),
    }
