"""What `check` and `run` warn of: variables without values, and terms that nothing brings."""

from __future__ import annotations

import re

import pytest

from ensue.cli import main, run_spark
from ensue.query.language import parse_query
from ensue.query.language_unbound import unbound

S = "FROM STREAM <urn:s> [RANGE 10s STEP 5s]"
EX = "http://example.org/"
ONTOLOGY = f"""@prefix : <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:isIn a owl:ObjectProperty . :hasPart rdfs:domain :Place .
:Train a owl:Class . :Tram rdfs:subClassOf :Train ."""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"SELECT »?whoo {S} {{ ?who ?p ?o }}", {"whoo": "?who"}),
        (f"SELECT * {S} {{ ?who ?p ?o }} ORDER BY »?woh", {"woh": "?who"}),
        (
            f"SELECT ?who {S} {{ ?who ?p ?o FILTER(»?vaule > 3 || ?value = 2) BIND(1 AS ?value) }}",
            {"vaule": "?value"},
        ),
        (f"SELECT (COUNT(»?x) AS ?n) {S} {{ ?who ?p ?o }}", {"x": None}),
        (f"SELECT ?s (?s AS ?t) {S} {{ ?s ?p ?o }} GROUP BY ?s »?g HAVING (COUNT(*) > 1)", {"g": None}),
        (f"CONSTRUCT {{ ?s ?p »?thing }} {S} WHERE {{ ?s ?p ?o }}", {"thing": None}),
        (f"DESCRIBE »?x {S} WHERE {{ ?s ?p ?o }}", {"x": None}),
        (
            f"ASK {S} {{ ?s ?p ?o FILTER REGEX(»?name, 'x') FILTER NOT EXISTS {{ ?s ?q ?r }} }}",
            {"name": None},
        ),
    ],
)
def test_a_variable_that_nothing_gives_a_value_to_is_told_with_its_place(text, names):
    query = parse_query(text.replace("»", ""), "q.rq")
    assert [(each.place.column, each.hint) for each in unbound(query)] == [
        (text.index("»") + 1, hint and f"did you mean '{hint}'?") for hint in names.values()
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?s ?o (STR(?o) AS ?t) (?t AS ?u) {S} {{ ?s ?p ?o }} ORDER BY ?u",
        f"SELECT ?n ?m {S} {{ {{ SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o }} }} OPTIONAL {{ ?m ?n [ ?k ?l ] }} }}",
        f"SELECT ?x {S} FROM NAMED <urn:g> {{ VALUES (?x ?y) {{ (1 2) }} GRAPH ?g {{ ?x ?y ?z }} }}",
        f"SELECT ?x {S} {{ ?s ?p ?o }} VALUES ?x {{ 1 }}",
        f"SELECT ?k (COUNT(*) AS ?n) {S} {{ ?s ?p ?o }} GROUP BY (STR(?s) AS ?k) ORDER BY DESC(?n)",
        f"SELECT ?s {S} {{ ?s <urn:p>/<urn:q>* ?o FILTER EXISTS {{ ?o ?a ?b }} FILTER(?b != ?a) }} LIMIT 1",
        f"SELECT ?s {S} {{ {{ ?s ?p 1 }} UNION {{ ?t ?p 2 MINUS {{ ?t ?q ?r FILTER(?r > 1) }} }} }}",
        f"SELECT ?x {S} WHERE {{ {{ ?x <urn:p> ?v }} SEQ {{ ?x <urn:q> ?w }} FILTER(?w > ?v) }}",
        f"CONSTRUCT {S} WHERE {{ ?s ?p ?o }}",
        f"DESCRIBE ?s {S} WHERE {{ ?s ?p ?o }}",
        f"ASK {S} {{ ?s ?p ?o FILTER(!BOUND(?x)) BIND(COALESCE(?y, 1) AS ?z) }}",
        "SELECT ?w FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE PT1S STEP PT1S] { WINDOW ?w { ?s ?p ?o } }",
    ],
)
def test_variables_that_have_values_are_no_cause_for_alarm(text):
    assert list(unbound(parse_query(text))) == []


def test_the_third_party_queries_give_no_false_alarm(shared_data):
    paths = sorted((shared_data / "w3c-sparql11").rglob("*.rq"))
    told = []
    for path in paths:
        text = path.read_text("utf-8-sig")
        head = re.sub(r"\b(WHERE\s*)?\{", lambda found: f" {S} {found[0]}", text, count=1)
        try:
            query = parse_query(head)
        except Exception:
            continue
        told += [(path.name, each.what) for each in unbound(query)]
    assert told == []


