"""A shard of a job of queries, as it is sent to workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

from ensue.errors import EnsueError
from ensue.job import Job
from ensue.maintain.kernel.compiling import digest
from ensue.model import NEVER
from ensue.plan.plans import Key, Planned
from ensue.plan.semijoin import SemiJoin
from ensue.query.share import Share
from ensue.resumable import Resumable
from ensue.spark.packed import Packed
from ensue.spark.pieces import Piece
from ensue.spark.processor import KeyedState
from ensue.spark.reducing import Reducer, reducer_of
from ensue.spark.shard import Cache, Outcome, step
from ensue.spark.shelf import Shelf

_CACHES: dict[str, Cache] = {}
"""Workers live through many micro-batches, and these live with them."""


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
def plans_for(job: Packed[Job]) -> Mapping[Key, Planned] | None:
    """What any shard of a job would find out by itself; None: it will say what is wrong with the job."""
    try:
        made = job.fresh().resumable()
        made.settle()
    except EnsueError:
        return None
    return made.plans.give()


def plan_name(job: Packed[Any], shard: int, of: int) -> str:
    """Names what can be cached of one of so many shards: other plans and other code find nothing."""
    about = (job.digest, version("ensue"), digest(), shard, of)
    return blake2b(repr(about).encode(), digest_size=16).hexdigest()


def _cache(plan: str) -> Cache:
    if plan not in _CACHES:
        _CACHES[plan] = Cache(Shelf.found(plan))
    return _CACHES[plan]
