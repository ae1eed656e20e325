"""C-SPARQL and RSP-QL: what queries parse into, what is refused, where, and with which hint."""

from __future__ import annotations

import re

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rdflib.term import Literal, URIRef, Variable

from ensue.cli import main
from ensue.errors import EnsueError, Place, QueryError, QuerySyntaxError
from ensue.query.language import parse_query
from ensue.query.language_spans import UNITS
from ensue.query.tree import ContinuousQuery, Form, Kind, Relation, StreamWindow
from ensue.windows.events import EventWindow
from ensue.windows.spec import CountWindow, TimeWindow

S = "FROM STREAM <urn:s> [RANGE 10s STEP 1s]"
W = "FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE PT10S STEP PT1S]"
ALL = "{ ?s ?p ?o }"
TEN = TimeWindow(10_000, 1_000)

FIGURE = """REGISTER QUERY TotalAmountPerBroker COMPUTE EVERY 1sec AS
PREFIX ex: <http://example/>
SELECT DISTINCT ?user ?type ?x
FROM <http://mobileservice.org/meansOfTransportation.rdf>
FROM STREAM <http://mobileservice.org/positions.trdf>
[RANGE 10sec STEP 1sec]
WHERE {
  ?user ex:isIn ?x .
  ?user a ex:Commuter .
  ?x a ?type .
  ?user ex:remainingTravelTime ?t .
  FILTER (?t >= "PT30M"^^xsd:duration )
}
"""
TIMESTAMPS = (
    "REGISTER QUERY StreamQuery COMPUTED EVERY 1s AS "
    "PREFIX ex: <http://localhost/default/tr069#> "
    "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#> "
    "SELECT ?s ?p ?o (f:timestamp(?s,?p,?o) AS ?ts)"
    "FROM STREAM <http://localhost/default/tr069> [ RANGE 20s STEP 1s] "
    "WHERE { ?s ?p ?o }"
)
RSPQL = """PREFIX : <urn:ex#>
REGISTER ISTREAM :hot AS
CONSTRUCT { ?room :was ?t }
FROM NAMED :rooms
FROM NAMED WINDOW :short ON :sensors [RANGE PT5S STEP PT1S]
FROM NAMED WINDOW :long ON :sensors [RANGE PT1M STEP PT1S]
WHERE {
  GRAPH :rooms { ?room :has ?sensor }
  WINDOW :short { ?sensor :value ?t }
  WINDOW ?w { ?sensor :value ?u FILTER(?u > 30) }
}
"""


def window(spec, **options):
    """The window of a query that reads `urn:s` through this."""
    (found,) = parse_query(f"SELECT * FROM STREAM <urn:s> [{spec}] {ALL}", **options).streams
    return found.spec


def test_the_figure():
    query = parse_query(FIGURE, "figure.rq")
    assert (query.name, query.kind, query.form) == ("TotalAmountPerBroker", Kind.QUERY, Form.SELECT)
    assert (query.every_ms, query.relation) == (1000, None)
    assert query.streams == (StreamWindow("http://mobileservice.org/positions.trdf", TEN),)
    assert query.streams[0].place == Place("figure.rq", 5, 13)
    assert query.default_graphs == ("http://mobileservice.org/meansOfTransportation.rdf",)
    assert (query.named_graphs, query.window_variables, query.windows) == ((), frozenset(), {})
    assert query.prefixes["ex"] == "http://example/"
    assert (query.text, query.place) == (FIGURE, Place("figure.rq", 1, 1))
    assert [str(variable) for variable in query.algebra.PV] == ["user", "type", "x"]


def test_the_sparql_inside_keeps_its_places():
    query = parse_query(FIGURE)
    lines = query.sparql.split("\n")
    assert len(lines) == len(FIGURE.split("\n"))
    assert [line.strip() for line in lines[:6]] == [
        "",
        "PREFIX ex: <http://example/>",
        "SELECT DISTINCT ?user ?type ?x",
        "",
        "",
        "",
    ]
    assert lines[6:] == FIGURE.split("\n")[6:]
    assert [*map(len, lines)] == [*map(len, FIGURE.split("\n"))]


def test_timestamps_are_function_calls():
    query = parse_query(TIMESTAMPS)
    call = query.algebra.p.p.expr
    assert (call.name, call.iri) == ("Function", URIRef("http://larkc.eu/csparql/sparql/jena/ext#timestamp"))
    assert call.expr == [Variable("s"), Variable("p"), Variable("o")]


