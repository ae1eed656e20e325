"""A chain of two events through Spark: how many a second at a steady rate, and what is written down.

A timed file goes through jobs of one Spark session in turn: one only reads, decodes and counts, and what the
chain makes of that is what partial matches cost. Then the time grows within which a chain may come, and with
it what is remembered; the bytes of state that are written must not.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from ensue.bench.harness import Result, Row, Table, progress, ratio
from ensue.bench.pipeline import PASS_THROUGH, folder_of_files
from ensue.bench.pipeline_jobs import Ran, answer, in_turn, pass_through
from ensue.bench.pipeline_state import changes
from ensue.job import Job
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.tree import RuleSet
from ensue.spark.plan import Plan, plan_of
from ensue.spark.runner import MicroBatch
from ensue.spark.scratch import scratch
from ensue.spark.session import embedded

STREAM = "urn:events"
_AT_ONCE = 1 << 17
_LONGER = 10
"""How many times as long a chain may take where it is looked at what is written."""


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """The size of the jobs; the events are those of `events.Options`."""

    events: int
    keys: int
    rate: int
    within_ms: int
    seed: int
    repeats: int
    shards: int
    cores: int
    batch_bytes: int


class EventsRan(Ran):
    """A job that ran, and what its shards remembered."""

    most_partial = 0
    overdue = 0
    """Partial matches that had outlived their lifetime, added up over all micro-batches."""
    last: Mapping[str, Any]

    def take(self, batch: MicroBatch) -> None:
        """A micro-batch is there."""
        super().take(batch)
        self.last = batch.counters
        self.most_partial = max(self.most_partial, batch.counters.get("partial_matches", 0))
        self.overdue += batch.counters.get("overdue", 0)


def measure(options: SparkOptions) -> Result:
    """The rate, and then the state."""
    folder = folder_of_files()
    with embedded(cores=options.cores, shards=options.shards, memory=None, say=progress) as spark:
        return throughput(options, spark, folder) + state(options, spark, folder)


def write(options: SparkOptions, events: int, folder: Path) -> Path:
    """A timed stream file with so many events of two kinds; the same one if it was written before."""
    file = folder / f"events-{options.keys}-{options.rate}-{options.seed}-{events}.tsv"
    if not file.exists():
        random = np.random.default_rng(options.seed)
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as out:
            for first in range(0, events, _AT_ONCE):
                numbers = np.arange(first, min(first + _AT_ONCE, events))
                times = (1 + numbers * 1000 // options.rate).tolist()
                keys = random.integers(options.keys, size=len(numbers)).tolist()
                kinds = random.integers(2, size=len(numbers)).tolist()
                rows = zip(times, keys, kinds, (numbers % 100).tolist(), strict=True)
                out.writelines(
                    f"{time}\t<urn:key:{key}> <urn:kind:{kind}> <urn:value:{value}> .\n"
                    for time, key, kind, value in rows
                )
        os.replace(out.name, file)
    return file


def plan(options: SparkOptions, within_ms: int) -> Plan:
    """The plan of a chain of two."""
    window = f"[RANGE {2 * within_ms}ms STEP {options.within_ms}ms]"
    text = (
        f"SELECT (COUNT(*) AS ?n) FROM STREAM <{STREAM}> {window} "
        f"WHERE {{ {{ ?key <urn:kind:0> ?v }} SEQ {{ ?key <urn:kind:1> ?w }} WITHIN {within_ms}ms }}"
    )
    job = Job.of([parse_query(text, "bench.rq", "bench")], RuleSet("none", ()), Sent())
    return plan_of(job, shards=options.shards)


def throughput(options: SparkOptions, spark: Any, folder: Path) -> Result:
    """Jobs over the same file in turn, several times."""
    progress(f"Spark: writing {options.events:,} events")
    file, small = (write(options, count, folder) for count in (options.events, options.events // 20))
    asked = plan(options, options.within_ms)

    def chain(over: Path) -> EventsRan:
        ran = EventsRan()
        answer(spark, asked, over, bytes_per_batch=options.batch_bytes, stream=STREAM, ran=ran)
        return ran

    jobs: dict[str, Callable[[Path], Ran]] = {
        PASS_THROUGH: lambda over: pass_through(
            spark, over, bytes_per_batch=options.batch_bytes, stream=STREAM
        ),
        "a chain of 2": chain,
    }
    ran = in_turn(jobs, file, small, options.repeats, "events")
    rows = [_row(name, found, ran[PASS_THROUGH]) for name, found in ran.items()]
    chains = rows[-1]
    note = (
        f"a chain of 2 through Spark, {options.cores} cores: {chains['events/s']:,} events/s, "
        f"{chains['of pass-through']:.0%} of {PASS_THROUGH}"
    )
    return Result([Table("through Spark, medians of runs in turn", rows)], notes=[note])


def _row(name: str, found: Sequence[Ran], limit: Sequence[Ran]) -> Row:
    rates, last = [each.steady for each in found], found[-1]
    # Each run against the one beside it: the machine's speed swings by half within minutes.
    shares = [each.steady / beside.steady for each, beside in zip(found, limit, strict=True)]
    row: Row = {
        "job": name,
        "events/s": round(median(rates)),
        "min-max": f"{min(rates):,.0f}-{max(rates):,.0f}",
        "with its start": round(median(each.whole for each in found)),
        "of pass-through": median(shares),
        "shares": f"{min(shares):.2f}-{max(shares):.2f}",
        "CPU us an event": median(each.cpu_us for each in found),
        "micro-batches": len(last.seen),
        "events of one": round(last.batch),
        "windows": last.windows,
        "composed": None,
        "most partial": None,
        "% gone in time": None,
    }
    return {**row, **_remembered(last)} if isinstance(last, EventsRan) else row


def _remembered(ran: EventsRan) -> Row:
    collected = ran.last["collected"]
    return {
        "composed": ran.last["composed"],
        "most partial": ran.most_partial,
        "% gone in time": round(100 * collected / max(1, collected + ran.overdue), 2),
    }


def state(options: SparkOptions, spark: Any, folder: Path) -> Result:
    """The bytes of state that micro-batches write, where a chain may take a time and ten times as long."""
    # Long enough for the longer window to be full for most of it, in micro-batches that are small beside it.
    slower = SparkOptions(**{**_plain(options), "rate": options.rate // 10})
    lasting = 4 * 2 * _LONGER * options.within_ms
    file = write(slower, slower.rate * lasting // 1000, folder)
    rows: list[Row] = []
    for within_ms in (options.within_ms, _LONGER * options.within_ms):
        progress(f"Spark: state within {within_ms:,} ms")
        ran = EventsRan()
        with scratch() as checkpoint:
            answer(
                spark,
                plan(slower, within_ms),
                file,
                bytes_per_batch=1 << 20,
                checkpoint=checkpoint,
                stream=STREAM,
                ran=ran,
            )
            written = changes(checkpoint)
        full = written[len(written) // 3 : -1]
        rows.append(
            {
                "within ms": within_ms,
                "most partial": ran.most_partial,
                "events of a micro-batch": round(ran.batch),
                "bytes written, mean": round(mean(full)),
                "min-max": f"{min(full):,}-{max(full):,}",
                "bytes an event": mean(full) / ran.batch,
            }
        )
    short, long = (float(row["bytes written, mean"] or 0) for row in rows)
    note = f"a chain that may take ten times as long: {ratio(long, short)} times the state written"
    return Result([Table("state written by a micro-batch, all shards", rows)], notes=[note])


def _plain(options: SparkOptions) -> dict[str, Any]:
    return {name: getattr(options, name) for name in SparkOptions.__slots__}
