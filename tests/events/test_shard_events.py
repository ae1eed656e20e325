"""Temporal queries in shards, without Spark: divided by key, and made anew from the truth at any time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from ensue.plan.known import Closed
from ensue.plan.relevance import find as find_relevance
from ensue.plan.router import Router
from ensue.plan.routing import Routing
from ensue.plan.routing import find as find_routing
from ensue.query.language import parse_query
from ensue.query.output import Result
from ensue.query.tree import ContinuousQuery
from ensue.resumable import Resumable
from ensue.rules.tree import RuleSet
from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, END, Piece
from ensue.spark.shard import Cache, step
from ensue.spark.shelf import Shelf
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
        self.logged = self.remembered = 0
        """The bytes that were written, of what came and of what is remembered of it."""

    def head(self) -> bytes | None:
        return self._head

    def put_head(self, head: bytes) -> None:
        self._head = head

    def log(self) -> list[tuple[int, list[Piece]]]:
        return list(self._log.items())

    def add(self, number: int, pieces: list[Piece]) -> None:
        self._log[number] = list(pieces)
        self.logged += sum(len(piece.payload) for piece in pieces)

    def drop(self, number: int) -> None:
        del self._log[number]

    def memory(self, query: str) -> bytes | None:
        return self._memories.get(query)

    def put_memory(self, query: str, memory: bytes) -> None:
        self._memories[query] = memory
        self.remembered += len(memory)


Rows = list[tuple[object, ...]]
"""Time, subject, predicate and object, and perhaps a graph."""


def block(rows: Rows) -> bytes:
    times, *terms = zip(*rows, strict=True)
    columns = dict(zip(("s", "p", "o", "graph"), terms, strict=False))
    graph = pa.array(columns.pop("graph", [None] * len(times)), pa.string())
    return Block.of(pa.record_batch({"time": pa.array(times, pa.int64()), **columns, "graph": graph})).write()


def routing_of(query: ContinuousQuery) -> Routing:
    job = ([query], RuleSet("none", ()), Closed.of([]))
    return find_routing(*job, find_relevance(*job))


def maker(query: ContinuousQuery, routing: Routing | None, shard: int) -> Callable[[], Resumable]:
    """Makes the reasoner of one of two shards, or (None) of the only one."""

    def make(*_: object) -> Resumable:
        made = Resumable(disorder=Disorder(2))
        made.register(query, share=None if routing is None else routing.share("query", 2, shard))
        made.settle()
        return made

    return make


def run(
    make: Callable[[], Resumable],
    rows: Rows,
    random: Random,
    caches: Iterator[Cache],
    store: Store | None = None,
) -> list[Result]:
    """What a shard gives if rows come in pieces, and if it is found in one of some caches each time."""
    store, at, results = store or Store(), 0, []
    while at < len(rows):
        some = random.randint(1, 4)
        pieces = [Piece("urn:s", at, BLOCK, block(rows[at : at + some]))]
        results += step("shard", pieces, store, make, next(caches)).results
        at += some
    return results + step("shard", [Piece("urn:s", at, END, b"")], store, make, next(caches)).results


def hostile(folder: Path, random: Random) -> Iterator[Cache]:
    """Workers that take a shard over from each other, and new ones that have only the truth."""
    shelf = Shelf(folder, "plan")
    workers = [Cache(shelf), Cache(shelf)]
    while True:
        yield random.choice([*workers, Cache()])


def calm() -> Iterator[Cache]:
    """One worker all the time."""
    cache = Cache()
    while True:
        yield cache


@pytest.mark.parametrize("where", DIVIDED)
def test_shards_together_find_what_enumeration_finds(where: str, tmp_path: Path) -> None:
    names = tuple(dict.fromkeys(n for n in ("x", "y", "y2", "z", "z2") if f"?{n} " in where))
    asked = random_events.asked(where, names, 12, 4)
    query = parse_query(asked.text)
    routing = routing_of(query)
    assert routing.one_shard_because is None
    for seed in range(5):
        random = Random(seed)
        case = random_events.in_order(random_events.make_case(asked, random))
        rows = sorted(case.statements, key=lambda each: each[0] + random.uniform(0, 2))
        case = random_events.Case(asked, tuple(rows), frozenset(), 2)
        found: Counter[tuple[object, ...]] = Counter()
        for shard in range(2):
            results = run(maker(query, routing, shard), rows, random, hostile(tmp_path, random))
            for each in results:
                for one, count in random_events.bag(case, each.answers.rows).items():
                    found[each.open, each.close, one] += count
        windows = {(result.open, result.close) for result in results}
        wanted = random_events.expected(case, rows, windows)
        assert found == Counter({(*w, one): n for w, bag in wanted.items() for one, n in bag.items()}), seed


@pytest.mark.parametrize("seed", range(12))
def test_whoever_goes_on_answers_the_same_late_statements_included(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    asked = random_events.make_query(random)
    kind = random.choice(("", "", "PARTITION BY GRAPH"))
    every = random.choice(("", "COMPUTE EVERY 9ms"))
    text = asked.text.replace("WHERE", f"{kind} WHERE").replace(
        "SELECT", f"REGISTER QUERY query {every} AS SELECT"
    )
    query = parse_query(text)
    for _ in range(3):
        case = random_events.make_case(asked, random)
        # More out of order than is allowed: some are late, and are matched with what is still remembered.
        rows: Rows = [
            (*row, random.choice((None, "<urn:g>")))
            for row in sorted(case.statements, key=lambda each: each[0] + random.uniform(0, 9))
        ]
        pieces = random.randrange(1 << 30)
        make = maker(query, None, 0)
        wanted = run(make, rows, Random(pieces), calm())
        found = run(make, rows, Random(pieces), hostile(tmp_path, random))
        assert [shown(each) for each in found] == [shown(each) for each in wanted], (
            f"seed {seed}: {text} {rows}"
        )


def shown(result: Result) -> tuple[object, ...]:
    return result.open, result.close, sorted(result.answers.rows, key=str)


def test_counters_go_along(tmp_path: Path) -> None:
    query = parse_query(random_events.asked(DIVIDED[1], ("x", "y", "z"), 12, 4).text)
    random = Random(7)
    rows: Rows = [
        (1 + n // 2, f"<urn:{n % 3}>", f"<urn:{random.choice('abc')}>", "<urn:v>") for n in range(200)
    ]
    counted = []
    for caches in (calm(), hostile(tmp_path, random)):
        store, make, pieces = Store(), maker(query, None, 0), Random(3)
        run(make, rows, pieces, caches, store)
        found = step("shard", [], store, make, next(caches)).counters
        counted.append(
            [found[name] for name in ("collected", "consumed", "composed", "late_events", "overdue")]
        )
    assert counted[0] == counted[1]
    assert counted[0][2] > 0
    assert counted[0][4] == 0


def test_what_is_written_follows_from_what_came_and_not_from_what_is_remembered() -> None:
    written = []
    for within in (100, 1000):
        where = f"{{ ?x :a ?y }} SEQ {{ ?x :b ?z }} WITHIN {within}ms"
        query = parse_query(random_events.asked(where, ("x", "y", "z"), within, within).text)
        random, store = Random(5), Store()
        rows: Rows = [
            (1 + n // 4, f"<urn:{random.randrange(500)}>", f"<urn:{random.choice('aac')}>", "<urn:v>")
            for n in range(8_000)
        ]
        make, cache = maker(query, None, 0), Cache()
        for at in range(0, len(rows), 40):
            found = step("shard", [Piece("urn:s", at, BLOCK, block(rows[at : at + 40]))], store, make, cache)
        written.append((found.counters["partial_matches"], store.remembered, store.logged))
    (few, short, logged), (many, long, _) = written
    assert many > 8 * few
    assert long < 1.5 * short, written
    assert long < 2 * logged, written


def test_what_only_a_repetition_knows_is_no_key() -> None:
    text = (
        "PREFIX : <urn:> SELECT (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 1s] WHERE { { ?x :a ?y }{2,3} }"
    )
    assert routing_of(parse_query(text)).one_shard_because is not None


def test_partitions_are_in_the_shards_that_own_their_keys(tmp_path: Path) -> None:
    text = """PREFIX : <urn:> REGISTER QUERY query AS SELECT ?y ?z FROM STREAM :s [RANGE 12ms STEP 4ms]
        PARTITION BY GRAPH WHERE { { ?x :a ?y } SEQ [CHRONICLE] { ?w :b ?z } }"""
    query = parse_query(text)
    routing = routing_of(query)
    assert routing.one_shard_because is None
    random = Random(2)
    graphs = [None, *(f"<urn:g{n}>" for n in range(6))]
    rows: Rows = [
        (1 + n // 3, f"<urn:{n % 5}>", f"<urn:{random.choice('ab')}>", f"<urn:v{n}>", random.choice(graphs))
        for n in range(120)
    ]
    whole = {each.close: each.answers.rows for each in run(maker(query, None, 0), rows, random, calm())}
    router, parts = routing.router(2), []
    for shard in range(2):
        mine = [row for row in rows if shards_of(router, row) >> shard & 1]
        assert 0 < len(mine) < len(rows)
        results = run(maker(query, routing, shard), mine, random, hostile(tmp_path, random))
        parts += [(each.close, row) for each in results for row in each.answers.rows]
    found = {
        close: [row[1:] for of, row in sorted(parts, key=lambda each: each[1][0]) if of == close]
        for close in whole
    }
    assert found == whole
    assert any(whole.values())


def shards_of(router: Router, row: tuple[object, ...]) -> int:
    """The shards that need a statement, as bits."""
    terms = [str(term) for term in row[1:4]] + ([] if row[4] is None else [str(row[4])])
    numbers = [np.array([place]) for place in (0, 1, 2, 3 if row[4] is not None else -1)]
    return int(router.route(terms, *numbers[:3], graph=numbers[3])[0])