def test_rsp_ql():
    query = parse_query(RSPQL)
    assert (query.name, query.kind, query.form) == ("urn:ex#hot", Kind.STREAM, Form.CONSTRUCT)
    assert (query.relation, query.every_ms) == (Relation.ISTREAM, None)
    assert query.windows == {
        "urn:ex#short": StreamWindow("urn:ex#sensors", TimeWindow(5_000, 1_000), "urn:ex#short"),
        "urn:ex#long": StreamWindow("urn:ex#sensors", TimeWindow(60_000, 1_000), "urn:ex#long"),
    }
    assert (query.named_graphs, query.window_variables) == (("urn:ex#rooms",), frozenset({"w"}))
    assert "GRAPH  :short {" in query.sparql
    assert "WINDOW" not in query.sparql


@pytest.mark.parametrize("relation", Relation)
def test_relations(relation):
    query = parse_query(f"register {relation.lower()} <urn:q> as ask {W} {ALL}")
    assert (query.relation, query.kind, query.form) == (relation, Kind.QUERY, Form.ASK)


def test_without_register_the_caller_names_it():
    query = parse_query(f"SELECT * {S} {ALL}", name="mine")
    assert (query.name, query.kind, query.relation) == ("mine", Kind.QUERY, None)
    assert parse_query(f"SELECT * {W} {ALL}").relation is Relation.RSTREAM


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("RANGE 10s STEP 1s", TEN),
        ("range 10S step 1000MS", TEN),
        ("RANGE 10 sec STEP 1 second", TEN),
        ("RANGE PT10S STEP PT1S", TEN),
        ("RANGE 10s STEP PT1.0S", TEN),
        ("RANGE 10s TUMBLING", TimeWindow(10_000, 10_000)),
        ("RANGE PT1H30M", TimeWindow(5_400_000, 5_400_000)),
        ("RANGE 0.5s STEP 1min", TimeWindow(500, 60_000)),
        ("RANGE P1DT1H STEP P1W", TimeWindow(90_000_000, 604_800_000)),
        ("RANGE TRIPLES 100", CountWindow(100, 1)),
        ("RANGE TRIPLES 100 STEP 10", CountWindow(100, 10)),
        ("RANGE TRIPLES 100 TUMBLING", CountWindow(100, 100)),
        ("ELEMENTS 5 STEP 10", CountWindow(5, 10)),
        ("ELEMENTS 5", CountWindow(5, 5)),
        ("RANGE # STEP 3s ]\n 10s\tSTEP\r\n1s", TEN),
    ],
)
def test_windows(text, spec):
    assert window(text) == spec


SPELLINGS = {
    1: "ms msec msecs milli millis millisecond milliseconds",
    1_000: "s sec secs second seconds",
    60_000: "m min mins minute minutes",
    3_600_000: "h hr hrs hour hours",
    86_400_000: "d day days",
}


def test_units():
    assert UNITS.keys() == set(" ".join(SPELLINGS.values()).split())
    for size, units in SPELLINGS.items():
        for unit in units.split():
            assert window(f"RANGE 3 {unit} STEP 2{unit.upper()}") == TimeWindow(3 * size, 2 * size)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Total", "Total"),
        ("Step-2.b", "Step-2.b"),
        ("EVERY", "EVERY"),
        ("Compute2", "Compute2"),
        ("Range", "Range"),
        ("<urn:STEP>", "urn:STEP"),
        ("<out>", "out"),
        ("ex:REGISTER", "urn:ex#REGISTER"),
        ("été", "été"),
    ],
)
@pytest.mark.parametrize("every", ["", "EVERY 5 m", "COMPUTE EVERY 300s", "computed every PT5M"])
def test_names(written, name, every):
    query = parse_query(f"PREFIX ex: <urn:ex#> REGISTER QUERY {written} {every} AS ASK {S} {ALL}")
    assert (query.name, query.every_ms) == (name, 300_000 if every else None)


PREFIX, REGISTER, FROM = (
    "PREFIX ex: <urn:ex#>",
    "REGISTER QUERY ex:q AS",
    "FROM STREAM ex:s [RANGE 10s STEP 1s]",
)


