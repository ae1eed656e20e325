"""Values at the door of the Python interface: what is taken for what, and what is refused, and how."""

from __future__ import annotations

import random
import warnings
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pyoxigraph as ox
import pytest
import rdflib

from ensue import NetworkRun, Networks, Reasoner
from ensue.errors import BufferFullError, EnsueError, InputError, UsageError
from ensue.model import FOREVER
from ensue.query.terms_in import term_text

ALL = "SELECT ?s ?p ?o FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?s ?p ?o }"
OVER = "SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?x <urn:in> ?place . ?place <urn:in> ?city }"
A, P, B = "<urn:a>", "<urn:p>", "<urn:b>"
ROW = (1000, A, P, B)
TURTLE = "<urn:station> <urn:in> <urn:city> ."
NAMES = ["urn:s", "<urn:s>", rdflib.URIRef("urn:s"), ox.NamedNode("urn:s")]


def triple(s="urn:a", p="urn:p", o="urn:b"):
    return tuple(map(rdflib.URIRef, (s, p, o)))


def quad(*names):
    return ox.Quad(*map(ox.NamedNode, names or ("urn:a", "urn:p", "urn:b")))


def store_of(quads):
    store = ox.Store()
    store.extend(quads)
    return store


def reasoner_of(query=ALL, **options):
    made = Reasoner(**options)
    made.register(query)
    return made


def summary(results):
    return [(result.close, sorted(result.answers.rows)) for result in results]


@pytest.fixture
def in_file(tmp_path):
    path = tmp_path / "onto.ttl"
    path.write_text(TURTLE)
    return path


# -- names of streams ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_a_stream_is_named_by_text_or_by_an_iri_of_either_library(name):
    reasoner = reasoner_of()
    reasoner.push(name, [ROW, (2000, A, P, "<urn:c>")])
    reasoner.retract(name, [(2500, A, P, "<urn:c>")])
    reasoner.heartbeat(name, 4999)
    assert list(reasoner.advance()) == []
    assert summary(reasoner.end(name))[0] == (5000, [(A, P, B)])


@pytest.mark.parametrize(
    "name", [5, None, b"urn:s", rdflib.Literal("urn:s"), ["urn:s"], "urn:\ud800"], ids=repr
)
def test_what_names_no_stream_is_refused(name):
    reasoner = reasoner_of()
    for call in (
        lambda: reasoner.push(name, [ROW]),
        lambda: reasoner.retract(name, [ROW]),
        lambda: reasoner.heartbeat(name, 1),
        lambda: Reasoner(disorder={"urn:s": None, name: None}) if name.__hash__ else reasoner.push(name, []),
    ):
        with pytest.raises(UsageError, match=r"does not name .*stream \(hint: its IRI"):
            call()


def test_a_query_is_removed_by_its_name_or_by_what_its_registration_gave():
    reasoner = Reasoner()
    registered = reasoner.register(ALL)
    stream = reasoner.register(
        f"REGISTER STREAM <urn:made> AS {ALL.replace('SELECT ?s ?p ?o', 'CONSTRUCT { ?s ?p ?o }')}"
    )
    reasoner.remove(rdflib.URIRef(stream.name))
    reasoner.remove(registered)
    assert reasoner.queries == []


@pytest.mark.parametrize("query", [None, b"SELECT", 5, ["SELECT"]], ids=repr)
def test_what_is_no_query_is_refused(query):
    with pytest.raises(UsageError, match="is no query"):
        Reasoner().register(query)


# -- times -----------------------------------------------------------------------------------------

MOMENT = datetime(2024, 1, 1, 0, 0, 1, 250_999, UTC)
MS = 1_704_067_201_250
TIMES = [
    MS,
    np.int64(MS),
    MOMENT,
    MOMENT.astimezone(timezone(timedelta(hours=5, minutes=30))),
    "2024-01-01T00:00:01.250Z",
    "2024-01-01T05:30:01.2509+05:30",
    rdflib.Literal(MOMENT),
    rdflib.Literal(MS),
    ox.Literal(MS),
]


@pytest.mark.parametrize("time", TIMES, ids=repr)
def test_times_of_every_kind_are_the_same_time(time):
    reasoner = reasoner_of("ASK FROM STREAM <urn:s> [RANGE 1 ms] { ?s ?p ?o }", t0=MOMENT)
    reasoner.push("urn:s", [(time, A, P, B)])
    assert list(reasoner.advance()) == []
    reasoner.heartbeat("urn:s", time)
    assert [result.close for result in reasoner.advance()] == [MS]
    again = reasoner_of("ASK FROM STREAM <urn:s> [RANGE 1 ms] { ?s ?p ?o }")
    again.push("urn:s", [(time, A, P, B)])
    assert [result.close for result in again.advance(to=time)] == [MS]
    with pytest.raises(UsageError, match=f"at {MS}: time has come to {MS}"):
        again.update(add=[], at=time)


