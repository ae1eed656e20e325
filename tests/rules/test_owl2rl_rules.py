"""Every rule of OWL 2 RL by itself: the least data for it, and exactly what follows, from the standard's tables.

Each line of CASES is a rule's name, data and what follows in Turtle; for conditions the violation's two terms.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

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

CASES = """
eq-ref        | :a :p :b                                 | :a owl:sameAs :a . :p owl:sameAs :p . :b owl:sameAs :b . owl:sameAs owl:sameAs owl:sameAs
eq-sym        | :a owl:sameAs :b                         | :b owl:sameAs :a
eq-trans      | :a owl:sameAs :b . :b owl:sameAs :c      | :a owl:sameAs :c
eq-rep-s      | :a owl:sameAs :b . :a :p :c              | :b :p :c ; owl:sameAs :b
eq-rep-p      | :p owl:sameAs :q . :a :p :b              | :a :q :b
eq-rep-o      | :a owl:sameAs :b . :c :p :a              | :c :p :b
prp-dom       | :p rdfs:domain :C . :a :p :b             | :a a :C
prp-rng       | :p rdfs:range :C . :a :p :b              | :b a :C
prp-fp        | :p a owl:FunctionalProperty . :a :p :b, :c | :b owl:sameAs :b, :c . :c owl:sameAs :b, :c
prp-ifp       | :p a owl:InverseFunctionalProperty . :a :p :c . :b :p :c | :a owl:sameAs :a, :b . :b owl:sameAs :a, :b
prp-symp      | :p a owl:SymmetricProperty . :a :p :b    | :b :p :a
prp-trp       | :p a owl:TransitiveProperty . :a :p :b . :b :p :c | :a :p :c
prp-spo1      | :p rdfs:subPropertyOf :q . :a :p :b      | :a :q :b
prp-spo2      | :p owl:propertyChainAxiom (:q :r :q) . :a :q :b . :b :r :c . :c :q :d | :a :p :d
prp-eqp1      | :p owl:equivalentProperty :q . :a :p :b  | :a :q :b
prp-eqp2      | :p owl:equivalentProperty :q . :a :q :b  | :a :p :b
prp-inv1      | :p owl:inverseOf :q . :a :p :b           | :b :q :a
prp-inv2      | :p owl:inverseOf :q . :a :q :b           | :b :p :a
prp-key       | :C owl:hasKey (:p :q) . :a a :C ; :p 1 ; :q 2 . :b a :C ; :p 1 ; :q 2 . :c a :C ; :p 1 ; :q 3 | :a owl:sameAs :a, :b . :b owl:sameAs :a, :b . :c owl:sameAs :c
cls-int1      | :C owl:intersectionOf (:D :E) . :a a :D, :E . :b a :D | :a a :C
cls-int2      | :C owl:intersectionOf (:D :E) . :a a :C  | :a a :D, :E
cls-uni       | :C owl:unionOf (:D :E) . :a a :E         | :a a :C
cls-svf1      | :C owl:someValuesFrom :D ; owl:onProperty :p . :a :p :b . :b a :D . :c :p :c | :a a :C
cls-svf2      | :C owl:someValuesFrom owl:Thing ; owl:onProperty :p . :a :p :b | :a a :C
cls-avf       | :C owl:allValuesFrom :D ; owl:onProperty :p . :a a :C ; :p :b | :b a :D
cls-hv1       | :C owl:hasValue :v ; owl:onProperty :p . :a a :C | :a :p :v
cls-hv2       | :C owl:hasValue :v ; owl:onProperty :p . :a :p :v . :b :p :w | :a a :C
cls-maxc2     | :C owl:maxCardinality 1 ; owl:onProperty :p . :a a :C ; :p :b, :c | :b owl:sameAs :b, :c . :c owl:sameAs :b, :c
cls-maxqc3    | :C owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onProperty :p ; owl:onClass :D . :a a :C ; :p :b, :c, :d . :b a :D . :c a :D | :b owl:sameAs :b, :c . :c owl:sameAs :b, :c
cls-maxqc4    | :C owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onProperty :p ; owl:onClass owl:Thing . :a a :C ; :p :b, :c | :b owl:sameAs :b, :c . :c owl:sameAs :b, :c
cls-oo        | :C owl:oneOf (:a :b)                     | :a a :C . :b a :C
cax-sco       | :C rdfs:subClassOf :D . :a a :C          | :a a :D
cax-eqc1      | :C owl:equivalentClass :D . :a a :C      | :a a :D
cax-eqc2      | :C owl:equivalentClass :D . :a a :D      | :a a :C
dt-eq         | :a :p "01"^^xsd:int, "2.50"^^xsd:decimal, "x"^^xsd:token, 7 | :a :p 1, 2.5, "x"
scm-cls       | :C a owl:Class                           | :C rdfs:subClassOf :C, owl:Thing ; owl:equivalentClass :C . owl:Nothing rdfs:subClassOf :C
scm-sco       | :C rdfs:subClassOf :D . :D rdfs:subClassOf :E | :C rdfs:subClassOf :E
scm-eqc1      | :C owl:equivalentClass :D                | :C rdfs:subClassOf :D . :D rdfs:subClassOf :C
scm-eqc2      | :C rdfs:subClassOf :D . :D rdfs:subClassOf :C | :C owl:equivalentClass :D . :D owl:equivalentClass :C
scm-op        | :p a owl:ObjectProperty                  | :p rdfs:subPropertyOf :p ; owl:equivalentProperty :p
scm-dp        | :p a owl:DatatypeProperty                | :p rdfs:subPropertyOf :p ; owl:equivalentProperty :p
scm-spo       | :p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r | :p rdfs:subPropertyOf :r
scm-eqp1      | :p owl:equivalentProperty :q             | :p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p
scm-eqp2      | :p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p | :p owl:equivalentProperty :q . :q owl:equivalentProperty :p
scm-dom1      | :p rdfs:domain :C . :C rdfs:subClassOf :D | :p rdfs:domain :D
scm-dom2      | :q rdfs:domain :C . :p rdfs:subPropertyOf :q | :p rdfs:domain :C
scm-rng1      | :p rdfs:range :C . :C rdfs:subClassOf :D | :p rdfs:range :D
scm-rng2      | :q rdfs:range :C . :p rdfs:subPropertyOf :q | :p rdfs:range :C
scm-hv        | :C owl:hasValue :v ; owl:onProperty :p . :D owl:hasValue :v ; owl:onProperty :q . :p rdfs:subPropertyOf :q | :C rdfs:subClassOf :D
scm-svf1      | :C owl:someValuesFrom :E ; owl:onProperty :p . :D owl:someValuesFrom :F ; owl:onProperty :p . :E rdfs:subClassOf :F | :C rdfs:subClassOf :D
scm-svf2      | :C owl:someValuesFrom :E ; owl:onProperty :p . :D owl:someValuesFrom :E ; owl:onProperty :q . :p rdfs:subPropertyOf :q | :C rdfs:subClassOf :D
scm-avf1      | :C owl:allValuesFrom :E ; owl:onProperty :p . :D owl:allValuesFrom :F ; owl:onProperty :p . :E rdfs:subClassOf :F | :C rdfs:subClassOf :D
scm-avf2      | :C owl:allValuesFrom :E ; owl:onProperty :p . :D owl:allValuesFrom :E ; owl:onProperty :q . :p rdfs:subPropertyOf :q | :D rdfs:subClassOf :C
scm-int       | :C owl:intersectionOf (:D :E)            | :C rdfs:subClassOf :D, :E
scm-uni       | :C owl:unionOf (:D :E)                   | :D rdfs:subClassOf :C . :E rdfs:subClassOf :C
"""

FALSE = """
eq-diff1      | :a owl:sameAs :b ; owl:differentFrom :b  | :a :b
eq-diff2      | [] a owl:AllDifferent ; owl:members (:a :b :c) . :a owl:sameAs :c | :a :c
eq-diff3      | [] a owl:AllDifferent ; owl:distinctMembers (:a :b) . :a owl:sameAs :b | :a :b
prp-irp       | :p a owl:IrreflexiveProperty . :a :p :a  | :a :p
prp-asyp      | :p a owl:AsymmetricProperty . :a :p :b . :b :p :a | :a :p, :b :p
prp-pdw       | :p owl:propertyDisjointWith :q . :a :p :b ; :q :b | :a :p
prp-adp       | [] a owl:AllDisjointProperties ; owl:members (:p :q :r) . :a :q :b ; :r :b | :a :q
prp-npa1      | [] owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetIndividual :b . :a :p :b | :a :p
prp-npa2      | [] owl:sourceIndividual :a ; owl:assertionProperty :p ; owl:targetValue 5 . :a :p 5 | :a :p
cls-nothing2  | :a a owl:Nothing                         | :a owl:Nothing
cls-com       | :C owl:complementOf :D . :a a :C, :D     | :a :C
cls-maxc1     | :C owl:maxCardinality "0"^^xsd:nonNegativeInteger ; owl:onProperty :p . :a a :C ; :p :b | :a :C
cls-maxqc1    | :C owl:maxQualifiedCardinality 0 ; owl:onProperty :p ; owl:onClass :D . :a a :C ; :p :b . :b a :D | :a :C
cls-maxqc2    | :C owl:maxQualifiedCardinality 0 ; owl:onProperty :p ; owl:onClass owl:Thing . :a a :C ; :p :b | :a :C
cax-dw        | :C owl:disjointWith :D . :a a :C, :D     | :a :C
cax-adc       | [] a owl:AllDisjointClasses ; owl:members (:C :D :E) . :a a :D, :E | :a :D
"""


def lines(table):
    return [tuple(map(str.strip, line.split("|"))) for line in table.strip().splitlines()]


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


@pytest.mark.parametrize(("name", "data", "expected"), lines(CASES), ids=[each[0] for each in lines(CASES)])
def test_a_rule(name, data, expected):
    stated = statements(data)
    assert closure(alone(name), stated).statements - stated == statements(expected) - stated


@pytest.mark.parametrize(("name", "data", "expected"), lines(FALSE), ids=[each[0] for each in lines(FALSE)])
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
    data = """:p a owl:FunctionalProperty ; rdfs:range xsd:byte . :a :p "07"^^xsd:int, 8 . :b :q "x"^^xsd:boolean .
        :C owl:maxCardinality "1"^^xsd:nonNegativeInteger ; owl:onProperty :r . :a a :C ; :r :c, :d"""
    one, other = (closure(regime(), statements(data), each) for each in (strategy, "recompute"))
    assert one == other
    assert {each[0] for each in one.violations} == {"dt-diff", "dt-not-type"}
    assert (term(":c"), term("owl:sameAs"), term(":d")) in one.statements


def test_every_rule_has_a_case():
    tested = {each[0] for each in (*lines(CASES), *lines(FALSE), *DATATYPES)}
    tested |= {"dt-type2-base", "dt-type2-asked", "dt-diff", "dt-not-type"}
    assert {rule.name for rule in regime().rules} == tested


def test_what_has_no_premises():
    axioms = {tuple(map(str, each)) for each in regime().axioms}
    always = "owl:Thing a owl:Class . owl:Nothing a owl:Class . rdfs:label a owl:AnnotationProperty"
    assert statements(f"{always} . xsd:byte a rdfs:Datatype . rdf:PlainLiteral a rdfs:Datatype") <= axioms
    properties = sum(o == term("owl:AnnotationProperty") for _, _, o in axioms)
    datatypes = sum(o == term("rdfs:Datatype") for _, _, o in axioms)
    assert (properties, datatypes, len(axioms)) == (9, 32, 43)
