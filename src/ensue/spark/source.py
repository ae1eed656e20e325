"""`format("ensue")`: timed stream files as a streaming DataFrame, replayed at a chosen speed.

    register(spark)
    lines = spark.readStream.format("ensue").option("path", "positions.tsv").option("speed", "60").load()

| option | meaning |
|---|---|
| path | a timed stream file, plain or `.gz`, or a directory of them (files that appear later are read too) |
| speed | how many times faster than the stamps say; 0, the default: as fast as `rowsPerBatch` admits |
| rowsPerBatch | lines of a micro-batch, at most; 500,000 unless told |
| parts | into how many tasks a micro-batch of a plain file is cut; 1 unless told |

A row is a line: its time and its statement (null and the whole line where it does not begin with a time), and
where it is from. `decode` takes such rows. With `trigger(availableNow=True)` everything is due at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from ensue.errors import UsageError
from ensue.spark.replay import Block, Pace, Position, Segment, Stream, blocks, pieces, timed
from ensue.spark.session import ARROW_ROWS

LINES = "time long, statement string, file string, offset long"
"""The columns of a stream of lines, as Spark writes them."""

ROWS_PER_BATCH = 500_000


def register(spark: SparkSession) -> None:
    """Make `format("ensue")` known to a session."""
    spark.dataSource.register(ReplaySource)


class ReplaySource(DataSource):
    """Timed stream files as a source of lines."""

    @classmethod
    def name(cls) -> str:
        """What it is called: `format("ensue")`."""
        return "ensue"

    def schema(self) -> str:
        """The columns of a line."""
        return LINES

    def streamReader(self, schema: StructType) -> ReplayReader:  # noqa: N802
        """Who reads it."""
        return ReplayReader(self.options)


class _Part(InputPartition):
    """What one task reads."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment


class ReplayReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says where micro-batches begin and end (in the driver), and reads them (in the workers)."""

    def __init__(self, options: Mapping[str, str]) -> None:
        if "path" not in options:
            raise UsageError("format('ensue') without a path", hint=".option('path', FILE_OR_DIRECTORY)")
        self._stream = Stream(options["path"])
        self._rows = int(_number(options, "rowsPerBatch", ROWS_PER_BATCH, 1))
        self._parts = int(_number(options, "parts", 1, 1))
        speed = _number(options, "speed", 0, 0)
        self._pace = Pace(speed) if speed else None
        self._target: Position | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Before the first file."""
        return _offset(Position())

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """So many rows at most."""
        return ReadMaxRows(self._rows)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Where a micro-batch that begins at `start` ends."""
        here = _position(start)
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        if self._target is not None:
            end = self._stream.after(here, rows=rows, until=self._target)
        elif self._pace is not None:
            end = self._stream.after(
                here, rows=rows, due=self._pace.due(lambda: self._stream.next_time(here))
            )
        else:
            end = self._stream.after(here, rows=rows)
        return _offset(end)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on nothing counts but what is there now."""
        self._target = self._stream.end()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """What the tasks of a micro-batch read."""
        segments = self._stream.between(_position(start), _position(end))
        return [_Part(piece) for segment in segments for piece in pieces(segment, self._parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The lines of one task."""
        assert isinstance(partition, _Part)
        for block in blocks(partition.segment):
            yield from _batches(block, partition.segment.path)


def _batches(block: Block, path: str) -> Iterator[pa.RecordBatch]:
    times, statements = timed(block.lines)
    columns = {
        "time": times,
        "statement": statements,
        "file": pa.repeat(path, len(times)),
        "offset": pa.array(block.offsets[:-1]),
    }
    whole = pa.record_batch(columns)
    for first in range(0, whole.num_rows, ARROW_ROWS):
        yield whole.slice(first, ARROW_ROWS)


def _offset(position: Position) -> dict[str, Any]:
    return {"file": position.file, "offset": position.offset}


def _position(offset: dict[str, Any]) -> Position:
    return Position(offset["file"], offset["offset"])


def _number(options: Mapping[str, str], name: str, default: float, least: float) -> float:
    text = options.get(name, str(default))
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not least <= number < float("inf"):
        raise UsageError(f"option {name}: '{text}'", hint=f"a number, at least {least}")
    return number
