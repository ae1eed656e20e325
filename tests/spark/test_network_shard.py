"""A step of a shard of rule networks and its truth, without Spark: what Spark may do to steps is done to it.

Random networks over streams out of order, as one or as one for each key, in one shard or several: what comes
out must be what one process gives that takes all of it in, to the letter.
"""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from random import Random

import pyarrow as pa
import pytest
from networks import made
from test_shard import Memory as ShardMemory

from ensue.knowledge import Sent
from ensue.networks.job import NetworkJob
from ensue.networks.loops import Limit, UnsettledError
from ensue.networks.networks import Networks
from ensue.networks.parse import parse
from ensue.networks.run import NetworkRun
from ensue.plan.router import Owns, shard_of
from ensue.spark import network_shard
from ensue.spark.blocks import Block
from ensue.spark.network_plan import network_plan
from ensue.spark.network_shard import NetworkCache, step
from ensue.spark.pieces import BLOCK, DEAD, END, HEARTBEAT, Piece
from ensue.windows.frontier import Disorder

STREAMS = ("urn:s", "urn:t")
KEYS = ("", "# partition by: graph\n", "# partition by: <urn:room>\n")
ROOMS = (("<urn:a>", "<urn:room>", "<urn:k1>", None), ("<urn:b>", "<urn:room>", "<urn:k2>", None))
BOTH = ("<urn:b>", "<urn:room>", "<urn:k1>", None)
DISORDER = 3


class Memory(ShardMemory):
    """A store from which one entry of the log can be read, too."""

    def __init__(self, state=None):
        super().__init__()
        self.state = state or self.state

    def entry(self, number):
        return self.state["log"][number]


def block(rows):
    times, *terms = zip(*rows, strict=True)
    columns = {name: pa.array(column, pa.string()) for name, column in zip("spo", terms, strict=False)}
    graph = pa.array(terms[3], pa.string())
    return Block.of(pa.record_batch({"time": pa.array(times, pa.int64()), **columns, "graph": graph}))


class Case:
    """A random network, and what comes on its streams, micro-batch by micro-batch."""

    def __init__(self, seed):
        self.random = random = Random(seed)
        self.text = random.choice(KEYS) + made.network(random)
        self.job = NetworkJob(
            parse(self.text), STREAMS, Sent((*ROOMS, BOTH)), Disorder(DISORDER), Limit(rounds=8, firings=300)
        )
        rows = [
            (time, stream, statement)
            for time, element in enumerate(element for _ in range(4) for element in made.elements(random))
            for statement in element
            for stream in random.choices(STREAMS)
        ]
        # Nothing is later than the disorder allows.
        rows.sort(key=lambda row: row[0] + random.random() * DISORDER)
        self.batches = []
        while rows:
            size = random.randint(1, 12)
            self.batches.append(rows[:size])
            rows = rows[size:]

    def pieces(self, number, shards=1, shard=0):
        """What a micro-batch brings a shard: of each stream all times, and the statements that concern it."""
        if number == len(self.batches):
            return [Piece(stream, number, END, b"") for stream in STREAMS]
        found = []
        for stream in STREAMS:
            rows = [(time, *statement) for time, of, statement in self.batches[number] if of == stream]
            if rows:
                whole = block(rows)
                kept = [at for at, row in enumerate(rows) if shards == 1 or self.concerns(row, shards, shard)]
                part = whole if len(kept) == len(rows) else whole.only(pa.array(kept, pa.int64()).to_numpy())
                found.append(Piece(stream, number, BLOCK, part.write()))
        self.random.shuffle(found)
        return found

    def concerns(self, row, shards, shard):
        _, s, _, _, graph = row
        if self.job.file.partition.property is None:
            keys = [graph or ""]
        else:
            keys = [o for subject, _, o, _ in (*ROOMS, BOTH) if subject == s] or [""]
        return any(shard_of(key, shards) == shard for key in keys)


def told(results):
    return [(result.query, result.close, result.graph, result.answers.rows) for result in results]


def in_process(case):
    """All that is selected, until it is stopped; and what is held then."""
    networks = Networks(case.job.file, background=case.job.background, limit=case.job.limit)
    run = NetworkRun(networks, STREAMS, disorder=case.job.disorder)
    found = []
    try:
        for batch in case.batches:
            for time, stream, statement in batch:
                run.push(stream, [(time, *statement)])
            for result in run.advance():
                found += told([result])
        for result in run.end():
            found += told([result])
    except UnsettledError as problem:
        return found, str(problem)
    return found, (sorted(networks), run.metrics())


