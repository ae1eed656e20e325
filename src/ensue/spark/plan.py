"""The plan of a job on Spark: which statements are left out, and over how many shards the rest is spread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from ensue.job import Job
from ensue.plan import relevance, routing
from ensue.plan.known import close
from ensue.plan.relevance import Relevance
from ensue.plan.routing import Routing
from ensue.query.tree import ContinuousQuery
from ensue.spark.prepare import Lane
from ensue.spark.processor import SentJob, ShardOf
from ensue.spark.shards import shard_keys
from ensue.windows.spec import CountWindow


@dataclass(frozen=True, slots=True)
class Plan:
    """A job, how it is spread over shards, and what is left out before it gets there."""

    job: Job
    keys: tuple[int, ...]
    """The keys of its shards."""
    relevance: Relevance | None = None
    routing: Routing | None = None
    one_shard_because: str | None = None
    """Why there is one shard only although more were asked for."""

    def lane(self, stream: str) -> Lane:
        """The way of a stream's statements to the shards."""
        return Lane(stream, self.keys, self.relevance, self.routing)

    def shards(self) -> Iterator[tuple[int, ShardOf]]:
        """The shards by their keys."""
        sent, count = SentJob.of(self.job), len(self.keys)
        for shard, key in enumerate(self.keys):
            accepts = {}
            for query in self.job.queries if self.routing is not None else ():
                accepted = self.routing.accepts(query.name, count, shard) if self.routing else None
                if accepted is not None:
                    accepts[query.name] = accepted
            yield key, ShardOf(sent, accepts)


def plan_of(job: Job, *, shards: int = 1, keep_all: bool = False, fixed_schema: bool = False) -> Plan:
    """The plan of a job: with fewer shards than asked for, where it cannot be spread.

    Statements that no query needs are dropped, unless all are to be kept. Which these are may hang on
    the schema in the background: then they are dropped only if no stream brings any, so if that is
    `fixed`; a stream that does so stops the job.
    """
    queries = job.parsed()
    stated = chain(job.knowledge.stated, *job.knowledge.graphs.values())
    background = close(job.rules, [(s, p, o) for s, p, o, _ in stated])
    found = relevance.find(queries, job.rules, background)
    sure = fixed_schema or not found.assumed
    by_time_alone = _goes_by_time_alone(job, queries)
    dropping = found if sure and by_time_alone and not (keep_all or found.everything) else None
    if shards == 1:
        return Plan(job, tuple(shard_keys(1)), dropping)
    spread = routing.find(queries, job.rules, background, found)
    reason = spread.one_shard_because or _not_among_the_answers(spread, queries)
    if reason is None and not by_time_alone:
        reason = "when a query is evaluated depends on which statements came, and a shard sees but some"
    if reason is None and spread.assumed and not fixed_schema:
        reason = "schema may come on the streams (if it never does: --fixed-schema)"
    if reason is not None:
        return Plan(job, tuple(shard_keys(1)), dropping, one_shard_because=reason)
    return Plan(job, tuple(shard_keys(shards)), dropping, spread)


def _goes_by_time_alone(job: Job, queries: list[ContinuousQuery]) -> bool:
    """Whether no evaluation is due because of a statement, which may matter to no answer."""
    return job.settings.report.on == "close" and all(
        not isinstance(on.spec, CountWindow) and query.every_ms in (None, on.spec.grid.step)
        for query in queries
        for on in query.streams
    )


def _not_among_the_answers(spread: Routing, queries: list[ContinuousQuery]) -> str | None:
    """Shards tell their own answers from others by the variable's value, so it must be in them."""
    for query, (name, variable) in zip(queries, spread.variables, strict=True):
        projected = query.algebra.get("PV") or ()
        if query.form != "SELECT" or variable not in map(str, projected):
            return f"query {name} is divided by ?{variable}, which is not among its answers"
    return None
