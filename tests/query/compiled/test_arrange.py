"""How joins are arranged: no cross product that is cut down later, and the same solutions as before."""

from __future__ import annotations

import os
import tracemalloc
from collections import Counter
from random import Random

import pytest

from compiled.querygen import GRAPHS, PREDICATES, VARIABLES, QueryGenerator
from compiled.support import answers, oxigraph_rows, parsed, quads
from ensue.dictionary import Dictionary
from ensue.query.compiled import compile
from ensue.query.compiled.compile import compile_query
from ensue.query.compiled.expressions import NotCompiled
from ensue.query.compiled.plan import (
    Filter,
    InGraph,
    Join,
    LeftJoin,
    Match,
    Product,
    Project,
    basic_patterns,
)
from ensue.reasoner import Reasoner

SEED = int(os.environ.get("ENSUE_SEED", "1"))
QUERIES = int(os.environ.get("ENSUE_GROUP_QUERIES", "300"))
NAMED = [f"urn{name}" for name in GRAPHS]
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

# -- what is combined -------------------------------------------------------------------------------------

THREE = "?p1 a :C . ?p2 a :C . ?p3 a :C"
LINKS = "{ ?a :of1 ?p1 } { ?b :of2 ?p2 } { ?c :of3 ?p3 }"
APART = {
    "groups": f"{THREE} {LINKS}",
    "groups first": f"{LINKS} {THREE}",
    "every pattern a group": f"{{ ?p1 a :C }} {{ ?p2 a :C }} {{ ?p3 a :C }} {LINKS}",
    "filters inside": f"{{ {THREE} FILTER(?p1 != ?p2 && ?p2 != ?p3) }} {LINKS}",
    "filters across": f"{THREE} {LINKS} FILTER(STR(?p1) < STR(?p2))",
    "BIND inside": f"{{ {THREE} BIND(STR(?p1) AS ?s) }} {LINKS} FILTER(?s != 'x')",
    "OPTIONAL inside": f"{{ {THREE} OPTIONAL {{ ?p1 :name ?n }} }} {LINKS}",
    "MINUS inside": f"{{ {THREE} MINUS {{ ?p1 :name 'C7' }} }} {LINKS}",
    "EXISTS inside": f"{{ {THREE} FILTER NOT EXISTS {{ ?p1 :name 'C7' }} }} {LINKS}",
    "inside OPTIONAL": f"{LINKS} OPTIONAL {{ {THREE} }}",
    "inside OPTIONAL with a filter": f"{LINKS} OPTIONAL {{ {THREE} FILTER(?a != ?p1) }}",
    "inside MINUS": f"{LINKS} MINUS {{ {THREE} }}",
    "inside EXISTS": f"{LINKS} FILTER EXISTS {{ {THREE} }}",
    "inside UNION": f"{LINKS} {{ {{ {THREE} }} UNION {{ {THREE} FILTER(?p1 != ?p3) }} }}",
    "a subquery": f"{{ SELECT ?p1 ?p2 ?p3 {{ {THREE} . ?p1 :name ?hidden }} }} {LINKS}",
    "blank nodes": f"?p1 :name _:b . ?p2 a :C . ?p3 a :C {LINKS}",
    "a named graph": f"GRAPH :g {{ {THREE} }} {LINKS}",
    "any graph": f"GRAPH ?g {{ {THREE} }} {LINKS}",
    "links in a named graph": f"{THREE} GRAPH :g {{ {LINKS} }}",
    "VALUES": f"{THREE} VALUES (?p1 ?p2 ?p3) {{ (:c1 :c2 :c3) (:c4 UNDEF :c6) }} ?b :of2 ?p2",
}
"""Three patterns without a common variable, of each of which the rest of the query leaves next to nothing."""

FEW, MANY = 10, 300
"""Things of the class, of which nine have a link."""

ROOM = 5_000_000
"""Bytes; all combinations of three of MANY would take 100 million in each column."""


