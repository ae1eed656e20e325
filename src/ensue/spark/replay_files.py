"""A file of timed lines, entered anywhere: where its lines end, and runs of whole lines. No Spark in here.

`Plain` is a file as it lies on the disk; what can only be read from its start on is a `Tape`
(`replay_tape.py`). Both are a `LineFile`. A place in one is an offset: bytes, or statements in a document.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from ensue.errors import InputError, Place
from ensue.inputlimits import MAX_LINE, SHOWN, LongLine
from ensue.model import FOREVER, NEVER
from ensue.spark.unread import as_long_line, length_of

CHUNK = 1 << 20
"""Bytes of a chunk, about: larger ones are no faster, and smaller ones cost Spark a row each."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TIME = re.compile(rb"^(?:\xef\xbb\xbf)?(-?[0-9]{1,19})\t", re.MULTILINE)
# Some hundred lines: mostly the end of one is found at once.
_WINDOW = 1 << 14


class LineFile(Protocol):
    """What planning and reading need of a file."""

    @property
    def path(self) -> str:
        """Where it is."""

    def ended(self, offset: int) -> bool:
        """Whether there is nothing after an offset."""

    def end(self, begin: int, size: int, room: int, *, complete: bool) -> tuple[int, int]:
        """Where whole lines of at most `size` bytes end, and how many bytes they have.

        A line longer than that comes alone, if it has at most `room` bytes; else there are none. The last
        line needs no line feed if the file is complete.
        """

    def head(self, begin: int, size: int) -> bytes:
        """The bytes from an offset on, at most so many."""

    def lines(self, begin: int, size: int, end: int | None) -> bytes:
        """Whole lines of at most `size` bytes, or one that is longer; not past `end`, which ends a line.

        For one that is too long another stands, alone: a `PassedOver`.
        """

    def count(self, lines: bytes) -> int:
        """By how much the offset grows with some lines."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A file on the disk, of so many bytes: those that come after are not there yet."""

    path: str
    size: int
    max_line: int = MAX_LINE

    def ended(self, offset: int) -> bool:
        """Whether there is nothing after an offset. It is an error if there is less than that."""
        if offset > self.size:
            raise shrunk(self.path)
        return offset == self.size

    def end(self, begin: int, size: int, room: int, *, complete: bool) -> tuple[int, int]:
        """Where whole lines end, found from the far side: what lies between is not read."""
        want = min(begin + size, self.size)
        if want == self.size and complete:
            return want, want - begin
        most = min(begin + room, self.size)
        found = self._last_end(begin, want) or self._first_end(want, most)
        if found is None:
            found = self.size if complete and most == self.size else begin
        return found, found - begin

    def head(self, begin: int, size: int) -> bytes:
        """The bytes from an offset on."""
        with opened(self.path) as file:
            return os.pread(file, size, begin)

    def lines(self, begin: int, size: int, end: int | None) -> bytes:
        """Whole lines."""
        stop = self.size if end is None else end
        with opened(self.path) as file:
            data = _read(file, self.path, begin, min(begin + size, stop))
        if begin + len(data) == stop:
            return data
        whole = data.rfind(b"\n") + 1
        if whole:
            return data[:whole]
        return self._long(data, begin, self._first_end(begin + len(data), stop) or stop)

    def count(self, lines: bytes) -> int:
        """Offsets are bytes."""
        return length_of(lines)

    def cut(self, near: int, end: int) -> int:
        """The first place between two lines that is not before `near`; at the latest `end`."""
        return self._first_end(near - 1, end) or end

    def _long(self, head: bytes, begin: int, end: int) -> bytes:
        """A line that begins so: all of it, or what stands for it."""
        with opened(self.path) as file:
            ended = _read(file, self.path, end - 1, end) == b"\n"
            if end - begin - ended > self.max_line:
                return as_long_line(LongLine(head[:SHOWN], end - begin, ended), self.max_line)
            return head + _read(file, self.path, begin + len(head), end)

    def _last_end(self, begin: int, end: int) -> int | None:
        with opened(self.path) as file:
            while begin < end:
                at = max(begin, end - _WINDOW)
                found = _read(file, self.path, at, end).rfind(b"\n")
                if found >= 0:
                    return at + found + 1
                end = at
        return None

    def _first_end(self, begin: int, end: int) -> int | None:
        with opened(self.path) as file:
            for at in range(begin, end, _WINDOW):
                found = _read(file, self.path, at, min(at + _WINDOW, end)).find(b"\n")
                if found >= 0:
                    return at + found + 1
        return None


def chunks(file: LineFile, begin: int, end: int | None) -> Iterator[tuple[int, bytes]]:
    """The lines between two offsets as large runs, each with its offset. No end means all there are."""
    while end is None or begin < end:
        lines = file.lines(begin, CHUNK, end)
        if not lines:
            if end is not None:
                raise shrunk(file.path)
            return
        bare = lines.removeprefix(_BYTE_ORDER_MARK) if begin == 0 else lines
        if bare:
            yield begin + len(lines) - len(bare), bare
        begin += file.count(lines)


def first_time(data: bytes) -> int | None:
    r"""The time of the first line that has one; the last line may be cut off.

    >>> first_time(b"oops\n\n7\t<urn:a> <urn:p> <ur")
    7
    """
    times = (int(found[1]) for found in _TIME.finditer(data))
    return next((time for time in times if NEVER < time < FOREVER), None)


def stat(path: str) -> os.stat_result:
    """What the file system knows of a file; an `InputError` where it knows none."""
    try:
        return os.stat(path)
    except OSError as problem:
        raise unreadable(problem, path) from problem


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A file to read from, by its descriptor."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError as problem:
        raise unreadable(problem, path) from problem
    try:
        yield file
    except OSError as problem:
        raise unreadable(problem, path) from problem
    finally:
        os.close(file)


def unreadable(problem: OSError, path: str) -> InputError:
    """A file of a stream that cannot be read, or is no more."""
    if isinstance(problem, FileNotFoundError):
        hint = "files of a stream have to stay until one with a later name is being read"
        return InputError("no such file, or no more", place=Place(path), hint=hint)
    reason = problem.strerror or str(problem)
    return InputError(f"cannot be read: {reason}", place=Place(path), hint="check the file's permissions")


def shrunk(path: str) -> InputError:
    """A file that has less in it than was read before."""
    hint = "files of a stream may grow, but what is in them has to stay; or else start with a new checkpoint"
    return InputError("the file has become shorter", place=Place(path), hint=hint)


def _read(file: int, path: str, begin: int, end: int) -> bytes:
    data = os.pread(file, end - begin, begin)
    while begin + len(data) < end:
        more = os.pread(file, end - begin - len(data), begin + len(data))
        if not more:
            raise shrunk(path)
        data += more
    return data
