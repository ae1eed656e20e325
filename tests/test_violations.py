"""Violations: conditions in rules, who sees what they conclude, and how it is told."""

from __future__ import annotations

import json

import pytest

from ensue.cli import main
from ensue.errors import RuleError, UsageError
from ensue.knowledge import Sent
from ensue.plan.relevance import find as find_relevance
from ensue.plan.representatives import settle_and_close
from ensue.plan.routing import find as find_routing
from ensue.query import dataset
from ensue.query.language import parse_query
from ensue.query.violations import Watching, watches
from ensue.reasoner import Reasoner
from ensue.rules.load import parse_rules
from ensue.rules.violations import is_condition, without_conditions

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DISJOINT = "<http://www.w3.org/2002/07/owl#disjointWith>"
CATS = ("<urn:Cat>", DISJOINT, "<urn:Dog>", None)
RULES = """
    [cax-dw: (?x rdf:type ?c), (?x rdf:type ?d), (?c owl:disjointWith ?d) -> (?x violation:cax-dw ?c)]
    [any:    (?x ?p ?y) -> (?p rdf:type rdf:Property)]
"""
BOTH = [(1000, "<urn:tom>", TYPE, "<urn:Cat>"), (1500, "<urn:tom>", TYPE, "<urn:Dog>")]
EVERYTHING = "REGISTER QUERY q AS SELECT ?s ?p ?o FROM STREAM <urn:s> [RANGE 2s STEP 1s] { ?s ?p ?o }"
STRATEGIES = ("recompute", "dred", "expiration", "rete", "hybrid")


def reasoner(strategy="auto", watching="changes", query=EVERYTHING, background=(CATS,), **options):
    made = Reasoner(parse_rules(RULES), Sent(background), strategy, violations=watching, **options)
    made.register(query)
    return made


def told(made):
    return [(found.change, str(found.violation), found.close) for found in made.violations()]


# -- in rules --------------------------------------------------------------------------------------


def test_both_syntaxes_know_the_prefix():
    [bracketed] = parse_rules("[c: (?x <urn:p> ?y) -> (?x violation:c ?y)]").rules
    [sparql] = parse_rules("INSERT { ?x violation:c ?y } WHERE { ?x <urn:p> ?y }").rules
    assert bracketed.conclusions == sparql.conclusions
    assert is_condition(bracketed)


@pytest.mark.parametrize(
    "text",
    [
        "[r: (?x violation:c ?y) -> (?x <urn:p> ?y)]",
        "INSERT { ?x <urn:p> ?y } WHERE { ?x violation:c ?y }",
        "[r: (?x <urn:of> ?l), each(?l, ?t, (?y violation:c ?t)) -> (?y <urn:p> ?x)]",
    ],
)
def test_a_premise_cannot_name_a_violation(text):
    with pytest.raises(RuleError, match=r"no premise can match .*violation:c.*hint: repeat the premises"):
        parse_rules(text)


def test_a_condition_concludes_nothing_else():
    with pytest.raises(RuleError, match=r"concludes violations and other facts.*hint: write two rules"):
        parse_rules("[r: (?x <urn:p> ?y) -> (?x violation:c ?y), (?y <urn:p> ?x)]")


def test_where_nobody_asks_conditions_are_no_rules():
    assert [rule.name for rule in without_conditions(parse_rules(RULES)).rules] == ["any"]
    assert reasoner(watching=None).plan()["rule_count"] == 1
    assert reasoner().plan()["rule_count"] == 2


# -- out of sight ----------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluator", ["compiled", "oxigraph"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_answers_are_the_same_whether_or_not_violations_are_watched(strategy, evaluator):
    def answers(watching):
        made = reasoner(strategy, watching, evaluator=evaluator)
        made.push("urn:s", BOTH)
        return [sorted(result.answers.rows) for result in made.end()], told(made)

    watched, violated = answers("changes")
    assert watched == answers(None)[0]
    assert violated


def test_a_query_that_names_one_sees_what_is_stated_alone():
    query = EVERYTHING.replace("?s ?p ?o }", "?s <urn:ensue:violation:cax-dw> ?o }")
    made = reasoner(query=query)
    stated = (1000, "<urn:rex>", "<urn:ensue:violation:cax-dw>", "<urn:Cat>")
    made.push("urn:s", [*BOTH, stated])
    rows = {row for result in made.end() for row in result.answers.rows}
    assert {row[0] for row in rows} == {"<urn:rex>"}
    assert {violation for _, violation, _ in told(made)} == {"cax-dw: <urn:tom> <urn:Cat>"}


