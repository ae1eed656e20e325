"""The evaluator that is oxigraph: what it is asked, what it holds, and how terms come back."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, NamedNode, Quad, Store
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery

from ensue.dictionary import Dictionary
from ensue.errors import QueryError
from ensue.model import FOREVER, Facts
from ensue.query.dataset import Columns, Dataset, PlainGraph
from ensue.query.language import parse_query
from ensue.query.oxigraph import OxigraphEvaluator
from ensue.query.oxigraph_mirror import Mirror, difference
from ensue.query.oxigraph_terms import _KEPT, spelled
from ensue.query.tree import Form
from ensue.rules.expressions import read_term
from ensue.terms import XSD

STREAM = "FROM STREAM <urn:s> [RANGE 1s] "
WINDOWS = "FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE 1s] FROM NAMED WINDOW <urn:v> ON <urn:s> [RANGE 2s] "
STAMP = "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> "


def typed(text, datatype="integer"):
    return f'"{text}"^^<{XSD}{datatype}>'


ONE, ODD_ONE, LONG_ONE = typed("1"), typed("01"), typed("1", "long")


def columns(dictionary, triples, stamp=FOREVER):
    """Facts from text: `a p b` are IRIs in `urn:`, `<a>` is a term already. A fourth item is a stamp."""
    rows = []
    for triple in triples:
        terms = [term if term[0] in '"_<' else f"<urn:{term}>" for term in triple[:3]]
        rows.append((1, *map(dictionary.encode, terms), triple[3] if len(triple) == 4 else stamp))
    return Columns.of(Facts.of(rows))


def dataset(live=(), still=(), named=None, windows=(), dictionary=None):
    """A dataset of live and still facts; `named` maps a name to live facts."""
    d = Dictionary() if dictionary is None else dictionary  # an empty one is false
    graphs = {f"urn:{name}": PlainGraph(live=columns(d, facts, 5)) for name, facts in (named or {}).items()}
    default = PlainGraph(columns(d, still), columns(d, live, 5))
    return Dataset(d, default, graphs, frozenset(f"urn:{name}" for name in windows))


def answers(text, data):
    return OxigraphEvaluator(parse_query(text)).evaluate(data)


def rows(text, data):
    return sorted(answers(text, data).rows, key=str)


class TestForms:
    data = dataset([("a", "p", "b"), ("b", "p", '"x"@en')])

    def test_select_gives_rows_in_the_order_asked_for(self):
        found = answers(f"SELECT ?o ?none ?s {STREAM} {{ ?s <urn:p> ?o }} ORDER BY DESC(?s)", self.data)
        assert found.form is Form.SELECT
        assert found.variables == ("o", "none", "s")
        assert found.rows == [('"x"@en', None, "<urn:b>"), ("<urn:b>", None, "<urn:a>")]
        assert found.stamps is None

    def test_select_all_has_the_variables_of_the_tree(self):
        query = parse_query(f"SELECT * {STREAM} {{ ?s ?p ?o }}")
        found = OxigraphEvaluator(query).evaluate(self.data)
        assert list(found.variables) == list(map(str, query.algebra.PV))
        assert dict(zip(found.variables, sorted(found.rows, key=str)[0], strict=True)).keys() == {
            "s",
            "p",
            "o",
        }

    @pytest.mark.parametrize(("end", "rows"), [("b", [()]), ("c", [])])
    def test_ask(self, end, rows):
        found = answers(f"ASK {STREAM} {{ <urn:a> <urn:p> <urn:{end}> }}", self.data)
        assert (found.form, found.variables, list(found.rows)) == (Form.ASK, (), rows)

    def test_construct_gives_each_triple_once(self):
        found = answers(f"CONSTRUCT {{ <urn:it> <urn:has> ?p }} {STREAM} {{ ?s ?p ?o }}", self.data)
        assert (found.form, list(found.rows)) == (Form.CONSTRUCT, [("<urn:it>", "<urn:has>", "<urn:p>")])

    def test_describe(self):
        found = answers(f"DESCRIBE <urn:a> {STREAM}", self.data)
        assert (found.form, list(found.rows)) == (Form.DESCRIBE, [("<urn:a>", "<urn:p>", "<urn:b>")])

    def test_a_solution_twice_is_two_rows(self):
        assert rows(f"SELECT ?p {STREAM} {{ ?s ?p ?o }}", self.data) == [("<urn:p>",)] * 2


class TestTerms:
    def test_blank_nodes_keep_their_labels(self):
        data = dataset([("_:d12x0", "p", "_:00ff")])
        assert rows(f"SELECT ?s ?o {STREAM} {{ ?s ?p ?o }}", data) == [("_:d12x0", "_:00ff")]

    def test_quoted_triples(self):
        quoted = f"<<( <urn:a> <urn:p> <<( _:b <urn:q> {ODD_ONE} )>> )>>"
        data = dataset([("a", "says", quoted)])
        assert rows(f"SELECT ?o {STREAM} {{ ?s ?p ?o }}", data) == [(quoted,)]

    @pytest.mark.parametrize(
        "term",
        [
            ODD_ONE,
            LONG_ONE,
            typed("1.0", "decimal"),
            typed("1.0E0", "double"),
            typed("1", "boolean"),
            typed("2020-01-01T00:00:00.000Z", "dateTime"),
            typed("PT60S", "duration"),
            typed("x"),
            '"01"',
        ],
    )
    def test_a_term_comes_back_as_it_was(self, term):
        data = dataset([("a", "p", term)])
        assert rows(f"SELECT ?o {STREAM} {{ ?s ?p ?o }}", data) == [(term,)]
        made = rows(f"CONSTRUCT {{ ?s <urn:q> ?o }} {STREAM} {{ ?s ?p ?o }}", data)
        assert made == [("<urn:a>", "<urn:q>", term)]
        assert rows(f"DESCRIBE <urn:a> {STREAM}", data) == [("<urn:a>", "<urn:p>", term)]

    def test_two_spellings_are_one_term_in_oxigraphs_spelling(self):
        data = dataset([("a", "p", ODD_ONE), ("b", "p", ONE)])
        assert rows(f"SELECT ?s ?o {STREAM} {{ ?s ?p ?o }}", data) == [("<urn:a>", ONE), ("<urn:b>", ONE)]

    def test_of_two_other_spellings_always_the_same(self):
        for triples in (
            [("a", "p", ODD_ONE), ("b", "p", LONG_ONE)],
            [("b", "p", LONG_ONE), ("a", "p", ODD_ONE)],
        ):
            assert rows(f"SELECT DISTINCT ?o {STREAM} {{ ?s ?p ?o }}", dataset(triples)) == [(ODD_ONE,)]

    def test_a_spelling_counts_while_it_is_there(self):
        d = Dictionary()
        evaluator = OxigraphEvaluator(parse_query(f"SELECT ?o {STREAM} {{ <urn:a> <urn:p> ?o }}"))
        both = [("a", "p", ODD_ONE), ("b", "p", ONE)]
        other = [("a", "p", LONG_ONE)]
        for live, expected in [(both[:1], ODD_ONE), (both, ONE), (other, LONG_ONE), (both[:1], ODD_ONE)]:
            assert evaluator.evaluate(dataset(live, dictionary=d)).rows == [(expected,)]

    def test_a_live_spelling_that_goes_does_not_take_a_still_one_along(self):
        d = Dictionary()
        still = columns(d, [("a", "p", ODD_ONE), ("c", "q", "e")])
        evaluator = OxigraphEvaluator(parse_query(f"SELECT ?s ?o {STREAM} {{ ?s <urn:p> ?o }} ORDER BY ?s"))
        live = [("a", "p", ONE), ("b", "p", ONE)]
        found = evaluator.evaluate(Dataset(d, PlainGraph(still, columns(d, live, 5))))
        assert found.rows == [("<urn:a>", ONE), ("<urn:b>", ONE)]
        assert evaluator.evaluate(Dataset(d, PlainGraph(still))).rows == [("<urn:a>", ODD_ONE)]

    @pytest.mark.parametrize(
        ("select", "expected"),
        [
            ("(COUNT(*) AS ?x)", ONE),
            ("(SUM(?o) AS ?x)", ONE),
            ("(MAX(?o) AS ?x)", ODD_ONE),
            ("(SAMPLE(?o) AS ?x)", ODD_ONE),
            ("(MIN(?o) + 0 AS ?x)", ONE),
        ],
    )
    def test_computed_terms_are_spelled_by_oxigraph(self, select, expected):
        found = answers(f"SELECT {select} {STREAM} {{ ?s <urn:p> ?o }}", dataset([("a", "p", ODD_ONE)]))
        assert found.rows[0][found.variables.index("x")] == expected

    def test_another_name_for_a_term_changes_nothing(self):
        text = f"SELECT ?x ?y {STREAM} {{ ?s <urn:p> ?o BIND(?o AS ?x) BIND(ABS(?x) AS ?y) }}"
        assert rows(text, dataset([("a", "p", ODD_ONE)])) == [(ODD_ONE, ONE)]

    def test_grouped_terms_are_from_the_data(self):
        text = f"SELECT ?o (COUNT(?s) AS ?n) {STREAM} {{ ?s <urn:p> ?o }} GROUP BY ?o"
        assert rows(text, dataset([("a", "p", ODD_ONE)])) == [(ODD_ONE, ONE)]

    def test_construct_tells_computed_objects_by_their_predicate(self):
        text = f"""CONSTRUCT {{ ?s <urn:value> ?o ; <urn:count> ?n ; <urn:const> 001 }} {STREAM}
            {{ ?s <urn:p> ?o {{ SELECT (COUNT(*) AS ?n) {{ ?a <urn:p> ?b }} }} }}"""
        found = {p: o for _, p, o in rows(text, dataset([("a", "p", typed("01", "long"))]))}
        assert found["<urn:count>"] == ONE
        assert found["<urn:value>"] == typed("001"), "of two other spellings, the first in order of text"
        assert found["<urn:const>"] == typed("001")

    def test_values_come_back_as_written(self):
        data = dataset([("a", "p", "b")])
        assert rows(f"SELECT ?x {STREAM} {{ VALUES ?x {{ 01 '2'^^xsd:long }} }}", data) == [
            (ODD_ONE,),
            (typed("2", "long"),),
        ]

    @given(st.integers(-3000, 3000), st.sampled_from(["", ".5", ".50", ".0", ".05"]), st.sampled_from("+- 0"))
    def test_spellings_taken_for_kept_are_kept(self, number, fraction, sign):
        dates = [
            f"{1000 + abs(number)}-{m:02}-{d:02}T{h:02}:00:00Z"
            for m, d, h in [(2, 28, 0), (2, 30, 1), (12, 31, 24)]
        ]
        texts = [
            typed(f"{sign.strip()}{number}{fraction}", kind) for kind in ("integer", "decimal", "double")
        ]
        texts += [typed(date, "dateTime") for date in dates]
        kept = [text for text in texts if _KEPT.fullmatch(text)]
        assert spelled(kept) == kept


NAMED = {"w": [("a", "p", "b")], "v": [("b", "p", "c")], "g": [("c", "p", "d")], "empty": []}


class TestGraphs:
    def test_csparql_goes_through_graphs_and_streams_and_empty_ones(self):
        data = dataset(named=NAMED, windows=["w", "v"])
        assert rows(f"SELECT ?g {STREAM} {{ GRAPH ?g {{ }} }}", data) == [
            (f"<urn:{name}>",) for name in ("empty", "g", "v", "w")
        ]
        assert len(rows(f"SELECT ?g {STREAM} {{ GRAPH ?g {{ ?s ?p ?o }} }}", data)) == 3

    def test_rspql_has_two_kinds_of_variables(self):
        data = dataset(named=NAMED, windows=["w", "v"])
        text = f"SELECT ?w ?g {WINDOWS} {{ WINDOW ?w {{ ?s ?p ?o }} GRAPH ?g {{ }} }}"
        assert rows(text, data) == [(f"<urn:{w}>", f"<urn:{g}>") for w in ("v", "w") for g in ("empty", "g")]

    def test_a_constant_name_reads_any_graph(self):
        data = dataset(named=NAMED, windows=["w", "v"])
        text = f"SELECT ?s ?x {WINDOWS} {{ WINDOW <urn:w> {{ ?s ?p ?o }} GRAPH <urn:g> {{ ?x ?p ?y }} }}"
        assert rows(text, data) == [("<urn:a>", "<urn:c>")]

    def test_where_there_is_no_graph_of_the_kind_nothing_is_found(self):
        data = dataset(named={"w": [("a", "p", "b")]}, windows=["w"])
        assert rows(f"SELECT * {WINDOWS} {{ WINDOW <urn:w> {{ ?s ?p ?o }} GRAPH ?g {{ }} }}", data) == []
        text = (
            f"SELECT ?g {WINDOWS} {{ WINDOW <urn:w> {{ ?s ?p ?o }} OPTIONAL {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"
        )
        assert rows(text, data) == [(None,)]

    def test_nodes_of_the_query_are_variables_in_each_graph(self):
        data = dataset(named=NAMED, windows=["w", "v"])
        text = f"SELECT ?w ?o {WINDOWS} {{ WINDOW ?w {{ _:x <urn:p> ?o . FILTER(?o != <urn:copy>) }} }}"
        assert rows(text, data) == [("<urn:v>", "<urn:c>"), ("<urn:w>", "<urn:b>")]

    def test_a_graph_inside_a_graph(self):
        data = dataset(named=NAMED, windows=["w", "v"])
        text = f"""SELECT ?w ?x {WINDOWS}
            {{ WINDOW ?w {{ _:x <urn:p> ?o . WINDOW ?x {{ ?o <urn:p> _:y }} }} }}"""
        assert rows(text, data) == [("<urn:w>", "<urn:v>")]

    def test_the_variable_is_out_of_sight_inside(self):
        data = dataset(named=NAMED, windows=["w", "v"])
        text = f"SELECT ?w {WINDOWS} {{ WINDOW ?w {{ ?s ?p ?o FILTER(!BOUND(?w)) }} }}"
        assert len(rows(text, data)) == 2

    def test_graphs_come_and_go(self):
        d = Dictionary()
        evaluator = OxigraphEvaluator(parse_query(f"SELECT ?g {STREAM} {{ GRAPH ?g {{ }} }} ORDER BY ?g"))
        for names in (["a"], ["a", "b"], ["b"], []):
            found = evaluator.evaluate(dataset(named=dict.fromkeys(names, ()), dictionary=d))
            assert found.rows == [(f"<urn:{name}>",) for name in names]


class TestTimestamp:
    def test_it_is_that_of_the_freshest_and_none_for_background(self):
        data = dataset(
            live=[("a", "p", "b", 7), ("b", "p", "c", FOREVER)],
            still=[("c", "p", "d")],
            named={"w": [("a", "p", "b", 9)], "g": [("a", "p", "b", 11), ("a", "p", "x", 12)]},
            windows=["w"],
        )
        text = f"{STAMP} SELECT ?s (f:timestamp(?s, ?p, ?o) AS ?t) {STREAM} {{ ?s ?p ?o }}"
        assert rows(text, data) == [("<urn:a>", typed("9", "long")), ("<urn:b>", None), ("<urn:c>", None)]

    @pytest.mark.parametrize(("default", "window"), [(7, 9), (9, 7)])
    def test_a_window_and_the_default_graph_are_alike(self, default, window):
        data = dataset([("a", "p", "b", default)], named={"w": [("a", "p", "b", window)]}, windows=["w"])
        text = f"{STAMP} SELECT (f:timestamp(?s, ?p, ?o) AS ?t) {STREAM} {{ ?s ?p ?o }}"
        assert rows(text, data) == [(typed("9", "long"),)]

    def test_background_hides_the_same_fact_on_a_stream(self):
        data = dataset(still=[("a", "p", "b")], named={"w": [("a", "p", "b", 9)]}, windows=["w"])
        text = f"{STAMP} SELECT (f:timestamp(?s, ?p, ?o) AS ?t) {STREAM} {{ ?s ?p ?o }}"
        assert rows(text, data) == [(None,)]

    def test_it_is_a_number_to_expressions_and_xsd_long_in_a_stream(self):
        data = dataset([("a", "p", ODD_ONE, 7), ("a", "p", typed("2"), 8)])
        text = f"""{STAMP} CONSTRUCT {{ ?s <urn:at> ?t }} {STREAM}
            {{ ?s ?p ?o BIND(f:timestamp(?s, ?p, ?o) AS ?t) FILTER(?t > 6 && ?t < 8) }}"""
        assert rows(text, data) == [("<urn:a>", "<urn:at>", typed("7", "long"))]

    @pytest.mark.parametrize("call", ["f:timestamp(?s, ?p)", "f:timestamp(?s, ?p, 'absent')"])
    def test_it_is_unbound_for_what_is_not_there(self, call):
        data = dataset([("a", "p", "b", 7)])
        assert rows(f"{STAMP} SELECT ({call} AS ?t) {STREAM} {{ ?s ?p ?o }}", data) == [(None,)]


class TestRefused:
    def test_service(self):
        query = parse_query(f"ASK {STREAM} {{ ?s ?p ?o }}")
        sparql = "ASK { { SERVICE SILENT <http://localhost/> { ?s ?p ?o } } }"
        query = replace(query, sparql=sparql, algebra=translateQuery(parseQuery(sparql)).algebra)
        with pytest.raises(QueryError, match=r"SERVICE is refused .*hint"):
            OxigraphEvaluator(query)

    def test_an_unknown_function(self):
        query = parse_query(f"SELECT (<urn:f>(?s) AS ?x) {STREAM} {{ ?s ?p ?o }}", "q.rq")
        with pytest.raises(QueryError, match=r"q\.rq:1:1: .*<urn:f> is not supported .*hint"):
            OxigraphEvaluator(query)


TERMS = [
    *(f"<urn:{name}>" for name in "abcdef"),
    "_:b",
    ONE,
    ODD_ONE,
    LONG_ONE,
    typed("1.0", "decimal"),
    '"x"',
]


INTEGERS = st.sampled_from([0, 1, 2, 2**21, 2**30, 2**31 - 2, 2**31 - 1])
TRIPLES = st.lists(st.tuples(INTEGERS, INTEGERS, INTEGERS), max_size=20)


@given(TRIPLES, TRIPLES)
def test_differences_are_those_of_sets(now, before):
    before = list(set(before))
    as_rows = [np.array(triples, np.int32).reshape(-1, 3).T for triples in (now, before)]
    came, left, all_now = ([tuple(row) for row in part.T.tolist()] for part in difference(*as_rows))
    assert sorted(came) == sorted(set(now) - set(before))
    assert sorted(left) == sorted(set(before) - set(now))
    assert sorted(all_now) == sorted(set(now))


def random_facts(rng, dictionary, used=()):
    """Some distinct facts, none of them among those that are used."""
    count = rng.choice([0, 1, 3, 10, 30])
    triples = {(rng.choice(TERMS[:7]), rng.choice(TERMS[:3]), rng.choice(TERMS)) for _ in range(count)}
    facts = [(*triple, rng.randrange(100)) for triple in sorted(triples - set(used))]
    return columns(dictionary, facts), triples


def quads(name, graph, dictionary):
    """The quads of a graph, made one by one."""
    graph_name = DefaultGraph() if name is None else NamedNode(name)
    for facts in (graph.still, graph.live):
        for triple in zip(facts.s.tolist(), facts.p.tolist(), facts.o.tolist(), strict=True):
            yield Quad(*(read_term(dictionary.decode(number)) for number in triple), graph_name)


@given(st.integers(0, 2**32))
def test_the_store_follows_the_dataset(seed):
    """Facts, graphs, still facts and integers change; the store is always what one made anew would be."""
    rng = random.Random(seed)
    mirror, d = Mirror(), Dictionary()
    still = {}
    for _ in range(6):
        if rng.random() < 0.2:
            if rng.random() < 0.5:
                d.sweep([])  # nobody uses an integer now: all of them get another meaning
            else:
                d = Dictionary()
            for term in rng.sample(TERMS, len(TERMS)):
                d.encode(term)
            still.clear()
        graphs = {}
        for name in [None, *rng.sample(["urn:g", "urn:h", "urn:i"], rng.randrange(4))]:
            if name not in still or rng.random() < 0.1:
                still[name] = random_facts(rng, d)
            columns_, triples = still[name]
            graphs[name] = PlainGraph(columns_, random_facts(rng, d, triples)[0])
        default = graphs.pop(None)
        mirror.show(Dataset(d, default, graphs))
        expected = Store()
        expected.extend(
            quad for name, graph in [(None, default), *graphs.items()] for quad in quads(name, graph, d)
        )
        assert set(mirror.store) == set(expected)
        assert {graph.value for graph in mirror.store.named_graphs()} == graphs.keys()
