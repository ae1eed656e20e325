"""Timed stream files cut into micro-batches: positions, blocks of lines, and what is due. No Spark in here.

A position is a file's name and how many of its (unzipped) bytes lie before. It is what Spark's checkpoint
keeps, so a restart goes on where the last run ended. Files are taken in order of name and are whole when they
appear; one that appears later has to have a later name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ensue.errors import InputError, Place
from ensue.files import FilePath, Source
from ensue.streamfile import stream_files
from ensue.streamgraphs import is_document

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Eighteen digits always fit into 64 bits.
_TIMED = r"\A-?[0-9]{1,18}\t"


@dataclass(frozen=True, slots=True)
class Position:
    """A place between two lines of a stream. The start is before every file."""

    file: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """Some lines of one file: those that lie between two offsets. No end means all there are."""

    path: str
    begin: int
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines with their ends, and where each begins: one offset more than lines."""

    lines: pa.StringArray
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, data: bytes, begin: int) -> Block:
        """The lines of some bytes, which are not copied. What is not UTF-8 is left for `decode` to find."""
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        cuts = np.concatenate(([0], ends))
        buffers = [None, pa.py_buffer(cuts.astype(np.int32)), pa.py_buffer(data)]
        return cls(pa.StringArray.from_buffers(len(ends), buffers[1], buffers[2]), begin + cuts)

    def times(self) -> pa.Int64Array:
        """The time of each line; null where a line does not begin with one."""
        return timed(self.lines)[0]


def timed(lines: pa.StringArray) -> tuple[pa.Int64Array, pa.StringArray]:
    r"""Lines as time and statement; without a plain time it is null, and the statement is the whole line.

    >>> times, statements = timed(pa.array(["5\t<urn:a> <urn:p> <urn:b> .\n", "oops\n"]))
    >>> times.to_pylist(), statements.to_pylist()
    ([5, None], ['<urn:a> <urn:p> <urn:b> .', 'oops'])
    """
    bare = pc.ascii_rtrim(lines, "\r\n")
    fits = pc.match_substring_regex(bare, _TIMED)
    pieces = pc.split_pattern(bare.filter(fits), "\t", max_splits=1)
    heads, tails = pc.list_element(pieces, 0), pc.list_element(pieces, 1)
    times = pc.replace_with_mask(pa.nulls(len(lines), pa.int64()), fits, heads.cast(pa.int64()))
    return times, pc.replace_with_mask(bare, fits, tails)


def pieces(segment: Segment, count: int) -> list[Segment]:
    """A segment as at most so many, cut between lines. What is zipped cannot be entered midway: one."""
    if count == 1 or segment.path.endswith(".gz"):
        return [segment]
    with open(segment.path, "rb") as file:
        end = os.fstat(file.fileno()).st_size if segment.end is None else segment.end
        cuts = {segment.begin, end}
        for number in range(1, count):
            file.seek(segment.begin + (end - segment.begin) * number // count)
            file.readline()
            cuts.add(min(file.tell(), end))
    return [Segment(segment.path, begin, stop) for begin, stop in pairwise(sorted(cuts))]


def blocks(segment: Segment) -> Iterator[Block]:
    """The lines of a segment, about a megabyte at a time."""
    at, rest = segment.begin, b""
    with Source(segment.path, start=at) as source:
        while data := source.read():
            data = rest + data
            if at == 0 and data.startswith(_BYTE_ORDER_MARK):
                at, data = len(_BYTE_ORDER_MARK), data.removeprefix(_BYTE_ORDER_MARK)
            if segment.end is not None:
                data = data[: segment.end - at]
            whole = data.rfind(b"\n") + 1
            if whole:
                yield Block.of(data[:whole], at)
            at, rest = at + whole, data[whole:]
            if at + len(rest) == segment.end:
                break
    if rest:
        yield Block.of(rest, at)


@dataclass(frozen=True, slots=True)
class Stream:
    """A timed stream file, or a directory of them."""

    path: FilePath

    def between(self, start: Position, end: Position | None = None) -> Iterator[Segment]:
        """What lies between two positions, or from one on, file by file."""
        for path in stream_files(self.path):
            name = os.path.basename(path)
            if name < start.file or (end is not None and name > end.file):
                continue
            if is_document(path):
                hint = "replay timed lines; `ensue run` reads documents"
                raise InputError("a document, not timed lines", place=Place(path), hint=hint)
            begin = start.offset if name == start.file else 0
            stop = end.offset if end is not None and name == end.file else None
            if stop is None or begin < stop:
                yield Segment(path, begin, stop)

    def after(
        self,
        start: Position,
        *,
        rows: int | None = None,
        due: int | None = None,
        until: Position | None = None,
    ) -> Position:
        """The position after so many lines, or before the first that is not due; at the latest the end."""
        position, left = start, rows
        for segment in self.between(start, until):
            for block in blocks(segment):
                take = _how_many(block, left, due)
                if take:
                    position = Position(os.path.basename(segment.path), int(block.offsets[take]))
                left = None if left is None else left - take
                if take < len(block.lines):
                    return position
        return position

    def end(self) -> Position:
        """Where the stream ends now."""
        segments = list(self.between(Position()))
        return _end_of(segments[-1]) if segments else Position()

    def next_time(self, start: Position) -> int | None:
        """The time of the first line ahead that has one."""
        for segment in self.between(start):
            for block in blocks(segment):
                if times := pc.drop_null(block.times()):
                    return int(times[0].as_py())
        return None


def _end_of(segment: Segment) -> Position:
    size = os.path.getsize(segment.path)
    if segment.path.endswith(".gz"):
        size = max((int(block.offsets[-1]) for block in blocks(segment)), default=0)
    return Position(os.path.basename(segment.path), size)


def _how_many(block: Block, rows: int | None, due: int | None) -> int:
    count = len(block.lines)
    if due is not None:
        early = pc.index(pc.greater(block.times(), due), True).as_py()
        count = count if early < 0 else early
    return count if rows is None else min(count, rows)


class Pace:
    """Up to which time a stream is due, if it runs so many times faster than its stamps say.

    It starts when first asked: what would have come before, or while nothing ran, is not caught up with.

    >>> now = 100.0
    >>> pace = Pace(10, lambda: now)
    >>> pace.due(lambda: 5000)
    5000
    >>> now = 101.5
    >>> pace.due(lambda: 7000)
    20000
    """

    def __init__(self, speed: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._began: tuple[float, int] | None = None

    def due(self, next_time: Callable[[], int | None]) -> int | None:
        """The time that is due now; None if there is no line yet, whose time `next_time` could tell."""
        now = self._clock()
        if self._began is None and (first := next_time()) is not None:
            self._began = now, first
        if self._began is None:
            return None
        began, first = self._began
        return first + int((now - began) * 1000 * self._speed)
