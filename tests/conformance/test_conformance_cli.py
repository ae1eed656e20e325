"""`ensue conformance` on a small suite of our own: tables, JSON, EARL and exit codes."""

from __future__ import annotations

import json

import pyoxigraph as ox
import pytest

from ensue.cli import main
from ensue.conformance.outcome import exceptions

MANIFEST = """
@prefix : <http://example.org/manifest#> .
@prefix mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#> .
@prefix qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#> .
@prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix ent: <http://www.w3.org/ns/entailment/> .
<> mf:entries ( %(names)s ) .
%(tests)s
"""
TEST = """
:%(name)s a mf:QueryEvaluationTest ; mf:result <%(result)s> ;
    mf:action [ qt:query <q.rq> ; qt:data <data.ttl> ; sd:entailmentRegime ( ent:%(regime)s ) ] .
"""
DATA = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:Dog> rdfs:subClassOf <urn:Animal> . <urn:rex> a <urn:Dog> .
"""
RESULT = """<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head>
<variable name="x"/></head><results><result><binding name="x"><uri>urn:%s</uri></binding></result></results>
</sparql>
"""


def write_suite(folder, **tests):
    """A suite of one query; tests by name, each with its regime and its right answer."""
    inside = folder / "sparql11" / "entailment"
    inside.mkdir(parents=True)
    tests |= dict.fromkeys(exceptions("w3c-entailment"), ("RIF", "rex"))
    texts = [
        TEST % {"name": name, "regime": regime, "result": f"{answer}.srx"}
        for name, (regime, answer) in tests.items()
    ]
    names = " ".join(f":{name}" for name in tests)
    (inside / "manifest.ttl").write_text(MANIFEST % {"names": names, "tests": "".join(texts)})
    (inside / "q.rq").write_text("SELECT ?x WHERE { ?x a <urn:Animal> }")
    (inside / "data.ttl").write_text(DATA)
    for answer in ("rex", "tom"):
        (inside / f"{answer}.srx").write_text(RESULT % answer)


def run(folder, *options):
    return main(["conformance", "w3c-entailment", str(folder), "--no-rules-needed", "-q", *options])


def test_what_passes_is_told(tmp_path, capsys):
    write_suite(tmp_path, dog=("RDFS", "rex"))
    assert run(tmp_path, "--json", str(tmp_path / "r.json"), "--earl", str(tmp_path / "r.ttl")) == 0
    printed = capsys.readouterr()
    assert "All tests: 1 of 5 pass" in printed.out
    assert printed.err == ""
    data = json.loads((tmp_path / "r.json").read_text())
    assert [test["status"] for test in data["tests"]] == ["passed"] + ["not runnable"] * 4
    assert data["tests"][0]["details"]["passes"] == {"no rules": False, "rdfs": True}
    earl = "http://www.w3.org/ns/earl#"
    outcomes = [
        q.object.value for q in ox.parse(path=tmp_path / "r.ttl") if q.predicate.value == f"{earl}outcome"
    ]
    assert outcomes == [f"{earl}passed"] + [f"{earl}inapplicable"] * 4


def test_a_failure_that_nobody_listed(tmp_path, capsys):
    write_suite(tmp_path, dog=("RDFS", "tom"))
    assert run(tmp_path) == 1
    assert "unexpected: dog does not pass" in capsys.readouterr().err


def test_a_pass_of_what_is_listed(tmp_path, capsys):
    write_suite(tmp_path)
    manifest = tmp_path / "sparql11" / "entailment" / "manifest.ttl"
    manifest.write_text(manifest.read_text().replace("ent:RIF", "ent:RDFS", 1))
    assert run(tmp_path) == 1
    assert "unexpected: rif01 passes, but is listed as failing" in capsys.readouterr().err


def test_which_rules_are_needed(tmp_path, capsys):
    write_suite(tmp_path, dog=("RDFS", "rex"))
    assert main(["conformance", "w3c-entailment", str(tmp_path), "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    [needed] = [line.split() for line in lines if line.startswith("dog ")]
    assert needed == ["dog", "-", "rdfs9", "rdfs9", "3b", "rdfs9", "rdfs9", *["cax-sco"] * 2, *["rdfs9"] * 3]
    assert any(line.split() == ["rhodf", "16", "1", "6", "1", "16"] for line in lines)


@pytest.mark.parametrize("suite", ["w3c-entailment", "rdf-mt", "w3c-query"])
def test_a_folder_without_a_suite(suite, tmp_path, capsys):
    assert main(["conformance", suite, str(tmp_path), "-q"]) == 1
    assert "hint: name the folder of a suite" in capsys.readouterr().err
