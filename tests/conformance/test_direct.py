"""Queries as OWL 2's Direct Semantics reads them."""

from __future__ import annotations

import pytest

from ensue.conformance.direct import definitions, over_names
from ensue.conformance.streams import STREAM
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.reasoner import Reasoner
from ensue.terms import OWL, RDF

PREFIXES = f"PREFIX owl: <{OWL}> PREFIX : <urn:> "


def defined(pattern, data=()):
    query = parse_query(f"{PREFIXES} SELECT * FROM STREAM <{STREAM}> [RANGE 1s] {{ {pattern} }}")
    return definitions(query, data)


def predicates(statements):
    return sorted(p.rpartition("#")[2][:-1] for _, p, _ in statements)


def test_an_expression_that_the_data_lacks_is_defined_with_its_parts():
    found = defined("?x a [ owl:intersectionOf ( :A [ owl:onProperty :p ; owl:someValuesFrom :B ] ) ]")
    assert predicates(found) == [
        *("first", "first", "intersectionOf", "onProperty", "rest", "rest", "someValuesFrom")
    ]
    assert {s for s, _, _ in found} & {"<urn:A>", "?x"} == set()


def test_what_is_said_about_an_expression_does_not_define_it():
    found = defined("?x a _:c . _:c owl:unionOf ( :A :B ) ; owl:equivalentClass :D ; a owl:Class")
    assert predicates(found) == ["first", "first", "rest", "rest", "type", "unionOf"]


def test_an_expression_that_the_data_has_is_not_defined_again():
    data = [("_:r", f"<{OWL}onProperty>", "<urn:p>"), ("_:r", f"<{OWL}someValuesFrom>", "<urn:B>")]
    pattern = "?x a [ owl:onProperty :p ; owl:someValuesFrom :B ]"
    assert defined(pattern, data) == []
    assert len(defined(pattern, data[:1])) == 2


@pytest.mark.parametrize("pattern", ["?x :p [ :q 1 ]", "?x a [ owl:onProperty ?p ; owl:someValuesFrom :B ]"])
def test_other_blank_nodes_and_expressions_with_variables_are_left_alone(pattern):
    assert defined(pattern) == []


def rows(query):
    stated = [
        ("<urn:a>", f"<{RDF}type>", "_:r"),
        ("_:r", f"<{OWL}onProperty>", "<urn:p>"),
        ("<urn:a>", f"<{RDF}type>", "_:n"),
        ("<urn:a>", f"<{RDF}type>", "<urn:C>"),
        ("<urn:C>", f"<{OWL}unionOf>", f"<{RDF}nil>"),
    ]
    reasoner = Reasoner(background=Sent(tuple((*each, None) for each in stated)))
    text = query.replace("WHERE", f"FROM STREAM <{STREAM}> [RANGE 1s] WHERE")
    reasoner.register(PREFIXES + text)
    reasoner.push(STREAM, [(1, "<urn:s>", "<urn:t>", "<urn:u>")])
    [result] = reasoner.advance(to=1000)
    return sorted(row[0] or "" for row in result.answers.rows)


def test_variables_are_no_expressions():
    query = "SELECT ?c WHERE { <urn:a> a ?c }"
    assert rows(query) == ["<urn:C>", "_:n", "_:r"]
    assert rows(over_names(query)) == ["<urn:C>", "_:n"]


def test_variables_without_a_value_are_none_either():
    query = "SELECT ?d WHERE { <urn:a> a ?c OPTIONAL { ?c owl:onProperty ?d } }"
    assert rows(over_names(query)) == ["", ""]


def test_variables_that_are_not_shown_are_none_either():
    assert rows("SELECT ?x WHERE { ?x a ?c }") == ["<urn:a>"] * 3
    assert rows(over_names("SELECT ?x WHERE { ?x a ?c }")) == ["<urn:a>"] * 2
