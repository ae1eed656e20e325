"""The W3C's entailment tests: how many pass, with which rules, and that mistakes would be noticed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from conformance.renaming import VOCABULARIES, renamed, rewritten
from ensue.bench.publish import render_table
from ensue.conformance import entailment, question, tables
from ensue.conformance.library import BELOW_FILES, FILE, NONE, file_of, files_of_ours, rules_of
from ensue.conformance.needed import needed_rules, only, rule_names
from ensue.conformance.outcome import Status, exceptions, unexpected
from ensue.conformance.question import Question, ask, replay
from ensue.rules.load import parse_rules
from ensue.terms import Kind

FILES = files_of_ours()
BLANK_NODES = ["d-ent-01", "parent9", "parent10", "sparqldl-12"]


def test_what_passes(judged):
    table = tables.by_regime(list(judged.values()))
    counts = {
        row["regime"]: [row[name] for name in list(row)[1:] if name != "stock rules"] for row in table.rows
    }
    # tests, without rules, with stock rules, with a rule file of ours, not passed
    assert counts == {
        "RDF": [22, 21, 22, 0, 0],
        "RDFS": [36, 23, 36, 0, 0],
        "D": [37, 24, 37, 0, 0],
        "OWL-RDF-Based": [39, 23, 39, 0, 0],
        "OWL-Direct": [47, 21, 41, 6, 0],
        "RIF": [4, 0, 0, 0, 4],
    }


def test_that_the_documentation_has_these_tables(judged, repository):
    text = (repository / "docs" / "conformance.md").read_text()
    for table in (tables.by_regime(list(judged.values())), tables.in_all(list(judged.values()))):
        assert render_table(table) in f"\n{text}"


def test_that_nothing_is_unexpected(judged):
    assert unexpected(judged.values(), exceptions("w3c-entailment")) == []
    assert [name for name, one in judged.items() if one.status is Status.NOT_RUNNABLE] == [
        *("rif01", "rif03", "rif04", "rif06")
    ]


def test_that_what_a_plain_closure_reaches_passes_with_stock_rules(judged, shared_data):
    reference = (shared_data / "w3c-sparql11" / "entailment-reference.tsv").read_text()
    for line in reference.splitlines():
        name, none, rdfs, *owl = line.split("\t")
        tags = judged[name].details["with"]
        assert judged[name].details["passes"].get(NONE, False) == (none == "P"), name
        if rdfs == "P" and "RDFS" in tags:
            assert tags["RDFS"] == "rdfs", name
        if "P" in owl and any(tag.startswith("OWL") for tag in tags):
            assert {way for tag, way in tags.items() if tag.startswith("OWL")} <= {"owl2rl", "dstar+p"}, name


def test_that_only_files_of_ours_count_as_such(judged):
    assert [name for name, one in judged.items() if one.way == FILE] == FILES
    assert {judged[name].way for name in BLANK_NODES} <= {NONE, *entailment.STRENGTH}


@pytest.mark.parametrize("regime", ["rdfs", "dstar", "owl2rl"])
@pytest.mark.parametrize("name", ["d-ent-01", "rdfs13"])
def test_that_stand_ins_and_literals_for_subjects_are_no_answers(name, regime, entailment_cases):
    asked = Question.of(entailment_cases[name])
    assert ask(asked, rules_of(regime)) is None
    assert replay(asked, rules_of(regime)) is None


def test_that_stand_ins_would_be_noticed(entailment_cases, monkeypatch):
    def with_stand_ins(facts, dictionary):
        return facts.take(np.frombuffer(dictionary.kinds, np.uint8)[facts.s] <= Kind.BLANK)

    monkeypatch.setattr(question, "visible", with_stand_ins)
    assert "found but not expected" in ask(Question.of(entailment_cases["d-ent-01"]), rules_of("dstar"))


@pytest.mark.parametrize("name", FILES)
def test_that_rules_for_a_test_are_general(name):
    text = file_of(name)
    rules = parse_rules(text, f"{name}.ru")
    constants = {
        term
        for rule in rules.rules
        for pattern in (*(premise.pattern for premise in rule.premises), *rule.conclusions)
        for term in pattern
        if isinstance(term, str)
    }
    assert constants
    assert {term for term in constants if not term[1:].startswith(VOCABULARIES)} == set()
    assert not re.search(r"\b(STR|REGEX|CONTAINS|STRSTARTS|STRENDS|IRI|URI)\s*\(", text, re.IGNORECASE)


def passes_renamed(case, way):
    asked = Question.of(case, renamed, rewritten)
    originals = {term for statement in Question.of(case).data for term in statement}
    assert {term for statement in asked.data for term in statement} != originals
    rules = rules_of(BELOW_FILES if way == FILE else way)
    if way == FILE:
        rules += parse_rules(rewritten(file_of(case.name)), "renamed.ru")
    return ask(asked, rules) is None


@pytest.mark.parametrize("name", [*FILES, *BLANK_NODES])
def test_under_other_names(name, entailment_cases, judged):
    assert passes_renamed(entailment_cases[name], judged[name].way)


@pytest.mark.long
def test_all_under_other_names(entailment_cases, judged):
    for name, case in entailment_cases.items():
        if judged[name].status is Status.PASSED:
            assert passes_renamed(case, judged[name].way), name


def lacking(regime, rule):
    """A library in which a regime lacks a rule."""

    def library(way):
        rules = rules_of(way)
        if regime not in way.split(" + "):
            return rules
        names = rule_names(rules)
        assert rule in names
        return only(rules, [name for name in names if name != rule])

    return library


@pytest.mark.parametrize(
    ("regime", "rule", "test"),
    [
        ("rdf", "rdfD2", "rdf01"),
        ("rdfs", "rdfs9", "rdfs04"),
        ("rdfs", "rdfs7", "rdfs01"),
        ("rdfs", "axioms", "paper-sparqldl-Q1-rdfs"),
        ("owl2rl", "cls-int1", "simple1"),
        ("owl2rl", "scm-int", "parent10"),
    ],
)
def test_that_a_missing_rule_is_noticed(regime, rule, test, entailment_cases):
    [outcome] = entailment.run([entailment_cases[test]], lacking(regime, rule))
    assert outcome.status is Status.FAILED
    assert outcome.why
    assert unexpected([outcome], {})


def test_that_a_rule_too_many_is_noticed(entailment_cases):
    wrong = parse_rules("INSERT { ?y a ?c } WHERE { ?x ?p ?y . ?x a ?c }")
    [outcome] = entailment.run([entailment_cases["rdf02"]], lambda way: rules_of(way) + wrong)
    assert outcome.status is Status.FAILED
    assert "found but not expected" in outcome.why


def test_that_a_stream_that_lacks_a_statement_is_noticed(entailment_cases):
    asked = Question.of(entailment_cases["rdfs01"])
    rules = rules_of("rdfs")
    assert replay(asked, rules) is None
    lacking_one = [replace(asked, data=asked.data[:k] + asked.data[k + 1 :]) for k in range(len(asked.data))]
    assert any(replay(lacking, rules) for lacking in lacking_one)


@pytest.mark.parametrize(
    ("regime", "test", "rules"),
    [
        ("rdfs", "rdfs03", ("rdfs2", "rdfs7")),
        ("rdfs", "rdfs05", ("rdfs3", "rdfs9", "rdfs10", "axioms")),
        ("rhodf", "rdfs04", ("3b",)),
        ("dstar+p", "sparqldl-10", ("rdfp5b",)),
        ("owl2rl", "parent10", ("scm-sco", "scm-eqc1", "scm-int")),
    ],
)
def test_which_rules_a_test_needs(regime, test, rules, entailment_cases):
    found = needed_rules(Question.of(entailment_cases[test]), rules_of(regime))
    assert found == rules


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["recompute", "dred", "rete"])
def test_streams_by_every_strategy(strategy, entailment_cases, judged):
    for name, case in entailment_cases.items():
        if judged[name].status is Status.PASSED and judged[name].way != FILE:
            assert replay(Question.of(case), rules_of(judged[name].way), strategy) is None, name
