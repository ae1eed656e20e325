"""ASK and CONSTRUCT, stamps, maintained patterns, and one evaluation after another."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from compiled.support import answers, dataset, parsed, quads, short
from ensue.dictionary import Dictionary
from ensue.model import FOREVER
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.dataset import Columns, Dataset, Solutions
from ensue.query.language import parse_query

DATA = ':a :p :b, :c . :b :q "x" . :c :q "x" .'


def triples(sparql, turtle=DATA):
    return [tuple(map(short, row)) for row in answers(sparql, quads(turtle)).rows]


@pytest.mark.parametrize(("pattern", "truth"), [("?s :p :b", True), ("?s :q :b", False), ("", True)])
def test_ask(pattern, truth):
    assert answers(f"ASK {{ {pattern} }}", quads(DATA)).truth is truth


def test_construct_gives_each_triple_once():
    assert triples("CONSTRUCT { :z :has ?o } { ?s :q ?o }") == [("z", "has", "x")]


def test_construct_leaves_out_what_is_no_triple():
    template = "{ ?o :of ?s . ?s ?o :z . ?s :maybe ?none . ?s :fine ?o }"
    found = triples(f"CONSTRUCT {template} {{ ?s :q ?o }}")
    assert sorted(found) == [("b", "fine", "x"), ("c", "fine", "x")]


def test_construct_has_a_fresh_node_for_each_solution():
    query = "CONSTRUCT { ?s :via _:n . _:n :to ?o } { ?s :p ?o }"
    found = triples(query)
    nodes = {s for s, p, _ in found if p == "to"}
    assert len(found) == 4
    assert len(nodes) == 2
    assert nodes == {o for _, p, o in found if p == "via"}


def test_fresh_nodes_of_equal_solutions_differ_and_stay_from_one_evaluation_to_the_next():
    query = "CONSTRUCT { ?s :n _:n } { { SELECT ?s { ?s :p ?o } } }"
    first, again = triples(query), triples(query, ":b :p :c . " + DATA)
    assert len(set(first)) == 2
    assert set(first) < set(again)


def test_short_construct_and_an_empty_template():
    assert triples("CONSTRUCT WHERE { :a :p ?o }") == [("a", "p", "b"), ("a", "p", "c")]
    assert triples("CONSTRUCT { } WHERE { :a :p ?o }") == []


@pytest.mark.parametrize(
    ("query", "stamps"),
    [
        ("SELECT ?x { :a :p ?x }", {("b",): 10, ("c",): 40}),
        ("SELECT ?x { :a :p ?x . ?x :q ?y }", {("b",): 10, ("c",): 30}),
        ("SELECT DISTINCT ?y { :a :p ?x . ?x :q ?y }", {("x",): 30}),
        ("SELECT ?y { VALUES ?y { 1 } }", {("1",): FOREVER}),
        ("SELECT ?x { :a :p ?x } ORDER BY ?x", {("b",): 10, ("c",): 40}),
        ("CONSTRUCT { :z :q ?y } { ?x :q ?y }", {("z", "q", "x"): 30}),
        ("ASK { ?x :p ?y }", {(): 40}),
        ("SELECT ?x { :a :p ?x OPTIONAL { ?x :q ?y } }", None),
        ("SELECT ?x { :a :p ?x MINUS { ?x :r ?y } }", None),
        ("SELECT ?x { :a :p ?x FILTER EXISTS { ?x :q ?y } }", None),
        ("SELECT (COUNT(*) AS ?n) { :a :p ?x }", None),
        ("SELECT ?x { :a :p ?x } LIMIT 1", None),
        # What is joined to something without stamps has none.
        ("SELECT ?x { :a :p ?x { SELECT ?x { ?x :q ?y } LIMIT 9 } }", None),
        ("SELECT ?x { { :a :p ?x } UNION { ?x :q ?y MINUS { ?x :r ?y } } }", None),
    ],
)
def test_stamps(query, stamps):
    found = answers(query, quads(DATA), stamps=[10, 40, 20, 30])
    rows = [tuple(map(short, row)) for row in found.rows]
    assert (None if found.stamps is None else dict(zip(rows, found.stamps, strict=True))) == stamps


def test_what_is_still_and_what_is_live_is_one_graph():
    statements = quads(DATA)
    found = answers(
        "SELECT ?y { :a :p ?x . ?x :q ?y }", statements, still=lambda quad: quad in statements[:3]
    )
    assert len(found.rows) == 2
    assert sorted(found.stamps) == [3, FOREVER]


def test_facts_that_are_gone_are_not_held():
    dictionary = Dictionary()
    evaluator = CompiledEvaluator(parsed("ASK { :a :p ?x }"), dictionary)
    before, after = (dataset(dictionary, quads(":a :p :b ."), still=lambda quad: True) for _ in range(2))
    held = weakref.ref(before.default.still.s)
    evaluator.evaluate(before)
    del before
    assert held() is not None
    evaluator.evaluate(after)
    assert held() is None


def test_one_evaluation_after_another():
    dictionary = Dictionary()
    evaluator = CompiledEvaluator(parsed("SELECT ?x { :a :p ?x }"), dictionary)
    parts = [quads(":a :p :b ."), quads(":a :p :c ."), []]
    datasets = [dataset(dictionary, part, still=lambda quad: True) for part in parts]
    for at in (0, 1, 0, 2, 2, 1):
        found = evaluator.evaluate(datasets[at]).rows
        assert found == [(str(quad.object),) for quad in parts[at]]


class MaintainedGraph:
    """A graph that knows solutions of patterns with one predicate, and holds no facts to find them in."""

    still = live = Columns.none()

    def __init__(self, predicate, known):
        self.predicate, self.known = predicate, known

    def solutions(self, patterns):
        return self.known if patterns[0][1] == self.predicate else None


def test_maintained_solutions_are_taken_as_they_are():
    dictionary = Dictionary()
    evaluator = CompiledEvaluator(parsed("SELECT ?x { ?x :p _:b OPTIONAL { ?x :q ?y } }"), dictionary)
    a, b, p = map(dictionary.encode, ("<urn:a>", "<urn:b>", "<urn:p>"))
    columns = {"x": np.array([a, a], np.int32), "_:b": np.array([a, b], np.int32)}
    graph = MaintainedGraph(p, Solutions(columns, np.array([7, 8], np.int64)))
    assert evaluator.evaluate(Dataset(dictionary, graph)).rows == [("<urn:a>",), ("<urn:a>",)]


def test_windows_and_graphs_are_kept_apart_in_rsp_ql():
    text = """PREFIX : <urn:> SELECT ?w ?g FROM NAMED :g FROM NAMED WINDOW :w ON :stream [RANGE PT1S] {
        WINDOW ?w { ?s :p ?o } GRAPH ?g { ?s :p ?u } }"""
    dictionary = Dictionary()
    evaluator = CompiledEvaluator(parse_query(text), dictionary)
    statements = quads(":w { :a :p 1 } :g { :a :p 2 }")
    found = evaluator.evaluate(dataset(dictionary, statements, windows=["urn:w"]))
    assert found.rows == [("<urn:w>", "<urn:g>")]
    both = CompiledEvaluator(parsed("SELECT ?g { GRAPH ?g { ?s :p ?o } } ORDER BY ?g"), dictionary)
    found = both.evaluate(dataset(dictionary, statements, windows=["urn:w"]))
    assert found.rows == [("<urn:g>",), ("<urn:w>",)]
