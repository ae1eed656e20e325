"""Jobs on Spark with a clock beside them: when each micro-batch was there, and what had come by then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, time
from typing import Any

import pyarrow as pa

from ensue.bench.harness import progress
from ensue.bench.plant import CROWD_NODE, REGIME, STREAM, Plant
from ensue.bench.processes import cpu_seconds
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.spark.plan import Plan, plan_of
from ensue.spark.prepare import decoded_chunk
from ensue.spark.runner import Feed, MicroBatch, Run
from ensue.spark.source import register
from ensue.spark.source_rows import chunks_of
from ensue.spark.workers import settle

_COUNTED = "statements long"


@dataclass(frozen=True, slots=True)
class Seen:
    """A micro-batch: seconds since the job was started, the statements that had come by then, and what the
    processor had done for them.
    """

    seconds: float
    statements: int
    cpu: float = 0.0


@dataclass
class Ran:
    """A job that ran: its micro-batches, what they gave, and the most facts that were held after one."""

    began: float = field(default_factory=perf_counter)
    seen: list[Seen] = field(default_factory=list)
    answers: int = 0
    crowd: int = 0
    """The answers about the node that a crowd of events is about."""
    windows: int = 0
    facts: int = 0

    def note(self, statements: int) -> None:
        """A micro-batch is there."""
        self.seen.append(Seen(perf_counter() - self.began, statements, cpu_seconds()))

    def take(self, batch: MicroBatch) -> None:
        """The same, for `Run`."""
        self.note(batch.counters["admitted"])
        self.facts = max(self.facts, batch.counters["facts"])
        self.windows += len(batch.results)
        rows = [row for result in batch.results for row in result.answers.rows]
        self.answers += len(rows)
        self.crowd += sum(CROWD_NODE in row for row in rows)

    @property
    def whole(self) -> float:
        """Statements a second in all, the start of the job included.

        >>> Ran(seen=[Seen(2.0, 100), Seen(3.0, 300), Seen(4.0, 500)]).whole
        125.0
        """
        return self.seen[-1].statements / self.seen[-1].seconds

    @property
    def steady(self) -> float:
        """Statements a second without the first micro-batch, in which workers wake up, and the last, which
        has what is left.

        >>> Ran(seen=[Seen(2.0, 100), Seen(3.0, 300), Seen(4.0, 310)]).steady
        200.0
        """
        first, last = self._ends()
        passed = last.seconds - first.seconds
        return (last.statements - first.statements) / passed if passed else self.whole

    @property
    def cpu_us(self) -> float:
        """Microseconds of the processor a statement, in the same micro-batches: neighbours count less."""
        first, last = self._ends()
        return 1e6 * (last.cpu - first.cpu) / max(1, last.statements - first.statements)

    def _ends(self) -> tuple[Seen, Seen]:
        return self.seen[0], self.seen[-2 if len(self.seen) > 2 else -1]

    @property
    def batch(self) -> float:
        """Statements of a micro-batch, the median."""
        ends = [0, *(each.statements for each in self.seen)]
        return median(after - before for before, after in pairwise(ends) if after > before)


def plan(text: str, plant: Plant, shards: int, *, prune: bool = True) -> Plan:
    """The plan of a query over a plant's events. Their schema is fixed."""
    background = tuple((s, p, o, None) for s, p, o in plant.background())
    query, settings = parse_query(text, "bench.rq", "bench"), Settings(fixed_schema=True, prune=prune)
    job = Job.of([query], load_rules(REGIME), Sent(background), settings)
    return plan_of(job, shards=shards)


def answer(
    spark: Any,
    plan: Plan,
    file: Path,
    *,
    bytes_per_batch: int | None,
    checkpoint: Path | None = None,
    stream: str = STREAM,
    ran: Ran | None = None,
) -> Ran:
    """Answer queries over a whole file."""
    ran = Ran() if ran is None else ran
    feed = Feed({stream: str(file)}, bytes_per_batch=bytes_per_batch)
    Run(spark, plan, feed, ran.take, checkpoint).until_it_ends()
    return ran


def follow(spark: Any, plan: Plan, file: Path, on_batch: Callable[[MicroBatch, float], bool]) -> None:
    """Answer a query over a file that grows, until `on_batch` says that it is enough.

    It is told each micro-batch, and the wall's time in ms when that was there.
    """

    def take(batch: MicroBatch) -> None:
        if on_batch(batch, time() * 1000):
            run.stop()

    run = Run(spark, plan, Feed({STREAM: str(file)}, finite=False), take)
    run.until_it_ends()


def in_turn(
    jobs: Mapping[str, Callable[[Path], Ran]], file: Path, first: Path, repeats: int, what: str
) -> dict[str, list[Ran]]:
    """Jobs over the same file, one after the other, several times; over `first` before that, to warm up."""
    progress("warming up")
    for job in jobs.values():
        job(first)
    ran: dict[str, list[Ran]] = {name: [] for name in jobs}
    for turn in range(repeats):
        for name, job in jobs.items():
            ran[name].append(job(file))
            progress(f"{name}, run {turn + 1} of {repeats}: {ran[name][-1].steady:,.0f} {what}/s")
    return ran


def pass_through(spark: Any, file: Path, *, bytes_per_batch: int | None, stream: str = STREAM) -> Ran:
    """Read, decode and count a whole file: what no job can be faster than."""
    register(spark)
    options: dict[str, Any] = {
        "streams": json.dumps({stream: str(file)}),
        "rows": "ranges",
        "finite": "true",
        "parts": spark.sparkContext.defaultParallelism,
    }
    if bytes_per_batch is not None:
        options["bytesPerBatch"] = bytes_per_batch
    ran = Ran()

    def take(frame: Any, number: int) -> None:
        before = ran.seen[-1].statements if ran.seen else 0
        ran.note(before + sum(row.statements for row in frame.collect()))

    counted = spark.readStream.format("ensue").options(**options).load().mapInArrow(count, _COUNTED)
    with TemporaryDirectory() as folder:
        writer = counted.writeStream.foreachBatch(take).option("checkpointLocation", folder)
        writer.trigger(availableNow=True).start().awaitTermination()
    return ran


def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of ranges in, how many statements are there out: give it to `mapInArrow`."""
    for batch in batches:
        found = [len(decoded_chunk(chunk).block) for chunk in chunks_of(batch) if not chunk.ended]
        yield pa.record_batch({"statements": [sum(found)]})
    settle()
