"""Every rule of OWL 2 RL by itself: little data for it, and exactly what follows, from the standard's tables.

Each line of the files beside this one is a rule's name, data, and what follows, in Turtle; for conditions the
two terms of the violation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse
from rules.closing import closure

from ensue.rules.expressions import write_term
from ensue.rules.load import load_rules

PREFIXES = """
@prefix : <urn:ex:> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def lines(name):
    text = (Path(__file__).parent / name).read_text()
    return [tuple(map(str.strip, line.split("|"))) for line in text.splitlines()]


CASES, FALSE = lines("owl2rl-rules.txt"), lines("owl2rl-conditions.txt")


def statements(turtle):
    triples = parse(PREFIXES + turtle + " .", format=RdfFormat.TURTLE)
    return {(write_term(t.subject), write_term(t.predicate), write_term(t.object)) for t in triples}


def term(text):
    return statements(f":x :x {text}").pop()[2]


@cache
def regime():
    return load_rules("owl2rl")


def alone(*names):
    return replace(regime(), rules=tuple(r for r in regime().rules if r.name in names), axioms=())


@pytest.mark.parametrize(("name", "data", "expected"), CASES, ids=[each[0] for each in CASES])
def test_a_rule(name, data, expected):
    stated = statements(data)
    assert closure(alone(name), stated).statements - stated == statements(expected) - stated


@pytest.mark.parametrize(("name", "data", "expected"), FALSE, ids=[each[0] for each in FALSE])
def test_a_condition(name, data, expected):
    stated = statements(data)
    found = closure(alone(name), stated)
    assert found.violations == {(name, *map(term, each.split())) for each in expected.split(",")}
    assert found.statements == stated
    # Without any one of its statements that is no part of a list, all is well.
    for gone in stated:
        if gone[0][0] != "_" or gone[1].endswith(("AllDifferent>", "assertionProperty>")):
            assert not closure(alone(name), stated - {gone}).violations


XSD, TYPE = "http://www.w3.org/2001/XMLSchema#", term("rdf:type")
DATATYPES = [
    ("dt-type2", ':a :p "5"^^xsd:short', {('"5"^^xsd:short', "xsd:short")}),
    ("dt-type2", ':a :p "x"', {('"x"', "xsd:string")}),
    ("dt-type2", ':a :p "x"@en', {('"x"@en', "rdf:langString")}),
    ("dt-type2", ':a :p "x"^^:mine', set()),
]


@pytest.mark.parametrize(("name", "data", "expected"), DATATYPES)
def test_a_rule_about_literals(name, data, expected):
    stated = statements(data)
    found = closure(alone(name), stated).statements - stated
    assert found == {(term(literal), TYPE, term(datatype)) for literal, datatype in expected}


def test_a_literal_is_in_the_datatypes_that_its_own_is_derived_from():
    found = closure(alone("dt-type2", "dt-type2-base"), statements(':a :p "5"^^xsd:short')).statements
    names = ["xsd:short", "xsd:int", "xsd:long", "xsd:integer", "xsd:decimal", "rdfs:Literal"]
    assert {o for s, _, o in found if s[0] == '"'} == {term(name) for name in names}


def test_a_literal_is_in_a_narrower_datatype_where_a_class_asks():
    asks = ":C owl:someValuesFrom xsd:byte ; owl:onProperty :p ."
    found = closure(alone("dt-type2-asked", "cls-svf1"), statements(f"{asks} :a :p 5 . :b :p 500"))
    assert (term(":a"), TYPE, term(":C")) in found.statements
    assert (term(":b"), TYPE, term(":C")) not in found.statements


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (':a :p "x"^^xsd:integer', {("dt-not-type", '"x"^^xsd:integer', "xsd:integer")}),
        (":p rdfs:range xsd:integer . :a :p 'x'", {("dt-not-type", "'x'", "xsd:integer")}),
        (":p rdfs:range xsd:integer . :a :p 5.0", set()),
        (":p a owl:FunctionalProperty . :a :p 1, 2", {("dt-diff", "1", "2"), ("dt-diff", "2", "1")}),
        (':p a owl:FunctionalProperty . :a :p 1, "01"^^xsd:int, 1.0', set()),
        (':p a owl:FunctionalProperty . :a :p "1"^^xsd:float, 1', {("dt-diff", '"1"^^xsd:float', "1")}),
    ],
)
def test_literals_that_cannot_be(data, expected):
    # Under all rules: equality and ranges lead there.
    wanted = {(name, term(one), term(other)) for name, one, other in expected}
    found = closure(regime(), statements(data)).violations
    assert wanted <= found
    assert bool(found) == bool(wanted)


@pytest.mark.parametrize("strategy", ["dred", "expiration", "rete"])
def test_every_strategy_knows_values(strategy):
    data = """:p a owl:FunctionalProperty ; rdfs:range xsd:byte . :a :p "07"^^xsd:int, 8 .
        :b :q "x"^^xsd:boolean . :C owl:maxCardinality "1"^^xsd:nonNegativeInteger ;
        owl:onProperty :r . :a a :C ; :r :c, :d"""
    one, other = (closure(regime(), statements(data), each) for each in (strategy, "recompute"))
    assert one == other
    assert {each[0] for each in one.violations} == {"dt-diff", "dt-not-type"}
    assert (term(":c"), term("owl:sameAs"), term(":d")) in one.statements


def test_every_rule_has_a_case():
    tested = {each[0] for each in (*CASES, *FALSE, *DATATYPES)}
    tested |= {"dt-type2-base", "dt-type2-asked", "dt-diff", "dt-not-type"}
    assert {rule.name for rule in regime().rules} == tested


def test_what_has_no_premises():
    axioms = {tuple(map(str, each)) for each in regime().axioms}
    always = "owl:Thing a owl:Class . owl:Nothing a owl:Class . rdfs:label a owl:AnnotationProperty"
    assert statements(f"{always} . xsd:byte a rdfs:Datatype . rdf:PlainLiteral a rdfs:Datatype") <= axioms
    properties = sum(o == term("owl:AnnotationProperty") for _, _, o in axioms)
    datatypes = sum(o == term("rdfs:Datatype") for _, _, o in axioms)
    assert (properties, datatypes, len(axioms)) == (9, 32, 43)