def stepped(case, seen):
    """The same by steps of a shard, while Spark does what it may."""
    random, histories, caches = case.random, [Memory().state], [NetworkCache(), NetworkCache()]
    gave, number = {}, 0
    while number <= len(case.batches):
        store, cache = Memory(deepcopy(histories[number])), random.choice(caches)
        happens = random.choice(["well"] * 6 + ["fails", "twice", "rolls back", "restarts"])
        attempts = {"fails": 1, "twice": 2}.get(happens, 0)
        for _ in range(attempts):  # They do their work, but what they wrote is never committed.
            step("n", case.pieces(number), Memory(deepcopy(histories[number])), case.job.steps, cache)
        if happens == "restarts":
            cache = (caches := [NetworkCache(), NetworkCache()])[0]
        outcome = step("n", case.pieces(number), store, case.job.steps, cache)
        gave[number] = told(outcome.results)
        if outcome.failure is not None:
            assert store.written == 0
            return [row for at in range(number + 1) for row in gave[at]], outcome.failure.message, None
        seen[outcome.counters["found"]] += 1
        del histories[number + 1 :]
        histories.append(store.state)
        number += 1
        if happens == "rolls back" and number > 2:
            number -= random.randint(1, 2)
    again = step("n", [], Memory(histories[-1]), case.job.steps, cache := NetworkCache())
    assert again.counters["found"] == "rebuilt"
    (_, shard) = cache._shards["n"]
    return [row for at in sorted(gave) for row in gave[at]], (sorted(shard.run.network)), outcome.counters


def compare(seeds, monkeypatch):
    seen = Counter()
    for seed in seeds:
        # Now and then little is left to be logged before all is written again.
        monkeypatch.setattr(network_shard, "_SMALL_LOG", (1000, 5)[seed % 2])
        monkeypatch.setattr(network_shard, "_FEW_ENTRIES", (256, 3)[seed % 3 == 0])
        case = Case(seed)
        wanted, end = in_process(case)
        found, held, counters = stepped(case, seen)
        if isinstance(end, str):
            assert (held, found) == (end, wanted), f"seed {seed}:\n{case.text}"
        else:
            assert found == wanted, f"seed {seed}:\n{case.text}"
            assert held == end[0], f"seed {seed}:\n{case.text}"
            same = [name for name in end[1] if name not in ("streams", "waiting")]
            assert {name: counters[name] for name in same} == {name: end[1][name] for name in same}
        seen["unsettled"] += isinstance(end, str)
        seen["selected"] += len(wanted) > 3
        seen["made"] += "_:network-" in str(wanted)
        seen["keys"] += case.job.file.partition is not None
    print(dict(seen))
    return seen


def test_whatever_happens_to_steps_the_results_are_those_of_one_process(monkeypatch):
    seen = compare(range(30), monkeypatch)
    assert min(seen[what] for what in ("kept", "caught up", "rebuilt", "keys")) > 10, seen
    assert seen["selected"] > 5


@pytest.mark.long
def test_whatever_happens_to_steps_of_many_networks(monkeypatch):
    compare(range(30, 1030), monkeypatch)


def spread(case, shards):
    """What several shards give, put together micro-batch by micro-batch as the driver does it."""
    from ensue.spark.results import EVENTS, Merging, Row
    from ensue.spark.step_rows import step_rows

    caches, stores = [NetworkCache() for _ in range(shards)], [Memory() for _ in range(shards)]
    found = []
    for number in range(len(case.batches) + 1):
        rows = []
        for shard in range(shards):
            outcome = step(
                "n",
                case.pieces(number, shards, shard),
                stores[shard],
                lambda shard=shard: case.job.steps(Owns(shards, shard)),
                caches[shard],
            )
            rows += [
                Row(*row) for row in step_rows(outcome, shard).itertuples(index=False) if row.kind == EVENTS
            ]
        found += told(Merging().gathered(rows, shards))
    return found


def test_several_shards_give_what_one_process_gives():
    seen = Counter()
    for seed in range(200):
        case = Case(seed)
        wanted, end = in_process(case)
        if case.job.file.partition is None or isinstance(end, str) or not wanted:
            continue
        for shards in (1, 2, 4):
            assert spread(case, shards) == wanted, f"seed {seed}, {shards} shards:\n{case.text}"
        seen[case.job.file.partition] += 1
        if min(seen.values()) >= 4 and len(seen) == 2:
            break
    assert len(seen) == 2, seen


# What a step writes.

GROWING = "# element: statement\nINSERT { ?y <urn:q> ?x } WHERE { ?x <urn:p> ?y }"
CHANGING = GROWING + " ;\nDELETE { ?s ?r ?o } WHERE { ?e <urn:ends> ?e . ?s ?r ?o }"


