"""Temporal queries in shards, without Spark: divided by key, and made anew from the truth at any time."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

from ensue.plan.known import Closed
from ensue.plan.relevance import find as find_relevance
from ensue.plan.routing import find as find_routing
from ensue.query.language import parse_query
from ensue.resumable import Resumable
from ensue.rules.tree import RuleSet
from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, END, Piece
from ensue.spark.shard import Cache, step
from ensue.windows.frontier import Disorder

from . import random_events

DIVIDED = (
    "{ ?x :a ?y } SEQ { ?x :b ?z }",
    "{ ?x :a ?y } SEQ [CHRONICLE] NOT { ?x :c ?q } SEQ { ?x :b ?z } WITHIN 7ms",
    "{ ?x :a ?y . ?x :b ?y2 } OVERLAPS [RECENT] { ?x :a ?z . ?x :b ?z2 }",
    "{ ?x :a ?n }{2,3} SEQ [CONTINUOUS] { ?x :b ?z }",
)


class Store:
    """The truth of a shard, in memory."""

    def __init__(self) -> None:
        self._head: bytes | None = None
        self._log: dict[int, list[Piece]] = {}
        self._memories: dict[str, bytes] = {}

    def head(self) -> bytes | None:
        return self._head

    def put_head(self, head: bytes) -> None:
        self._head = head

    def log(self) -> list[tuple[int, list[Piece]]]:
        return list(self._log.items())

    def add(self, number: int, pieces: list[Piece]) -> None:
        self._log[number] = list(pieces)

    def drop(self, number: int) -> None:
        del self._log[number]

    def memory(self, query: str) -> bytes | None:
        return self._memories.get(query)

    def put_memory(self, query: str, memory: bytes) -> None:
        self._memories[query] = memory


def block(rows: list[random_events.Statement]) -> bytes:
    times, *terms = zip(*rows, strict=True)
    columns = dict(zip(("s", "p", "o"), terms, strict=True))
    graph = pa.nulls(len(times), pa.string())
    return Block.of(pa.record_batch({"time": pa.array(times, pa.int64()), **columns, "graph": graph})).write()


@pytest.mark.parametrize("where", DIVIDED)
def test_shards_together_find_what_enumeration_finds(where: str) -> None:
    names = tuple(dict.fromkeys(n for n in ("x", "y", "y2", "z", "z2") if f"?{n} " in where))
    asked = random_events.asked(where, names, 12, 4)
    query = parse_query(asked.text)
    job = ([query], RuleSet("none", ()), Closed.of([]))
    routing = find_routing(*job, find_relevance(*job))
    assert routing.one_shard_because is None
    for seed in range(5):
        random = Random(seed)
        case = random_events.in_order(random_events.make_case(asked, random))
        rows = sorted(case.statements, key=lambda each: each[0] + random.uniform(0, 2))
        case = random_events.Case(asked, tuple(rows), frozenset(), 2)
        found: Counter[tuple[object, ...]] = Counter()
        for shard in range(2):

            def make(shard: int = shard) -> Resumable:
                made = Resumable(disorder=Disorder(2))
                made.register(query, share=routing.share("query", 2, shard))
                made.settle()
                return made

            store, cache, at, results = Store(), Cache(), 0, []
            while at < len(rows):
                some = random.randint(1, 4)
                pieces = [Piece("urn:s", at, BLOCK, block(rows[at : at + some]))]
                cache = cache if random.random() < 0.5 else Cache()  # Otherwise from the truth alone.
                results += step("shard", pieces, store, make, cache).results
                at += some
            results += step("shard", [Piece("urn:s", at, END, b"")], store, make, cache).results
            for each in results:
                for one, count in random_events.bag(case, each.answers.rows).items():
                    found[each.open, each.close, one] += count
        windows = {(result.open, result.close) for result in results}
        wanted = random_events.expected(case, rows, windows)
        assert found == Counter({(*w, one): n for w, bag in wanted.items() for one, n in bag.items()}), seed


def test_what_only_a_repetition_knows_is_no_key() -> None:
    text = (
        "PREFIX : <urn:> SELECT (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 1s] WHERE { { ?x :a ?y }{2,3} }"
    )
    job = ([parse_query(text)], RuleSet("none", ()), Closed.of([]))
    assert find_routing(*job, find_relevance(*job)).one_shard_because is not None
