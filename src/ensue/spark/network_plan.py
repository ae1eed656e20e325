"""The plan of rule networks on Spark: one shard for one network, several for one network a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ensue.inputlimits import MAX_LINE
from ensue.networks.job import NetworkJob
from ensue.networks.keys import key_table
from ensue.networks.steps import NetworkSteps
from ensue.plan.parted import ByKey, KeyTable
from ensue.plan.router import Owns, check_shards
from ensue.plan.routing import Routing
from ensue.spark.job_shard import plan_name
from ensue.spark.network_shard import NetworkCache, step
from ensue.spark.packed import Pack, Packed
from ensue.spark.pieces import Piece
from ensue.spark.prepare import Lane
from ensue.spark.processor import KeyedState
from ensue.spark.results import Merging
from ensue.spark.shard import Outcome
from ensue.spark.shards import shard_keys

_CACHE = NetworkCache()
"""Workers live through many micro-batches, and this lives with them."""


@dataclass(frozen=True, slots=True)
class NetworksOf:
    """A shard of networks: those of the keys that it owns."""

    job: Packed[NetworkJob]
    owns: Owns | None = None
    is_first: bool = True
    """Whether it tells what all shards know."""

    def run(self) -> NetworkSteps:
        """A run from the beginning."""
        return self.job.value().steps(self.owns)

    def step(self, key: int, of: int, pieces: Sequence[Piece], store: KeyedState) -> Outcome:
        """Take in what a micro-batch brings, and give what is selected."""
        job = self.job.value()
        plan = plan_name(self.job.digest, key, of)
        outcome = step(plan, pieces, store, self.run, _CACHE, job.max_jump, tells=self.is_first)
        return outcome if job.tells else outcome._replace(held=None)

    def clear(self, key: int, of: int) -> None:
        """What is cached goes with the workers."""


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """Networks, and how they are spread over shards."""

    job: NetworkJob
    keys: tuple[int, ...]
    routing: Routing | None = None
    one_shard_because: str | None = None
    """Why there is one shard only although more were asked for."""
    max_line: int = MAX_LINE
    """Bytes of a line of a stream: a longer one is a dead letter."""

    def lane(self, stream: str) -> Lane:
        """The way of a stream's statements to the shards: none is left out, for rules may ask for any."""
        return Lane(stream, self.keys, routing=self.routing, max_line=self.max_line)

    def shards(self, pack: Pack = Packed.of) -> Iterator[tuple[int, NetworksOf]]:
        """The shards by their keys; `pack` packs what all of them need."""
        job, count = pack(self.job), len(self.keys)
        for shard, key in enumerate(self.keys):
            owns = Owns(count, shard) if self.routing is not None else None
            yield key, NetworksOf(job, owns, shard == 0)

    def merging(self) -> Merging:
        """Nothing is merged: results are put in order."""
        return Merging()


def network_plan(job: NetworkJob, shards: int = 1, max_line: int = MAX_LINE) -> NetworkPlan:
    """The plan of networks over so many shards at most."""
    return replace(_network_plan(job, shards), max_line=max_line)


def _network_plan(job: NetworkJob, shards: int) -> NetworkPlan:
    check_shards(shards)
    partition = job.file.partition
    if shards == 1:
        return NetworkPlan(job, tuple(shard_keys(1)))
    if partition is None:
        why = "the rules of a network see each other's effects; # partition by: makes one for each key"
        return NetworkPlan(job, tuple(shard_keys(1)), one_shard_because=why)
    tables: tuple[KeyTable, ...] = ()
    if partition.property is not None:
        tables = (KeyTable(partition.property, key_table(partition.property, job.background.stated)),)
    by_key = ByKey(((job.file.name, partition),), tables)
    return NetworkPlan(job, tuple(shard_keys(shards)), Routing(None, by_key=by_key))
