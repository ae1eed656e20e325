"""A job over shards without Spark: each step of the data path is the one that Spark runs.

Statements go micro-batch by micro-batch through the filter and the router, as blocks, to a reasoner for
each shard; what shards give is packed, and merged.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa
from query.equivalence.cases import Case, Push, Register
from query.equivalence.history import parsed
from spark.test_shard import Memory

from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.plan.matches import Matches
from ensue.query.output import Result
from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, END, Piece
from ensue.spark.plan import Plan
from ensue.spark.prepare import Sorter
from ensue.spark.processor import ANSWERS
from ensue.spark.reducing import Reducer
from ensue.spark.results import Row, pack
from ensue.spark.shard import Cache, Make, step
from ensue.spark.shelf import Shelf

Statements = dict[str, list[tuple[int, str, str, str]]]


def job_of(case: Case, **settings) -> Job:
    """The job of a case."""
    queries = [parsed(action.text) for action in case.actions if isinstance(action, Register)]
    knowledge = Sent(tuple((*statement, None) for statement in case.background), {})
    return Job.of(queries, case.rules, knowledge, Settings(fixed_schema=True, **settings))


def streams_of(case: Case, plan: Plan, job: Job) -> Statements:
    """What comes on the streams of a case, without what a plan assumes never comes."""
    found: Statements = {stream: [] for stream in job.reasoner().streams}
    plans = [each for each in (plan.relevance, plan.routing, plan.reduction) if each is not None]
    assumed = Matches([shape for each in plans for shape in each.assumed])
    for action in case.actions:
        if isinstance(action, Push):
            found[action.stream] += [(time, *statement) for time, statement in action.rows]
    return {
        stream: [row for row in rows if not is_any_of(assumed, row[1:])] for stream, rows in found.items()
    }


def is_any_of(matches: Matches, statement: tuple[str, str, str]) -> bool:
    terms = list(statement)
    columns = (pa.array([number], pa.int32()).to_numpy() for number in range(3))
    return bool(matches(terms, *columns)[0])


def in_process(job: Job, streams: Statements) -> list[Result]:
    """The results of one reasoner that gets everything at once."""
    reasoner = job.reasoner()
    for stream, rows in streams.items():
        reasoner.push(stream, rows)
    return list(reasoner.end())


def over_shards(
    plan: Plan, streams: Statements, size: int = 25, *, forgets: bool = False, shelf: Shelf | None = None
) -> list[Result]:
    """The results of all shards together; a micro-batch has so many statements of each stream.

    `forgets`: before each micro-batch every shard is made anew from what it has written down. `shelf`: each
    micro-batch is another process, which adopts what lies there.
    """
    sorters = {stream: Sorter(plan.lane(stream)) for stream in streams}
    shards = [_Shard(shard.reasoner, shard.updates, shard.reducer) for _, shard in plan.shards()]
    parts = {
        stream: [rows[at : at + size] for at in range(0, len(rows), size)] for stream, rows in streams.items()
    }
    results: list[Result] = []
    for number in range(max(map(len, parts.values()), default=0)):
        pieces: list[list[Piece]] = [[] for _ in shards]
        for stream, rows in parts.items():
            if number < len(rows):
                for mine, part in zip(pieces, sorters[stream].parts(block_of(rows[number])), strict=True):
                    mine.append(Piece(stream, number, BLOCK, part.write()))
        results += _step(plan, shards, pieces, forgets, shelf)
    ended = [Piece(stream, len(rows), END, b"") for stream, rows in streams.items()]
    return results + _step(plan, shards, [ended] * len(shards), forgets, shelf)


@dataclass
class _Shard:
    make: Make
    updates: list[int]
    reducer: Reducer | None
    store: Memory = field(default_factory=Memory)
    cache: Cache = field(default_factory=Cache)


def _step(
    plan: Plan, shards: list[_Shard], pieces: list[list[Piece]], forgets: bool, shelf: Shelf | None
) -> list[Result]:
    rows: list[Row] = []
    for number, (shard, came) in enumerate(zip(shards, pieces, strict=True)):
        cache = Cache(shelf) if forgets or shelf else shard.cache
        outcome = step("shard", came, shard.store, shard.make, cache, shard.updates, shard.reducer)
        for result in outcome.results:
            rows.append(Row(number, ANSWERS, result.query, result.open, result.close, pack(result)))
    return plan.merging().gathered(rows, len(shards))


def block_of(rows) -> Block:
    """Rows with or without the name of a graph."""
    times, s, p, o, graph = zip(*((*row, None)[:5] for row in rows), strict=True)
    columns = {"time": pa.array(times, pa.int64()), "s": s, "p": p, "o": o}
    columns |= {"graph": pa.array(graph, pa.string())}
    return Block.of(pa.record_batch(columns))


def listed(results: list[Result]) -> dict[str, list]:
    """What results say, query by query: answers as bags, each with the time until which it holds."""
    found: dict[str, list] = {}
    for result in results:
        answers, until = result.answers, result.until
        rows = zip(answers.rows, until or [None] * len(answers.rows), strict=True)
        bag = Counter((tuple(row), end) for row, end in rows)
        told = answers.form, answers.variables, until is None, result.exact
        found.setdefault(result.query, []).append((result.open, result.close, *told, bag))
    return found
