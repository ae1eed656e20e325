"""How long an answer takes from the close of its window, while statements come at a steady rate.

Another process writes a file, and stamps each statement with the time of the wall as it does so: the close
of a window is a time of the wall, too.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Any

from ensue.bench.harness import Chart, Result, Row, Table, progress
from ensue.bench.pipeline_jobs import follow, plan
from ensue.bench.plant import Plant, query
from ensue.query.output import Result as Answered

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


def latencies(spark: Any, rate: int, windows: int, shards: int, topic: int | None) -> list[float]:
    """The ms that each window took."""
    found: list[float] = []

    def on_result(result: Answered, now: float) -> bool:
        found.append(now - result.close)
        return len(found) >= WARM_UP + windows

    asked = plan(query("bench", RANGE_S, STEP_S, topic), Plant(), shards)
    with TemporaryDirectory() as folder, growing(Path(folder) / "live.tsv", rate) as file:
        follow(spark, asked, file, on_result)
    return found[WARM_UP : WARM_UP + windows]


@contextmanager
def growing(file: Path, rate: int) -> Iterator[Path]:
    """A file that another process writes to at a rate."""
    file.touch()
    writer = subprocess.Popen([sys.executable, "-m", "ensue.bench.plant_live", str(file), str(rate)])
    try:
        yield file
    finally:
        writer.terminate()
        writer.wait()


def percentiles(found: Sequence[float]) -> dict[str, float]:
    """What half, 95% and 99% of them are below.

    >>> percentiles([float(n) for n in range(1, 102)])
    {'p50': 51.0, 'p95': 96.0, 'p99': 100.0, 'max': 101.0}
    """
    cuts = quantiles(found, n=100, method="inclusive")
    return {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(found)}
