"""A shard of a job of queries, as it is sent to workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version

from ensue.errors import EnsueError
from ensue.job import Job
from ensue.knowledge import Sent
from ensue.maintain.kernel.compiling import digest as code
from ensue.model import NEVER
from ensue.plan.plans import Key, Planned
from ensue.plan.semijoin import SemiJoin
from ensue.query.background_image import BackgroundImage
from ensue.query.share import Share
from ensue.resumable import Resumable
from ensue.spark.packed import Pack, Packed
from ensue.spark.pieces import Piece
from ensue.spark.processor import KeyedState
from ensue.spark.reducing import Reducer, reducer_of
from ensue.spark.shard import Cache, Outcome, step
from ensue.spark.shelf import Shelf

_CACHES: dict[str, Cache] = {}
"""Workers live through many micro-batches, and these live with them."""

FEW_STATEMENTS = 5000
"""So many each worker closes by itself sooner than it maps a file."""


@dataclass(frozen=True, slots=True)
class PackedJob:
    """A job as its shards have it. A large background travels by itself, closed and planned for."""

    job: Packed[Job]
    """Without its background, if that is large."""
    plans: Packed[Mapping[Key, Planned]] | None = None
    """What was found out about a small background."""
    image: Packed[BackgroundImage] | None = None
    """A large background, until it changes."""
    knowledge: Packed[Sent] | None = None
    """The same as it was stated, where it may change."""

    def reasoner(self, shares: Mapping[str, Share], since: int) -> Resumable:
        """A new reasoner, with the background since a time."""
        job = self.job.value()
        if any(update.at <= since for update in job.updates):
            if self.knowledge is not None:
                job = replace(job, knowledge=self.knowledge.value())
            return job.resumable(shares, since)
        # Of its own: a reasoner writes into the arrays.
        made = job.resumable(shares, since, None if self.image is None else self.image.fresh())
        if self.plans is not None:
            made.plans.take(self.plans.value())
        return made

    @property
    def digest(self) -> str:
        """Names the job with its background."""
        return "".join(each.digest for each in (self.job, self.image, self.knowledge) if each is not None)


@dataclass(frozen=True, slots=True)
class ShardOf:
    """A shard of a job, and its shares of the queries."""

    packed: PackedJob
    shares: Mapping[str, Share] = field(default_factory=dict)
    semijoins: tuple[SemiJoin, ...] = ()
    is_first: bool = True
    """Whether it tells what all shards know."""

    def reasoner(self, since: int = NEVER, copies: bool = False) -> Resumable:
        """A new reasoner for it, with the background since a time; `copies`: one that keeps them."""
        made = self.packed.reasoner(self.shares, since)
        if not copies:
            made.settle()
        return made

    def step(self, key: int, of: int, pieces: Sequence[Piece], store: KeyedState) -> Outcome:
        """Take in what a micro-batch brings, and give what is due."""
        plan = plan_name(self.packed.digest, key, of)
        return step(
            plan,
            pieces,
            store,
            self.reasoner,
            _cache(plan),
            self.updates,
            self.reducer,
            self.packed.job.value().settings.max_jump,
            tells=self.is_first,
        )

    @property
    def reducer(self) -> Reducer | None:
        """What leaves out what is of no use; None: nothing is left out."""
        return reducer_of(self.semijoins) if self.semijoins else None

    @property
    def updates(self) -> list[int]:
        """The times at which the background changes."""
        return [update.at for update in self.packed.job.value().updates]

    def clear(self, key: int, of: int) -> None:
        """Remove what is cached of it on this host: the job is over."""
        shelf = Shelf.found(plan_name(self.packed.digest, key, of))
        if shelf is not None:
            shelf.clear()


def packed_job(job: Job, pack: Pack) -> PackedJob:
    """A job with what any of its shards would find out by itself."""
    if len(job.knowledge) <= FEW_STATEMENTS:
        packed = pack(job)
        plans = _plans_for(packed)
        return PackedJob(packed, None if plans is None else pack(plans))
    made = _settled(job)
    if made is None:
        return PackedJob(pack(job))
    left, knowledge = replace(job, knowledge=Sent()), pack(job.knowledge) if job.updates else None
    return PackedJob(pack(left), None, pack(made.image()), knowledge)


@lru_cache(maxsize=4)
def _plans_for(job: Packed[Job]) -> Mapping[Key, Planned] | None:
    made = _settled(job.fresh())
    return None if made is None else made.plans.give()


def _settled(job: Job) -> Resumable | None:
    """A reasoner that has planned for a job; None: its shards will say what is wrong with it."""
    try:
        made = job.resumable()
        made.settle()
    except EnsueError:
        return None
    return made


def plan_name(digest: str, shard: int, of: int) -> str:
    """Names what can be cached of one of so many shards: other plans and other code find nothing.

    `digest` is that of all that a shard's plan is made of.
    """
    about = (digest, version("ensue"), code(), shard, of)
    return blake2b(repr(about).encode(), digest_size=16).hexdigest()


def _cache(plan: str) -> Cache:
    if plan not in _CACHES:
        _CACHES[plan] = Cache(Shelf.found(plan))
    return _CACHES[plan]