NO_TIMES = [
    1.5,
    1.0,
    float("nan"),
    True,
    Decimal(5),
    np.float64(1),
    np.bool_(True),
    2**63,
    -(2**63),
    10**30,
    datetime(2024, 1, 1),
    date(2024, 1, 1),
    np.datetime64("2024-01-01"),
    "2024-01-01T00:00:00",
    "1000",
    "\ud800",
    rdflib.Literal("soon"),
    rdflib.URIRef("urn:x"),
    b"5",
    [5],
    A,
]


@pytest.mark.parametrize("time", NO_TIMES, ids=ascii)
def test_what_is_no_time_is_refused_and_says_what_is_wanted(time):
    reasoner = reasoner_of()
    calls = {
        "statement 2": lambda: reasoner.push("urn:s", [ROW, (time, A, P, B)]),
        "statement 1": lambda: reasoner.retract("urn:s", [(time, A, P, B)]),
        "to": lambda: reasoner.advance(to=time),
        "time": lambda: reasoner.heartbeat("urn:s", time),
        "at": lambda: reasoner.update(add=[], at=time),
        "t0": lambda: Reasoner(t0=time),
    }
    for what, call in calls.items():
        with pytest.raises(
            EnsueError, match=r"(not a time|no time zone|without a time zone).*\(hint: "
        ) as caught:
            call()
        assert what in str(caught.value)
        str(caught.value).encode()
    assert list(reasoner.end()) == []


def test_a_promise_may_reach_to_the_end_of_time_and_a_statement_may_not():
    reasoner = reasoner_of()
    with pytest.raises(InputError, match="64 bits"):
        reasoner.push("urn:s", [(FOREVER, A, P, B)])
    reasoner.heartbeat("urn:s", FOREVER)


# -- terms and statements --------------------------------------------------------------------------


