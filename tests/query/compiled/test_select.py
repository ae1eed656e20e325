"""Each operator of SELECT by hand: what SPARQL's bags have in them, unbound variables included."""

from __future__ import annotations

from collections import Counter

import pytest

from compiled.support import rows

PEOPLE = """
    :ann :age 30 ; :knows :bob, :cy . :bob :age 20 ; :knows :cy ; :mail "b@x" . :cy :age 40 .
    :cy :likes :cy .
"""


def bag(*expected):
    """Rows written as words; `-` is a variable without a value."""
    return Counter(tuple(None if cell == "-" else cell for cell in row.split()) for row in expected)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT ?x ?y { ?x :knows ?y }", bag("ann bob", "ann cy", "bob cy")),
        ("SELECT ?x { ?x :likes ?x }", bag("cy")),
        ("SELECT ?x { ?x :knows ?x }", bag()),
        ("SELECT ?p { :bob ?p :cy }", bag("knows")),
        ("SELECT ?x { :bob :knows :cy . ?x :age 20 }", bag("bob")),
        ("SELECT ?x { :cy :knows :bob . ?x :age 20 }", bag()),
        ("SELECT ?x ?y { ?x :age 20 . ?y :likes [] }", bag("bob cy")),
        ("SELECT ?x ?z { ?x :knows ?y . ?y :age ?z }", bag("ann 20", "ann 40", "bob 40")),
        # As often as the hidden node has values.
        ("SELECT ?x { ?x :knows [] }", bag("ann", "ann", "bob")),
        ("SELECT DISTINCT ?x { ?x :knows [] }", bag("ann", "bob")),
        ("SELECT ?z { ?x :knows _:b . _:b :age ?z }", bag("20", "40", "40")),
        ("SELECT ?x ?z { ?x :knows/:knows ?z }", bag("ann cy")),
        ("SELECT ?x { ?x ^:knows ?y }", bag("bob", "cy", "cy")),
        ("SELECT ?x { :cy ^(:knows/:knows) ?x }", bag("ann")),
        ("SELECT ?x { ?x :knows|:likes :cy }", bag("ann", "bob", "cy")),
        # Alternatives keep duplicates, as UNION does.
        ("SELECT ?x { ?x :knows|:knows :cy }", bag("ann", "ann", "bob", "bob")),
        ("SELECT ?x ?a { ?x :knows/(:age|:mail) ?a }", bag("ann 20", "ann b@x", "ann 40", "bob 40")),
        ("SELECT ?x { _:b :likes _:b . ?x :knows|:age _:b }", bag("ann", "bob")),
        ("SELECT * {}", Counter([()])),
        ("SELECT * { ?x :nothing ?y }", bag()),
    ],
)
def test_basic_graph_patterns(query, expected):
    assert Counter(rows(query, PEOPLE)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT ?x ?m { ?x :age ?a OPTIONAL { ?x :mail ?m } }", bag("ann -", "bob b@x", "cy -")),
        # The condition of OPTIONAL sees both sides, and a failing one leaves the left side alone.
        (
            "SELECT ?x ?y { ?x :age ?a OPTIONAL { ?x :knows ?y . ?y :age ?b FILTER(?b > ?a) } }",
            bag("ann cy", "bob cy", "cy -"),
        ),
        (
            "SELECT ?x ?y { ?x :age ?a OPTIONAL { ?x :knows ?y FILTER EXISTS { ?y :mail ?m } } }",
            bag("ann bob", "bob -", "cy -"),
        ),
        # A variable without a value is compatible with every value of it.
        ("SELECT ?x ?m { ?x :knows :cy OPTIONAL { ?x :mail ?m } ?y :mail ?m }", bag("ann b@x", "bob b@x")),
        (
            "SELECT ?x ?y { { ?x :likes ?z } UNION { ?y :mail ?m } ?x :age ?a }",
            bag("cy -", "ann bob", "bob bob", "cy bob"),
        ),
        ("SELECT ?x { { ?x :likes ?y } UNION { ?x :likes ?y } }", bag("cy", "cy")),
        ("SELECT ?x ?y { VALUES (?x ?y) { (:ann UNDEF) (UNDEF :cy) } ?x :knows ?y }",
         bag("ann bob", "ann cy", "ann cy", "bob cy")),
        ("SELECT ?x { VALUES ?x { :ann :ann } ?x :age 30 }", bag("ann", "ann")),
        ("SELECT ?x { ?x :age ?a } VALUES ?a { 20 40 }", bag("bob", "cy")),
    ],
)  # fmt: skip
def test_joins(query, expected):
    assert Counter(rows(query, PEOPLE)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT ?x { ?x :age ?a MINUS { ?x :knows ?y } }", bag("cy")),
        # Without a variable in common nothing is taken away.
        ("SELECT ?x { ?x :age ?a MINUS { ?y :knows ?z } }", bag("ann", "bob", "cy")),
        # ... in common by its values, row by row.
        (
            "SELECT ?x ?m { ?x :age ?a OPTIONAL { ?x :mail ?m } MINUS { ?y :mail ?m } }",
            bag("ann -", "cy -"),
        ),
        ("SELECT ?x { ?x :age ?a FILTER EXISTS { ?x :knows ?y } }", bag("ann", "bob")),
        ("SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?x :knows ?y } }", bag("cy")),
        # Unlike MINUS, EXISTS needs no variable in common.
        ("SELECT ?x { ?x :age ?a FILTER EXISTS { ?y :mail ?z } }", bag("ann", "bob", "cy")),
        ("SELECT ?x { ?x :age ?a FILTER EXISTS { ?y :phone ?z } }", bag()),
        # The filter inside sees the value from outside.
        ("SELECT ?x { ?x :age ?a FILTER EXISTS { ?x :knows ?y . ?y :age ?b FILTER(?b < ?a) } }", bag("ann")),
        (
            "SELECT ?x { ?x :age ?a FILTER NOT EXISTS { ?x :knows ?y FILTER NOT EXISTS { ?y :mail ?m } } }",
            bag("cy"),
        ),
        (
            "SELECT ?x { ?x :age ?a FILTER(?a > 20 && EXISTS { { ?x :mail ?m } UNION { ?x :knows ?y } }) }",
            bag("ann"),
        ),
        ("SELECT ?x { ?x :age ?a FILTER(?m = 1) }", bag()),
        ("SELECT ?x ?b { ?x :age ?a BIND(?a + 1 AS ?b) FILTER(?b > 30) }", bag("ann 31", "cy 41")),
        ("SELECT ?x ?b { ?x :age 20 BIND(?x + 1 AS ?b) }", bag("bob -")),
        ("SELECT (?a / 10 AS ?b) (?b + 1 AS ?c) { :ann :age ?a }", bag("3 4")),
    ],
)
def test_conditions(query, expected):
    assert Counter(rows(query, PEOPLE)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT (COUNT(*) AS ?n) { ?x :knows ?y }", bag("3")),
        ("SELECT (COUNT(*) AS ?n) { ?x :nothing ?y }", bag("0")),
        ("SELECT ?x (COUNT(*) AS ?n) { ?x :nothing ?y } GROUP BY ?x", bag()),
        ("SELECT ?x (COUNT(?y) AS ?n) { ?x :age ?a OPTIONAL { ?x :knows ?y } } GROUP BY ?x",
         bag("ann 2", "bob 1", "cy 0")),
        ("SELECT ?m (COUNT(*) AS ?n) { ?x :age ?a OPTIONAL { ?x :mail ?m } } GROUP BY ?m",
         bag("- 2", "b@x 1")),
        ("SELECT ?x (SUM(?b) + 1 AS ?n) { ?x :knows/:age ?b } GROUP BY ?x HAVING(COUNT(*) > 1)",
         bag("ann 61")),
        ("SELECT (COUNT(*) AS ?n) { ?x :knows ?y } GROUP BY (STR(?x))", bag("2", "1")),
        ("SELECT ?k (COUNT(*) AS ?n) { ?x :age ?a } GROUP BY (?a > 20 AS ?k) (1 + 1)",
         bag("true 2", "false 1")),
        ("SELECT (COUNT(*) AS ?n) { ?x :age ?a } GROUP BY isIRI(?x) (?a > 20)", bag("2", "1")),
        ("SELECT (COUNT(*) AS ?n) { ?x :age ?a } GROUP BY (?a < 30) (?a > 30)", bag("1", "1", "1")),
        ("SELECT (COUNT(DISTINCT *) AS ?n) { { ?x :knows ?y } UNION { ?x :knows ?y } }", bag("3")),
        ("SELECT ?n { { SELECT ?x (COUNT(*) AS ?n) { ?x :knows ?y } GROUP BY ?x } ?x :mail ?m }", bag("1")),
        # A subquery shows only what it selects.
        ("SELECT ?x ?a { ?x :age 20 { SELECT ?y { ?y :age ?a } } }", bag("bob -", "bob -", "bob -")),
    ],
)  # fmt: skip
def test_aggregates_and_subqueries(query, expected):
    assert Counter(rows(query, PEOPLE)) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT ?x { ?x :age ?a } ORDER BY ?a", "bob ann cy"),
        ("SELECT ?x { ?x :age ?a } ORDER BY DESC(?a) LIMIT 2", "cy ann"),
        ("SELECT ?x { ?x :age ?a } ORDER BY ?a OFFSET 1", "ann cy"),
        ("SELECT ?x { ?x :age ?a } ORDER BY ?a LIMIT 0", ""),
        ("SELECT ?x { ?x :age ?a } ORDER BY ?a OFFSET 7 LIMIT 1", ""),
        ("SELECT DISTINCT ?x { ?x :knows/:age ?a } ORDER BY DESC(?a) ?x", "ann bob"),
        ("SELECT ?x { ?x :age ?a OPTIONAL { ?x :mail ?m } } ORDER BY DESC(?m) ?x", "bob ann cy"),
        ("SELECT REDUCED ?x { ?x :knows ?y } ORDER BY DESC(?x)", "bob ann ann"),
        # The key is not selected; the other name is one of the SELECT clause, beside an aggregate.
        ("SELECT (COUNT(*) AS ?n) { ?x :knows ?y } GROUP BY ?x ORDER BY ?x", "2 1"),
        ("SELECT (COUNT(*) AS ?n) { ?x :knows ?y } GROUP BY ?x ORDER BY ?n SUM(?y)", "1 2"),
        ("SELECT ?x { { SELECT ?x { ?x :age ?a } ORDER BY DESC(?a) LIMIT 1 } }", "cy"),
    ],
)
def test_order(query, expected):
    assert [row[0] for row in rows(query, PEOPLE)] == expected.split()


