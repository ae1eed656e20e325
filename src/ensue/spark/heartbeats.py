"""Heartbeats among rows of lines: a row with a time and no statement promises that time has come so far."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ensue.model import FOREVER, NEVER
from ensue.times import milliseconds

_LINE = re.compile(rb"(?:(-?\d{1,19})|(\d{4,}-[^\t]{1,60}))\t\r?")


def apart(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, int | None]:
    r"""The rows of a batch that are no heartbeats, and the greatest time that the heartbeats promise.

    A heartbeat is a row whose `statement` is null but not its `time`, or a line of a time and a tab. Nothing
    at or below its time will follow; at FOREVER, nothing at all.

    >>> rows, promised = apart(pa.record_batch({"value": ["5\t<urn:a> <urn:p> <urn:b> .", "9\t", "7\t"]}))
    >>> rows.num_rows, promised
    (1, 9)
    >>> apart(pa.record_batch({"value": ["9", "never\t"]}))[1] is None
    True
    """
    find = _in_columns if "statement" in batch.schema.names else _in_lines
    rows, times = find(batch)
    if not times:
        return batch, None
    others = np.ones(batch.num_rows, bool)
    others[rows] = False
    return batch.filter(pa.array(others)), max(times)


_Found = tuple[npt.NDArray[np.intp], list[int]]
"""The rows of heartbeats, and their times."""


def _in_columns(batch: pa.RecordBatch) -> _Found:
    times, statements = batch.column("time"), batch.column("statement")
    rows = _where(pc.and_(statements.is_null(), times.is_valid())) if statements.null_count else _NO_ROWS
    return rows, times.take(pa.array(rows)).to_pylist()


def _in_lines(batch: pa.RecordBatch) -> _Found:
    # As bytes: what claims to be text need not be UTF-8.
    lines = batch.column("value").cast(pa.binary())
    ends = pc.or_(*(pc.fill_null(pc.ends_with(lines, end), False) for end in (b"\t", b"\t\r")))
    candidates = _where(ends)
    times = [_time(line) for line in lines.take(pa.array(candidates)).to_pylist()]
    sure = np.array([time is not None for time in times], bool)
    return candidates[sure], [time for time in times if time is not None]


_NO_ROWS = np.empty(0, np.intp)


def _where(mask: pa.BooleanArray) -> npt.NDArray[np.intp]:
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _time(line: bytes) -> int | None:
    """The time of a heartbeat; None if the line is something else."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    if found[2]:
        return milliseconds(found[2].decode("latin-1"), needs_zone=False)
    time = int(found[1])
    return time if NEVER < time <= FOREVER else None
