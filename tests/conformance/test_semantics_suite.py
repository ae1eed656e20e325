"""The W3C's tests of RDF semantics: all pass, and mistakes would be noticed."""

from __future__ import annotations

import pytest

from ensue.bench.publish import render_table
from ensue.conformance import semantics, tables
from ensue.conformance.library import NONE, rules_of
from ensue.conformance.needed import only, rule_names
from ensue.conformance.outcome import Status, exceptions, unexpected
from ensue.conformance.semantics import Entailment, as_background, recognising, rules_for


@pytest.fixture(scope="module")
def outcomes(semantics_cases):
    return list(semantics.run(semantics_cases.values()))


def test_what_passes(outcomes, repository):
    table = tables.by_kind(outcomes)
    assert render_table(table) in (repository / "docs" / "conformance.md").read_text()
    counts = {(row["regime"], row["entailment"]): list(row.values())[3:] for row in table.rows}
    # without rules, with stock rules, not passed
    assert counts == {
        ("simple", "negative"): [4, 4, 0],
        ("simple", "positive"): [1, 1, 0],
        ("RDF", "negative"): [9, 9, 0],
        ("RDF", "positive"): [2, 10, 0],
        ("RDFS", "negative"): [10, 10, 0],
        ("RDFS", "positive"): [3, 14, 0],
    }
    assert unexpected(outcomes, exceptions("rdf-mt")) == []


def test_that_each_passes_as_a_stream(outcomes):
    assert [one.name for one in outcomes if not one.details["passes"]["as a stream"]] == []


@pytest.mark.parametrize(
    ("rule", "test"),
    [
        ("rdfD1", "literal-type"),
        ("dt-eq", "datatypes-semantic-equivalence-within-type-1"),
        ("D-ill-typed", "datatypes-range-clash"),
        ("rdfs7", "rdfms-seq-representation-test003"),
        ("rdfs-n", "rdfms-seq-representation-test002"),
    ],
)
def test_that_a_missing_rule_is_noticed(rule, test, semantics_cases):
    def library(way):
        rules = rules_of(way)
        conditions = [each.name for each in rules.rules if each.name == "D-ill-typed"]
        return only(rules, [name for name in [*rule_names(rules), *conditions] if name != rule])

    case = semantics_cases[test]
    assert [one.status for one in semantics.run([case])] == [Status.PASSED]
    assert [one.status for one in semantics.run([case], library)] == [Status.FAILED]


def test_that_recognised_datatypes_matter(semantics_cases):
    case = semantics_cases["datatypes-non-well-formed-literal-1"]
    entailment = Entailment.of(case, frozenset())
    assert entailment.problem(rules_for(case), as_background) is None
    every = recognising(rules_of("rdfs"), [f"{semantics.XSD}integer"])
    assert "D-ill-typed" in entailment.problem(every, as_background)


def test_that_nothing_follows_without_rules_that_should_not(semantics_cases):
    wrong = {
        name
        for name, case in semantics_cases.items()
        if not case.positive and Entailment.of(case, frozenset()).problem(rules_of(NONE), as_background)
    }
    assert wrong == set()