def written(text, rows_of, steps):
    job, store, cache, found = NetworkJob(parse(text), ("urn:s",)), Memory(), NetworkCache(), []
    for number in range(steps):
        before = store.written
        pieces = [Piece("urn:s", number, BLOCK, block(rows_of(number)).write())]
        outcome = step("n", pieces, store, job.steps, cache)
        found.append(store.written - before)
    return found, outcome.counters, store


def test_what_is_written_is_proportional_to_what_changed_not_to_what_is_held():
    def rows(number):
        return [
            (number, f"<urn:s{number % 7}x{at}>", "<urn:p>", f"<urn:o{number:03}x{at:03}>", None)
            for at in range(100)
        ]

    found, counters, _ = written(GROWING, rows, 60)
    assert (counters["quads"], counters["entries_kept"]) == (2 * 59 * 100, 60)
    assert max(found[5:]) < 1.2 * min(found[5:]), found


def test_a_log_of_what_has_gone_does_not_grow():
    def rows(number):
        more = [(number, f"<urn:s{number}x{at}>", "<urn:p>", f"<urn:o{at}>", None) for at in range(100)]
        return [(number, "<urn:e>", "<urn:ends>", "<urn:e>", None), *more]

    found, counters, store = written(CHANGING, rows, 100)
    assert counters["quads"] <= 201
    assert counters["entries_kept"] == len(store.state["log"]) < 10
    assert sum(found[50:]) < 1.2 * sum(found[:50]), "what is written again now and then does not rise"


def test_many_small_entries_become_one():
    _, counters, store = written(GROWING, lambda at: [(at, f"<urn:s{at}>", "<urn:p>", "<urn:o>", None)], 300)
    assert counters["quads"] == 2 * 299
    assert len(store.state["log"]) < 100


# What else comes.


def test_late_statements_are_judged_by_the_step_before():
    for late, wanted in (("admit", [(5, "<urn:c>"), (9, "<urn:b>")]), ("drop", [(9, "<urn:b>")])):
        job = NetworkJob(parse("SELECT ?x WHERE { ?x <urn:p> ?y }"), ("urn:s",), disorder=Disorder(0, late))
        store, cache, found = Memory(), NetworkCache(), []
        for number, rows in enumerate(
            [[(7, "<urn:a>")], [(9, "<urn:b>")], [(5, "<urn:c>"), (10, "<urn:d>")]]
        ):
            rows = [(time, s, "<urn:p>", "<urn:o>", None) for time, s in rows]
            outcome = step("n", [Piece("urn:s", number, BLOCK, block(rows).write())], store, job.steps, cache)
            found += [(result.close, *row) for result in outcome.results for row in result.answers.rows]
        assert found == [(7, "<urn:a>"), *wanted]
        assert (outcome.counters["late"], outcome.counters["frontier"]) == (1, 9)


def test_heartbeats_move_time_and_dead_letters_are_counted_once():
    job = NetworkJob(parse("SELECT ?x WHERE { ?x <urn:p> ?y }"), ("urn:s",))
    letters = [{"file": "a.tsv", "offset": 7, "reason": "no time", "line": "??"}]
    rows = block([(5, "<urn:a>", "<urn:p>", "<urn:b>", None)]).write()
    pieces = [Piece("urn:s", 0, BLOCK, rows), Piece("urn:s", 0, DEAD, json.dumps(letters).encode())]
    store = Memory()
    first = step("n", pieces, store, job.steps, NetworkCache())
    assert (first.results, first.dead, first.counters["waiting"]) == ([], letters, 1)
    again = step("n", [Piece("urn:s", 1, HEARTBEAT, b"6")], store, job.steps, NetworkCache())
    assert told(again.results) == [("network-1", 5, None, [("<urn:a>",)])]
    assert (again.dead, again.counters["dead_letters"], again.counters["waiting"]) == ([], 1, 0)


def test_a_network_begins_though_nothing_comes():
    job = NetworkJob(parse("INSERT DATA { <urn:a> <urn:p> [] } ; SELECT ?x WHERE { ?x ?p ?y }"), ("urn:s",))
    store = Memory()
    outcome = step("n", [Piece("urn:s", 0, END, b"")], store, job.steps, NetworkCache())
    assert told(outcome.results) == [("network-2", 0, None, [("<urn:a>",)])]
    assert step("n", [], store, job.steps, NetworkCache()).results == []


def test_one_shard_unless_there_are_keys():
    text = "SELECT ?x WHERE { ?x ?p ?y }"
    plan = network_plan(NetworkJob(parse(text), ("urn:s",)), 4)
    assert (len(plan.keys), "see each other's effects" in plan.one_shard_because) == (1, True)
    plan = network_plan(NetworkJob(parse(f"# partition by: graph\n{text}"), ("urn:s",)), 4)
    assert (len(plan.keys), plan.one_shard_because) == (4, None)