@pytest.mark.parametrize(
    "text",
    [
        f"{PREFIX} {REGISTER} SELECT ?s {FROM} FROM ex:g WHERE {ALL} LIMIT 3",
        f"{REGISTER} {PREFIX} SELECT ?s FROM ex:g {FROM} WHERE {ALL} LIMIT 3",
        f"{REGISTER} {FROM} {PREFIX} FROM ex:g SELECT ?s WHERE {ALL} LIMIT 3",
        f"{FROM} {PREFIX} {REGISTER} SELECT ?s WHERE {ALL} FROM ex:g LIMIT 3",
        f"{PREFIX} FROM ex:g {REGISTER} SELECT ?s WHERE {ALL} LIMIT 3 {FROM}",
        f"# FROM STREAM\n{PREFIX}{REGISTER} SELECT ?s {FROM}FROM ex:g{ALL}#]\nLIMIT 3",
    ],
)
def test_clauses_in_any_order(text):
    query = parse_query(text)
    assert query.streams == (StreamWindow("urn:ex#s", TEN),)
    assert (query.name, query.default_graphs) == ("urn:ex#q", ("urn:ex#g",))
    assert (query.algebra.p.name, query.algebra.p.length) == ("Slice", 3)


@pytest.mark.parametrize(
    "where",
    [
        "?Range ?Step ?FROM",
        "$STREAM <urn:RANGE> <urn:p#STEP>",
        "?s <http://x/FROM/STREAM/[RANGE> 1 . ?s ?p ?o".replace("[", "%5B"),
        "?s ?p 'FROM STREAM <urn:s> [RANGE 1s]'",
        '?s ?p """REGISTER " QUERY\n\'AS\' [ """ , "]"',
        '?s ?p "SERVICE <urn:x> { \\" INSERT"@en',
        "?s Step:Range Range:Step , AS:AS",
        "?s ?p ?o # FROM STREAM <urn:t> [RANGE 1s] { SERVICE '\n",
        "_:FROM ?p _:WINDOW",
        "?s ?p ?window FILTER(?o < 3 || ?window>2) BIND('WINDOW' AS ?o)",
        "?s ?p [ ?STEP 1 ] , ( 2 3 )",
        "?s Step:SERVICE 'x'@from",
    ],
)
def test_a_keyword_in_a_strange_place(where):
    prefixes = "PREFIX Step: <urn:step#> PREFIX Range: <urn:range#> PREFIX AS: <urn:as#>"
    query = parse_query(f"{prefixes} SELECT * FROM STREAM Step:STREAM [RANGE 10s STEP 1s] {{ {where} }}")
    assert query.streams == (StreamWindow("urn:step#STREAM", TEN),)
    assert len(query.sparql) == len(query.text)


def test_several_streams_and_graphs():
    query = parse_query(
        "SELECT * FROM STREAM <urn:a> [RANGE 1s STEP 1s] FROM <urn:g> FROM NAMED <urn:h> FROM <urn:g>"
        " FROM NAMED STREAM <urn:b> [RANGE TRIPLES 5] { ?s ?p ?o GRAPH <urn:b> { ?o ?p ?s } GRAPH ?g { } }"
    )
    first, second = query.streams
    assert first == StreamWindow("urn:a", TimeWindow(1_000, 1_000))
    assert second == StreamWindow("urn:b", CountWindow(5, 1), "urn:b")
    assert (query.default_graphs, query.named_graphs) == (("urn:g",), ("urn:h",))


@pytest.mark.parametrize(
    ("text", "form", "kind"),
    [
        (f"REGISTER STREAM q AS CONSTRUCT {{ ?s a ?o }} {S} WHERE {ALL}", Form.CONSTRUCT, Kind.STREAM),
        (f"REGISTER QUERY q AS CONSTRUCT {S} WHERE {ALL}", Form.CONSTRUCT, Kind.QUERY),
        (f"REGISTER QUERY q AS ASK {S} {ALL}", Form.ASK, Kind.QUERY),
        (f"REGISTER QUERY q AS DESCRIBE <urn:x> {S}", Form.DESCRIBE, Kind.QUERY),
        (f"REGISTER QUERY q AS SELECT (COUNT(*) AS ?n) {S} {ALL} GROUP BY ?s", Form.SELECT, Kind.QUERY),
        (
            f"SELECT * {S} {{ {{ SELECT ?s {{ ?s a ?o MINUS {ALL} }} }} }} VALUES ?s {{ 1 }}",
            Form.SELECT,
            Kind.QUERY,
        ),
    ],
)
def test_forms(text, form, kind):
    query = parse_query(text)
    assert (query.form, query.kind) == (form, kind)


def test_relative_iris():
    declared = parse_query(f"BASE <http://b/c/> ASK FROM <g> FROM NAMED WINDOW <w> ON <s> [RANGE 1s] {ALL}")
    assert declared.default_graphs == ("http://b/c/g",)
    assert declared.streams[0] == StreamWindow("http://b/c/s", TimeWindow(1000, 1000), "http://b/c/w")
    text = "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 1s] { WINDOW <w> { ?s ?p <x> } }"
    plain = parse_query(text)
    assert plain.streams == (StreamWindow("s", TimeWindow(1000, 1000), "file:///w"),)
    assert plain.algebra.p.p.term == URIRef("file:///w")
    assert plain.algebra.p.p.p.triples[0][2] == URIRef("file:///x")
    assert ox.Store().query(plain.sparql, base_iri=plain.base, prefixes=plain.prefixes) is not None


