"""A job from start to end on Spark, as `ensue run` does it: one micro-batch after the other."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Any, cast

from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ensue import errors
from ensue.badlines import BadLine
from ensue.errors import EnsueError, InputError, Place
from ensue.model import FOREVER
from ensue.query.output import Result
from ensue.query.violations import Watch
from ensue.spark.callbacks import bearable
from ensue.spark.ledger import SPARK
from ensue.spark.packed import Pack
from ensue.spark.payload_files import files_of_job
from ensue.spark.pipeline import AnyPlan, Source, stepped_by
from ensue.spark.processor import ANSWERS, COUNTERS, FAILED, HELD, LETTERS, AnyShard
from ensue.spark.results import EVENTS
from ensue.spark.results import Row as Answered
from ensue.spark.scratch import scratch
from ensue.spark.source import replayed
from ensue.spark.source_options import check_there

_AGAIN = "if it has a checkpoint, the same command goes on from there"
_SAID = re.compile(r"ensue\.(?:\w+\.)+(\w+Error): (.*)")
"""What a worker raised, in the text that Spark makes of it."""

_REFUSED = re.compile("No space left on device|Disk quota exceeded|Read-only file system")
"""Why the system does not let Spark write, in the text of its errors."""

_PARTS = (
    *("waiting", "terms", "answers", "unkeyed", "events", "dead_letters"),
    *("facts", "derivations", "probes"),
    *("partial_matches", "collected", "consumed", "composed", "late_events", "overdue"),
    *("elements", "firings", "quads", "networks"),
)
"""What each shard counts of its own."""

_PATIENCE = 1
"""How often, in seconds, somebody looks whether the job is to be stopped."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Where a job's streams come from, and how fast."""

    streams: Mapping[str, str]
    """Paths by the streams' IRIs."""
    speed: float = 0
    bytes_per_batch: int | None = None
    finite: bool = True
    """Whether the files are complete: then the job ends when they do."""

    def __post_init__(self) -> None:
        check_there(self.streams)  # Before Spark starts.
        for path in self.streams.values():
            if not (os.path.isfile(path) or os.path.isdir(path)):
                hint = "Spark may read a part twice: use a file that grows, with --follow, or --engine local"
                raise InputError("is a pipe or a device", place=Place(path), hint=hint)


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What a micro-batch gave."""

    number: int
    results: list[Result]
    dead: list[BadLine]
    counters: dict[str, Any]
    merged: int = 0
    """How many of its answers were put together from parts: no shard has counted them."""
    failure: EnsueError | None = None
    """Why the job ends with it: the results are those until then, and it does not count as done."""
    held: str | None = None
    """What networks hold, if it is the last one and somebody asks: lines of N-Quads."""


OnBatch = Callable[[MicroBatch], None]


@dataclass
class Run:
    """A job that runs. `stop` lets the current micro-batch be the last one."""

    spark: SparkSession
    plan: AnyPlan
    feed: Feed
    on_batch: OnBatch
    checkpoint: Path | None = None
    counters: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What each shard counted last."""
    was_stopped: bool = False
    _stopping: threading.Event = field(default_factory=threading.Event)
    _halting: threading.Event = field(default_factory=threading.Event)
    """Set when Spark is told to stop the query, which interrupts what runs."""
    _problem: BaseException | None = None
    _begun: int = -1

    def stop(self, *, asked: bool = False) -> None:
        """Stop after the current micro-batch; `asked`: before the streams have ended."""
        self.was_stopped |= asked
        self._stopping.set()

    def until_it_ends(self) -> None:
        """Run until the streams end, or until it is stopped. Raises what went wrong."""
        with scratch() as folder, files_of_job(self.spark) as files:
            shards = dict(self.plan.shards(files.pack))
            query = self._start(self.checkpoint or folder, shards, files.pack)
            try:
                self._watch(query)
            except (ConnectionError, Py4JNetworkError) as problem:
                raise java_is_gone() from problem
            finally:
                self._halting.set()
                with suppress(ConnectionError, Py4JNetworkError):
                    query.stop()
                for key, shard in shards.items():
                    shard.clear(key, len(shards))
        if self._problem is not None:
            raise self._problem

    def _start(self, checkpoint: Path, shards: Mapping[int, AnyShard], pack: Pack) -> StreamingQuery:
        lanes = {stream: self.plan.lane(stream) for stream in self.feed.streams}
        answers = stepped_by([Source(self._lines(), lanes)], shards, pack)
        writer = answers.writeStream.foreachBatch(self._take)
        writer = writer.option("checkpointLocation", str(checkpoint / SPARK))
        if self.feed.finite and not self.feed.speed:
            writer = writer.trigger(availableNow=True)
        return writer.start()

    def _lines(self) -> DataFrame:
        feed = self.feed
        bound = {"maxLine": self.plan.max_line}
        if feed.bytes_per_batch is not None:
            bound["bytesPerBatch"] = feed.bytes_per_batch
        return replayed(self.spark, feed.streams, finite=feed.finite, speed=feed.speed, **bound)

    def _take(self, frame: DataFrame, number: int) -> None:
        """A micro-batch is there; Spark calls this in the driver."""
        with bearable(self._halting.is_set):
            self._take_in(frame, number)

    def _take_in(self, frame: DataFrame, number: int) -> None:
        if self._stopping.is_set():
            self._wait_for_the_end()
        self._begun = number
        try:
            batch = self._batch(frame.collect(), number)
            self.on_batch(batch)
            if batch.failure is not None:
                raise batch.failure
        except (EnsueError, BrokenPipeError) as problem:
            # To come out of `until_it_ends` as it is: Spark would wrap it into its own.
            self._problem = problem
            raise
        if batch.counters.get("frontier") == FOREVER:
            self.stop()  # All streams have ended; with a speed, Spark would go on looking for more.

    def _wait_for_the_end(self) -> None:
        """Nobody wants a micro-batch any more: it must not count as done, so that a later run does it again.

        To be interrupted in Java, by `query.stop`, is the one way out that Spark takes for a stop: to return
        would be to have done it, and any other exception a failure.
        """
        while True:
            self.spark._jvm.java.lang.Thread.sleep(1000 * _PATIENCE)  # type: ignore[union-attr]

    def _batch(self, rows: Iterable[Row], number: int) -> MicroBatch:
        kinds: dict[str, list[Row]] = {ANSWERS: [], EVENTS: [], LETTERS: [], COUNTERS: []}
        kinds |= {FAILED: [], HELD: []}
        for row in rows:
            kinds[row.kind].append(row)
        for row in kinds[COUNTERS]:
            self.counters[row.shard] = json.loads(row.payload)
        dead = [_bad_line(letter) for row in kinds[LETTERS] for letter in json.loads(row.payload)]
        results = self.plan.merging().gathered(
            [Answered(*row) for row in (*kinds[ANSWERS], *kinds[EVENTS])], len(self.plan.keys)
        )
        counters = together(self.counters.values())
        first = min(kinds[FAILED], key=lambda row: row.close, default=None)
        if first is not None:
            until = [result for result in results if result.close < first.close]
            return MicroBatch(number, until, dead, counters, 0, EnsueError(first.payload.decode()))
        held = b"".join(row.payload for row in kinds[HELD]).decode() if kinds[HELD] else None
        return MicroBatch(number, results, dead, counters, self._merged(results), held=held)

    def _merged(self, results: Iterable[Result]) -> int:
        merged = {query.name for query, _ in self.plan.merging().queries if not isinstance(query, Watch)}
        return sum(len(result.answers.rows) for result in results if result.query in merged)

    def _watch(self, query: StreamingQuery) -> None:
        """Wait until the query ends, or somebody said stop and what had begun by then is committed."""
        try:
            while not query.awaitTermination(_PATIENCE):
                if self._stopping.is_set() and _is_committed(query, self._begun):
                    return
        except StreamingQueryException as problem:
            if self._problem is None:
                self._problem = _translated(problem)