def data(count):
    """Things in the default graph and in a named one, and links to some of them."""
    things = " ".join(f":c{at} a :C ; :name 'C{at}' ." for at in range(count))
    links = " ".join(f":x{at} :of{at % 3 + 1} :c{at} ." for at in range(9))
    return quads(f"{{ {things} {links} }} :g {{ {things} {links} }}")


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_what_belongs_together_is_joined_first(body):
    query, statements, peaks = f"SELECT * {{ {body} }}", data(FEW), []
    found = answers(query, statements, named=["urn:g"])
    names, expected = oxigraph_rows(query, statements, ["urn:g"])
    order = [found.variables.index(name) for name in names]
    assert Counter(tuple(row[at] for at in order) for row in found.rows) == expected
    for count in (FEW, MANY):
        tracemalloc.start()
        try:
            found = answers(query, data(count), named=["urn:g"])
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert len(found.rows) == expected.total()
    assert peaks[1] < ROOM


def test_no_cross_product_is_maintained():
    """The kernel finds each link's thing; all combinations would be 27 million probes."""
    reasoner = Reasoner(strategy="expiration")
    query = f"PREFIX : <urn:> SELECT ?a ?b ?c FROM STREAM <urn:s> [RANGE 10s STEP 1s] {{ {THREE} {LINKS} }}"
    reasoner.register(query)
    rows = [(at, f"<urn:c{at}>", f"<{TYPE}>", "<urn:C>") for at in range(1, MANY + 1)]
    rows += [(MANY + at, f"<urn:x{at}>", f"<urn:of{at % 3 + 1}>", f"<urn:c{at}>") for at in range(1, 10)]
    reasoner.push("urn:s", rows)
    [first, *_] = reasoner.advance(to=1000)
    assert len(first.answers.rows) == 27
    assert reasoner.metrics()["probes"] < 10 * len(rows)


# -- what becomes of a plan -------------------------------------------------------------------------------


def root(body):
    """What is below SELECT *."""
    plan = compile_query(parsed(f"SELECT * {{ {body} }}"), Dictionary())
    assert isinstance(plan.root, Project)
    return plan.root.child


def test_nested_groups_become_one_pattern():
    found = root("?s :p ?o { ?o :q ?x } { ?x :r ?y }")
    assert isinstance(found, Match)
    assert [pattern[0] for pattern in found.patterns] == ["s", "o", "x"]


def test_patterns_that_share_no_variable_are_kept_apart():
    found = root("?a :p ?b . ?c :q ?d . ?b :r ?e")
    assert isinstance(found, Product)
    assert [len(part.patterns) for part in found.parts] == [2, 1]


def test_patterns_without_variables_go_with_others():
    assert isinstance(root(":a :p :b . ?c :q ?d"), Match)


def test_the_same_graph_is_one_pattern_and_others_are_joined():
    found = root("GRAPH :g { ?a :p ?b } GRAPH :g { ?b :p ?c } ?c :p ?d")
    assert isinstance(found, Join)
    assert {type(part) for part in found.parts} == {InGraph, Match}


def test_many_groups_stay_as_they_are_written():
    """To plan the join of a hundred patterns takes the kernel seconds, to join their solutions nothing."""
    few, many = (root(" ".join(f"{{ ?a :p ?b{at} }}" for at in range(count))) for count in (20, 100))
    assert isinstance(few, Match)
    assert isinstance(many, Join)
    assert len(many.parts) == 100


def test_a_filter_sees_its_own_group_only():
    """?x may have no value in the inner group, and then has none for the filter: it stays there."""
    found = root("{ ?a :p ?b OPTIONAL { ?b :q ?x } FILTER(BOUND(?x)) } ?x :r ?y")
    assert isinstance(found, Join)
    assert any(isinstance(part, Filter) for part in found.parts)
    assert isinstance(root("{ ?a :p ?b FILTER(?b > 1) } ?b :r ?y"), Filter)


def test_an_optional_group_goes_on_where_it_was_if_the_rest_could_fill_it():
    found = root("{ ?a :p 1 . ?b :p 2 OPTIONAL { ?a :q ?x } } ?x :r ?a . ?x :r ?b")
    assert isinstance(found, Join)
    later = root("{ ?a :p 1 . ?b :p 2 OPTIONAL { ?a :q ?x } } ?y :r ?a . ?y :r ?b")
    assert isinstance(later, LeftJoin)
    assert isinstance(later.left, Match)


