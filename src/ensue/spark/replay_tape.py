"""Files that can only be read from their start on: zipped ones, and RDF documents. No Spark in here.

A tape stays where it was wound to, so that who reads a file in many micro-batches unzips or parses it once,
not once for each. Such files are whole when they appear.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing

import numpy as np

from ensue.badlines import BadLine
from ensue.files import Source, Timed
from ensue.inputlimits import MAX_LINE, LineCutter, LongLine
from ensue.spark.replay_files import CHUNK, shrunk, stat
from ensue.spark.unread import as_line, as_long_line, length_of
from ensue.streamgraphs import read_document


class Tape:
    """The lines of a zipped file, whose offsets are unzipped bytes, or of a document.

    The lines of a document are its statements in canonical text, and its offsets are their numbers. What of
    it has no place in the stream comes as a line of its own, which `decode` puts among dead letters.
    """

    def __init__(self, path: str, *, document: bool, max_line: int = MAX_LINE) -> None:
        self.path = path
        self._max_line = max_line
        self._document = document
        self._rewind()

    def close(self) -> None:
        """Close the file."""
        self._pieces.close()

    def ended(self, offset: int) -> bool:
        """Whether there is nothing after an offset."""
        return not self.head(offset, 1)

    def end(self, begin: int, size: int, room: int, *, complete: bool) -> tuple[int, int]:
        """Where whole lines end, a chunk on at most. The file is complete in any case."""
        lines = self.lines(begin, min(size, CHUNK), None)
        return (begin, 0) if len(lines) > room else (begin + self.count(lines), len(lines))

    def head(self, begin: int, size: int) -> bytes:
        """The bytes from an offset on."""
        self._wind(begin)
        self._fill(size)
        if not self._ahead and self._long is not None:
            return self._long.head[:size]
        return self._ahead[:size]

    def lines(self, begin: int, size: int, end: int | None) -> bytes:
        """Whole lines."""
        self._wind(begin)
        self._fill(size + 1)
        if not self._ahead and self._long is not None:
            return as_long_line(self._long, self._max_line)
        length = len(self._ahead)
        if not self._no_more:
            length = self._ahead.rfind(b"\n", 0, size) + 1 or self._length_of_line()
        lines = self._ahead[:length]
        return lines if end is None else self._first(end - begin, lines)

    def count(self, lines: bytes) -> int:
        """Offsets are bytes, or statements."""
        return lines.count(b"\n") if self._document else length_of(lines)

    def _rewind(self) -> None:
        self._pieces = (
            _statements(self.path, self._max_line)
            if self._document
            else _cut(_unzipped(self.path), self._max_line)
        )
        self._at, self._ahead, self._no_more = 0, b"", False
        self._long: LongLine | None = None
        """A line that is too long, behind what is ahead."""

    def _wind(self, offset: int) -> None:
        if offset < self._at:
            self.close()
            self._rewind()
        while self._at < offset:
            self._fill(CHUNK)
            if not self._ahead and self._long is not None:
                self._at += self._long.length
                self._long = None
                continue
            passed = self._first(offset - self._at, self._ahead)
            if not passed:
                raise shrunk(self.path)
            self._at += self.count(passed)
            self._ahead = self._ahead[len(passed) :]

    def _fill(self, size: int) -> None:
        pieces, have = [self._ahead], len(self._ahead)
        while have < size and self._long is None and (piece := next(self._pieces, None)) is not None:
            if isinstance(piece, LongLine):
                self._long = piece
            else:
                pieces.append(piece)
                have += len(piece)
        self._no_more = have < size
        self._ahead = b"".join(pieces)

    def _length_of_line(self) -> int:
        while (found := self._ahead.find(b"\n")) < 0:
            self._fill(len(self._ahead) + CHUNK)
            if self._no_more:
                break
        return found + 1 or len(self._ahead)

    def _first(self, count: int, data: bytes) -> bytes:
        """What of some lines lies before an offset that is so much further on."""
        if not self._document:
            return data[:count]
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
        return data if len(ends) <= count else data[: ends[count - 1] + 1]


class Tapes:
    """The tapes in use, each where it was wound to. One that was not used for long is closed."""

    def __init__(self, most: int = 64, max_line: int = MAX_LINE) -> None:
        self._most = most
        self.max_line = max_line
        self._tapes: dict[str, tuple[tuple[int, ...], Tape]] = {}

    def of(self, path: str, *, document: bool) -> Tape:
        """The tape of a file: a new one if the file was changed."""
        found = stat(path)
        version = (found.st_ino, found.st_size, found.st_mtime_ns, document)
        kept, tape = self._tapes.pop(path, (None, None))
        if tape is None or kept != version:
            if tape is not None:
                tape.close()
            tape = Tape(path, document=document, max_line=self.max_line)
        self._tapes[path] = version, tape
        if len(self._tapes) > self._most:
            self._tapes.pop(next(iter(self._tapes)))[1].close()
        return tape

    def close(self) -> None:
        """Close all."""
        for _, tape in self._tapes.values():
            tape.close()
        self._tapes.clear()


def is_zipped(path: str) -> bool:
    """Whether a file is zipped, by its name."""
    return os.fspath(path).endswith(".gz")


def _unzipped(path: str) -> Generator[bytes]:
    with Source(path, start=0) as source:
        while data := source.read():
            yield data


def _cut(pieces: Generator[bytes], max_line: int) -> Generator[bytes | LongLine]:
    """Whole lines, or what was passed over of one that is too long."""
    cutter = LineCutter(max_line)
    with closing(pieces):
        for data in pieces:
            yield from cutter.take(data)
    yield from cutter.rest()


def _statements(path: str, max_line: int) -> Generator[bytes | LongLine]:
    bad: list[BadLine] = []
    for batch in read_document(path, bad.append, max_line):
        yield _text(batch, bad)
        bad.clear()
    if bad:
        yield _text([], bad)


def _text(batch: list[Timed], bad: list[BadLine]) -> bytes:
    lines = [f"{time}\t{s} {p} {o} {graph} .\n" for time, s, p, o, graph in batch]
    lines += map(as_line, bad)
    return "".join(lines).encode()