def graph_of(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        graph = kind()
        graph.add(triple())
        graph.add(
            (rdflib.URIRef("urn:c"), rdflib.URIRef("urn:p"), rdflib.Literal("5", datatype=rdflib.XSD.integer))
        )
    return graph


EXPECTED = [(A, P, B), ("<urn:c>", P, '"5"^^<http://www.w3.org/2001/XMLSchema#integer>')]
FIVE = ox.Quad(ox.NamedNode("urn:c"), ox.NamedNode("urn:p"), ox.Literal(5))


def shapes():
    graph = graph_of(rdflib.Graph)
    store = store_of([quad(), FIVE])
    yield "triples of rdflib", [(1000, row) for row in graph]
    yield "a graph", [(1000, graph)]
    yield "a dataset", [(1000, graph_of(rdflib.Dataset))]
    yield "a conjunctive graph", [(1000, graph_of(rdflib.ConjunctiveGraph))]
    yield "quads of oxigraph", [(1000, quad()), (1000, FIVE)]
    yield "triples of oxigraph", [(1000, each.triple) for each in (quad(), FIVE)]
    yield "a store", [(1000, store)]
    yield "a dataset of oxigraph", [(1000, ox.Dataset([quad(), FIVE]))]
    yield "a list", [[1000, [quad(), ("<urn:c>", P, rdflib.Literal(5))]]]
    yield "a generator", ((1000, iter([each])) for each in (quad(), FIVE))
    yield (
        "rows with a graph",
        [(1000, *triple(), None), (1000, "<urn:c>", P, ox.Literal(5), ox.DefaultGraph())],
    )


@pytest.mark.parametrize("rows", [pytest.param(rows, id=name) for name, rows in shapes()])
def test_statements_of_every_kind_are_the_same_statements(rows):
    reasoner = reasoner_of()
    reasoner.push("urn:s", rows)
    assert summary(reasoner.end())[0] == (5000, EXPECTED)


def test_graph_names_come_along():
    dataset = rdflib.Dataset()
    dataset.add((*triple(), rdflib.URIRef("urn:g")))
    for rows in (
        [(1, A, P, B, "<urn:g>")],
        [(1, *triple(), rdflib.Graph(identifier=rdflib.URIRef("urn:g")))],
        [(1, quad("urn:a", "urn:p", "urn:b", "urn:g"))],
        [(1, dataset)],
    ):
        reasoner = reasoner_of("SELECT ?s FROM STREAM <urn:s> [RANGE 1s] PARTITION BY GRAPH { ?s ?p ?o }")
        reasoner.push("urn:s", rows)
        reasoner.push("urn:s", [(1, "<urn:c>", P, B, "<urn:g>")])
        [result] = reasoner.end()
        assert sorted(result.answers.rows) == [(A,), ("<urn:c>",)]


NO_STATEMENTS = [
    ((1000, '"x"', P, B), 'subject is "x"'),
    ((1000, rdflib.Literal("x"), P, B), 'subject is "x"'),
    ((1000, A, "_:b", B), "predicate is _:b"),
    ((1000, A, rdflib.BNode("b"), B), "predicate is _:b"),
    ((1000, A, '"x"', B), 'predicate is "x"'),
    ((1000, A, P, B, '"g"'), 'graph is named "g"'),
    ((1000, None, P, B), "None is no term"),
    ((1000, A, P, None), "None is no term"),
    ((1000, A, P, 5), "5 is no term"),
    ((1000, A, P, float("nan")), "nan is no term"),
    ((1000, A, P, True), "True is no term"),
    ((1000, A, P, "\ud800"), r"\\ud800 has a lone surrogate"),
    ((1000, A, P, '"x\udfff"'), "lone surrogate"),
    ((1000, A, P, rdflib.Literal("\ud800")), "lone surrogate"),
    ((1000, rdflib.URIRef("urn:\ud800"), P, B), "lone surrogate"),
    ((1000, A, P, rdflib.URIRef("a b")), "is no term"),
    ((1000, A, P, rdflib.URIRef("relative")), "is no term"),
    ((1000, A, P, rdflib.Literal("x", datatype=rdflib.URIRef("a b"))), "is no term"),
    ((1000, A, P, rdflib.Variable("x")), "is no term"),
    ((1000, A, P, rdflib.Graph(identifier="urn:g")), "is no term"),
    ((1000, A, P, f"{B} .\n{A} {P} {B}"), "is no term"),
    ((1000, f"<<( {A} {P} {B} )>>", P, B), "subject is <<"),
    ((1000, A, P), "no statement with a time"),
    ((1000,), "no statement with a time"),
    (1000, "no statement with a time"),
    (quad(), "no statement with a time"),
    ("1000", "no statement with a time"),
    ({"time": 1000}, "no statement with a time"),
    ((1000, A), "is no statement"),
    ((1000, (A, P)), "is no statement"),
    ((1000, None), "is no statement"),
    ((1000, {A: P}), "is no statement"),
]


@pytest.mark.parametrize(("row", "what"), NO_STATEMENTS, ids=lambda value: ascii(value)[:60])
def test_what_is_no_statement_is_refused_and_nothing_of_its_call_is_taken(row, what):
    reasoner = reasoner_of()
    network = NetworkRun(Networks("SELECT ?x WHERE { ?x ?p ?y }"), "urn:s")
    for call in (reasoner.push, reasoner.retract, network.push):
        with pytest.raises(InputError, match=rf"(?s)statement 2: .*{what}.*\(hint: ") as caught:
            call("urn:s", [ROW, row])
        str(caught.value).encode()
    assert list(reasoner.end()) == []
    assert list(network.end()) == []


@pytest.mark.parametrize(
    "rows", [None, 5, "urn:a", rdflib.Graph(identifier="urn:g"), {1000: triple()}], ids=repr
)
def test_what_holds_no_statements_with_times_is_refused(rows):
    with pytest.raises(
        UsageError, match=r"is no list of statements with times \(hint: give \(time, s, p, o\)"
    ):
        reasoner_of().push("urn:s", rows)


def test_terms_keep_what_they_say():
    """What a term is written as must not depend on the library it comes from."""
    texts = random.Random(28)
    alphabet = "aZ0 \"\\\n\t\r\x00\x7fé\u2028\ufffe😀'<>{}"
    for _ in range(200):
        text = "".join(texts.choices(alphabet, k=texts.randrange(6)))
        language = texts.choice([None, "en", "de-AT"])
        literal = ox.Literal(text, language=language)
        written = {term_text(each) for each in (rdflib.Literal(text, lang=language), literal, str(literal))}
        assert len(written) == 1
        [again] = ox.parse(f"{A} {P} {written.pop()} .", format=ox.RdfFormat.N_TRIPLES)
        assert again.object.value == text
        assert (again.object.language or "").lower() == (language or "").lower()
    directed = ox.Literal("x", language="en", direction=ox.BaseDirection.RTL)
    node = ox.NamedNode("urn:a")
    assert term_text(directed) == term_text(str(directed)) == '"x"@en--rtl'
    assert term_text(ox.Triple(node, node, directed)) == f'<<( {A} {A} "x"@en--rtl )>>'
    assert term_text(f'<<( {A} {A} "x"@EN )>>') == f'<<( {A} {A} "x"@en )>>'


# -- background and graphs -------------------------------------------------------------------------

STATED = ("<urn:station>", "<urn:in>", "<urn:city>")


def parsed(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return kind().parse(data=TURTLE, format="turtle")


BACKGROUNDS = {
    "a graph": lambda path: parsed(rdflib.Graph),
    "a dataset": lambda path: parsed(rdflib.Dataset),
    "a conjunctive graph": lambda path: parsed(rdflib.ConjunctiveGraph),
    "triples of rdflib": lambda path: list(parsed(rdflib.Graph)),
    "a store": lambda path: store_of(ox.parse(TURTLE, format=ox.RdfFormat.TURTLE)),
    "a dataset of oxigraph": lambda path: ox.Dataset(ox.parse(TURTLE, format=ox.RdfFormat.TURTLE)),
    "what oxigraph parses": lambda path: ox.parse(TURTLE, format=ox.RdfFormat.TURTLE),
    "triples of oxigraph": lambda path: [q.triple for q in ox.parse(TURTLE, format=ox.RdfFormat.TURTLE)],
    "a quad": lambda path: quad("urn:station", "urn:in", "urn:city", "urn:g"),
    "rows": lambda path: [STATED],
}
FILES = {
    "a path": lambda path: path,
    "text": str,
    "a list of paths": lambda path: [path],
    "a path and a graph": lambda path: (str(path), parsed(rdflib.Graph), quad()),
}


@pytest.mark.parametrize("kind", [*BACKGROUNDS, *FILES])
def test_background_may_be_files_graphs_and_statements(kind, in_file):
    given = (BACKGROUNDS | FILES)[kind]
    at_once = reasoner_of(OVER, background=given(in_file))
    reloaded = reasoner_of(OVER)
    reloaded.reload(given(in_file), at=1)
    for reasoner in (at_once, reloaded):
        reasoner.push("urn:s", [(1000, "<urn:train>", "<urn:in>", "<urn:station>")])
        assert summary(reasoner.end())[0] == (5000, [("<urn:train>",)])
    where = (
        "?x <urn:in> ?y . GRAPH <urn:g> { ?y <urn:in> ?z }"
        if kind == "a quad"
        else "?x <urn:in> ?y . ?y <urn:in> ?z"
    )
    network = Networks(f"SELECT ?x WHERE {{ {where} }}", background=given(in_file))
    [result] = network.push([(1, "<urn:train>", "<urn:in>", "<urn:station>")])
    assert result.answers.rows == [("<urn:train>",)]


@pytest.mark.parametrize("kind", BACKGROUNDS)
def test_an_update_takes_statements_of_every_kind(kind):
    reasoner = reasoner_of(OVER)
    reasoner.update(add=BACKGROUNDS[kind](None), at=4000)
    reasoner.update(remove=BACKGROUNDS[kind](None), at="1970-01-01T00:00:07Z")
    reasoner.push("urn:s", [(1000, "<urn:train>", "<urn:in>", "<urn:station>")])
    assert summary(reasoner.end()) == [(5000, [("<urn:train>",)]), (10_000, [])]


@pytest.mark.parametrize("kind", [*BACKGROUNDS, "a path", "text"])
@pytest.mark.parametrize("name", NAMES[2:], ids=repr)
def test_a_graph_of_from_may_be_at_hand(kind, name, in_file):
    given = (BACKGROUNDS | FILES)[kind]
    query = "ASK FROM <urn:s> FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:in> ?y }"
    reasoner = reasoner_of(query, graphs={name: given(in_file)})
    reasoner.push(name, [ROW])
    assert [result.answers.rows for result in reasoner.end()] == [[()]]
    reasoner = reasoner_of(query, graphs={name: rdflib.Graph()})
    reasoner.reload(graphs={name: given(in_file)}, at=1)
    reasoner.push(name, [ROW])
    assert [result.answers.rows for result in reasoner.end()] == [[()]]


@pytest.mark.parametrize(
    "given", [5, True, b"onto.ttl", {"a": 1}, rdflib.URIRef("urn:g"), rdflib.Literal("x")], ids=repr
)
def test_what_is_no_background_is_refused(given):
    with pytest.raises(UsageError, match=r"is no background \(hint: a path, an rdflib Graph"):
        Reasoner(background=given)


@pytest.mark.parametrize("given", [None, 5, (A, P), ('"x"', P, B), rdflib.URIRef("urn:g")], ids=repr)
def test_what_is_no_part_of_a_background_is_refused_by_its_number(given, in_file):
    with pytest.raises(InputError, match="number 2 of the background: "):
        Reasoner(background=[in_file, given])


@pytest.mark.parametrize("path", ["a\0b.ttl", "\ud800.ttl"], ids=ascii)
def test_a_path_that_no_system_has_is_an_error_of_the_input(path):
    with pytest.raises(InputError, match="cannot be read"):
        Reasoner(background=path).register(ALL)


def test_one_place_that_is_allowed_is_not_taken_for_its_letters(in_file):
    """`allow="/data"` must not allow "/", the first letter."""
    query = f"ASK FROM <{in_file.as_uri()}> FROM STREAM <urn:s> [RANGE 1s] {{ ?x ?p ?y }}"
    Reasoner(allow=str(in_file.parent)).register(query)
    with pytest.raises(EnsueError, match="may not be read"):
        Reasoner(allow=str(in_file.parent / "elsewhere")).register(query)


# -- results that nobody takes ---------------------------------------------------------------------


def test_what_advance_has_promised_is_done_though_nobody_takes_the_results():
    reasoner = reasoner_of(explain=True)
    reasoner.push("urn:s", [ROW])
    reasoner.advance(to=5000)
    assert reasoner.metrics()["windows"] == 1
    reasoner.advance(to=10_000)
    assert reasoner.explain((A, P, B), query=reasoner.queries[0].name, at=10_000).stamp == 1000
    assert summary(reasoner.advance()) == [(5000, [(A, P, B)]), (10_000, [(A, P, B)])]


def test_a_query_that_is_removed_has_answered_what_had_closed():
    reasoner = reasoner_of()
    reasoner.push("urn:s", [ROW])
    reasoner.advance(to=5000)
    reasoner.remove(reasoner.queries[0].name)
    assert summary(reasoner.advance()) == [(5000, [(A, P, B)])]


def test_a_loop_that_is_left_can_be_explained_where_it_was_left():
    reasoner = reasoner_of(explain=True)
    reasoner.push("urn:s", [ROW, (31_000, A, P, B)])
    for result in reasoner.advance():
        if result.close == 10_000:
            break
    reasoner.metrics()
    assert reasoner.explain_answer(result, (A, P, B)).stamp == 1000
    assert [each.close for each in reasoner.advance()] == [15_000, 20_000, 25_000, 30_000]


def test_a_loop_that_is_left_loses_nothing():
    """Two queries answer at one time; the loop takes the first only."""
    reasoner = Reasoner()
    for name in "ab":
        reasoner.register(f"REGISTER QUERY {name} AS {ALL}")
    reasoner.push("urn:s", [ROW, (11_000, A, P, B)])
    for result in reasoner.advance():
        assert (result.query, result.close) == ("a", 5000)
        break
    reasoner.push("urn:s", [(12_000, A, P, B)])
    found = [(result.query, result.close) for result in reasoner.advance()]
    assert found == [("b", 5000), ("a", 10_000), ("b", 10_000)]


def test_who_never_takes_results_can_push_on_until_too_many_wait():
    reasoner = reasoner_of(ALL.replace("10s STEP 5s", "2 ms STEP 1 ms"), max_pending=50)

    def push_on():
        for time in range(1000):
            reasoner.push("urn:s", [(time, A, P, B)])
            reasoner.advance()

    with pytest.raises(BufferFullError, match=r"results wait to be taken \(hint: iterate over what advance"):
        push_on()
    assert 50 <= len(list(reasoner.advance())) < 60
    reasoner.push("urn:s", [(1000, A, P, B)])


def test_a_network_fires_though_nobody_takes_the_results():
    run = NetworkRun(Networks("SELECT ?x ?y WHERE { ?x <urn:p> ?y }"), rdflib.URIRef("urn:s"), max_pending=3)
    for time in range(1, 5):
        run.push(ox.NamedNode("urn:s"), [(time, A, P, f"<urn:{time}>")])
        run.advance()
    assert run.metrics()["waiting"] == 1
    assert [result.close for result in run.advance()] == [1, 2, 3]
    run.push("urn:s", [(datetime.fromtimestamp(5, UTC), quad()), (6000, quad("urn:c", "urn:p", "urn:d"))])
    for result in run.advance():
        assert result.close == 4
        break
    assert [result.close for result in run.end("urn:s")] == [5000, 6000]