def test_blank_nodes_of_several_patterns_stay_apart():
    plan = compile_query(parsed("SELECT * { ?s :p/:q ?o { ?o :p/:q ?x } }"), Dictionary())
    [pattern] = basic_patterns(plan)
    assert len({slot for each in pattern.patterns for slot in each if str(slot).startswith("_:")}) == 2


# -- at random --------------------------------------------------------------------------------------------


class GroupGenerator(QueryGenerator):
    """Queries of groups beside and inside each other, with few variables in common."""

    inside = 0

    def group(self, depth):
        self.inside += 1
        text = self.parts(depth)
        self.inside -= 1
        return text

    def parts(self, depth):
        parts = [self.triples()] if self.random.random() < 0.7 else []
        others = (self.filter, self.filter, self.optional, self.minus, self.union, self.bind)
        others += (self.values, self.graph, self.subselect)
        # pyoxigraph lets EXISTS of an inner group see the variables of the groups around it.
        others += (self.exists,) if self.inside == 1 else ()
        for _ in range(self.random.choice((1, 2, 2, 3)) if depth else 0):
            parts.append(self.group(depth - 1))
        for _ in range(self.random.choice((0, 1, 1, 2)) if depth else 0):
            parts.append(self.random.choice(others)(depth - 1))
        if not depth and self.random.random() < 0.4:
            parts.append(self.random.choice((self.filter, self.filter, self.values, self.bind))(0))
        if self.random.random() < 0.5:
            self.random.shuffle(parts)
        return "{ " + " ".join(parts) + " }"

    def triple(self):
        self.used.append(self.variable())
        others = [name for name in VARIABLES if name != self.used[-1]]
        o = self.random.choice((*others * 4, ":a", "1", "[]", "[]"))
        return f"{self.used[-1]} {self.random.choice((*PREDICATES * 3, self.variable(), ':p/:q'))} {o} ."

    def triples(self):
        return " ".join(self.triple() for _ in range(self.random.choice((1, 1, 2))))

    def query(self):
        names = self.some(VARIABLES, 2)
        return f"SELECT {' '.join(names)} {self.group(self.random.choice((1, 1, 2)))}"


def cases(count, offset=0):
    """Queries with little data, each from a seed of its own."""
    for seed in range(SEED * 1_000_000 + offset, SEED * 1_000_000 + offset + count):
        random = Random(f"groups {seed}")
        yield seed, dense_quads(random), GroupGenerator(random)


def dense_quads(random):
    """Few nodes in every graph, and much about them, so that joins of joins still hit."""
    terms = (":a", ":b", ":c", ":a", ":b", ":c", "1", "2")
    graphs = []
    for name in ("", *GRAPHS):
        some = {
            f"{random.choice(terms[:3])} {random.choice(PREDICATES)} {random.choice(terms)} ."
            for _ in range(30)
        }
        graphs.append(f"{name} {{ {' '.join(sorted(some))} }}")
    return quads(" ".join(graphs))


def test_groups_at_random_against_pyoxigraph(monkeypatch):
    compiled = some = products = 0
    for seed, statements, generator in cases(QUERIES):
        query = generator.query()
        try:
            found = answers(query, statements, still=lambda quad: len(str(quad)) % 2 == 0, named=NAMED)
        except NotCompiled:
            continue
        compiled += 1
        products += "Product" in repr(compile_query(parsed(query), Dictionary()))
        with monkeypatch.context() as patched:
            patched.setattr(compile, "arranged", lambda node: node)
            as_written = answers(query, statements, named=NAMED)
        assert Counter(found.rows) == Counter(as_written.rows), f"seed {seed}: {query}"
        names, expected = oxigraph_rows(query, statements, NAMED)
        some += bool(expected)
        assert (list(found.variables), Counter(found.rows)) == (names, expected), f"seed {seed}: {query}"
    print(f"seed {SEED} (ENSUE_SEED): {compiled} compiled, {some} had answers, {products} products")
    assert compiled > 0.9 * QUERIES
    assert some > 0.15 * QUERIES
    assert products > 0.1 * QUERIES
