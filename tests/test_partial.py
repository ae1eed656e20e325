"""Partial answers: parts of the complete ones, marked, until what was too much has left the window."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from ensue import Reasoner
from ensue.cli.main import main
from ensue.errors import BudgetError
from ensue.knowledge import Sent
from ensue.maintain.budget import resident
from ensue.query.arrivals import Batch
from ensue.query.log import Logged
from ensue.query.output import Result
from ensue.resumable import Resumable
from ensue.rules.load import load_rules, parse_rules
from ensue.rules.tree import RuleSet
from ensue.windows.frontier import Disorder
from tests.equivalence.rulegen import random_background, random_rules, random_statement

STRATEGIES = ("recompute", "dred", "expiration", "expiration-keep-all", "rete", "hybrid")
RULES = """
    # priority: 1
    [square: (?a <urn:p> ?x), (?b <urn:p> ?y) -> (?a <urn:q> ?b)]
    # priority: 2
    [inverse: (?a <urn:p> ?x) -> (?x <urn:of> ?a)]
"""
WINDOW = "FROM STREAM <urn:s> [RANGE 10s STEP 5s]"
QUERY = "SELECT ?s ?p ?o FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?s ?p ?o }"
BURST = [(10_001 + i, f"<urn:a{i}>", "<urn:p>", f"<urn:o{i}>") for i in range(40)]
BEFORE = [(1000 * i, f"<urn:b{i}>", "<urn:p>", "<urn:o>") for i in range(1, 10)]
AFTER = [(1000 * i, f"<urn:c{i}>", "<urn:p>", "<urn:o>") for i in range(16, 40)]


def answered(reasoner: Reasoner, statements, query: str = QUERY, to: int = 45_000) -> list[Result]:
    reasoner.register(query)
    found = []
    for at in range(0, to, 2500):
        reasoner.push("urn:s", [each for each in statements if at < each[0] <= at + 2500])
        found += reasoner.advance(to=at + 2500)
    return found


def rows(result: Result) -> Counter:
    return Counter(result.answers.rows)


def check(partial: list[Result], complete: list[Result], story: str = "") -> None:
    """Whether what is marked is part of what is complete, and the rest the same."""
    assert [(r.open, r.close) for r in partial] == [(r.open, r.close) for r in complete], story
    for one, other in zip(partial, complete, strict=True):
        assert other.complete
        if one.complete:
            assert rows(one) == rows(other), (story, one.close)
        else:
            assert rows(one) <= rows(other), (story, one.close)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_rule_of_the_lowest_priority_is_left_out_until_the_burst_has_left(strategy):
    rules, stream = parse_rules(RULES), [*BEFORE, *BURST, *AFTER]
    complete = answered(Reasoner(rules, strategy=strategy), stream)
    found = answered(Reasoner(rules, strategy=strategy, max_facts=700, at_limit="partial"), stream)
    check(found, complete)
    assert [r.close for r in found if not r.complete] == [15_000, 20_000]
    [during] = [r for r in found if r.close == 15_000]
    assert set(during.partial.rules) == {"square"}
    assert during.json()["partial"]["rules"]["square"] > 500
    assert sum(row[1] == "<urn:of>" for row in during.answers.rows) == 44  # The other rule is still there.


@pytest.mark.parametrize("strategy", [*STRATEGIES, "rewrite"])
def test_statements_go_when_there_is_no_rule_left_to_leave_out(strategy):
    stream = [*BEFORE, *BURST, *AFTER]
    complete = answered(Reasoner(strategy=strategy), stream)
    found = answered(Reasoner(strategy=strategy, max_facts=30, at_limit="partial"), stream)
    check(found, complete)
    if strategy not in ("rewrite", "hybrid"):  # Where nothing is derived, these hold nothing.
        assert [r.close for r in found if not r.complete] == [15_000, 20_000]
        assert all(r.partial.statements > 0 for r in found if not r.complete)
        assert all(r.answers.rows for r in found[1:])


@pytest.mark.parametrize("strategy", ["expiration", "rete"])
def test_memory_that_is_full_is_a_limit_like_any(strategy):
    """A square of 1,000 statements, then a stream that leaves it behind."""
    stream = [(10_001 + i, f"<urn:a{i}>", "<urn:p>", "<urn:o>") for i in range(1000)]
    stream = [*BEFORE, *stream, *AFTER]
    query = "SELECT (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?a <urn:q> ?b }"
    list(
        answered(Reasoner(parse_rules(RULES), strategy=strategy), BEFORE, query, 5000)
    )  # What has to be loaded.
    limits = {"max_memory": resident() + (24 << 20), "at_limit": "partial"}
    found = answered(Reasoner(parse_rules(RULES), strategy=strategy, **limits), stream, query)
    counts = [int(r.answers.rows[0][0].split('"')[1]) for r in found]
    assert [r.close for r in found if not r.complete] == [15_000, 20_000]
    assert [count for count, r in zip(counts, found, strict=True) if not r.complete] == [0, 0]
    assert counts[:2] == [25, 81]
    assert counts[4:] == [100, 100, 100, 81, 16]


@pytest.mark.parametrize("seed", range(60))
def test_parts_of_random_programs_at_random(seed):
    chance = random.Random(seed)
    strategy = STRATEGIES[seed % len(STRATEGIES)]
    some = random_rules(chance)
    rules = RuleSet(
        "r", tuple(replace(rule, priority=chance.randrange(3)) for rule in some.rules), some.axioms
    )
    background = Sent(tuple((*each, None) for each in random_background(chance)))
    stream = []
    time = 0
    for _ in range(chance.randrange(3, 8)):
        time += chance.randrange(500, 9000)
        stream += [
            (time + chance.randrange(500), *random_statement(chance)) for _ in range(chance.randrange(1, 15))
        ]
    stream.sort(key=lambda each: each[0])
    try:
        complete = answered(Reasoner(rules, background, strategy=strategy, max_facts=3000), stream)
    except BudgetError:
        return  # Nodes made of nodes: nothing to compare with in a moment.
    most = chance.randrange(5, 60)
    story = f"seed {seed}: {strategy}, {most} facts"
    print(story)
    reasoner = Reasoner(rules, background, strategy=strategy, max_facts=most, at_limit="partial")
    try:
        found = answered(reasoner, stream)
    except BudgetError as exceeded:
        told = exceeded.of_background or not stream
        assert told, story
        return
    check(found, complete, story)


@pytest.mark.parametrize("strategy", ["recompute", "dred", "expiration", "rete"])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_retracted_and_comes_late_leaves_parts(seed, strategy):
    """Copies come twice and late and are taken back: what was dropped is renewed, what was kept retracted."""
    chance = random.Random(seed)
    print(f"seed {seed}")
    rules = parse_rules(RULES)
    acts = []
    for at in range(0, 60_000, 500):
        burst = 12 if 20_000 <= at < 24_000 else 1
        for _ in range(burst):
            acts.append(
                (at + 1, f"<urn:a{chance.randrange(40)}>", chance.random() < 0.2, chance.randrange(3000))
            )
    runs = []
    for options in ({}, {"max_facts": 260, "at_limit": "partial"}):
        reasoner = Reasoner(rules, strategy=strategy, disorder=Disorder(3000), **options)
        reasoner.register(QUERY)
        found = []
        for time, name, retracted, late in acts:
            if retracted:
                reasoner.retract("urn:s", [(time, name, "<urn:p>", "<urn:o>")])
            else:
                reasoner.push("urn:s", [(max(1, time - late), name, "<urn:p>", "<urn:o>")])
            found += reasoner.advance()
        runs.append(found + list(reasoner.end()))
    check(runs[1], runs[0], f"seed {seed}")
    assert any(not result.complete for result in runs[1])
    assert runs[1][-1].complete


def test_what_is_constructed_of_parts_is_marked_too():
    reasoner = Reasoner(parse_rules(RULES), strategy="expiration", max_facts=700, at_limit="partial")
    reasoner.register(
        "REGISTER STREAM <urn:t> AS CONSTRUCT { ?a <urn:r> ?b } FROM STREAM <urn:s> [RANGE 10s STEP 5s]"
        " WHERE { ?a <urn:q> ?b }"
    )
    found = answered(
        reasoner,
        [*BEFORE, *BURST, *AFTER],
        "REGISTER QUERY z AS SELECT ?a FROM STREAM <urn:t> [RANGE 10s STEP 10s] { ?a <urn:r> ?b }",
        60_000,
    )
    marked = {r.close for r in found if r.query == "z" and not r.complete}
    assert marked == {20_000}


@pytest.mark.parametrize("seed", range(4))
def test_what_is_taken_up_again_from_the_truth_is_marked_as_well(seed):
    """As a shard on Spark that another worker takes over, after any step."""
    chance = random.Random(seed)
    print(f"seed {seed}")
    made = f"REGISTER STREAM <urn:t> AS CONSTRUCT {{ ?a <urn:r> ?b }} {WINDOW} WHERE {{ ?a <urn:q> ?b }}"
    read = made.replace("<urn:t>", "<urn:u>").replace("urn:s", "urn:t").replace("?a <urn:q>", "?a <urn:r>")
    every = [made, read, "REGISTER QUERY q AS " + QUERY]
    stream = [*BEFORE, *BURST, *AFTER]
    runs = []
    for options, moves in ({}, 0), ({"max_facts": 700, "at_limit": "partial"}, 0.4):

        def new(options=options) -> Resumable:
            reasoner = Resumable(parse_rules(RULES), **options)
            for query in every:
                reasoner.register(query)
            reasoner.settle()
            return reasoner

        reasoner, log, found = new(), [], []
        for at in range(0, 70_000, 2500):
            batch = [(*each, None) for each in stream if at < each[0] <= at + 2500]
            mark = reasoner.mark()
            found += reasoner.step(
                {"urn:s": Batch.of(reasoner.arrivals(batch))} if batch else {},
                heartbeats={"urn:s": at + 2500},
            )
            decode = reasoner.dictionary.decode
            arrivals = reasoner.take_made().items()
            given = {s: [(t, *map(decode, row), None) for t, *row, _ in rows] for s, rows in arrivals}
            log.append((mark, batch, given))
            if chance.random() < moves:
                state = json.loads(json.dumps(reasoner.state()))
                memories = {
                    name: json.loads(json.dumps(give())) for name, (_, give) in reasoner.memories().items()
                }
                reasoner = new()
                reasoner.resume(
                    state,
                    memories,
                    [
                        Logged(
                            mark,
                            {"urn:s": Batch.of(reasoner.arrivals(batch))} if batch else {},
                            {stream: reasoner.arrivals(rows) for stream, rows in given.items()},
                        )
                        for mark, batch, given in log
                    ],
                )
        runs.append(found)
    for name in ("urn:t", "urn:u", "q"):
        own = [[result for result in run if result.query == name] for run in runs]
        check(own[1], own[0], f"seed {seed}, {name}")
        assert any(not result.complete for result in own[1]), name
        assert own[1][-1].complete


def test_what_has_come_since_parts_is_marked():
    rules, stream = parse_rules(RULES), [*BEFORE, *BURST, *AFTER]
    reasoner = Reasoner(rules, strategy="expiration", max_facts=700, at_limit="partial")
    window = "FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE PT10S STEP PT5S]"
    query = f"REGISTER ISTREAM <q> AS SELECT ?s {window} WHERE {{ WINDOW <urn:w> {{ ?s <urn:q> ?o }} }}"
    found = answered(reasoner, stream, query)
    assert [r.close for r in found if not r.complete] == [15_000, 20_000, 25_000]


@pytest.mark.parametrize(
    ("text", "file"),
    [
        (
            "[a: (?x <urn:p> ?y) -> (?y <urn:q> ?x)]\n# priority: 5\n"
            "[b: (?x <urn:q> ?y) -> (?y <urn:r> ?x)]\n"
            "# priority: -1\n# use: transitive-isin\n",
            "r.rules",
        ),
        (
            "# rule: a\nINSERT { ?y <urn:q> ?x } WHERE { ?x <urn:p> ?y } ;\n# priority: 5\n"
            "INSERT { ?y <urn:r> ?x } WHERE { ?x <urn:q> ?y }\n# priority: -1\n# use: transitive-isin\n",
            "r.ru",
        ),
    ],
)
def test_priorities_stand_before_rules_in_both_syntaxes(text, file):
    assert [rule.priority for rule in parse_rules(text, file).rules] == [0, 5, -1]
    assert load_rules("transitive-isin").rules[0].priority == 0


def test_a_priority_that_is_no_number_is_refused_with_its_place():
    with pytest.raises(Exception, match=r"r\.rules:1:1: this is no priority"):
        parse_rules("# priority: high\n[a: (?x <urn:p> ?y) -> (?y <urn:q> ?x)]", "r.rules")


def test_run_tells_what_is_partial(tmp_path, capsys):
    (tmp_path / "r.rules").write_text(RULES)
    (tmp_path / "q.rq").write_text(QUERY)
    lines = [f"{time}\t{s} {p} {o} .\n" for time, s, p, o in [*BEFORE, *BURST, *AFTER]]
    (tmp_path / "s.nt").write_text("".join(lines))
    options = ["--engine", "local", "--max-facts", "700", "--at-limit", "partial", "--output", "jsonl"]
    options += ["--rules", str(tmp_path / "r.rules"), "--stream", f"urn:s={tmp_path / 's.nt'}"]
    assert main(["run", str(tmp_path / "q.rq"), *options]) == 0
    said = capsys.readouterr()
    results = [json.loads(line) for line in said.out.splitlines()]
    assert [r["close"] for r in results if "partial" in r] == [15_000, 20_000]
    assert "q (5000, 15000]: partial answers, without rule square" in said.err
    assert "q (15000, 25000]: complete answers again" in said.err
