"""A shard as Spark runs it: keyed state for a store, rows in and rows out."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from uuid import uuid4

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ensue.job import Job
from ensue.query.running import Accepts
from ensue.reasoner import Reasoner
from ensue.spark.results import pack
from ensue.spark.shard import Cache, Outcome, Piece, step

STEPPED = "shard int, kind string, query string, open long, close long, payload binary"
"""The columns of what comes out of the shards, as Spark writes them."""

ANSWERS, LETTERS, COUNTERS = "answers", "dead", "counters"
"""What a row is: the answers of an evaluation, dead letters, or counters of a shard after a step."""

_JOBS: dict[str, Job] = {}
_CACHE = Cache()
"""Workers live through many micro-batches, and these live with them."""


@dataclass(frozen=True, slots=True)
class SentJob:
    """A job in bytes, unpacked once a worker: Spark sends the function of a task with each task."""

    digest: str
    data: bytes

    @classmethod
    def of(cls, job: Job) -> SentJob:
        """Pack a job."""
        data = pickle.dumps(job)
        return cls(blake2b(data, digest_size=16).hexdigest(), data)

    def job(self) -> Job:
        """The job."""
        if self.digest not in _JOBS:
            # Trusted: it came by the way that the code itself came.
            _JOBS[self.digest] = pickle.loads(self.data)
        return _JOBS[self.digest]


@dataclass(frozen=True, slots=True)
class ShardOf:
    """A shard of a job, and which answers it gives, by query."""

    sent: SentJob
    accepts: Mapping[str, Accepts] = field(default_factory=dict)

    def reasoner(self) -> Reasoner:
        """A new reasoner for it."""
        return self.sent.job().reasoner(self.accepts)


class KeyedState:
    """The store of a shard in Spark's keyed state."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._head = handle.getValueState("head", "head binary")
        self._log = handle.getMapState(
            "log", "step long, piece int", "stream string, place long, kind string, payload binary"
        )
        self._memories = handle.getMapState("memories", "query string", "memory binary")

    def head(self) -> bytes | None:
        """The state; None before the first step."""
        found = self._head.get()
        return None if found is None else bytes(found[0])

    def put_head(self, head: bytes) -> None:
        """Replace the state."""
        self._head.update((head,))

    def log(self) -> Iterable[tuple[int, Piece]]:
        """The pieces of the log, in any order, and the step of each."""
        for (number, _), (stream, place, kind, payload) in self._log.iterator():
            yield number, Piece(stream, place, kind, bytes(payload))

    def add(self, step: int, pieces: Sequence[Piece]) -> None:
        """Add a step to the log."""
        for number, piece in enumerate(pieces):
            self._log.updateValue((step, number), tuple(piece))

    def drop(self, step: int, pieces: int) -> None:
        """Take a step of so many pieces out of the log."""
        for number in range(pieces):
            self._log.removeKey((step, number))

    def memories(self) -> Mapping[str, bytes]:
        """What queries remember, by name."""
        return {query: bytes(memory) for (query,), (memory,) in self._memories.iterator()}

    def put_memory(self, query: str, memory: bytes) -> None:
        """Replace what a query remembers."""
        self._memories.updateValue((query,), (memory,))


class ShardProcessor(StatefulProcessor):
    """Takes the blocks of a micro-batch in, and gives what is due."""

    def __init__(self, shards: Mapping[int, ShardOf]) -> None:
        """`shards` are by their keys."""
        self._shards = dict(shards)
        self._run = uuid4().hex
        """Names this run, apart from others in the same workers."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Find the state."""
        self._store = KeyedState(handle)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """One step of the shard of this key."""
        pieces = [piece for frame in rows for piece in _pieces(frame)]
        name = f"{self._run}/{key[0]}"
        yield _frame(step(name, pieces, self._store, self._shards[key[0]].reasoner, _CACHE), key[0])

    def close(self) -> None:
        """Nothing is held that has to be given back."""


def _pieces(frame: pd.DataFrame) -> Iterator[Piece]:
    columns = (frame[name] for name in ("stream", "place", "kind", "payload"))
    for stream, place, kind, payload in zip(*columns, strict=True):
        yield Piece(stream, int(place), kind, bytes(payload))


def _frame(outcome: Outcome, shard: int) -> pd.DataFrame:
    rows: list[tuple[str, str | None, int, int, bytes]] = [
        (ANSWERS, result.query, result.open, result.close, pack(result)) for result in outcome.results
    ]
    if outcome.dead:
        rows.append((LETTERS, None, 0, 0, json.dumps(outcome.dead).encode()))
    counters = outcome.counters | {"worker": os.getpid()}
    rows.append((COUNTERS, None, 0, 0, json.dumps(counters).encode()))
    frame = pd.DataFrame(rows, columns=["kind", "query", "open", "close", "payload"])
    frame.insert(0, "shard", shard)
    return frame
