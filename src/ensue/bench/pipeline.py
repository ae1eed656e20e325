"""The whole pipeline on Spark: how many statements it takes in a second, and how long answers take.

Timed files go through jobs of one Spark session: one only reads, decodes and counts, and what the others
make of that is what their windows, rules, queries and state cost. Then windows grow, and the bytes of state
that are written must not; and a file grows at a steady rate while answers are timed from the close of
their windows.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ensue.bench import pipeline_background, pipeline_latency, pipeline_overload, pipeline_state
from ensue.bench.harness import Chart, Experiment, Result, Row, Table, progress
from ensue.bench.pipeline_jobs import Ran, answer, in_turn, pass_through, plan
from ensue.bench.pipeline_overload import Load
from ensue.bench.plant import Plant, query
from ensue.errors import UsageError
from ensue.spark.session import embedded

PASS_THROUGH, QUARTER, ALL = "pass-through", "a quarter matters", "all matter"
PARTS = ("throughput", "state", "latency")
LONGER = ("overload", "background")
"""Parts that are done only if asked for: they take many minutes."""
RANGE_S, STEP_S = 10, 5


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    statements: int = 16_000_000
    rate: int = 40_000
    """Statements a second, by their stamps: a window has ten times as many."""
    repeats: int = 7
    shards: int = 2
    cores: int | None = None
    batch_bytes: int | None = None
    windows: int = 60
    """Windows whose answers are timed."""
    live_rate: int = 10_000
    """Statements a second while they are."""
    overload_s: int = 120
    """Seconds for which more comes than can be taken."""
    overload_rate: int | None = None
    """Statements a second meanwhile; None: five times what the job takes."""
    background_univ: Sequence[int] = (1, 10)
    """Universities of LUBM in the background of a job."""
    parts: Sequence[str] = PARTS

    @property
    def plant(self) -> Plant:
        """The workload."""
        return Plant(rate=self.rate)


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    known = (*PARTS, *LONGER)
    if unknown := set(options.parts) - set(known):
        raise UsageError(f"no part '{min(unknown)}'", hint=f"some of {', '.join(known)}")
    listed = {"background_univ": ", ".join(map(str, options.background_univ))}
    parameters = asdict(options) | listed | {"parts": ", ".join(options.parts)}
    return Experiment(
        "pipeline",
        f"{options.statements:,} statements of events, four facts follow from each, under rdfs-jena; three "
        f"patterns on one subject, RANGE {RANGE_S}s STEP {STEP_S}s",
        parameters,
        f"{PASS_THROUGH}: the same file read, decoded and counted in a job of its own",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """All parts that are asked for, in one session."""
    folder = folder_of_files()
    found = Result([])
    with embedded(cores=options.cores, shards=options.shards, memory=None, say=progress) as spark:
        if "throughput" in options.parts:
            found += throughput(options, spark, folder)
        if "state" in options.parts:
            found += pipeline_state.measure(spark, folder, options.shards)
        if "latency" in options.parts:
            found += pipeline_latency.measure(spark, options.live_rate, options.windows, options.shards)
        if "overload" in options.parts:
            size, load = options.statements, Load(options.overload_s, options.overload_rate)
            found += pipeline_overload.measure(spark, folder, size, load, options.shards)
        if "background" in options.parts:
            found += pipeline_background.measure(spark, options.background_univ, options.shards)
    return found


def folder_of_files() -> Path:
    """Where files are kept from run to run: to write one takes as long as to read it ten times."""
    folder = Path(tempfile.gettempdir()) / f"ensue-bench-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    return folder


def throughput(options: Options, spark: Any, folder: Path) -> Result:
    """Jobs over the same file in turn, several times."""
    progress(f"writing {options.statements:,} statements")
    file = options.plant.write(options.statements, folder)
    jobs = _jobs(options, spark)
    # All of it also to warm up: the first micro-batches cost Java twice as much as those after some dozens.
    return _compared(in_turn(jobs, file, file, options.repeats, "statements"))


def _jobs(options: Options, spark: Any) -> dict[str, Callable[[Path], Ran]]:
    plans = {
        # Where all matter, all four facts are to be derived, whether or not the query asks for each.
        name: plan(
            query("bench", RANGE_S, STEP_S, topic), options.plant, options.shards, prune=topic is not None
        )
        for name, topic in ((QUARTER, 0), (ALL, None))
    }

    def answering(name: str) -> Callable[[Path], Ran]:
        return lambda file: answer(spark, plans[name], file, bytes_per_batch=options.batch_bytes)

    limit = {PASS_THROUGH: lambda file: pass_through(spark, file, bytes_per_batch=options.batch_bytes)}
    return limit | {name: answering(name) for name in plans}


def _compared(ran: Mapping[str, Sequence[Ran]]) -> Result:
    best = {name: max(found, key=lambda each: each.steady) for name, found in ran.items()}
    rows: list[Row] = [_row(name, found, ran[PASS_THROUGH]) for name, found in ran.items()]
    notes = [
        f"{row['job']}: {row['statements/s']:,} statements/s, {row['of pass-through']:.0%} of {PASS_THROUGH}"
        for row in rows[1:]
    ]
    series = {
        name: [(seen.seconds, float(seen.statements)) for seen in found.seen] for name, found in best.items()
    }
    chart = Chart("the best run of each job", "seconds", "statements", series)
    return Result([Table("throughput, medians of runs in turn", rows)], [chart], notes)


def _row(name: str, found: Sequence[Ran], limit: Sequence[Ran]) -> Row:
    rates, last = [each.steady for each in found], found[-1]
    # Each run against the one beside it: the machine's speed swings by half within minutes.
    shares = [each.steady / beside.steady for each, beside in zip(found, limit, strict=True)]
    return {
        "job": name,
        "statements/s": round(median(rates)),
        "min-max": f"{min(rates):,.0f}-{max(rates):,.0f}",
        "with its start": round(median(each.whole for each in found)),
        "of pass-through": median(shares),
        "shares": f"{min(shares):.2f}-{max(shares):.2f}",
        "CPU us a statement": median(each.cpu_us for each in found),
        "micro-batches": len(last.seen),
        "statements of one": round(last.batch),
        "windows": last.windows,
        "answers": last.answers,
        "facts held at most": max(each.facts for each in found),
    }
