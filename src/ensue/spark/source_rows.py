"""What a task reads as rows for Spark: only where it is, chunks of lines, or line by line.

Bytes that Python reads for Python need not go through the JVM: `ranges` say where they are, and the next
stage reads them itself, with `chunks_of`. That is about three times as fast as `chunks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
import pyarrow as pa

from ensue.inputlimits import MAX_LINE
from ensue.spark.replay import Chunk, read
from ensue.spark.replay_lines import Lines, timed
from ensue.spark.replay_tape import Tapes
from ensue.spark.replay_walk import Segment
from ensue.spark.session import ARROW_ROWS
from ensue.spark.workers import settle

RANGES = "stream string, file string, number long, begin long, end long, scoped boolean, ended boolean"
"""The columns of a stream of ranges, as Spark writes them."""

CHUNKS = "stream string, file string, place long, offset long, scoped boolean, ended boolean, lines binary"
"""The columns of a stream of chunks, as Spark writes them."""

LINES = "time long, statement string, file string, offset long, stream string"
"""The columns of a stream of lines, as Spark writes them."""


# A worker lives through many micro-batches, and so do the tapes that it has wound: there is no other place to
# keep them, as each task starts afresh.
@cache
def _worker_tapes(max_line: int) -> Tapes:
    return Tapes(max_line=max_line)


def rows_of(kind: str, segments: Iterable[Segment], max_line: int = MAX_LINE) -> Iterator[pa.RecordBatch]:
    """What a task reads, as rows of some kind."""
    if kind == "ranges":
        yield from map(_range, segments)
        settle()
        return
    rows = _chunk if kind == "chunks" else _lines
    for chunk in read(segments, _worker_tapes(max_line)):
        yield from rows(chunk)


def chunks_of(ranges: pa.RecordBatch, max_line: int = MAX_LINE) -> Iterator[Chunk]:
    """The lines of some rows of `ranges`: for the stage that takes them, in `mapInArrow`."""
    segments = (
        Segment(
            row["stream"], row["file"], row["number"], row["begin"], row["end"], row["scoped"], row["ended"]
        )
        for row in ranges.to_pylist()
    )
    return read(segments, _worker_tapes(max_line))


def _range(segment: Segment) -> pa.RecordBatch:
    return pa.record_batch(
        {
            "stream": [segment.stream],
            "file": [segment.path],
            "number": [segment.number],
            "begin": [segment.begin],
            "end": pa.array([segment.end], pa.int64()),
            "scoped": [segment.document],
            "ended": [segment.ended],
        }
    )


def _chunk(chunk: Chunk) -> Iterator[pa.RecordBatch]:
    yield pa.record_batch(
        {
            "stream": [chunk.stream],
            "file": [chunk.file],
            "place": [chunk.place],
            "offset": [chunk.offset],
            "scoped": [chunk.scoped],
            "ended": [chunk.ended],
            "lines": [chunk.lines],
        }
    )


def _lines(chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """A row for each line, in Arrow batches of the size that Spark is set to."""
    lines = Lines.of(chunk.lines)
    times, statements = timed(lines.text)
    size = len(times)
    # A document counts statements.
    before = np.arange(size) if chunk.scoped else lines.cuts[:-1]
    whole = pa.record_batch(
        {
            "time": times,
            "statement": statements,
            "file": pa.repeat(chunk.file, size),
            "offset": pa.array(chunk.offset + before),
            "stream": pa.repeat(chunk.stream, size),
        }
    )
    for first in range(0, size, ARROW_ROWS):
        yield whole.slice(first, ARROW_ROWS)