def test_literals_are_as_written():
    text = r"""SELECT * FROM STREAM <urn:s> [RANGE 1s] {
        ?s ?p 01, "a	b", "\u0041\\u0041", "\u0022'", '\u000A', "1.0"^^xsd:integer ; <urn:\u00e9> 1 }"""
    triples = parse_query(text).algebra.p.p.triples
    integer = rdflib.XSD.integer
    assert {o for _, p, o in triples if isinstance(p, Variable)} == {
        Literal("01", datatype=integer, normalize=False),
        Literal("a\tb"),
        Literal("A\\u0041"),
        Literal("\"'"),
        Literal("\n"),
        Literal("1.0", datatype=integer, normalize=False),
    }
    assert {p for _, p, _ in triples if isinstance(p, URIRef)} == {URIRef("urn:é")}
    assert rdflib.NORMALIZE_LITERALS


def test_a_literal_without_a_value_is_a_term(caplog):
    query = parse_query(f"SELECT * {S} {{ ?s ?p 'x'^^xsd:integer, 'y'^^xsd:duration }}")
    assert {str(o) for _, _, o in query.algebra.p.p.triples} == {"x", "y"}
    assert caplog.text == ""


def test_equal_texts_are_equal_queries():
    assert parse_query(RSPQL) == parse_query(RSPQL)
    assert parse_query(RSPQL) != parse_query(RSPQL.replace("PT5S", "PT6S"))
    assert len({parse_query(RSPQL), parse_query(RSPQL)}) == 1
    assert isinstance(parse_query(RSPQL), ContinuousQuery)


