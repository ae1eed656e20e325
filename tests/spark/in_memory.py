"""A job over one stream as Spark does it, without Spark: prepared, routed, stepped and merged in memory."""

from __future__ import annotations

import pyarrow as pa
from spark.test_shard import Memory

from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, END, HEARTBEAT, Piece
from ensue.spark.plan import plan_of
from ensue.spark.prepare import Sorter
from ensue.spark.processor import ANSWERS
from ensue.spark.results import Row, pack
from ensue.spark.shard import Cache, step


def block_of(rows):
    times, *terms = zip(*rows, strict=True)
    columns = dict(zip(("s", "p", "o"), terms, strict=True))
    graph = pa.nulls(len(times), pa.string())
    return Block.of(pa.record_batch({"time": pa.array(times, pa.int64()), **columns, "graph": graph}))


def spark_run(job, stream, batches, shards=1, forgets=lambda: False, ends=True):
    """The results of micro-batches, each of blocks (lists of rows, or the time of a heartbeat); and the
    outcomes of the last micro-batch. `forgets`: whether a step finds nothing but the truth."""
    plan = plan_of(job, shards=shards)
    sorter = Sorter(plan.lane(stream))
    parts = dict(plan.shards())
    stores, caches = ({key: make() for key in plan.keys} for make in (Memory, Cache))
    results, letters, place, outcomes = [], [], 0, {}
    for last, blocks in [*((False, blocks) for blocks in batches), *([(True, [])] if ends else [])]:
        pieces = {key: [] for key in plan.keys}
        for rows in blocks:
            place += 1
            if isinstance(rows, int):
                for key in plan.keys:
                    pieces[key].append(Piece(stream, place, HEARTBEAT, b"%d" % rows))
                continue
            for key, part in zip(plan.keys, sorter.parts(block_of(rows)), strict=True):
                pieces[key].append(Piece(stream, place, BLOCK, part.write()))
        given = []
        for key, came in pieces.items():
            if last:
                came.append(Piece(stream, place + 1, END, b""))
            if forgets():
                caches[key] = Cache()
            outcomes[key] = step(
                f"shard{key}",
                came,
                stores[key],
                parts[key].reasoner,
                caches[key],
                max_jump=job.settings.max_jump,
                tells=parts[key].is_first,
            )
            letters += outcomes[key].dead
            given += [
                Row(key, ANSWERS, result.query, result.open, result.close, pack(result))
                for result in outcomes[key].results
            ]
        results += plan.merging().gathered(given, len(plan.keys))
    return results, letters, outcomes


def local_run(job, stream, batches, ends=True):
    """The results of the engine in process, fed so; and the reasoner."""
    reasoner, results = job.reasoner(), []
    for blocks in batches:
        for rows in blocks:
            if isinstance(rows, int):
                reasoner.heartbeat(stream, rows)
            else:
                reasoner.feed(stream, [(*row, None) for row in rows])
            results += reasoner.advance()
    if ends:
        results += reasoner.end()
    return results, reasoner


def told(results):
    """Results as plain data, answers in no order."""
    found = []
    for result in results:
        plain = result.json()
        for name in ("bindings", "triples", "until"):
            if name in plain:
                plain[name] = sorted(map(str, plain[name]))
        found.append(plain)
    return sorted(found, key=lambda each: (each["query"], each["close"], each["open"]))


def cut(random, rows, sizes):
    """Rows in micro-batches of blocks of such sizes."""
    blocks = []
    while rows:
        size = random.choice(sizes)
        blocks.append(rows[:size])
        rows = rows[size:]
    batches = []
    while blocks:
        size = random.choice([1, 1, 3])
        batches.append(blocks[:size])
        blocks = blocks[size:]
    return batches
