"""What comes to a shard, and what its log keeps of it: pieces, as rows and as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

BLOCK, DEAD, END, HEARTBEAT = "block", "dead", "end", "heartbeat"
"""The kinds of pieces that come: statements, malformed lines, the end of a stream, a promise of its time."""

MADE, MARK = "made", "mark"
"""The kinds that are in the log only: a block that a query constructed, and where a step began."""


_PLACES = 1 << 40
"""A task numbers its rows from its own number times this: so places of tasks do not meet."""
_UNORDERED = -(1 << 62)


def first_place(task: int) -> int:
    """The place of the first row of a task, of a source that deals rows to tasks in no order.

    >>> first_place(0) < first_place(1) < 0, task_of(first_place(3) + 7), task_of(7)
    (True, 3, None)
    """
    return _UNORDERED + task * _PLACES


def task_of(place: int) -> int | None:
    """Which task a place is of, where tasks have no order among each other; None: all are in one order."""
    return (place - _UNORDERED) // _PLACES if place < 0 else None


class Piece(NamedTuple):
    """A row for a shard: a block of a stream, dead letters, a heartbeat, or that the stream has ended."""

    stream: str
    place: int
    kind: str
    payload: bytes


def packed(pieces: Sequence[Piece]) -> bytes:
    """Pieces as one: what Spark keeps costs by the entry more than by the byte.

    >>> two = [Piece("urn:s", 1, BLOCK, b"..."), Piece("", 0, MARK, b"[]")]
    >>> list(unpacked(packed(two))) == two
    True
    """
    about = [(piece.stream, piece.place, piece.kind, len(piece.payload)) for piece in pieces]
    return b"\n".join([json.dumps(about).encode(), b"".join(piece.payload for piece in pieces)])


def unpacked(data: bytes) -> Iterator[Piece]:
    """What `packed` made one."""
    header, _, payloads = data.partition(b"\n")
    about = json.loads(header)
    borders = pairwise(accumulate((size for *_, size in about), initial=0))
    for (stream, place, kind, _), (start, end) in zip(about, borders, strict=True):
        yield Piece(stream, place, kind, payloads[start:end])


def of_kind(pieces: Iterable[Piece], kind: str) -> list[Piece]:
    """Those of a kind."""
    return [piece for piece in pieces if piece.kind == kind]