def test_if_queries_saw_them_it_would_show(monkeypatch):
    """The planted mistake: facts with any predicate are seen."""
    real = dataset.are_visible

    def careless(s, p, o, dictionary):
        return real(s, s, o, dictionary)

    monkeypatch.setattr(dataset, "are_visible", careless)
    with pytest.raises(AssertionError):
        test_answers_are_the_same_whether_or_not_violations_are_watched("recompute", "compiled")


# -- told ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_new_and_what_is_gone(strategy):
    """The window is 2 s long and moves by 1 s:

    0    1000 1500  2000        3000        4000
    |-----Cat--Dog---|-----------|-----------|
    (----------------]                          both: new
         (-----------------------]              Cat is gone, for its time is not above 1000
    """
    made = reasoner(strategy)
    made.push("urn:s", BOTH)
    list(made.end())
    assert told(made) == [
        ("new", "cax-dw: <urn:tom> <urn:Cat>", 2000),
        ("gone", "cax-dw: <urn:tom> <urn:Cat>", 3000),
    ]


def test_since_until_and_which_statements():
    made = reasoner()
    made.push("urn:s", BOTH)
    list(made.advance(to=2000))
    [found] = made.violations()
    assert (found.violation.since, found.until) == (1500, 3000)
    assert {(each.statement[1:], each.source, each.time) for each in found.violation.statements} == {
        ((TYPE, "<urn:Cat>"), "urn:s", 1000),
        ((TYPE, "<urn:Dog>"), "urn:s", 1500),
        ((DISJOINT, "<urn:Dog>"), "background", None),
    }
    assert list(made.violations()) == []


def test_all_at_each_close():
    made = reasoner(watching="all")
    made.push(
        "urn:s", [*BOTH, (2500, "<urn:tom>", TYPE, "<urn:Cat>"), (2600, "<urn:tom>", TYPE, "<urn:Dog>")]
    )
    list(made.end())
    assert [close for _, _, close in told(made)] == [2000, 3000, 4000]


def test_two_ranges_on_two_streams_share_one_scale():
    streams = "FROM STREAM <urn:s> [RANGE 5s STEP 1s] FROM STREAM <urn:t> [RANGE 2s STEP 1s]"
    made = reasoner(query=f"SELECT ?x {streams} {{ ?x a <urn:Cat> }}")
    made.push("urn:s", BOTH[:1])
    made.push("urn:t", BOTH[1:])
    list(made.end())
    new, gone = made.violations()
    # What is on <urn:t> leaves first: 1500 is not in (2000, 4000].
    assert (new.close, new.violation.since, new.until, gone.close) == (2000, 1500, 4000, 4000)
    assert {each.time for each in new.violation.statements} == {1000, 1500, None}


def test_a_landmark_window_keeps_what_is_wrong():
    made = reasoner(query="SELECT ?x FROM STREAM <urn:s> [LANDMARK STEP 1s] { ?x a <urn:Cat> }")
    made.push("urn:s", BOTH)
    list(made.end())
    [found] = made.violations()
    assert found.until == "forever"


def test_windows_without_a_scalar_stamp_are_watched_too():
    streams = "FROM STREAM <urn:s> [RANGE 2s STEP 1s] FROM STREAM <urn:t> [RANGE 3s STEP 3s]"
    made = reasoner(query=f"SELECT ?x {streams} {{ ?x a <urn:Cat> }}")
    made.push("urn:s", BOTH[1:])
    made.push("urn:t", BOTH[:1])
    list(made.end())
    assert [(found.change, found.until) for found in made.violations()] == [("new", None), ("gone", None)]


def test_a_retraction_takes_a_violation_back():
    made = reasoner(query=EVERYTHING.replace("RANGE 2s", "RANGE 9s"))
    made.push("urn:s", BOTH)
    list(made.advance(to=2000))
    made.retract("urn:s", [(2500, *BOTH[0][1:])])
    list(made.advance(to=3000))
    assert [(change, close) for change, _, close in told(made)] == [("new", 2000), ("gone", 3000)]


