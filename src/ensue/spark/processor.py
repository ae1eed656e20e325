"""A shard as Spark runs it: keyed state for a store, rows in and rows out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from typing import Any, Protocol

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from ensue.errors import EnsueError
from ensue.job import Job
from ensue.maintain.kernel.compiling import digest
from ensue.model import NEVER
from ensue.plan.plans import Key, Planned
from ensue.plan.semijoin import SemiJoin
from ensue.query.output import Result
from ensue.query.share import Share
from ensue.resumable import Resumable
from ensue.spark.packed import Packed
from ensue.spark.pieces import Piece, packed, unpacked
from ensue.spark.reducing import Reducer, reducer_of
from ensue.spark.results import EVENTS, pack, pack_events
from ensue.spark.shard import Cache, Outcome, step
from ensue.spark.shelf import Shelf
from ensue.spark.workers import settle

STEPPED = "shard int, kind string, query string, open long, close long, payload binary"
"""The columns of what comes out of the shards, as Spark writes them."""

ANSWERS, LETTERS, COUNTERS, FAILED, HELD = "answers", "dead", "counters", "failed", "held"
"""What a row is: the answers of an evaluation, dead letters, counters of a shard after a step, or, in place
of counters, why there is no step after it; and what networks hold in the end.

Or the answers of many events: see `results.EVENTS`.
"""

# Types and not their names, for which Spark would ask Java each time.
_NAMED = StructType([StructField("name", StringType())])
_BYTES = StructType([StructField("data", BinaryType())])
_HEAD, _STEP, _QUERY = "head", "step ", "query "

_CACHES: dict[str, Cache] = {}
"""Workers live through many micro-batches, and these live with them."""


class AnyShard(Protocol):
    """A shard of whatever kind, as it is sent to workers; it is known by its key, and that of so many."""

    def step(self, key: int, of: int, pieces: Sequence[Piece], store: KeyedState) -> Outcome:
        """Take in what a micro-batch brings, and give what is due."""

    def clear(self, key: int, of: int) -> None:
        """Remove what is cached of it on this host: the job is over."""


@dataclass(frozen=True, slots=True)
class ShardOf:
    """A shard of a job, and its shares of the queries."""

    job: Packed[Job]
    shares: Mapping[str, Share] = field(default_factory=dict)
    plans: Packed[Mapping[Key, Planned]] | None = None
    """What was found out about it already, for all shards."""
    semijoins: tuple[SemiJoin, ...] = ()

    def reasoner(self, since: int = NEVER, copies: bool = False) -> Resumable:
        """A new reasoner for it, with the background since a time; `copies`: one that keeps them."""
        made = self.job.value().resumable(self.shares, since)
        if self.plans is not None and since == NEVER:  # They are over the background of the beginning.
            made.plans.take(self.plans.value())
        if not copies:
            made.settle()
        return made

    def step(self, key: int, of: int, pieces: Sequence[Piece], store: KeyedState) -> Outcome:
        """Take in what a micro-batch brings, and give what is due."""
        plan = plan_name(self.job, key, of)
        return step(plan, pieces, store, self.reasoner, _cache(plan), self.updates, self.reducer)

    @property
    def reducer(self) -> Reducer | None:
        """What leaves out what is of no use; None: nothing is left out."""
        return reducer_of(self.semijoins) if self.semijoins else None

    @property
    def updates(self) -> list[int]:
        """The times at which the background changes."""
        return [update.at for update in self.job.value().updates]

    def clear(self, key: int, of: int) -> None:
        """Remove what is cached of it on this host: the job is over."""
        shelf = Shelf.found(plan_name(self.job, key, of))
        if shelf is not None:
            shelf.clear()


@lru_cache(maxsize=4)
def plans_for(job: Packed[Job]) -> Packed[Mapping[Key, Planned]] | None:
    """What any shard of a job would find out by itself; None: it will say what is wrong with the job."""
    try:
        made = job.value().resumable()
        made.settle()
    except EnsueError:
        return None
    return Packed.of(made.plans.give())


def plan_name(job: Packed[Any], shard: int, of: int) -> str:
    """Names what can be cached of one of so many shards: other plans and other code find nothing."""
    about = (job.digest, version("ensue"), digest(), shard, of)
    return blake2b(repr(about).encode(), digest_size=16).hexdigest()


def _cache(plan: str) -> Cache:
    if plan not in _CACHES:
        _CACHES[plan] = Cache(Shelf.found(plan))
    return _CACHES[plan]


class KeyedState:
    """The store of a shard in Spark's keyed state.

    One map is all there is: to find another would take Spark ten milliseconds in each micro-batch.
    """

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._map = handle.getMapState("shard", _NAMED, _BYTES)

    def head(self) -> bytes | None:
        """The state; None before the first step."""
        return self._get(_HEAD)

    def put_head(self, head: bytes) -> None:
        """Replace the state."""
        self._map.updateValue((_HEAD,), (head,))

    def log(self) -> Iterable[tuple[int, list[Piece]]]:
        """The pieces of each step of the log, in any order."""
        for (name,), (pieces,) in self._map.iterator():
            if name.startswith(_STEP):
                yield int(name.removeprefix(_STEP)), list(unpacked(bytes(pieces)))

    def entry(self, step: int) -> list[Piece]:
        """The pieces of one step of the log."""
        found = self._get(f"{_STEP}{step}")
        assert found is not None, f"step {step} is not in the log"
        return list(unpacked(found))

    def add(self, step: int, pieces: Sequence[Piece]) -> None:
        """Add a step to the log."""
        self._map.updateValue((f"{_STEP}{step}",), (packed(pieces),))

    def drop(self, step: int) -> None:
        """Take a step out of the log."""
        self._map.removeKey((f"{_STEP}{step}",))

    def memory(self, query: str) -> bytes | None:
        """What a query remembers; None if that is nothing."""
        return self._get(_QUERY + query)

    def put_memory(self, query: str, memory: bytes) -> None:
        """Replace what a query remembers."""
        self._map.updateValue((_QUERY + query,), (memory,))

    def _get(self, name: str) -> bytes | None:
        found = self._map.getValue((name,))
        return None if found is None else bytes(found[0])


class ShardProcessor(StatefulProcessor):
    """Takes the blocks of a micro-batch in, and gives what is due."""

    def __init__(self, shards: Mapping[int, AnyShard]) -> None:
        """`shards` are by their keys."""
        self._shards = dict(shards)

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
        outcome = self._shards[key[0]].step(key[0], len(self._shards), pieces, self._store)
        yield _frame(outcome, key[0])
        settle()

    def close(self) -> None:
        """Nothing is held that has to be given back."""


def _pieces(frame: pd.DataFrame) -> Iterator[Piece]:
    columns = (frame[name] for name in ("stream", "place", "kind", "payload"))
    for stream, place, kind, payload in zip(*columns, strict=True):
        yield Piece(stream, int(place), kind, bytes(payload))


def _by_event(results: Iterable[Result]) -> dict[str, list[tuple[int, Result]]]:
    """The results of queries over events, and of networks, each with its place among all."""
    found: dict[str, list[tuple[int, Result]]] = {}
    for place, result in enumerate(results):
        if result.of_event:
            found.setdefault(result.query, []).append((place, result))
    return found


def _frame(outcome: Outcome, shard: int) -> pd.DataFrame:
    rows: list[tuple[str, str | None, int, int, bytes]] = [
        (ANSWERS, result.query, result.open, result.close, pack(result))
        for result in outcome.results
        if not result.of_event
    ]
    for query, placed in _by_event(outcome.results).items():
        places, some = zip(*placed, strict=True)
        payload = pack_events(some, places if outcome.ordered else None)
        rows.append((EVENTS, query, some[0].open, some[-1].close, payload))
    if outcome.dead:
        rows.append((LETTERS, None, 0, 0, json.dumps(outcome.dead).encode()))
    if outcome.held is not None:
        rows.append((HELD, None, 0, 0, outcome.held))
    if outcome.failure is not None:
        time, message = outcome.failure
        rows.append((FAILED, None, time, time, message.encode()))
    else:
        counters = outcome.counters | {"worker": os.getpid()}
        rows.append((COUNTERS, None, 0, 0, json.dumps(counters).encode()))
    frame = pd.DataFrame(rows, columns=["kind", "query", "open", "close", "payload"])
    frame.insert(0, "shard", shard)
    return frame