# The place of the error is where » is; that sign itself is taken out.
BAD = [
    ("»", "the query ends", "what is the query to answer"),
    ("»# only a comment", "expected SELECT", "what is the query to answer"),
    (f"»SELECT * {ALL}", "reads no stream", "add FROM STREAM"),
    (f"REGISTER QUERY q\n»SELECT * {S} {ALL}", "expected 'AS'", "AS ends the registration"),
    (f"REGISTER QUERY »AS ASK {S} {ALL}", "expected the name", "REGISTER QUERY name"),
    (f"REGISTER QUERY »COMPUTED EVERY 1s AS ASK {S} {ALL}", "expected the name", "REGISTER QUERY name"),
    (f"REGISTER STREAM »EVERY 1s AS ASK {S} {ALL}", "expected the name", "REGISTER QUERY name"),
    (f"REGISTER QUERY »?q AS ASK {S} {ALL}", "found '?q'", "REGISTER QUERY name"),
    (f"REGISTER »QUREY q AS ASK {S} {ALL}", "expected QUERY, STREAM", "did you mean 'QUERY'?"),
    (f"REGISTER »q AS ASK {S} {ALL}", "found 'q'", "REGISTER QUERY name"),
    (f"REGISTER QUERY q COMPUTED »1s AS ASK {S} {ALL}", "expected 'EVERY'", "COMPUTED EVERY 1s"),
    (f"REGISTER QUERY q EVERY 1 »AS ASK {S} {ALL}", "expected a unit", "ms, s, min"),
    (f"REGISTER QUERY q EVERY »0s AS ASK {S} {ALL}", "not above zero", "have a length"),
    (
        f"REGISTER QUERY q EVERY 1 »secnods AS ASK {S} {ALL}",
        "'secnods' is no unit",
        "did you mean 'seconds'?",
    ),
    (f"REGISTER QUERY q AS »REGISTER QUERY p AS ASK {S} {ALL}", "registered once", "one query per text"),
    (f"ASK {S} »REGISTER QUERY p AS {ALL}", "REGISTER comes too late", "before ASK"),
    (f"REGISTER QUERY no:q AS ASK {S} {ALL}".replace("no:", "»no:"), "'no:' is not declared", "PREFIX no:"),
    (f"REGISTER STREAM q AS\n »SELECT * {S} {ALL}", "SELECT yields no stream", "a stream needs CONSTRUCT"),
    (f"REGISTER STREAM q AS »DESCRIBE ?s {S} {ALL}", "DESCRIBE yields no stream", "a stream needs CONSTRUCT"),
    (
        f"REGISTER RSTREAM <q> AS ASK {S} {ALL}".replace("STREAM <urn", "»STREAM <urn"),
        "FROM STREAM is C-SP",
        "RSP-QL:",
    ),
    (f"REGISTER QUERY q AS ASK {W} {ALL}".replace("WINDOW", "»WINDOW"), "WINDOW is RSP-QL", "in C-SPARQL:"),
    (f"REGISTER RSTREAM <q> »EVERY 1s AS ASK {W} {ALL}", "EVERY is C-SPARQL", "in RSP-QL:"),
    (f"ASK {S} {{ »WINDOW <urn:w> {ALL} }}", "WINDOW { } is RSP-QL", "in C-SPARQL:"),
    (
        f"ASK {S} FROM STREAM »<urn:s> [RANGE 1s] {ALL}",
        "stream <urn:s> is there twice",
        "keep the longer one",
    ),
    (
        f"ASK {W}\n {W.replace('<urn:w>', '»<urn:w>')} {ALL}",
        "<urn:w> is there twice, first at line 1",
        "of its own",
    ),
    (f"ASK {W} {{ WINDOW »<urn:v> {ALL} }}", "no window <urn:v> is declared", "did you mean 'urn:w'?"),
    (f"ASK {W} {{ WINDOW »<http://other/> {ALL} }}", "no window <http://other/>", "add FROM NAMED WINDOW"),
    (f"ASK {W} {{ GRAPH »<urn:w> {ALL} }}", "is a window, not a graph", "write WINDOW <urn:w>"),
    (f"ASK {W} {{ GRAPH ?w {ALL} WINDOW »?w {ALL} }}", "a graph elsewhere", "take two variables"),
    (f"ASK {W} FROM NAMED »<urn:w> {ALL}", "<urn:w> is a window too", "another name"),
    (f"ASK {W} {{ WINDOW »{ALL} }}", "expected an IRI or a variable", "WINDOW <name> { }"),
    (f"»WINDOW <urn:w> {ALL} {W}", "outside the WHERE part", "FROM NAMED WINDOW"),
    (f"ASK FROM STREAM <urn:s> »{ALL}", "expected '['", "read through a window"),
    (f"ASK FROM STREAM <urn:s> [RANGE 10s STEP 1s »{ALL}", "expected ']'", "close the window"),
    (f"ASK FROM STREAM <urn:s> [»10s] {ALL}", "expected 'RANGE'", "a window is [RANGE 10s"),
    (f"ASK FROM STREAM <urn:s> [»RNAGE 10s] {ALL}", "expected 'RANGE'", "did you mean 'RANGE'?"),
    (f"ASK FROM STREAM <urn:s> [RANGE 10s »SETP 1s] {ALL}", "expected STEP", "did you mean 'STEP'?"),
    (f"ASK FROM STREAM <urn:s> [RANGE »0s STEP 1s] {ALL}", "not above zero", "have a length"),
    (f"ASK FROM STREAM <urn:s> [RANGE »-5s STEP 1s] {ALL}", "not above zero", "have a length"),
    (f"ASK FROM STREAM <urn:s> [RANGE 5s STEP »PT0S] {ALL}", "not above zero", "have a length"),
    (f"ASK FROM STREAM <urn:s> [RANGE »-PT5S] {ALL}", "not above zero", "such as 10s"),
    (f"ASK FROM STREAM <urn:s> [RANGE 5 »fortnights] {ALL}", "'fortnights' is no unit", "ms, s, min, h or d"),
    (f"ASK FROM STREAM <urn:s> [RANGE 5 »STEP 1s] {ALL}", "expected a unit of time", "10s, 5 min"),
    (f"ASK FROM STREAM <urn:s> [RANGE 5s STEP»] {ALL}", "expected a length of time", "such as 10s"),
    (f"ASK FROM STREAM <urn:s> [RANGE »ten s] {ALL}", "found 'ten'", "such as 10s"),
    (f"ASK FROM STREAM <urn:s> [RANGE »P1M] {ALL}", "no fixed length in milliseconds", "P30D"),
    (f"ASK FROM STREAM <urn:s> [RANGE »P1YT5S] {ALL}", "no fixed length in milliseconds", "P30D"),
    (f"ASK FROM STREAM <urn:s> [RANGE »P1DT] {ALL}", "'P1DT' is no ISO 8601 duration", "such as PT10S"),
    (f"ASK FROM STREAM <urn:s> [RANGE »PT5X] {ALL}", "'PT5X' is no ISO 8601 duration", "such as PT10S"),
    (f"ASK FROM STREAM <urn:s> [RANGE »0.0001s] {ALL}", "not whole", "counted in milliseconds"),
    (f"ASK FROM STREAM <urn:s> [RANGE »{'9' * 30}d] {ALL}", "too long", "at most"),
    (f"ASK FROM STREAM <urn:s> [RANGE »{'9' * 5000}d] {ALL}", "not written plainly", "digits only"),
    (f"ASK FROM STREAM <urn:s> [RANGE »1e3s] {ALL}", "not written plainly", "digits only"),
    (f"ASK FROM STREAM <urn:s> [RANGE TRIPLES 5»s] {ALL}", "a count has no unit", "RANGE 10s"),
    (f"ASK FROM STREAM <urn:s> [RANGE TRIPLES »0] {ALL}", "not above zero", "have a length"),
    (f"ASK FROM STREAM <urn:s> [ELEMENTS »2.5 STEP 1] {ALL}", "not whole", "one by one"),
    (f"ASK FROM STREAM »s [RANGE 1s] {ALL}", "expected the IRI of a stream", "FROM STREAM <iri>"),
    (f"ASK FROM STREAM »<http://x y> [RANGE 1s] {ALL}", "expected the IRI of a stream", "FROM STREAM <iri>"),
    (f"ASK FROM STREAM »no:s [RANGE 1s] {ALL}", "'no:' is not declared", "PREFIX no:"),
    (f"ASK FROM »STREM <urn:s> [RANGE 1s] {ALL}", "found 'STREM'", "did you mean 'STREAM'?"),
    (f"ASK FROM <urn:s> »[RANGE 1s] {ALL}", "a graph has no window", "for a stream"),
    (f"ASK FROM »WINDOW <urn:w> ON <urn:s> [RANGE 1s] {ALL}", "expected NAMED", "FROM NAMED WINDOW"),
    (f"ASK FROM NAMED WINDOW <urn:w> »<urn:s> [RANGE 1s] {ALL}", "expected 'ON'", "FROM NAMED WINDOW"),
    (f"ASK FROM NAMED WINDOW »?w ON <urn:s> [RANGE 1s] {ALL}", "the name of the window", "FROM NAMED WINDOW"),
    (f"ASK {S} FROM »<http://[x> {ALL}", "<http://[x> is no IRI", "retype"),
    (f"ASK {S} {{ ?s ?p »<http://a%zz> }}", "<http://a%zz> is no IRI", "%20"),
    (f"ASK {S} {{ ?s ?p ?o .\n\t»SERVICE <http://x> {ALL} }}", "SERVICE is refused", "safe to run"),
    (f"ASK {S} {{ {{ ?s ?p ?o }} UNION {{ »service ?x {ALL} }} }}", "SERVICE is refused", "safe to run"),
    ("»INSERT DATA { <urn:a> <urn:b> <urn:c> }", "INSERT is an update", "write a rule"),
    (f"»DELETE {ALL} WHERE {ALL} {S}", "DELETE is an update", "write a rule"),
    ("»LOAD <http://x>", "LOAD is an update", "write a rule"),
    (f"»SELCT * {S} {ALL}", "no clause begins with 'SELCT'", "did you mean 'SELECT'?"),
    (f"PREFIX »ex <urn:x> ASK {S} {ALL}", "a prefix and its colon", "PREFIX ex: <"),
    (f"PREFIX ex: »ex:y ASK {S} {ALL}", "an IRI in < >", "PREFIX ex: <"),
    (f"BASE »x ASK {S} {ALL}", "expected an IRI", "BASE <"),
    (f"ASK {S} »PREFIX ex: <urn:e> {ALL}", "PREFIX comes too late", "before ASK"),
    (
        f"ASK {S} {{ {{ SELECT * »FROM <urn:g> {ALL} }} }}",
        "FROM cannot be inside brackets",
        "before the WHERE",
    ),
    (f"ASK {S} »{{ ?s ?p ?o", "'{' is never closed", "write '}'"),
    (f"ASK {S} {{ ?s ?p (?o »}}", "'}' closes nothing", "')' comes first"),
    (f"ASK {S} {ALL} »}}", "'}' closes nothing", "leave it out"),
    (f"ASK {S} {{ ?s ?p »'abc }}", "never closed", "write ' where it ends"),
    (f"ASK {S} {{ ?s »ex:p ?o }}", "'ex:' is not declared", "PREFIX ex:"),
    (f"ASK {S} {{ ?s ?p »'\\uD800' }}".replace("»'", "'»"), "is no character", "backslash"),
    (
        f"ASK {S} {{ ?s ?p ?o .\n OPTIONAL {{ »?s ?p }} }}",
        "not SPARQL, from '?s'",
        "subject, predicate, object",
    ),
    (f"ASK {S} {{ ?s ?p ?o »FILTER(?o >) }}", "not SPARQL, from 'FILTER'", "expression is not complete"),
    (f'ASK {S} {{ ?s ?p "PT30M"»xsd:duration }}', "from 'xsd:duration'", '"PT30M"^^xsd:duration'),
    (f"ASK {S} {{ ?s ?p ?o {{ SELECT ?x {{ »?x ?y }} }} }}", "from '?x'", "subject, predicate, object"),
    (f"ASK {S} {{ MINUS {{ ?s ?p ?o FILTER NOT EXISTS {{ »?s ?p }} }} }}", "from '?s'", "subject, predicate"),
    (f"SELECT {S} »{ALL}", "from '{'", "missing or misspelt"),
    (f"SELECT * {S}»", "ends too early", "WHERE part missing"),
    (f"SELECT * {S} {ALL} »GROUP ?s", "from 'GROUP'", "GROUP BY, HAVING, ORDER BY"),
    (f"SELECT * {S} {ALL} »BINDINGS ?s {{ (1) }}", "from 'BINDINGS'", "missing or misspelt"),
    (f"CONSTRUCT {{ »WINDOW <urn:w> {ALL} }} {W} {ALL}", "from 'WINDOW'", "missing or misspelt"),
    (f"ASK {S} {{ ?s ?p ?o BIND(1 AS »?o) }}", "?o has a value before", "take another"),
    (f"ASK {S} {{ VALUES (?s ?o) {{ (1) }} »}}", "not SPARQL, from '}'", "missing or misspelt"),
    (
        f"SELECT »?s (COUNT(?o) AS ?n) {S} {ALL}",
        "?s is selected, but neither grouped nor inside an aggregate",
        "GROUP BY",
    ),
    (f"ASK {S} {{{'{' * 49}»{'{' * 9}{'}' * 59}", "more than 50 deep", "split"),
    (f"ASK {S} {'{' * 32}»{'{' * 13}{'}' * 45}", "nested too deeply", "split"),
    (f"ASK {S} »\ud800", "half a character", "retype"),
]