def test_the_background_is_told_once_and_for_ever():
    known = [CATS, *(("<urn:chimera>", TYPE, each, None) for each in ("<urn:Cat>", "<urn:Dog>"))]
    made = reasoner(background=tuple(known))
    made.register(EVERYTHING.replace("QUERY q", "QUERY r").replace("RANGE 2s", "RANGE 9s"))
    made.push("urn:s", BOTH)
    list(made.end())
    every = list(made.violations())
    [found] = [each for each in every if each.window is None]
    assert (found.violation.subject, found.until, found.violation.since) == ("<urn:chimera>", "forever", None)
    assert len(found.violation.statements) == 3
    assert "<urn:chimera>" not in {each.violation.subject for each in every if each.window is not None}


def test_windows_that_queries_share_are_watched_once_and_as_long_as_one_reads_them():
    made = reasoner()
    made.register(EVERYTHING.replace("QUERY q", "QUERY r"))
    made.remove("q")
    made.push("urn:s", BOTH)
    list(made.advance(to=2000))
    assert len(told(made)) == 1
    made.remove("r")
    assert made.plan()["queries"] == []


def test_policies_are_few():
    with pytest.raises(UsageError, match="hint: one of changes, all"):
        reasoner(watching="some")


def test_a_watch_is_divided_like_a_query():
    rules, background = settle_and_close(parse_rules(RULES.splitlines()[1]), [CATS[:3]])
    query = parse_query("SELECT ?x FROM STREAM <urn:s> [RANGE 2s] { ?x a <urn:Cat> }", name="q")
    found = [watch.parse() for watch in watches([query], rules, Watching.CHANGES)]
    job = ([query, *found], rules, background)
    routing = find_routing(*job, find_relevance(*job))
    assert routing.one_shard_because is None
    assert [key for _, key in routing.variables] == ["x", "subject", "subject"]


# -- at a shell ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "r.rules").write_text(RULES)
    (tmp_path / "q.rq").write_text(EVERYTHING)
    (tmp_path / "b.nt").write_text(f"{' '.join(CATS[:3])} .\n")
    lines = [" ".join(terms) + " .\n" for _, *terms in BOTH]
    (tmp_path / "d.nt").write_text("".join(lines))
    stream = [f"{time}\t{line}" for (time, *_), line in zip(BOTH, lines, strict=True)]
    (tmp_path / "s.tsv").write_text("".join(stream))
    return tmp_path


def test_reason_check(folder, capsys):
    files = [str(folder / "b.nt"), str(folder / "d.nt")]
    words = ["reason", "--rules", str(folder / "r.rules"), "-q"]
    assert main([*words, "--check", *files]) == 3
    said = capsys.readouterr()
    [line] = map(json.loads, said.err.splitlines())
    assert (line["violation"], line["terms"]) == ("cax-dw", ["<urn:tom>", "<urn:Cat>"])
    assert len(line["statements"]) == 3
    assert main([*words, "--check", *files[:1]]) == 0
    assert main([*words, *files]) == 0  # Nobody asked.
    without = capsys.readouterr()
    assert "violation" not in said.out + without.out
    assert without.out.endswith(said.out)
    assert main([*words[:-1], *files]) == 0
    assert "inconsistent, 1 violation" in capsys.readouterr().err


def run(folder, *more):
    stream = f"urn:s={folder / 's.tsv'}"
    words = ["run", str(folder / "q.rq"), "--stream", stream, "--background", str(folder / "b.nt")]
    return main([*words, "--rules", str(folder / "r.rules"), "--engine", "local", "-q", *more])


def test_run_violations(folder, capsys):
    assert run(folder, "--output", "jsonl", "--violations", str(folder / "v.jsonl")) == 0
    answers = capsys.readouterr()
    lines = [json.loads(line) for line in (folder / "v.jsonl").read_text().splitlines()]
    assert [(line["change"], line["close"]) for line in lines] == [("new", 2000), ("gone", 3000)]
    assert all("query" in json.loads(line) for line in answers.out.splitlines())
    assert answers.err == ""
    assert run(folder, "--output", "jsonl", "--violations") == 0
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_run_refuses_what_makes_no_sense(folder, capsys):
    assert run(folder, "--every-violation") == 2
    assert "add --violations" in capsys.readouterr().err
    same = str(folder / "x.jsonl")
    assert run(folder, "--output", same, "--violations", same) == 2
    assert "name the same file" in capsys.readouterr().err
