"""`format("ensue")`: timed streams as a streaming DataFrame, side by side in time, at a chosen speed.

    register(spark)
    lines = spark.readStream.format("ensue").option("path", "positions.tsv").option("speed", "60").load()

| option | meaning |
|---|---|
| path | a stream: a file, plain, `.gz` or an RDF document with times, or a directory of files |
| streams | instead of a path, several: a JSON object of paths by the IRIs of streams |
| rows | `lines`, unless told, `chunks`, or `ranges` |
| speed | how many times faster than the stamps say; 0, the default: as fast as can be |
| maxLine | bytes of a line, at most: a longer one is a dead letter; 16,000,000 unless told, and at most |
| bytesPerBatch | bytes of a micro-batch, at most (one line may have more); 256 MiB unless told |
| parts | into how many tasks a micro-batch is cut, if it is worth it; 1 unless told |
| finite | `true`: files are complete: the last line of one needs no line feed, and streams come to an end |

Files are read as they grow, line by whole line; of a directory, files that appear later are read too, in
order of name. Names there that begin with `.` or `_` are not looked at. `replay_walk.py` says what may
happen to files, and what is an error. A micro-batch takes what there is, up to its bytes, from the stream
that is furthest behind in time first. With `trigger(availableNow=True)` everything that is there is due at
once, and files count as complete.

A row of `lines` is a line: its time and its statement (null and the whole line where it does not begin with a
time), and where it is from; `decode` takes such rows. A row of `chunks` is about a mebibyte of whole lines,
as they are, which costs Spark much less: `place` orders the chunks of a stream, and `scoped` says that
blank nodes are under the scope of their document already; when a finite stream has no more, one last chunk,
without lines, has `ended`. A row of `ranges` says where lines are, and
nothing more: `source_rows.chunks_of` makes chunks of such rows, in a stage that is Python anyway. An offset
counts (unzipped) bytes, or statements of a document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxBytes, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from ensue.errors import UsageError
from ensue.files import FilePath
from ensue.spark.replay import UNLIMITED, Pace, Planner, Positions, parts
from ensue.spark.replay_walk import Position, Segment
from ensue.spark.source_options import Options, check_there
from ensue.spark.source_rows import CHUNKS, LINES, RANGES, rows_of

__all__ = ["CHUNKS", "LINES", "RANGES", "ReplayReader", "ReplaySource", "register"]

_COLUMNS = {"lines": LINES, "chunks": CHUNKS, "ranges": RANGES}


def register(spark: SparkSession) -> None:
    """Make `format("ensue")` known to a session."""
    spark.dataSource.register(ReplaySource)


def replayed(
    spark: SparkSession, paths: Mapping[str, FilePath], *, finite: bool = True, **more: Any
) -> DataFrame:
    """Streams in files, by their IRIs, as the pipeline reads them; `more` are other options of the source."""
    check_there(paths)  # Here, too: from within the source it would come out as an error of Spark's.
    register(spark)
    # From here: Spark's own processes may be at home in another folder.
    streams = json.dumps({iri: os.path.abspath(path) for iri, path in paths.items()})
    reader = spark.readStream.format("ensue").option("streams", streams).option("rows", "ranges")
    parts = spark.sparkContext.defaultParallelism
    return reader.options(finite=str(finite).lower(), parts=parts, **more).load()


class ReplaySource(DataSource):
    """Timed streams as a source of lines, chunks or ranges."""

    @classmethod
    def name(cls) -> str:
        """What it is called: `format("ensue")`."""
        return "ensue"

    def schema(self) -> str:
        """The columns, by what rows are asked for."""
        return _COLUMNS[Options.of(self.options).rows]

    def streamReader(self, schema: StructType) -> ReplayReader:  # noqa: N802
        """Who reads it."""
        return ReplayReader(self.options)


class _Part(InputPartition):
    """What one task reads."""

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self.segments = segments


class ReplayReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says where micro-batches begin and end (in the driver), and reads them (in the workers)."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = Options.of(options)
        pace = Pace(self._options.speed) if self._options.speed else None
        self._planner = Planner(
            self._options.streams, finite=self._options.finite, pace=pace, max_line=self._options.max_line
        )

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Before the first file of each stream."""
        return _offset(self._positions({}))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """So many bytes at most."""
        return ReadMaxBytes(self._options.bytes_per_batch)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Where a micro-batch that begins at `start` ends."""
        budget = limit.max_bytes if isinstance(limit, ReadMaxBytes) else UNLIMITED
        return _offset(self._planner.after(self._positions(start), budget))

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on nothing counts but what is there now."""
        self._planner.stop_at_what_is_there()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """What the tasks of a micro-batch read."""
        segments = self._planner.between(self._positions(start), self._positions(end))
        return [_Part(task) for task in parts(segments, self._options.parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one task."""
        assert isinstance(partition, _Part)
        return rows_of(self._options.rows, partition.segments, self._options.max_line)

    def stop(self) -> None:
        """Close all files."""
        self._planner.close()

    def _positions(self, offset: Mapping[str, Any]) -> dict[str, Position]:
        """Positions from a checkpoint. A stream that is new begins at its start."""
        streams = self._options.streams
        if others := sorted(set(offset) - set(streams)):
            hint = "name all streams as before (new ones may join), or start with a new checkpoint"
            raise UsageError(f"the checkpoint knows of a stream '{others[0]}'", hint=hint)
        return {stream: Position(**offset.get(stream, {})) for stream in streams}


def _offset(positions: Positions) -> dict[str, Any]:
    return {stream: asdict(position) for stream, position in positions.items()}