@pytest.mark.parametrize("text", [text for text, _, _ in BAD if "\ud800" not in text])
def test_a_bad_query_ends_with_code_1_a_place_and_a_hint(tmp_path, capsys, text):
    path = tmp_path / "bad.rq"
    path.write_text(text, encoding="utf-8")
    assert main(["check", str(path)]) == 1
    assert re.search(r"bad\.rq:\d+:\d+: .*\(hint: .*\)", capsys.readouterr().err, re.DOTALL)


@pytest.mark.parametrize(("text", "what", "hint"), BAD)
def test_what_is_refused_where_and_why(text, what, hint):
    before, _, after = text.partition("»")
    with pytest.raises(QueryError) as caught:
        parse_query(before + after, "bad.rq")
    place = Place("bad.rq", before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert caught.value.place == place
    assert what in caught.value.what
    assert hint in caught.value.hint
    assert caught.value.exit_code == 1


def test_a_place_written_out():
    text = 'SELECT * # "\nFROM STREAM <urn:s>\n\t[RANGE 10s\n   STEP 1 sce]\nWHERE { }'
    with pytest.raises(QuerySyntaxError) as caught:
        parse_query(text, "q.rq")
    assert str(caught.value) == "q.rq:4:11: 'sce' is no unit of time (hint: did you mean 'sec'?)"


def test_places_behind_a_token_that_changed_its_length():
    text = f'ASK {S} {{ ?s ?p "\t\t\\u0041" .\n "\t\\u0041" ?p ?o . ?s ?p }}'
    with pytest.raises(QuerySyntaxError) as caught:
        parse_query(text, "q.rq")
    assert caught.value.place == Place("q.rq", 2, 20)


GOOD = [
    FIGURE,
    TIMESTAMPS,
    RSPQL,
    f"SELECT ?s (SUM(?o) AS ?n) {S} {{ ?s ?p ?o . ?s a 'x'@en, 1.5 }} GROUP BY ?s HAVING(?n > 3) ORDER BY ?s",
    f"ASK {W} {{ WINDOW ?w {{ ?s <urn:p>/^<urn:q>* ?o }} FILTER NOT EXISTS {{ ?o ?p [ a _:b ] }} }}",
    f"BASE <urn:b> CONSTRUCT {{ ?s ?p (1 2) }} {S} {{ {ALL} UNION {{ SELECT * {{ ?s ?p ?o }} LIMIT 1 }} }}",
    f"DESCRIBE ?s {S} FROM NAMED <urn:g> {{ GRAPH ?g {ALL} VALUES (?s ?o) {{ (1 UNDEF) }} BIND(1 AS ?t) }}",
]
PIECES = sorted({word for text in GOOD for word in text.split()})
PIECES += list("{}()[]<>\"'\\?$:;.,|^*@\0\té\U0001f600\ud800")
PIECES += ["SERVICE", "INSERT", "[RANGE", "1e9", "-5", "P1Y", "ELEMENTS", "TUMBLING", "<http://[>"]
PIECES += ["'''", "^^", "_:", "\\u12", "\\UFFFFFFFF"]


@st.composite
def mutations(draw):
    """A good query, some of whose words were dropped, doubled, swapped or replaced, and maybe cut."""
    words = re.findall(r"\w+|\s+|[^\w\s]", draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words) - 1))
        other = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(["drop", "double", "swap", "replace", "insert"])):
            case "drop":
                words[at] = ""
            case "double":
                words[at] *= 2
            case "swap":
                words[at], words[other] = words[other], words[at]
            case "replace":
                words[at] = draw(st.sampled_from(PIECES))
            case "insert":
                words[at] += f" {draw(st.sampled_from(PIECES))} "
    return "".join(words[: draw(st.sampled_from([len(words), len(words) // 2]))])


def complaint(text):
    try:
        assert parse_query(text, "q.rq").streams
    except EnsueError as problem:
        return problem
    return None


def parses_or_says_why(text):
    if problem := complaint(text):
        assert isinstance(problem, QueryError)
        assert problem.hint
        lines = text.split("\n")
        assert 1 <= problem.place.line <= len(lines)
        assert 1 <= problem.place.column <= len(lines[problem.place.line - 1]) + 1


@settings(max_examples=150)
@given(mutations())
@example(f"ASK {S} {{ ?s ?p '\\UFFFFFFFF' }}")
@example(f"ASK {S} {{ ?s ?p '1'^^xsd:date , 'x'^^xsd:integer }}")
def test_a_spoilt_query_parses_or_says_why_not(text):
    parses_or_says_why(text)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join) | st.text(max_size=40))
def test_any_text_parses_or_says_why_not(text):
    parses_or_says_why(text)


@pytest.mark.parametrize("text", GOOD)
def test_the_good_queries_are_good(text):
    assert parse_query(text).streams


MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QUERY = ox.NamedNode("http://www.w3.org/2001/sw/DataAccess/tests/test-query#query")


def w3c_queries(folder, kind):
    """The files of the W3C's SPARQL 1.1 query tests of a kind."""
    for path in sorted(folder.glob("*/manifest.ttl")):
        manifest = ox.Store()
        manifest.load(path=path, base_iri=path.as_uri())
        for test, *_ in manifest.quads_for_pattern(None, None, ox.NamedNode(MANIFEST + kind)):
            for _, _, action, _ in manifest.quads_for_pattern(test, ox.NamedNode(MANIFEST + "action"), None):
                found = [quad.object for quad in manifest.quads_for_pattern(action, QUERY, None)] or [action]
                yield path.parent / found[0].value.rsplit("/", 1)[1]


@pytest.mark.parametrize(
    ("kind", "fine", "least"),
    [
        ("PositiveSyntaxTest11", True, 60),
        ("NegativeSyntaxTest11", False, 40),
        ("QueryEvaluationTest", True, 250),
    ],
)
def test_the_sparql_inside_is_all_of_sparql(shared_data, kind, fine, least):
    files = list(w3c_queries(shared_data / "w3c-sparql11" / "sparql11", kind))
    assert len(files) >= least
    clause = "FROM STREAM <urn:s> [RANGE 1s]"
    problems = {file: complaint(clause + file.read_bytes().decode()) for file in files}
    refused = {file.name for file, problem in problems.items() if problem and "SERVICE" not in problem.what}
    assert refused == (set() if fine else {file.name for file in files})


def examples(repository):
    text = (repository / "docs" / "queries.md").read_text()
    return re.findall(r"^```sparql\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_examples_of_the_manual_parse(repository):
    queries = [parse_query(text, "docs/queries.md") for text in examples(repository)]
    assert len(queries) >= 10
    assert {query.form for query in queries} == set(Form)
    assert {query.kind for query in queries} == set(Kind)
    assert {query.relation for query in queries} == {None, *Relation}
    specs = [window.spec for query in queries for window in query.streams]
    assert {type(spec) for spec in specs} == {TimeWindow, CountWindow, EventWindow}
