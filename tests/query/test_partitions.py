"""Partitioned queries at random: every strategy and evaluator answers as the parts do, each by itself."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from plan.shards import over_shards
from query.partition_cases import PREFIX, QUERIES, STREAM, Case, difference, expected, make_case, run

from ensue import Reasoner
from ensue.cli import main
from ensue.errors import EnsueError, InputError, StrategyError
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.language import parse_query
from ensue.query.tree import Partition
from ensue.rules.tree import RuleSet
from ensue.spark.plan import plan_of
from ensue.spark.shelf import Shelf
from ensue.windows.frontier import Disorder

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_CASES", "24"))
RUNS = (
    ("auto", "auto"),
    ("expiration", "oxigraph"),
    ("recompute", "auto"),
    ("dred", "auto"),
    ("rete", "auto"),
    ("hybrid", "auto"),
    ("expiration-keep-all", "auto"),
    ("rewrite", "auto"),
)


def runs(case: Case):
    """The case as every engine has it: also with keys that no stream may bring, if none does."""
    for strategy, evaluator in RUNS:
        yield f"{strategy}/{evaluator}", {"strategy": strategy, "evaluator": evaluator}
    yield "checked", {"check": 1}
    if case.by != "GRAPH":
        yield "fixed", {"fixed_schema": True}
        yield "fixed/dred", {"fixed_schema": True, "strategy": "dred"}


def test_every_strategy_answers_as_the_parts_do():
    counted = Counter()
    for seed in range(SEED, SEED + CASES):
        case = make_case(seed)
        first = case.reasoner()
        first.register(case.text())
        windows = [(result.open, result.close) for result in run(case, first)]
        wanted = expected(case, windows)
        unkeyed = sum(each for each, _ in wanted)
        for name, options in runs(case):
            reasoner = case.reasoner(**options)
            try:
                reasoner.register(case.text())
                results = run(case, reasoner)
            except StrategyError:
                counted["refused"] += 1
                continue
            except InputError:
                assert "fixed" in name, f"seed {seed}, {name}"
                counted["schema came"] += 1
                continue
            where = f"seed {seed}, {name}: {case.text()}"
            assert [(result.open, result.close) for result in results] == windows, where
            if problem := difference(case, results, wanted):
                pytest.fail(f"{where}, {problem}", pytrace=False)
            assert reasoner.counters()["unkeyed"] == unkeyed, where
            counted[name.split("/")[0]] += 1
        parts = [answers for _, found in wanted for _, answers in found]
        counted["partitions"] += len(parts)
        counted["with answers"] += sum(map(bool, parts))
        counted["unkeyed"] += unkeyed > 0
    print(f"{CASES} cases from seed {SEED} on: {dict(counted)}")
    assert counted["partitions"] > 5 * CASES
    assert counted["with answers"] > 2 * CASES
    assert counted["unkeyed"] > CASES / 8
    assert counted["fixed"] > CASES / 10


def test_shards_answer_as_the_parts_do(tmp_path):
    """Each step of the data path as Spark runs it; shards are made anew, or adopted, between any two."""
    counted = Counter()
    for seed in range(SEED, SEED + CASES):
        case = without_surprises(make_case(seed))
        first = case.reasoner()
        first.register(case.text())
        results = run(case, first)
        wanted = expected(case, [(result.open, result.close) for result in results])
        streams = {STREAM: [(event.time, *event.statement, event.graph) for event in case.events]}
        how = ("kept", "forgotten", "adopted")[seed % 3]
        for shards in (1, 4):
            plan = plan_of(job_of(case, fixed=shards > 1), shards=shards)
            if len(plan.keys) != shards:
                counted[f"not {shards}"] += 1
                continue
            shelf = Shelf(tmp_path, f"{seed}-{shards}") if how == "adopted" else None
            try:
                found = over_shards(plan, streams, 4, forgets=how == "forgotten", shelf=shelf)
            except InputError:
                counted["schema came"] += 1
                continue
            where = f"seed {seed}, {shards} shards, {how}: {case.text()}"
            assert [(r.open, r.close) for r in found] == [(r.open, r.close) for r in results], where
            if problem := difference(case, found, wanted):
                pytest.fail(f"{where}, {problem}", pytrace=False)
            counted[f"{how}, {shards}"] += 1
    print(f"{CASES} cases from seed {SEED} on: {dict(counted)}")
    assert min(counted[f"{how}, 1"] for how in ("kept", "forgotten", "adopted")) > CASES / 5
    assert sum(counted[f"{how}, 4"] for how in ("kept", "forgotten", "adopted")) > CASES / 4


def without_surprises(case: Case) -> Case:
    """The case without what is taken back, and without what comes too late, which micro-batches decide."""
    events, newest = [], -(2**62)
    for event in case.events:
        if not event.retracts and event.time >= newest - case.allowed:
            events.append(event)
            newest = max(newest, event.time)
    return replace(case, events=tuple(events))


def job_of(case: Case, fixed: bool) -> Job:
    knowledge = Sent(tuple((*statement, None) for statement in case.background))
    settings = Settings(disorder=Disorder(case.allowed), fixed_schema=fixed)
    return Job.of([parse_query(case.text())], case.rules, knowledge, settings)


def test_terms_of_a_batch_stay_while_windows_are_read_for_late_ones():
    """Terms are given back when a window has been read, and here windows are read in mid-batch."""
    reasoner = Reasoner(disorder=Disorder(0, "admit"))
    reasoner.register(
        f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 10s STEP 1s] PARTITION BY GRAPH {{ ?x <urn:p> ?y }}"
    )
    times = [1, 6000, 2000, *[7000] * 12_000]
    rows = [(at, f"<urn:x{k}>", "<urn:p>", "<urn:y>", f"<urn:g{k}>") for k, at in enumerate(times)]
    reasoner.push(STREAM, rows)
    last = list(reasoner.advance(to=10_000))[-1]
    assert [x for (x,) in last.answers.rows] == sorted(x for _, x, *_ in rows)


def test_partitions_that_are_empty_are_forgotten_and_their_numbers_used_again():
    reasoner = Reasoner()
    reasoner.register(f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 1s] PARTITION BY GRAPH {{ ?x ?p ?y }}")
    for window in range(12):
        names = [f"<urn:{window}/{k}>" for k in range(2500)]
        rows = [(1000 * window + 1 + j, name, "<urn:p>", name, name) for j in range(2) for name in names]
        reasoner.push(STREAM, rows)
        [result] = [r for r in reasoner.advance(to=1000 * window + 1000) if r.close == 1000 * (window + 1)]
        assert [name for (name,) in result.answers.rows] == sorted(names)
    assert len(reasoner.dictionary) < 20_000


CLAUSE = "SELECT ?x FROM STREAM <urn:s> [RANGE 1s] {} WHERE {{ ?x ?p ?y }}"


@pytest.mark.parametrize(
    ("clause", "partition"),
    [
        ("", None),
        ("PARTITION BY GRAPH", Partition()),
        ("partition by graph", Partition()),
        ("PARTITION BY <urn:in>", Partition("urn:in")),
        ("PARTITION BY ex:in FROM <urn:g>", Partition("http://ex/in")),
    ],
)
def test_the_clause_is_read(clause, partition):
    query = parse_query("PREFIX ex: <http://ex/> " + CLAUSE.format(clause))
    assert query.partition == partition
    assert "PARTITION" not in query.sparql.upper()


def test_the_clause_in_rspql():
    text = (
        "REGISTER RSTREAM <q> AS SELECT ?x FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE PT1S STEP PT1S] "
        "PARTITION BY <urn:in> WHERE { WINDOW <urn:w> { ?x ?p ?y } }"
    )
    assert parse_query(text).partition == Partition("urn:in")


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("PARTITION BY GRAPH PARTITION BY GRAPH", ":1:61: a query is partitioned once .*one key"),
        ("PARTITION GRAPH", ":1:52: expected 'BY', but found 'GRAPH' .*PARTITION BY <property>"),
        ("PARTITION BY GRAHP", ":1:55: expected GRAPH or the IRI of a property, .*did you mean 'GRAPH'"),
        ("PARTITION BY ?g", ":1:55: expected GRAPH or the IRI of a property, but found '\\?g'"),
        ("PARTITION BY ex:in", ":1:55: .*prefix.*ex"),
        ("PARTITION BY <a b>", ":1:55: "),
    ],
)
def test_a_fault_in_the_clause_is_named_with_its_place(clause, message):
    with pytest.raises(EnsueError, match=message):
        parse_query(CLAUSE.format(clause))


def test_it_cannot_be_inside_brackets():
    with pytest.raises(EnsueError, match="PARTITION cannot be inside brackets"):
        parse_query("SELECT ?x FROM STREAM <urn:s> [RANGE 1s] WHERE { ?x ?p ?y PARTITION BY GRAPH }")


def test_a_key_on_a_stream_that_brings_no_schema_is_refused():
    reasoner = Reasoner(fixed_schema=True)
    reasoner.register(f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 1s] PARTITION BY <urn:in> {{ ?x ?p ?y }}")
    reasoner.push(STREAM, [(1, "<urn:a>", "<urn:in>", "<urn:k>")])
    with pytest.raises(
        InputError, match=r"schema on the stream <urn:s>: <urn:a> <urn:in> <urn:k>.*background"
    ):
        list(reasoner.end())


def test_answers_say_until_when_their_partition_is_there():
    """What the background alone answers leaves with the last statement of its partition."""
    reasoner = Reasoner(background=Sent((("<urn:b>", "<urn:p>", "<urn:c>", None),)), until=True)
    reasoner.register(
        f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 10s STEP 1s] PARTITION BY GRAPH {{ ?x <urn:p> ?y }}"
    )
    reasoner.push(
        STREAM, [(500, "<urn:a>", "<urn:p>", "<urn:c>"), (1700, "<urn:a>", "<urn:q>", "<urn:c>", "<urn:g>")]
    )
    result = list(reasoner.advance(to=2000))[-1]
    assert dict(Counter(zip(result.answers.rows, result.until, strict=True))) == {
        (("<urn:a>",), 11_000): 1,
        (("<urn:b>",), 11_000): 1,
        (("<urn:b>",), 12_000): 1,
    }


def explained(tmp_path, capsys, clause, *words):
    path = tmp_path / "q.rq"
    path.write_text(CLAUSE.format(clause).replace("?p", "<http://example.org/isIn>"))
    assert main(["explain", str(path), "--shards", "4", "--rules", "transitive-isin", *words]) == 0
    return capsys.readouterr().out


def test_explain(tmp_path, capsys):
    said = explained(tmp_path, capsys, "PARTITION BY GRAPH")
    for line in (
        "  no statement is dropped: query q is answered in every partition that a statement is in",
        "  4 shards",
        "  query q is divided by the keys of its partitions: GRAPH",
        "  partitioned by GRAPH (the name of a statement's graph is its key)",
        "scope S1: <urn:s>, partitioned by GRAPH",
    ):
        assert line in said.splitlines()
    said = explained(tmp_path, capsys, "PARTITION BY <urn:in>")
    assert "one shard: condition 3 fails" in said
    assert "a stream may bring keys of partitions: (* <urn:in> *)" in said
    assert "background; and in the window itself)" in said
    assert "closed from scratch by recompute: a stream may bring keys of <urn:in> (if keys are in" in said
    said = explained(tmp_path, capsys, "PARTITION BY <urn:in>", "--fixed-schema")
    assert "query q is divided by the keys of its partitions: <urn:in>" in said
    assert "partitioned by <urn:in> (keys of a statement's subject in the closed background)" in said
    assert "as long as no stream brings\n    (* <urn:in> *)" in said


def test_a_statement_is_in_a_partition_since_its_key_is():
    """Its stamp there is that of the older of the two."""
    reasoner = Reasoner()
    reasoner.register(
        f"{PREFIX}SELECT ?x ?t FROM STREAM <{STREAM}> [RANGE 9ms] "
        "PARTITION BY <urn:in> { ?x <urn:p> ?y BIND(f:timestamp(?x, <urn:p>, ?y) AS ?t) }"
    )
    rows = [(1, "<urn:a>", "<urn:in>", "<urn:k>"), (5, "<urn:a>", "<urn:in>", "<urn:l>")]
    reasoner.push(STREAM, [*rows, (7, "<urn:a>", "<urn:p>", "<urn:b>")])
    [result] = reasoner.end()
    assert [int(t.split('"')[1]) for _, t in result.answers.rows] == [1, 5]


@pytest.mark.parametrize("query", QUERIES)
def test_all_partitions_at_once_are_all_partitions_one_by_one(query, monkeypatch):
    """`expiration` gives solutions of all partitions, `recompute` gives none: then each is evaluated."""
    once = []
    evaluate = CompiledEvaluator.evaluate_at_once

    def watched(self, over):
        found = evaluate(self, over)
        once.append(found is not None)
        return found

    monkeypatch.setattr(CompiledEvaluator, "evaluate_at_once", watched)
    background = Sent((("<urn:g>", "<urn:p>", "<urn:b>", None), ("<urn:g>", "<urn:q>", "<urn:c>", None)))
    random, rows = Random(3), []
    for time in range(60):
        s, p, o = random.choice("abcde"), random.choice("ppqr"), random.choice("abcde")
        graph = random.choice((None, "<urn:1>", "<urn:2>", "<urn:3>"))
        rows.append((time, f"<urn:{s}>", f"<urn:{p}>", f"<urn:{o}>", graph))
    rows.append((61, "<urn:a>", "<urn:none>", "<urn:b>", "<urn:4>"))
    found = []
    for strategy in ("expiration", "recompute"):
        reasoner = Reasoner(strategy=strategy, background=background)
        clauses = f"FROM STREAM <{STREAM}> [RANGE 30ms STEP 20ms] PARTITION BY GRAPH"
        reasoner.register(PREFIX + query % clauses)
        reasoner.push(STREAM, rows)
        lists = [list(result.answers.rows) for result in reasoner.end()]
        found.append(lists if "ORDER BY ?x ?y LIMIT" in query else list(map(Counter, lists)))
    assert found[0] == found[1]
    assert any(map(len, found[0]))
    if query.startswith("SELECT") and "f:timestamp" not in query and "+" not in query:
        assert once[0]
        assert not once[-1]


@pytest.mark.parametrize("adopts", [False, True])
@pytest.mark.parametrize("by", ["GRAPH", "<urn:in>"])
def test_each_partition_is_answered_by_one_shard(by, adopts, tmp_path):
    """Though statements are in others, too: for other keys, and for a query that goes by something else."""
    window = f"FROM STREAM <{STREAM}> [RANGE 9ms]"
    parted = f"SELECT ?x ?y {window} PARTITION BY {by} {{ ?x <urn:p> ?y }} ORDER BY ?x ?y"
    texts = (
        f"REGISTER QUERY parted AS {parted}",
        f"REGISTER QUERY whole AS SELECT ?x ?y ?z {window} {{ ?x <urn:p> ?y . ?x <urn:q> ?z }}",
    )
    keys = tuple((f"<urn:{k % 4}>", "<urn:in>", f"<urn:k{k}>", None) for k in range(12))
    rows = [(1, "<urn:first>", "<urn:p>", "<urn:y>", "<urn:first>")]  # Alone in its partition.
    for k in range(40):
        terms = f"<urn:{k % 6}>", f"<urn:{'pq'[k // 6 % 2]}>", f"<urn:y{k}>"
        rows.append((2 + k // 6, *terms, f"<urn:g{k % 7}>"))
    knowledge = Sent((*keys, ("<urn:first>", "<urn:in>", "<urn:k>", None)))
    job = Job.of(list(map(parse_query, texts)), RuleSet("none", ()), knowledge, Settings(fixed_schema=True))
    plan = plan_of(job, shards=4)
    assert len(plan.keys) == 4
    reasoner = job.reasoner()
    reasoner.push(STREAM, rows)
    wanted = {(r.query, r.close): r.answers.rows for r in reasoner.end()}
    shelf = Shelf(tmp_path, "plan") if adopts else None
    found = {(r.query, r.close): r.answers.rows for r in over_shards(plan, {STREAM: rows}, 9, shelf=shelf)}
    assert found.keys() == wanted.keys()
    for key, answers in wanted.items():
        assert Counter(found[key]) == Counter(answers)
        assert key[0] == "whole" or list(found[key]) == list(answers)
        assert answers
