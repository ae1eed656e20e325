"""One stream: a file or a directory of them, and the way through it. No Spark in here.

Files are taken in order of name. One is done with when another has a later name: then its last line counts
even without a line feed, and what is written to it afterwards is not read. A file that appears when one with
a later name was begun comes too late, which is an error. Zipped files and documents are whole when they
appear. Names that begin with `.` or `_` are not looked at: files that are not yet whole belong there.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ensue.errors import InputError, Place
from ensue.spark.replay_files import LineFile, Plain, chunks, first_time, stat, unreadable
from ensue.spark.replay_lines import Lines
from ensue.spark.replay_tape import Tapes, is_zipped
from ensue.streamgraphs import is_document

_PEEK = 1 << 12
_LATE_HINT = "files of a stream are read in order of name: give those that appear later a later name"


@dataclass(frozen=True, slots=True)
class Position:
    """A place between two lines of a stream: a file, how many came before it, and how much of it did.

    This is what Spark's checkpoint keeps, so a restart goes on where the last run ended. The number makes
    the order of files known without their names, and stays when files that were read are removed. A finite
    stream has `ended` when all of it was read and that was said.
    """

    file: str = ""
    number: int = -1
    offset: int = 0
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """Some lines of one file: those between two offsets. Without an end, all there are.

    One of no lines, with `ended`, says that its stream has no more.
    """

    stream: str
    path: str
    number: int
    begin: int
    end: int | None
    document: bool
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a stream at some time, in order of name."""

    folder: str
    names: list[str]

    @classmethod
    def of(cls, path: str) -> Listing:
        """What a path stands for: itself, or what a directory holds."""
        if not os.path.isdir(path):
            stat(path)
            folder, name = os.path.split(path)
            return cls(folder, [name])
        try:
            with os.scandir(path) as found:
                entries = sorted((entry.name, entry.is_dir()) for entry in found)
        except OSError as problem:
            raise unreadable(problem, path) from problem
        names = []
        for name, is_folder in entries:
            if name[0] not in "._":
                if is_folder:
                    place, hint = Place(os.path.join(path, name)), "a stream directory holds files only"
                    raise InputError("a directory within a stream directory", place=place, hint=hint)
                names.append(name)
        return cls(path, names)

    def path(self, index: int) -> str:
        """The path of a file."""
        return os.path.join(self.folder, self.names[index])

    def index(self, position: Position) -> int:
        """Where the file of a position is; -1 before the first."""
        if not position.file:
            return -1
        index = bisect_left(self.names, position.file)
        if index == len(self.names) or self.names[index] != position.file:
            raise unreadable(FileNotFoundError(), os.path.join(self.folder, position.file))
        if index > position.number:
            what = f"a file with an earlier name appeared after {position.file} was begun"
            raise InputError(what, place=Place(self.folder), hint=_LATE_HINT)
        return index

    def end(self) -> Position:
        """Where the stream ends: of a file that has to be read to know its length, only which it is."""
        last = len(self.names) - 1
        if last < 0:
            return Position()
        return Position(self.names[last], last, stat(self.path(last)).st_size)

    def between(self, stream: str, start: Position, end: Position, *, spent: bool = False) -> list[Segment]:
        """What lies between two positions, file by file; `spent` if nothing is left of the first."""
        first, last = self.index(start), self.index(end)
        if last - first != end.number - start.number:
            what = f"files between '{start.file}' and '{end.file}' appeared or were removed"
            raise InputError(what, place=Place(self.folder), hint=_LATE_HINT)
        found = []
        for index in range(max(first + spent, 0), last + 1):
            path, begin = self.path(index), start.offset if index == first else 0
            document = is_document(path)
            stop = end.offset if index == last else None
            if stop is None and not document and not is_zipped(path):
                stop = stat(path).st_size
            if stop is None or begin < stop:
                number = end.number - last + index
                found.append(Segment(stream, path, number, begin, stop, document))
        if end.ended and not start.ended:
            path = os.path.join(self.folder, end.file)
            found.append(Segment(stream, path, end.number, end.offset, end.offset, False, ended=True))
        return found


def file_of(path: str, size: int | None, tapes: Tapes, *, document: bool) -> LineFile:
    """The lines of a file. How long it is need not be known of one that is read from its start on."""
    if document or is_zipped(path):
        return tapes.of(path, document=document)
    return Plain(path, stat(path).st_size if size is None else size, tapes.max_line)


class Walk:
    """A stream while a micro-batch is planned: goes on from a position as far as it is told to."""

    def __init__(
        self, listing: Listing, start: Position, tapes: Tapes, *, complete: bool, until: Position | None
    ) -> None:
        self.position = start
        """After what was taken."""
        self.spent = False
        """Whether nothing was left of the file that it began in."""
        self._listing = listing
        self._start = start
        self._tapes = tapes
        self._complete = complete
        self._until = until
        self._first = self._index = listing.index(start)
        # Where the next line would be, which can be in a later file.
        self._offset = start.offset
        self._file = None if self._index < 0 else self._open()

    def next_time(self) -> int | None:
        """The time of the next line, or of one soon after; none if there is none, or none has a time."""
        file = self._settle()
        return None if file is None else first_time(file.head(self._offset, _PEEK))

    def step(self, size: int, room: int, due: int | None) -> int:
        """Take whole lines of one file: how many bytes they have.

        They have at most `size`, or it is one line of at most `room`; and all come before the first that is
        not due.
        """
        file = self._settle()
        if file is None:
            return 0
        begin = self._offset
        end, taken = file.end(begin, size, room, complete=self._complete or self._goes_on())
        if due is not None:
            end, taken = _due(file, begin, end, due)
        if end > begin:
            number = self._start.number + self._index - self._first
            self.position = Position(self._listing.names[self._index], number, end)
            self._offset = end
        return taken

    def over(self) -> bool:
        """Whether all that is there was taken."""
        file = self._settle()
        return file is None or file.ended(self._offset)

    def _settle(self) -> LineFile | None:
        """The file that the next line is in."""
        while (self._file is None or self._file.ended(self._offset)) and self._goes_on():
            self.spent = self.spent or (self._index == self._first and self._offset == self._start.offset)
            self._index, self._offset = self._index + 1, 0
            self._file = self._open()
        return self._file

    def _goes_on(self) -> bool:
        after = self._index + 1
        names = self._listing.names
        return after < len(names) and (self._until is None or names[after] <= self._until.file)

    def _open(self) -> LineFile:
        path, name = self._listing.path(self._index), self._listing.names[self._index]
        size = self._until.offset if self._until is not None and name == self._until.file else None
        return file_of(path, size, self._tapes, document=is_document(path))


def _due(file: LineFile, begin: int, end: int, due: int) -> tuple[int, int]:
    """Where the lines that are due end, and how many bytes they have."""
    taken = 0
    for offset, data in chunks(file, begin, end):
        lines = Lines.of(data)
        early = pc.index(pc.greater(lines.times(), due), pa.scalar(True)).as_py()
        if early >= 0:
            cut = int(lines.cuts[early])
            some = taken + cut > 0
            return (offset + file.count(data[:cut]) if some else begin), taken + cut
        taken += len(data)
    return end, taken
