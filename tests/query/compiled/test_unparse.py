"""Expressions as text again: read back, they mean the same."""

from __future__ import annotations

import os
from random import Random

import pyoxigraph as ox
import pytest
from rdflib.plugins.sparql.parser import BuiltInCall, UnaryExpression
from rdflib.plugins.sparql.parserutils import Comp, CompValue
from rdflib.term import BNode

from compiled.expression_cases import FORMS, PREFIXES, TERMS, node_of
from ensue.query.compiled.unparse import NotCompiled, term_text, unparse, variables_of
from ensue.terms import XSD

SEED = int(os.environ.get("ENSUE_SEED", "1"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?a || ?b && !?c", "(?a || (?b && (! ?c)))"),
        ("?a - ?b - -?c", "((?a - ?b) - (- ?c))"),
        ("?a * ?b / ?c + ?a", "(((?a * ?b) / ?c) + ?a)"),
        ("?a NOT IN (<urn:a>, ?b)", "(?a NOT IN (<urn:a>, ?b))"),
        ("?a IN ()", "(?a IN ())"),
        ("?a IN (rdf:nil)", "(?a IN (<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>))"),
        ("01", f'"01"^^<{XSD}integer>'),
        ("1.0", f'"1.0"^^<{XSD}decimal>'),
        ("true", f'"true"^^<{XSD}boolean>'),
        ("'x'@EN", '"x"@en'),
        ("'a\"\\n\\\\u0041'", '"a\\"\\n\\\\u0041"'),
        ("REPLACE(?a, 'x', '', 'i')", 'REPLACE(?a, "x", "", "i")'),
        ("SUBSTR(?a, STRLEN(?b))", "SUBSTR(?a, STRLEN(?b))"),
        ("COALESCE(?a, ?b)", "COALESCE(?a, ?b)"),
        ("xsd:double(?a)", f"<{XSD}double>(?a)"),
        ("<urn:f>()", "<urn:f>()"),
    ],
)
def test_the_text(text, expected):
    assert unparse(node_of(text)) == expected


def test_variables_in_the_order_of_the_text():
    assert list(variables_of(node_of("IF(?c IN (?b, 1), REGEX(?a, ?b), -?c)"))) == ["c", "b", "a", "b", "c"]


@pytest.mark.parametrize("text", FORMS)
def test_it_means_the_same(text):
    print(f"seed {SEED} (ENSUE_SEED)")
    random = Random(f"{SEED} {text}")
    sparql = [term for term in TERMS if not term.startswith(("_:", "<<"))]
    rows = [[random.choice([*sparql, "UNDEF"]) for _ in range(3)] for _ in range(200)]
    assert results(unparse(node_of(text)), rows) == results(text, rows)


def results(text, rows):
    table = " ".join(f"({' '.join(row)})" for row in rows)
    query = f"SELECT (({text}) AS ?r) {{ VALUES (?a ?b ?c) {{ {table} }} }}"
    return [str(row["r"]) for row in ox.Store().query(query, prefixes=PREFIXES, base_iri="http://base/")]


REFUSED = {f"Builtin_{name}" for name in ("RAND", "NOW", "UUID", "STRUUID", "BNODE", "EXISTS", "NOTEXISTS")}


def test_every_node_of_the_grammar_has_a_form():
    BuiltInCall.streamline()
    called = {part.name for part in BuiltInCall.exprs if isinstance(part, Comp)}
    unary = {part.name for part in UnaryExpression.exprs if isinstance(part, Comp)}
    used = {name for text in FORMS for name in names(node_of(text))}
    assert {name for name in called | unary if name.startswith(("Builtin_", "Unary"))} - REFUSED <= used
    assert len(called) > 50


def names(node):
    if isinstance(node, CompValue):
        yield node.name
        for part in node.values():
            yield from names(part)
    elif isinstance(node, list):
        for part in node:
            yield from names(part)


def test_what_cannot_be_text():
    with pytest.raises(NotCompiled, match="BNode"):
        term_text(BNode())
    with pytest.raises(NotCompiled, match="TriplesBlock"):
        unparse(CompValue("TriplesBlock"))
