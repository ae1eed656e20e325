"""What is compiled into what, and what is refused with which reason."""

from __future__ import annotations

import pytest

from compiled.support import PREFIXES, parsed
from ensue.dictionary import Dictionary
from ensue.query.compiled.compile import compile_query
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.compiled.expressions import NotCompiled
from ensue.query.compiled.plan import EachGraph, Match, MatchedIn, Named, Project
from ensue.query.evaluator import TIMESTAMP
from ensue.query.language import parse_query


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("DESCRIBE :a", "DESCRIBE"),
        ("ASK { ?s :p* ?o }", "a property path with '*'"),
        ("ASK { ?s :q/:p+ ?o }", "a property path with '+'"),
        ("ASK { ?s :p? ?o }", "a property path with '?'"),
        ("ASK { ?s !:p ?o }", "a property path with '!'"),
        ("ASK { VALUES () { () } }", "VALUES without variables or without rows"),
        ("ASK { VALUES ?x { } }", "VALUES without variables or without rows"),
        ("ASK { ?s :p ?o FILTER(RAND() > 0.5) }", "RAND() gives another value each time"),
        ("SELECT (BNODE() AS ?b) {}", "BNODE() gives another value each time"),
        ("ASK { ?s :p ?o FILTER(?o = 1 || EXISTS { ?s :q 1 }) }", "EXISTS inside an expression"),
        ("SELECT ?s { ?s :p ?o } GROUP BY ?s HAVING(EXISTS { ?s :q 1 })", "EXISTS elsewhere than in FILTER"),
        ("ASK { ?s :p ?o FILTER EXISTS { ?s :q ?x OPTIONAL { ?x :r ?y } } }", "EXISTS of more than patterns"),
        ("ASK { ?s :p ?o FILTER EXISTS { ?s :q ?x MINUS { ?x :r ?o } } }", "EXISTS of more than patterns"),
        ("ASK { ?s :p ?o FILTER EXISTS { { SELECT ?s { ?s :q ?o } } } }", "EXISTS of more than patterns"),
        # The filter is of an inner group, which has no ?o of its own.
        ("ASK { ?s :p ?o FILTER EXISTS { ?s :q 1 { ?s :r ?x FILTER(?x = ?o) } } }", "EXISTS of more than"),
        ("ASK { ?s :p ?o FILTER EXISTS { BIND(?o AS ?x) } }", "EXISTS of more than patterns"),
        (f"SELECT (<{TIMESTAMP}>(?s, :p, ?o) AS ?t) {{ ?s :p ?o }}", TIMESTAMP),
    ],
)
def test_refused(query, reason):
    with pytest.raises(NotCompiled) as refused:
        compile_query(parsed(query), Dictionary())
    assert reason in refused.value.reason


def test_terms_of_the_query_outlive_a_sweep():
    dictionary = Dictionary()
    compile_query(parsed("ASK { ?s :p 1 VALUES ?s { :a } }"), dictionary)
    dictionary.sweep(used=[])
    assert all(term in dictionary for term in ("<urn:p>", "<urn:a>"))


def test_blank_nodes_are_hidden_variables():
    plan = compile_query(parsed("SELECT ?s { ?s :p _:b }"), Dictionary())
    assert plan.root == Project(Project(Match((("s", 1, "_:b"),)), ("s",)), ("s",))


def test_patterns_are_listed_with_their_graphs():
    query = """ASK {
        ?s :p ?o OPTIONAL { ?o :p ?x }
        GRAPH :g { ?s :p ?y MINUS { ?y :p ?y } }
        GRAPH ?g { ?s :p ?z }
        FILTER EXISTS { ?s :p ?w FILTER NOT EXISTS { GRAPH :h { ?w :p ?w } } }
        { SELECT ?s { ?s :p ?o } }
    }"""
    dictionary = Dictionary()
    p = dictionary.encode("<urn:p>")
    assert set(CompiledEvaluator(parsed(query), dictionary).patterns) == {
        MatchedIn((("s", p, "o"),), None),
        MatchedIn((("o", p, "x"),), None),
        MatchedIn((("s", p, "y"),), "urn:g"),
        MatchedIn((("y", p, "y"),), "urn:g"),
        MatchedIn((("s", p, "z"),), "?g"),
        MatchedIn((("s", p, "w"),), None),
        MatchedIn((("w", p, "w"),), "urn:h"),
    }


def test_graph_variables_by_language():
    window = "FROM NAMED WINDOW :w ON :stream [RANGE PT1S] "
    pattern = "{ WINDOW ?w { ?s :p ?o } GRAPH ?g { ?s :p ?o } }"
    rsp = compile_query(parse_query(f"{PREFIXES} ASK {window} {pattern}"), Dictionary())
    csparql = compile_query(parsed("ASK { GRAPH ?g { ?s :p ?o } }"), Dictionary())
    assert [node.named for node in each_graph(rsp.root)] == [Named.WINDOWS, Named.GRAPHS]
    assert [node.named for node in each_graph(csparql.root)] == [Named.ALL]


def each_graph(node):
    if isinstance(node, EachGraph):
        return [node]
    below = [getattr(node, name) for name in ("child", "left", "right") if hasattr(node, name)]
    below += getattr(node, "parts", ())
    return [found for child in below for found in each_graph(child)]
