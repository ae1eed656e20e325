"""More comes than can be taken: memory must stay bounded, and the job must catch up once it is over.

A file grows several times faster than the job could take it in by itself, and then stops growing: the job is
the one to which every statement matters, with all that follows from it derived. What it takes by itself is
measured on windows as full as those will be. And a file in which one node has most of the data: the job goes
on, if slower, and the others are answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from ensue.bench.harness import Chart, Result, Row, Table, progress, ratio
from ensue.bench.pipeline_jobs import Ran, answer, follow, plan
from ensue.bench.plant import Plant, query
from ensue.bench.plant_live import growing
from ensue.bench.processes import held_bytes
from ensue.spark.plan import Plan
from ensue.spark.runner import MicroBatch

RANGE_S, STEP_S = 10, 5
DENSE = 3_000_000
"""Statements a second when too much comes, roughly: windows are as full when it does not."""
TIMES = 5
"""How many times as much comes as the job takes."""
CROWD = 90
"""The events of a hundred that are about one node."""
RARE = 101
"""One event in so many signals something: not a hundred, or all that do would be of the crowd."""


@dataclass(frozen=True, slots=True)
class Load:
    """How long too much comes, and how much: None for TIMES what the job takes."""

    seconds: float
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """After a micro-batch: seconds since the start, statements taken in, bytes of memory, and whether more
    is still written.
    """

    seconds: float
    statements: int
    held: int
    loaded: bool


def measure(spark: Any, folder: Path, statements: int, load: Load, shards: int) -> Result:
    """What a job takes by itself and with a crowd, and what happens when more comes."""
    asked, hard = plan(query("bench", RANGE_S, STEP_S), Plant(), shards), overloaded(shards)
    # The first job also warms Java up: what a cold one takes is not the most that it can take.
    _, even, crowded, others, alone = (
        answer(spark, job, plant.write(size, folder), bytes_per_batch=None)
        for job, plant, size in (
            (asked, Plant(rare=RARE), statements // 2),
            (asked, Plant(rare=RARE), statements),
            (asked, Plant(rare=RARE, crowd=CROWD), statements),
            (asked, Plant(rare=RARE, crowd=CROWD, silent=True), statements),
            (hard, Plant(rate=DENSE), statements),
        )
    )
    rate = load.rate or TIMES * alone.steady
    progress(f"overload: {rate:,.0f} statements/s for {load.seconds:.0f} s")
    found = overload(spark, hard, rate, load.seconds)
    return _crowd(even, crowded, others) + _overload(found, load.seconds, alone.steady)


def overloaded(shards: int) -> Plan:
    """The job that too much comes for. Its windows are short, as much comes within a second."""
    return plan(query("bench", 1, 1), Plant(), shards, prune=False)


def overload(spark: Any, asked: Plan, rate: float, seconds: float) -> list[Sample]:
    """Let statements come at a rate for some seconds, and go on until all of them are taken in."""
    found: list[Sample] = []
    began = perf_counter()
    with TemporaryDirectory() as folder, growing(Path(folder) / "live.tsv", rate, seconds) as live:

        def on_batch(batch: MicroBatch, now: float) -> bool:
            # Before the first statement nothing is counted.
            came = sum(batch.counters.get(name, 0) for name in ("admitted", "late"))
            written = live.written
            found.append(Sample(perf_counter() - began, came, held_bytes(), loaded=written is None))
            return written is not None and came >= written

        follow(spark, asked, live.file, on_batch)
    return found


def _crowd(even: Ran, crowded: Ran, others: Ran) -> Result:
    jobs = {
        "even": even,
        f"{CROWD}% about one node": crowded,
        "the same, nothing about that node": others,
    }
    rows: list[Row] = [
        {
            "data": name,
            "statements/s": round(ran.steady),
            "windows": ran.windows,
            "answers": ran.answers,
            "about other nodes": ran.answers - ran.crowd,
        }
        for name, ran in jobs.items()
    ]
    note = f"with {CROWD}% about one node: {ratio(crowded.steady, even.steady)} times the rate without"
    return Result([Table("one key with most of the data", rows)], notes=[note])


def _rate(first: Sample, last: Sample) -> float:
    """Statements a second between two samples; none if they are the same one."""
    passed = last.seconds - first.seconds
    return (last.statements - first.statements) / passed if passed else 0.0


def _overload(found: Sequence[Sample], seconds: float, alone: float) -> Result:
    loaded = [sample for sample in found if sample.loaded] or found[:1]
    half = loaded[len(loaded) // 2 :]
    last = found[-1]
    written, took = last.statements / seconds, loaded[-1].statements / loaded[-1].seconds
    row: Row = {
        "statements/s written": round(written),
        "taken by itself": round(alone),
        "meanwhile": round(took),
        "after that": round(_rate(loaded[-1], last)),
        "MB halfway": half[0].held / 1e6,
        "MB at most": max(sample.held for sample in found) / 1e6,
        "MB at the end": last.held / 1e6,
        "s to catch up": last.seconds - seconds,
        "statements in all": last.statements,
    }
    series = {"memory": [(sample.seconds, sample.held / 1e6) for sample in found]}
    chart = Chart("memory of driver, JVM and workers", "seconds", "MB", series)
    note = (
        f"overload: {ratio(written, alone)} times what the job takes by itself, "
        f"{ratio(written, took)} times what it took meanwhile"
    )
    return Result([Table("more than the job takes", [row])], [chart], notes=[note])