@pytest.fixture
def job(tmp_path):
    (tmp_path / "onto.ttl").write_text(ONTOLOGY)
    (tmp_path / "r.rules").write_text(f"[r: (?x <{EX}isIn> ?y) -> (?y <{EX}holds> ?x)]")
    (tmp_path / "s.tsv").write_text(
        f"1000\t<urn:a> <{EX}speed> <urn:b> .\n2000\t<urn:a> a <{EX}Bus> .\n".replace(
            " a ", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        )
    )

    def said(where, command, *more, capsys):
        (tmp_path / "q.rq").write_text(f"PREFIX : <{EX}>\nSELECT ?x {S}\nWHERE {{ {where} }}")
        words = [str(tmp_path / "q.rq"), "--background", str(tmp_path / "onto.ttl"), "--quiet", *more]
        assert main([command, *words, "--rules", str(tmp_path / "r.rules")]) == 0
        captured = capsys.readouterr()
        return captured.err.splitlines()

    said.stream = ["--stream", f"urn:s={tmp_path / 's.tsv'}"]
    said.place = str(tmp_path / "q.rq")
    return said


@pytest.mark.parametrize(
    ("where", "missing", "hint"),
    [
        ("?x :isIn ?y", None, None),
        ("?x :holds ?y . ?x a :Tram . ?x :speed ?z . ?x a :Bus", None, None),
        ("?x »:isinn ?y", "isinn", "isIn"),
        ("?x »:sped ?y", "sped", "speed"),
        ("?x a »:Trains", "Trains", "Train"),
        ("?x »:altogetherElse ?y", "altogetherElse", None),
        ("{ ?x ?p 1 } UNION { ?x ?p ?y FILTER NOT EXISTS { ?x :isIn/»:isAt ?y } }", "isAt", None),
        ("{ ?x :isIn 1 } SEQ { ?x »:hasParts 2 }", "hasParts", "hasPart"),
    ],
)
def test_check_tells_what_no_stream_background_or_rule_brings(job, capsys, where, missing, hint):
    lines = job(where.replace("»", ""), "check", *job.stream, capsys=capsys)
    if missing is None:
        assert lines == []
        return
    then = f" (hint: did you mean <{EX}{hint}>?)" if hint else ""
    column = f"WHERE {{ {where}".index("»") + 1
    what = f"<{EX}{missing}> is brought by no stream, background or rule"
    assert lines == [f"ensue: warning: {job.place}:3:{column}: {what}{then}"]


@pytest.mark.parametrize(
    ("where", "missing", "hint"),
    [
        ("?x »:isinn ?y", "isinn", "isIn"),
        ("?x a »:Trains", "Trains", "Train"),
        ("?x :sped ?y . ?x :altogetherElse ?z . ?x :isIn2 ?u . ?x :at ?v", None, None),
        ("?x <urn:isinn> ?y . ?x a <http://example.com/Trains>", None, None),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_before_a_stream_has_come_only_what_is_misspelt_is_told(job, capsys, where, missing, hint, command):
    """A stream can bring anything: `run` has not read it, and `check` may be without one."""
    more = ["--engine", "local", *job.stream] if command == "run" else []
    lines = job(where.replace("»", ""), command, *more, capsys=capsys)
    if missing is None:
        assert lines == []
        return
    what = f"<{EX}{missing}> is not declared where others of its namespace are"
    place = f"{job.place}:3:{f'WHERE {{ {where}'.index('»') + 1}"
    assert lines == [f"ensue: warning: {place}: {what} (hint: did you mean <{EX}{hint}>?)"]


def test_run_tells_of_variables_once_on_both_engines(job, capsys, monkeypatch):
    lines = job("?y :isIn ?z", "run", "--engine", "local", *job.stream, capsys=capsys)
    assert lines == [f"ensue: warning: {job.place}:2:8: ?x is in no pattern, so it never has a value"]

    def stop(*_, **__):
        raise InterruptedError

    monkeypatch.setattr(run_spark, "plan_of", stop)
    with pytest.raises(InterruptedError):
        job("?y :isIn ?z", "run", *job.stream, capsys=capsys)
    assert capsys.readouterr().err.splitlines() == lines
