"""Several timed streams cut into micro-batches that keep them side by side in time. No Spark in here.

A micro-batch is what lies between two positions of each stream. To plan one, the stream that is furthest
behind in time gives a piece, then the one that is furthest behind then, until the bytes are used up. Lines
are not looked at for that: only where a piece ends, and the time after it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from ensue.inputlimits import MAX_LINE
from ensue.model import NEVER
from ensue.spark.replay_files import Plain, chunks, stat
from ensue.spark.replay_tape import Tapes, is_zipped
from ensue.spark.replay_walk import Listing, Position, Segment, Walk, file_of

UNLIMITED = sys.maxsize

# To find one takes some 40 microseconds, so a micro-batch of 256 MiB is planned in twenty milliseconds.
_PIECE = 1 << 19
# Small micro-batches of several streams have pieces of each, too.
_PIECES_OF_EACH = 8
# To start a task takes longer than to read so much.
_LEAST_OF_TASK = 1 << 18
_FILE_BITS = 40

Positions = Mapping[str, Position]
"""A position in each stream, by its IRI."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole lines of a file, about a mebibyte. In a document the offset counts statements, not bytes.

    `scoped` says that labels of blank nodes are the document's own already, and not to be scoped again. A
    chunk without lines that has `ended` comes after all others of a finite stream.
    """

    stream: str
    file: str
    number: int
    offset: int
    scoped: bool
    lines: bytes
    ended: bool = False

    @property
    def place(self) -> int:
        """A number that orders the chunks of a stream: room for 8 million files of a tebibyte each."""
        return self.number << _FILE_BITS | self.offset


class Pace:
    """Up to which time streams are due, if they run so many times faster than their stamps say.

    The first line is due when first asked for, and time runs from the next question on: in between is the
    first micro-batch, in which a job starts its workers. What would have come before, or while nothing
    ran, is not caught up with.

    >>> now = 100.0
    >>> pace = Pace(10, lambda: now)
    >>> pace.due(lambda: 5000)
    5000
    >>> now = 130.0
    >>> pace.due(lambda: 7000)
    5000
    >>> now = 131.5
    >>> pace.due(lambda: 7000)
    20000
    """

    def __init__(self, speed: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._first: int | None = None
        self._began: float | None = None

    def due(self, next_time: Callable[[], int | None]) -> int | None:
        """The time that is due now; None if there is no line yet, whose time `next_time` could tell."""
        if self._first is None:
            self._first = next_time()
            return self._first
        now = self._clock()
        if self._began is None:
            self._began = now
        return self._first + int((now - self._began) * 1000 * self._speed)


class Planner:
    """Says where micro-batches of some streams end, and of which parts of which files they are made.

    `finite` streams have files that are complete: the last line of one needs no line feed, and when all were
    read the stream is said to have ended, once.
    """

    def __init__(
        self,
        paths: Mapping[str, str],
        *,
        finite: bool = False,
        pace: Pace | None = None,
        max_line: int = MAX_LINE,
    ) -> None:
        self._paths = paths
        self._finite = finite
        self._pace = pace
        self._until: Positions = {}
        self._tapes = Tapes(max_line=max_line)
        # Of the micro-batch that was planned last: directories are listed once for each.
        self._listings: dict[str, Listing] = {}
        self._spent: dict[str, Position] = {}

    def close(self) -> None:
        """Close all files."""
        self._tapes.close()

    def stop_at_what_is_there(self) -> None:
        """From now on all that is there is due, an unfinished last line too, and nothing that comes later."""
        self._until = {stream: Listing.of(path).end() for stream, path in self._paths.items()}
        self._pace = None

    def after(self, start: Positions, budget: int = UNLIMITED) -> dict[str, Position]:
        """Where a micro-batch ends that has so many bytes at most; one line if it is longer."""
        walks = self._walks(start)
        due = None
        if self._pace is not None:
            due = self._pace.due(lambda: _earliest(walk.next_time() for walk in walks.values()))
            # As long as no time is known, only lines without one are due.
            due = NEVER if due is None else due
        _take(walks, budget, due)
        self._spent = {stream: start[stream] for stream, walk in walks.items() if walk.spent}
        found = {stream: walk.position for stream, walk in walks.items()}
        if self._finite:
            over = {
                stream: replace(found[stream], ended=True) for stream, walk in walks.items() if walk.over()
            }
            found |= over
        return {stream: found.get(stream, position) for stream, position in start.items()}

    def between(self, start: Positions, end: Positions) -> list[Segment]:
        """What a micro-batch is made of."""
        found: list[Segment] = []
        for stream, last in end.items():
            first = start[stream]
            if first != last:
                spent = self._spent.get(stream) == first
                found += self._listing(stream, last).between(stream, first, last, spent=spent)
        return found

    def _walks(self, start: Positions) -> dict[str, Walk]:
        going = [stream for stream, position in start.items() if not position.ended]
        self._listings = {stream: Listing.of(self._paths[stream]) for stream in going}
        complete = self._finite or bool(self._until)
        return {
            stream: Walk(
                listing, start[stream], self._tapes, complete=complete, until=self._until.get(stream)
            )
            for stream, listing in self._listings.items()
        }

    def _listing(self, stream: str, end: Position) -> Listing:
        known = self._listings.get(stream)
        if known is None or (end.file and end.file not in known.names):
            return Listing.of(self._paths[stream])
        return known


def _earliest(times: Iterable[int | None]) -> int | None:
    return min((time for time in times if time is not None), default=None)


def _take(walks: Mapping[str, Walk], budget: int, due: int | None) -> None:
    """Let streams go on, those furthest behind first, until so many bytes are taken or no more are due."""
    left = budget
    piece = max(1, min(_PIECE, budget // (_PIECES_OF_EACH * max(1, len(walks)))))
    behind = [(_behind(walk, len(walks)), stream) for stream, walk in walks.items()]
    heapify(behind)
    while behind and left > 0:
        _, stream = heappop(behind)
        # The only one that is left need not wait for others.
        size = min(piece, left) if behind else left
        # The very first line is taken however long it is, as otherwise it never would be.
        taken = walks[stream].step(size, left if left < budget else UNLIMITED, due)
        left -= taken
        if taken:
            heappush(behind, (_behind(walks[stream], len(behind) + 1), stream))


def _behind(walk: Walk, streams: int) -> int:
    """How far a stream is. One whose next lines have no time goes first, so that they are passed."""
    time = walk.next_time() if streams > 1 else None
    return NEVER if time is None else time


def parts(segments: Iterable[Segment], count: int, least: int = _LEAST_OF_TASK) -> list[tuple[Segment, ...]]:
    """Segments dealt out to at most so many tasks, about equal in bytes and in their order.

    What is zipped or a document cannot be entered midway, and is not cut.
    """
    weighed = [(segment, _weight(segment)) for segment in segments]
    total = sum(weight for _, weight in weighed)
    count = max(1, min(count, total // least))
    tasks: list[list[Segment]] = [[] for _ in range(count)]
    before = 0
    for segment, weight in weighed:
        for task, piece in _dealt(segment, before, before + weight, total, count):
            tasks[task].append(piece)
        before += weight
    return [tuple(task) for task in tasks if task]


def _weight(segment: Segment) -> int:
    if segment.end is None or segment.document:
        return stat(segment.path).st_size
    return segment.end - segment.begin


def _dealt(
    segment: Segment, before: int, after: int, total: int, count: int
) -> Iterator[tuple[int, Segment]]:
    """The pieces of a segment, each with the number of its task, where so many bytes lie before and after."""
    first, last = (min(at * count // max(total, 1), count - 1) for at in (before, max(before, after - 1)))
    if first == last or segment.end is None or segment.document or is_zipped(segment.path):
        yield first, segment
        return
    begin, file = segment.begin, Plain(segment.path, segment.end)
    for task in range(first, last + 1):
        end = segment.end
        if task < last:
            share = (task + 1) * total // count
            end = file.cut(max(begin + 1, segment.begin + share - before), segment.end)
        if begin < end:
            yield task, replace(segment, begin=begin, end=end)
        begin = end


def read(segments: Iterable[Segment], tapes: Tapes) -> Iterator[Chunk]:
    """The lines of a task."""
    for segment in segments:
        if segment.ended:
            yield Chunk(segment.stream, segment.path, segment.number, segment.begin, False, b"", ended=True)
            continue
        file = file_of(segment.path, segment.end, tapes, document=segment.document)
        for offset, lines in chunks(file, segment.begin, segment.end):
            yield Chunk(segment.stream, segment.path, segment.number, offset, segment.document, lines)