def together(counted: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The counters of all shards as those of one: each has heard of every statement, and does its part.

    >>> together([{"admitted": 7, "answers": 1, "facts": 5}, {"admitted": 7, "answers": 2, "facts": 6}])
    {'admitted': 7, 'answers': 3, 'facts': 11}
    """
    shards = list(counted)
    if not shards:
        return {}
    summed = {name: sum(each[name] for each in shards) for name in _PARTS if name in shards[0]}
    if "most_rounds" in shards[0]:
        summed["most_rounds"] = max(each["most_rounds"] for each in shards)
    return {**shards[0], **summed}


def _bad_line(letter: dict[str, Any]) -> BadLine:
    return BadLine(letter["file"], None, None, letter["offset"], letter["line"], letter["reason"])


def _is_committed(query: StreamingQuery, number: int) -> bool:
    progress = query.lastProgress
    return number < 0 or (progress is not None and progress["batchId"] >= number)


def _translated(problem: StreamingQueryException) -> EnsueError:
    """What a worker had to say, or the system, without Spark's stack around it."""
    text = str(problem)
    if said := _SAID.search(text):
        kind = getattr(errors, said[1], EnsueError)
        return cast("EnsueError", kind(said[2]))
    if refused := _REFUSED.search(text):
        hint = f"is there space for the checkpoint, and in {gettempdir()} (TMPDIR)? {_AGAIN}"
        return EnsueError(f"Spark cannot write its files: {refused[0]}", hint=hint)
    return EnsueError(f"Spark stopped the job: {text.splitlines()[0]}", hint=f"see the log above; {_AGAIN}")


def java_is_gone() -> EnsueError:
    """To be raised where nobody answers any more: somebody has killed it, perhaps for want of memory."""
    return EnsueError("Java, in which Spark runs, has gone", hint=f"is there memory enough? {_AGAIN}")
