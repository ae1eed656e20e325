"""The guard against stamps far in the future, in front of a shard's step.

Every shard knows the times of all statements, in order of arrival, so all of them judge alike. What is held
is part of the shard's state, and comes again with what the next micro-batch brings: so the log of steps has
only what was let in, where and when it was, and a shard that is rebuilt from the log has nothing to judge.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, END, HEARTBEAT, Piece, of_kind, task_of
from ensue.streamfile import timed_line
from ensue.windows.frontier import Times, in_order
from ensue.windows.jump_guard import REASON, JumpGuard


class Guarded:
    """The guard of a shard's streams."""

    def __init__(self, max_jump: int | None, state: Mapping[str, Any] | None) -> None:
        """`state` is as `state` gave it after the step before; None: there was none."""
        self._guard = JumpGuard[Block](max_jump, Block.joined, Block.taken, _times, _last)
        self.blocks: list[tuple[str, Block]] = []
        """What is in the pieces that go on, and of which stream each is."""
        self.letters: list[dict[str, Any]] = []
        """The dead letters of what was rejected."""
        if state:
            self._guard.resume(dict(state), lambda text: Block.read(b64decode(text)))

    def let_in(self, came: Sequence[Piece]) -> list[Piece]:
        """The pieces that go on to the step, of those that a micro-batch brings, in order."""
        found = [piece for piece in came if piece.kind not in (BLOCK, END, HEARTBEAT)]
        for stream in dict.fromkeys(piece.stream for piece in came):
            found += self._of_stream(stream, [piece for piece in came if piece.stream == stream])
        return found

    def _of_stream(self, stream: str, came: list[Piece]) -> list[Piece]:
        """Blocks first, as they are where nothing is held; then heartbeats, then the end."""
        found: list[Piece] = []
        for piece, block in _in_order(of_kind(came, BLOCK)):
            passed, rejected = self._guard.let_in(stream, block)
            if passed is block:
                found.append(piece)
                self.blocks.append((stream, block))
            else:
                found += self._written(stream, piece.place, passed)
            if rejected is not None:
                self.letters += _letters(stream, rejected)
        place = max(piece.place for piece in came)
        for piece in of_kind(came, HEARTBEAT):
            found += self._written(stream, place, self._guard.heartbeat(stream, int(piece.payload)))
        ends = of_kind(came, END)
        if ends:
            found += self._written(stream, place, self._guard.end(stream))
        return [*found, *of_kind(came, HEARTBEAT), *ends]

    def _written(self, stream: str, place: int, block: Block | None) -> list[Piece]:
        """A piece for what is let in otherwise than it came, if that is something."""
        if block is None or not len(block.times):
            return []
        self.blocks.append((stream, block))
        return [Piece(stream, place, BLOCK, block.write())]

    @property
    def counters(self) -> dict[str, int]:
        """How many statements are held, and how many were rejected so far."""
        return {"held": self._guard.waiting, "rejected": self._guard.rejected}

    def state(self) -> dict[str, Any]:
        """How far it is, as plain data."""
        return self._guard.state(lambda block: b64encode(block.write()).decode())


def _in_order(pieces: Sequence[Piece]) -> Iterable[tuple[Piece, Block]]:
    """Blocks in order of arrival. Of several tasks, which have none among each other, by time."""
    read = [(piece, Block.read(piece.payload)) for piece in pieces]
    if len({task_of(piece.place) for piece in pieces}) < 2:
        return read
    every = Block.joined([block for _, block in read])
    if in_order(every.times.times):
        return read
    block = every.taken(np.argsort(every.times.each(), kind="stable"))
    return [(pieces[0]._replace(payload=block.write()), block)]


def _times(block: Block) -> Times:
    return block.times.each()


def _last(block: Block) -> int:
    return block.times.newest


def _letters(stream: str, rejected: Block) -> Iterable[dict[str, Any]]:
    """A dead letter for each statement; of one that no query needs only the time has come here."""
    texts = [f"{time}\t# a statement that no query needs" for time in rejected.times.each().tolist()]
    terms = [*rejected.terms.to_pylist(), None]  # The last is for NO_GRAPH, which is -1.
    for place, stamp, *numbers in zip(rejected.places, rejected.stamps, *rejected.columns, strict=True):
        s, p, o, graph = (terms[number] for number in numbers)
        texts[place] = timed_line((int(stamp), s, p, o, graph))
    return ({"file": stream, "offset": None, "reason": REASON, "line": text} for text in texts)