GRAPHS = ":a :p 1 . :g { :a :p 2 . :b :p 3 } :h { :b :p 2 }"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT ?s { ?s :p ?o }", bag("a")),
        ("SELECT ?s { GRAPH :g { ?s :p ?o } }", bag("a", "b")),
        ("SELECT ?s { GRAPH :nowhere { ?s :p ?o } }", bag()),
        ("SELECT ?g ?s { GRAPH ?g { ?s :p ?o } }", bag("g a", "g b", "h b")),
        ("SELECT ?g { GRAPH ?g {} }", bag("g", "h")),
        ("SELECT ?s { GRAPH :nowhere { VALUES ?s { :a } } }", bag()),
        ("SELECT ?g ?n { GRAPH ?g { { SELECT (COUNT(*) AS ?n) { ?s :p ?o } } } }", bag("g 2", "h 1")),
        ("SELECT ?g ?s { GRAPH ?g { ?s :p ?o MINUS { ?x :p 3 } } }", bag("g a", "g b", "h b")),
        # Inside, ?g has no value yet.
        ("SELECT ?g ?s { GRAPH ?g { ?s :p ?o FILTER(!BOUND(?g)) } }", bag("g a", "g b", "h b")),
        ("SELECT ?g { VALUES ?g { :h :i } GRAPH ?g { ?s :p ?o } }", bag("h")),
        ("SELECT ?s { ?s :p ?o FILTER EXISTS { GRAPH ?g { ?s :p ?u } FILTER(?u > ?o) } }", bag("a")),
        ("SELECT ?s { GRAPH :g { ?s :p ?o FILTER NOT EXISTS { ?s :p 3 } } }", bag("a")),
        ("SELECT ?g ?h { GRAPH ?g { ?s :p ?o } GRAPH ?h { ?s :p ?u } FILTER(?g != ?h) }", bag("g h", "h g")),
    ],
)
def test_graphs(query, expected):
    assert Counter(rows(query, GRAPHS)) == expected
