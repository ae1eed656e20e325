"""`--reload`, `--reload-graph` and `--knowledge`: what they refuse, and that other commands know them.

What they do is in the golden cases `background-reload`, `background-knowledge` and `graph-reload`.
"""

from __future__ import annotations

import json
import re

import pytest

from ensue.cli import main

QUERY = "SELECT ?x FROM STREAM <urn:s> [RANGE 5ms STEP 5ms] { ?x <http://example.org/isIn> <urn:c> }"
EVENTS = "SELECT ?x FROM STREAM <urn:s> [RANGE 5ms STEP 5ms] { { ?x <urn:p> ?y } SEQ { ?x <urn:q> ?y } }"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "events.rq").write_text(EVENTS)
    (tmp_path / "net.ru").write_text("INSERT DATA { <urn:a> <urn:p> <urn:b> }")
    (tmp_path / "s.tsv").write_text(
        "1\t<urn:a> <http://example.org/isIn> <urn:b> .\n7\t<urn:x> <urn:p> <urn:y> .\n"
    )
    (tmp_path / "new.nt").write_text("<urn:b> <http://example.org/isIn> <urn:c> .\n")
    (tmp_path / "bad.tsv").write_text("1 no tab\n")
    return tmp_path


def words(query="q.rq", *more, command="run"):
    run = ["--engine", "local", "--output", "jsonl"] if command == "run" else []
    return [command, query, "--stream", "urn:s=s.tsv", "--rules", "transitive-isin", "-q", *run, *more]


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        ("q.rq", ["--reload", "new.nt"], "--reload new.nt .*MS=FILE"),
        ("q.rq", ["--reload", "1_0=new.nt"], "MS=FILE"),
        ("q.rq", ["--reload", "9223372036854775807=new.nt"], "MS=FILE"),
        ("q.rq", ["--reload", "5=gone.nt"], "gone.nt"),
        ("q.rq", ["--reload-graph", "5=new.nt"], "IRI=PATH"),
        ("q.rq", ["--reload-graph", "5=urn:g=new.nt"], "no query reads the graph <urn:g>"),
        ("q.rq", ["--knowledge", "bad.tsv"], "bad.tsv:1:1: no tab"),
        ("events.rq", ["--reload", "5=new.nt"], "temporal query 'events'"),
        ("net.ru", ["--reload", "5=new.nt"], "is for queries"),
        ("net.ru", ["--knowledge", "s.tsv"], "is for queries"),
    ],
)
def test_what_is_refused(folder, capsys, query, options, message):
    network = query.endswith(".ru")
    given = words(query, *options)
    if network:
        given = [word for word in given if word not in ("--rules", "transitive-isin")]
    assert main(given) > 0
    assert re.search(message, capsys.readouterr().err)


def test_every_command_knows_them(folder, capsys):
    assert main(words("q.rq", "--reload=-3=new.nt")) == 0
    closes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(line["bindings"]) for line in closes] == [2, 1], "times may be negative"
    assert main(words("q.rq", "--reload", "6=new.nt", command="check")) == 0
    assert main(words("q.rq", "--reload", "6=new.nt", "--shards", "2", command="explain")) == 0
    assert "it changes at 6" in capsys.readouterr().out
    fact = "<urn:a> <http://example.org/isIn> <urn:c>"
    capsys.readouterr()
    assert main(["why", fact, *words("q.rq", "--reload", "5=new.nt", "--at", "5", command="why")[1:]]) == 0
    assert "background" in capsys.readouterr().out
    assert main(["why", fact, *words("q.rq", "--reload", "6=new.nt", "--at", "5", command="why")[1:]]) == 1
