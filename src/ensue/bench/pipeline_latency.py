"""How long an answer takes from the close of its window, while statements come at a steady rate.

Another process writes a file, and stamps each statement with the time of the wall as it does so: the close
of a window is a time of the wall, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from ensue.bench.harness import Chart, Result, Row, Table, progress
from ensue.bench.pipeline_jobs import follow, plan
from ensue.bench.plant import Plant, query
from ensue.bench.plant_live import growing
from ensue.spark.runner import MicroBatch

RANGE_S, STEP_S = 10, 1
WARM_UP = 20
"""Windows before the first that is timed: the job starts, and its window fills."""


def measure(spark: Any, rate: int, windows: int, shards: int) -> Result:
    """The latency of so many windows, for a query to which a quarter of the statements matter, and all."""
    rows: list[Row] = []
    series: dict[str, list[tuple[float, float]]] = {}
    for name, topic in (("a quarter matters", 0), ("all matter", None)):
        progress(f"latency: {windows} windows at {rate:,} statements/s, {name}")
        found = latencies(spark, rate, windows, shards, topic)
        rows.append({"job": name, "windows": len(found), **percentiles(found)})
        series[name] = list(enumerate(found, 1))
    chart = Chart(f"latency at {rate:,} statements/s", "window", "ms", series)
    title = f"ms from the close of a window to its answers, at {rate:,} statements/s"
    return Result([Table(title, rows)], [chart])


def latencies(
    spark: Any, rate: int, windows: int, shards: int, topic: int | None, *, warm_up: int = WARM_UP
) -> list[float]:
    """The ms that each window took, after some that are not counted."""
    found: list[float] = []

    def on_batch(batch: MicroBatch, now: float) -> bool:
        found.extend(now - result.close for result in batch.results)
        return len(found) >= warm_up + windows

    asked = plan(query("bench", RANGE_S, STEP_S, topic), Plant(), shards)
    with TemporaryDirectory() as folder, growing(Path(folder) / "live.tsv", rate) as live:
        follow(spark, asked, live.file, on_batch)
    return found[warm_up : warm_up + windows]


def percentiles(found: Sequence[float]) -> dict[str, float]:
    """What half, 95% and 99% of them are below.

    >>> percentiles([float(n) for n in range(1, 102)])
    {'p50': 51.0, 'p95': 96.0, 'p99': 100.0, 'max': 101.0}
    """
    cuts = quantiles(found, n=100, method="inclusive")
    return {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(found)}
