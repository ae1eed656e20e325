"""The plan of a job on Spark: which statements are left out, and over how many shards the rest is spread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ensue.inputlimits import MAX_LINE
from ensue.job import Job
from ensue.plan.expansion import Expansion
from ensue.plan.relevance import Relevance
from ensue.plan.routing import Routing
from ensue.plan.semijoin import Reduction
from ensue.plan.shapes import Shape
from ensue.plan.spread import spread
from ensue.spark.job_shard import ShardOf, packed_job
from ensue.spark.packed import Pack, Packed
from ensue.spark.prepare import Expanding, Lane
from ensue.spark.results import Merging
from ensue.spark.shards import shard_keys


@dataclass(frozen=True, slots=True)
class Plan:
    """A job, how it is spread over shards, and what is left out and added before it gets there."""

    job: Job
    keys: tuple[int, ...]
    """The keys of its shards."""
    relevance: Relevance | None = None
    routing: Routing | None = None
    one_shard_because: str | None = None
    """Why there is one shard only although more were asked for."""
    refused: tuple[Shape, ...] = ()
    """What no stream may bring: see `ensue.plan.unfold`."""
    expansion: Expansion | None = None
    not_expanded_because: str | None = None
    """Why shards apply all rules although it was asked for that linear ones are applied before."""
    reduction: Reduction | None = None
    """By which shards see what is of no use to any query; None: they do not look."""
    max_line: int = MAX_LINE
    """Bytes of a line of a stream: a longer one is a dead letter."""

    def lane(self, stream: str) -> Lane:
        """The way of a stream's statements to the shards."""
        found = self.expansion
        expanding = None if found is None else Expanding(found.table, found.assumed)
        assumed = () if self.reduction is None else self.reduction.assumed
        return Lane(
            stream, self.keys, self.relevance, self.routing, self.refused, expanding, assumed, self.max_line
        )

    def shards(self, pack: Pack = Packed.of) -> Iterator[tuple[int, ShardOf]]:
        """The shards by their keys; `pack` packs what all of them need."""
        left = self.job if self.expansion is None else self.expansion.job
        # As many workers as there are shards, or cores, share the memory of a machine.
        sharing = left.settings.budget.shared(min(len(self.keys), os.cpu_count() or 1))
        left = replace(left, settings=replace(left.settings, budget=sharing))
        job, count = packed_job(left, pack), len(self.keys)
        semijoins = () if self.reduction is None else self.reduction.semijoins
        names = [query.name for query in self.job.queries]
        for shard, key in enumerate(self.keys):
            of_each = {name: self.routing.share(name, count, shard) for name in names} if self.routing else {}
            shares = {name: each for name, each in of_each.items() if each is not None}
            yield key, ShardOf(job, shares, semijoins, shard == 0)

    def merging(self) -> Merging:
        """How results are made of what its shards give."""
        cuts = {each.query: each.cut for each in self.routing.merged} if self.routing else {}
        return Merging(tuple((query, cuts[query.name]) for query in self.job.queries if query.name in cuts))


def plan_of(
    job: Job, *, shards: int = 1, keep_all: bool = False, expand: bool = False, max_line: int = MAX_LINE
) -> Plan:
    """The plan of a job: see `ensue.plan.spread`."""
    found = spread(job, shards=shards, keep_all=keep_all, expand=expand)
    keys = tuple(shard_keys(found.shards))
    return Plan(
        job,
        keys,
        found.relevance,
        found.routing,
        found.one_shard_because,
        found.refused,
        found.expansion,
        found.not_expanded_because,
        found.reduction,
        max_line,
    )
