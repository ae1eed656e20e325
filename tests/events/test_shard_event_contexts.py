"""Event contexts in shards, without Spark: made anew from the truth at any time, and divided by graph."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.plan.router import Owns
from ensue.plan.spread import spread
from ensue.query.answers import Answers
from ensue.query.language import parse_query
from ensue.query.output import Result
from ensue.query.share import Share
from ensue.rules.load import parse_rules
from ensue.spark.answer_rows import Layout, Unpack
from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, END, Piece
from ensue.spark.results import EVENTS, Merging, Row, pack_events
from ensue.spark.shard import Cache, step
from ensue.spark.shelf import Shelf
from ensue.windows.frontier import Disorder
from ensue.windows.report import Report

from .splitting_by_hand import IN, QUERIES, RULES, SUB, Window, answered
from .test_event_contexts import STARTS, STREAM, arrivals_of, continuous, window_of, window_with_updates_of
from .test_shard_events import Store

SEEDS = 60
DISORDER = 2


def block(rows):
    times, *terms, graphs = zip(*rows, strict=True)
    columns = dict(zip(("s", "p", "o"), terms, strict=True))
    graph = pa.array(graphs, pa.string())
    return Block.of(pa.record_batch({"time": pa.array(times, pa.int64()), **columns, "graph": graph})).write()


def batches_of(arrivals, random):
    """Micro-batches, without what is late: that is judged by the micro-batch."""
    newest, kept = None, []
    for each in arrivals:
        newest = each[0] if newest is None else max(newest, each[0])
        if each[0] >= newest - DISORDER:
            kept.append(each)
    batches, at = [], 0
    while at < len(kept):
        size = random.choice((1, 3, 8))
        batches.append(kept[at : at + size])
        at += size
    return kept, batches


@pytest.mark.parametrize("seed", range(SEEDS))
def test_shards_give_what_is_found_by_hand(seed, tmp_path):
    random = Random(seed)
    shards = random.choice((1, 1, 3))
    make = random.choice((window_of, window_with_updates_of))
    window = make(random) if shards == 1 else Window()
    query = random.choice([each for each in QUERIES if shards == 1 or "CONSTRUCT" not in each])
    background = [("<urn:t0>", SUB, "<urn:t1>"), ("<urn:t0>", IN, "<urn:t3>")]
    kept, batches = batches_of(arrivals_of(random, DISORDER, window), random)
    sent = Sent(tuple((*each, None) for each in background))
    asked = parse_query(continuous(query, window))
    job = Job.of([asked], parse_rules(RULES), sent, Settings(disorder=Disorder(DISORDER)))
    print(seed, shards, asked.text)
    rows, kinds = [], Counter()
    for shard in range(shards):

        def make(*_, shard=shard):
            shares = {"query": Share("", Owns(shards, shard))} if shards > 1 else {}
            made = job.resumable(shares)
            made.settle()
            return made

        store, cache = Store(), Cache(Shelf(tmp_path, "plan"))
        for number, batch in enumerate([*batches, None]):
            kind = END if batch is None else BLOCK
            piece = Piece(STREAM, number, kind, b"" if batch is None else block(batch))
            cache = random.choice((cache, Cache(), Cache(Shelf(tmp_path, "plan"))))
            outcome = step(f"shard{shard}", [piece], store, make, cache)
            kinds[outcome.counters["found"]] += 1
            if outcome.results:
                rows.append(Row(shard, EVENTS, "query", 0, 0, pack_events(outcome.results)))
        if window.until is None:
            assert len(store.log()) <= 3 + len(batches) * (window != Window())
    found = [(r.open, r.close, sorted(r.answers.rows)) for r in Merging().gathered(rows, shards)]
    wanted, _, _ = answered(kept, DISORDER, window, query, background)
    assert found == wanted


def spread_of(text, settings=None, shards=4):
    job = Job.of([parse_query(text, name="q")], parse_rules(RULES), Sent(), settings)
    return spread(job, shards=shards)


def test_elements_are_divided_by_their_graphs():
    found = spread_of("ASK FROM STREAM <urn:s> [EVENT GRAPH] { ?x <urn:in> ?y }")
    assert found.shards == 4
    assert found.describe()[-1] == "query q is divided by the graphs of its events"
    assert "no statement is dropped" in found.describe()[0]


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("ASK FROM STREAM <urn:s> [EVENT STARTS { ?x <urn:p> ?y }] { ?x <urn:in> ?y }", "markers say where"),
        (
            "ASK FROM STREAM <urn:s> [EVENT GRAPH BACKGROUND UNTIL { ?x <urn:p> ?y }] { ?x <urn:in> ?y }",
            "the stream brings background",
        ),
        (
            "REGISTER ISTREAM <urn:q> AS SELECT ?x FROM NAMED WINDOW <urn:w> ON <urn:s> [EVENT GRAPH] "
            "{ WINDOW <urn:w> { ?x <urn:in> ?y } }",
            "compared with the one before",
        ),
    ],
)
def test_other_events_are_in_one_shard(text, because):
    found = spread_of(text)
    assert found.shards == 1
    assert because in found.one_shard_because


def test_every_nth_event_is_found_in_one_shard():
    text = "ASK FROM STREAM <urn:s> [EVENT GRAPH] { ?x <urn:in> ?y }"
    assert "every n-th event" in spread_of(text, Settings(report=Report(nth=2))).one_shard_because


@pytest.mark.parametrize("form", ["SELECT ?x ?y", "ASK"])
@pytest.mark.parametrize("empty", [False, True])
def test_many_events_in_a_row_are_rows_of_a_table(form, empty):
    query = parse_query(f"{form} FROM STREAM <urn:s> [EVENT GRAPH] {{ ?x <urn:in> ?y }}", name="q")
    found = [[("<urn:a>", "<urn:b>")] * 2, [], [("<urn:c>", None)]]
    variables = ("x", "y") if form != "ASK" else ()
    rows = [[()] * bool(each) for each in found] if form == "ASK" else found
    every = [
        Result("q", at, at + 1, Answers(query.form, variables, each), of_event=True)
        for at, each in enumerate(rows)
    ]
    packed = {"shard": [0], "kind": [EVENTS], "query": ["q"], "open": [0], "close": [3]}
    batch = pa.record_batch({**packed, "payload": [pack_events(every)]})
    layout = Layout.of([query], terms="text", empty=empty)
    [table] = Unpack(layout)([batch])
    shown = [tuple(row.values()) for row in table.to_pylist()]
    if form == "ASK":
        assert shown == [("q", 0, 1, True), ("q", 1, 2, False), ("q", 2, 3, True)]
    else:
        nothing = [("q", 1, 2, None, None)] if empty else []
        first = ("q", 0, 1, "<urn:a>", "<urn:b>")
        assert shown == [first, first, *nothing, ("q", 2, 3, "<urn:c>", None)]


def test_what_is_over_leaves_the_log():
    job = Job.of(
        [parse_query(continuous(next(iter(QUERIES)), Window(STARTS[1])))], parse_rules(RULES), Sent()
    )

    def make(*_):
        made = job.resumable()
        made.settle()
        return made

    store, cache = Store(), Cache()
    for number in range(40):
        rows = [(number, "<urn:e>", "<urn:start>", "<urn:e>", None), (number, "<urn:a>", IN, "<urn:b>", None)]
        outcome = step("shard", [Piece(STREAM, number, BLOCK, block(rows))], store, make, cache)
        assert len(store.log()) <= 3
    assert outcome.counters["facts"] <= 4
