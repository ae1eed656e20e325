"""A job from start to end on Spark, as `ensue run` does it: one micro-batch after the other."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ensue.badlines import BadLine
from ensue.errors import EnsueError, InputError
from ensue.model import FOREVER
from ensue.query.output import Result
from ensue.spark.pipeline import Source, stepped
from ensue.spark.plan import Plan
from ensue.spark.processor import ANSWERS, COUNTERS, LETTERS
from ensue.spark.results import merged, unpack
from ensue.spark.source import register

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


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What a micro-batch gave."""

    number: int
    results: list[Result]
    dead: list[BadLine]
    counters: dict[str, Any]


OnBatch = Callable[[MicroBatch], None]


@dataclass
class Run:
    """A job that runs. `stop` lets the current micro-batch be the last one."""

    spark: SparkSession
    plan: Plan
    feed: Feed
    on_batch: OnBatch
    checkpoint: Path | None = None
    counters: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What each shard counted last."""
    was_stopped: bool = False
    _stopping: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)
    _problem: BaseException | None = None
    _last: int = -1

    def stop(self, *, asked: bool = False) -> None:
        """Stop after the current micro-batch; `asked`: before the streams have ended."""
        self.was_stopped |= asked
        self._stopping.set()

    def until_it_ends(self) -> None:
        """Run until the streams end, or until it is stopped. Raises what went wrong."""
        with TemporaryDirectory() as folder:
            query = self._start(self.checkpoint or Path(folder))
            try:
                self._watch(query)
            finally:
                self._over.set()
                query.stop()
        if self._problem is not None:
            raise self._problem

    def _start(self, checkpoint: Path) -> StreamingQuery:
        register(self.spark)
        lanes = {stream: self.plan.lane(stream) for stream in self.feed.streams}
        answers = stepped([Source(self._lines(), lanes)], [self.plan])
        writer = answers.writeStream.foreachBatch(self._take)
        writer = writer.option("checkpointLocation", str(checkpoint / "spark"))
        if self.feed.finite and not self.feed.speed:
            writer = writer.trigger(availableNow=True)
        return writer.start()

    def _lines(self) -> DataFrame:
        parallel = self.spark.sparkContext.defaultParallelism
        options: dict[str, Any] = {
            "streams": json.dumps(dict(self.feed.streams)),
            "rows": "ranges",
            "speed": self.feed.speed,
            "finite": str(self.feed.finite).lower(),
            "parts": parallel,
        }
        if self.feed.bytes_per_batch is not None:
            options["bytesPerBatch"] = self.feed.bytes_per_batch
        return self.spark.readStream.format("ensue").options(**options).load()

    def _take(self, frame: DataFrame, number: int) -> None:
        """A micro-batch is there; Spark calls this in the driver."""
        if self._stopping.is_set() and self._last >= 0:
            # Nobody wants it any more: it is not written, so a later run does it again.
            self._over.wait()
            raise EnsueError("stopped")
        try:
            batch = self._batch(frame.collect(), number)
            self.on_batch(batch)
        except EnsueError as problem:
            # To come out of `until_it_ends` as it is: Spark would wrap it into its own.
            self._problem = problem
            raise
        self._last = number
        if batch.counters.get("frontier") == FOREVER:
            self.stop()  # All streams have ended; with a speed, Spark would go on looking for more.

    def _batch(self, rows: Iterable[Row], number: int) -> MicroBatch:
        kinds: dict[str, list[Row]] = {ANSWERS: [], LETTERS: [], COUNTERS: []}
        for row in rows:
            kinds[row.kind].append(row)
        for row in kinds[COUNTERS]:
            self.counters[row.shard] = json.loads(row.payload)
        dead = [_bad_line(letter) for row in kinds[LETTERS] for letter in json.loads(row.payload)]
        return MicroBatch(number, list(_results(kinds[ANSWERS])), dead, together(self.counters.values()))

    def _watch(self, query: StreamingQuery) -> None:
        """Wait until the query ends, or until a micro-batch is committed after somebody said stop."""
        try:
            while not query.awaitTermination(_PATIENCE):
                if self._stopping.is_set() and _is_committed(query, self._last):
                    return
        except StreamingQueryException as problem:
            if self._problem is None:
                self._problem = _translated(problem)


def _results(rows: Iterable[Row]) -> Iterator[Result]:
    """The results of a micro-batch in order of their closes, those of the shards together."""
    parts: dict[tuple[int, str, int], list[Result]] = {}
    for row in rows:
        result = unpack(row.query, row.open, row.close, bytes(row.payload))
        parts.setdefault((row.close, row.query, row.open), []).append(result)
    return map(merged, parts.values())


def together(counted: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The counters of all shards as those of one: each has heard of every statement."""
    shards = list(counted)
    if not shards:
        return {}
    first = shards[0]
    summed = {name: sum(each[name] for each in shards) for name in ("waiting", "terms", "answers")}
    return {**first, **summed, "dead_letters": sum(each["dead_letters"] for each in shards)}


def _bad_line(letter: dict[str, Any]) -> BadLine:
    return BadLine(letter["file"], None, None, letter["offset"], letter["line"], letter["reason"])


def _is_committed(query: StreamingQuery, number: int) -> bool:
    progress = query.lastProgress
    return number < 0 or (progress is not None and progress["batchId"] >= number)


def _translated(problem: StreamingQueryException) -> EnsueError:
    """What a worker had to say, without Spark's stack around it."""
    text = str(problem)
    for kind in ("InputError", "UsageError", "QueryError"):
        mark = f"ensue.errors.{kind}: "
        if mark in text:
            return InputError(text.split(mark, 1)[1].splitlines()[0])
    return EnsueError(f"Spark stopped the job: {text.splitlines()[0]}", hint="see the log above")
