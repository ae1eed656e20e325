"""Event contexts at their edges: what is an event, what is refused, and what else runs beside them."""

from __future__ import annotations

import pytest

from ensue import Reasoner
from ensue.errors import InputError, QueryError, QuerySyntaxError, UsageError
from ensue.query.language import parse_query
from ensue.rules.load import load_rules, parse_rules
from ensue.rules.tree import RuleSet
from ensue.windows.frontier import Disorder
from ensue.windows.report import Report

P, START, END = "<urn:p>", "<urn:start>", "<urn:end>"
EVENTS = "[EVENT STARTS { ?e <urn:start> ?y }]"
PAIRS = "SELECT ?x ?y FROM STREAM <urn:s> {} {{ ?x <urn:p> ?y }}"


def line(time, s, p, o, graph=None):
    return time, f"<urn:{s}>", p, f"<urn:{o}>", graph and f"<urn:{graph}>"


def spans(results):
    """Of each result the times and how many answers."""
    return [(each.open, each.close, len(each.answers.rows)) for each in results]


def run(window, statements, query=PAIRS, **options):
    reasoner = Reasoner(**options)
    reasoner.register(query.format(window))
    reasoner.push("urn:s", statements)
    return [*reasoner.advance(), *reasoner.end()], reasoner


@pytest.mark.parametrize("window", [EVENTS, "[EVENT ENDS { ?e <urn:end> ?y }]", "[EVENT GRAPH]"])
def test_where_nothing_comes_nothing_is_answered(window):
    assert run(window, [])[0] == []


def test_a_marker_alone_is_an_event_and_two_in_a_row_are_two():
    found, _ = run(EVENTS, [line(1, "e", START, "a"), line(1, "e", START, "a"), line(3, "a", P, "b")])
    assert spans(found) == [(1, 1, 0), (1, 3, 1)]


def test_the_order_of_the_page_on_semantics():
    letters = "abScdEeSfSgEh"
    predicates = {"S": START, "E": END}
    stream = [line(k, f"x{k}", predicates.get(each, P), "y") for k, each in enumerate(letters)]

    def events(window):
        return ["".join(letters[each.open : each.close + 1]) for each in run(window, stream)[0]]

    starts, ends = "STARTS { ?x <urn:start> ?y }", "ENDS { ?x <urn:end> ?y }"
    assert events(f"[EVENT {starts}]") == ["ab", "ScdEe", "Sf", "SgEh"]
    assert events(f"[EVENT {ends}]") == ["abScdE", "eSfSgE", "h"]
    assert events(f"[EVENT {starts} {ends}]") == ["ScdE", "Sf", "SgE"]
    assert run(f"[EVENT {starts} {ends}]", stream)[1].counters()["outside"] == 4


def test_a_statement_can_begin_and_end_its_event():
    window = "[EVENT STARTS { ?x <urn:start> ?y } ENDS { ?x <urn:start> <urn:a> }]"
    stream = [line(1, "e", START, "a"), line(2, "a", P, "b"), line(3, "e", START, "b"), line(4, "a", P, "b")]
    assert spans(run(window, stream)[0]) == [(1, 1, 0), (3, 4, 1)]


def test_an_event_ends_as_soon_as_that_is_known():
    reasoner = Reasoner()
    reasoner.register(PAIRS.format("[EVENT ENDS { ?e <urn:end> ?y }]"))
    reasoner.push("urn:s", [line(1, "a", P, "b"), line(2, "e", END, "b")])
    assert spans(reasoner.advance(to=1)) == []
    assert spans(reasoner.advance(to=2)) == [(1, 2, 1)]
    reasoner = Reasoner()
    reasoner.register(PAIRS.format("[EVENT GRAPH]"))
    reasoner.push("urn:s", [line(5, "a", P, "b", "g"), line(5, "a", P, "c", "h"), line(5, "a", P, "d", "g")])
    assert spans(reasoner.advance(to=4)) == []
    assert spans(reasoner.advance(to=5)) == [(5, 5, 2), (5, 5, 1)]


def test_elements_of_one_time_come_in_the_order_of_their_names_without_a_name_first():
    stream = [
        line(5, "z", P, "a", "h"),
        line(5, "y", P, "a", "g"),
        line(5, "x", P, "a"),
        line(5, "w", P, "a", "ü"),
    ]
    found, _ = run("[EVENT GRAPH]", stream)
    assert [each.answers.rows[0][0] for each in found] == ["<urn:x>", "<urn:y>", "<urn:z>", "<urn:w>"]


def test_markers_are_any_terms():
    for marker, term in (
        ('{ ?x ?p "größer ✓"@de }', '"größer ✓"@de'),
        ("{ ?x ?p 01 }", '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("{ [] ?p true }", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        ("{ <urn:größe> ?p ?x }", None),
    ):
        mark = (2, "<urn:größe>", "<urn:q>", term or "<urn:b>")
        found, _ = run(f"[EVENT STARTS {marker}]", [line(1, "a", P, "b"), mark, line(3, "a", P, "b")])
        assert spans(found) == [(1, 1, 1), (2, 3, 1)]


def test_a_marker_of_several_triples_is_matched_when_all_of_it_has_come():
    window = "[EVENT STARTS { ?o a <urn:Order> ; <urn:by> ?c }]"
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    stream = [line(1, "o", kind, "Order"), line(2, "x", "<urn:by>", "y"), line(3, "a", P, "b")]
    stream += [line(4, "o", "<urn:by>", "y"), line(5, "p", "<urn:by>", "y"), line(6, "a", P, "b")]
    stream += [line(7, "o", kind, "Order"), line(8, "p", kind, "Order"), line(9, "o", "<urn:by>", "y")]
    assert [(first, last) for first, last, _ in spans(run(window, stream)[0])] == [(1, 3), (4, 7), (8, 9)]


def test_an_event_may_be_large():
    stream = [line(k, f"x{k}", P, "y") for k in range(120_000)]
    stream[70_000] = line(70_000, "e", START, "y")
    assert spans(run(EVENTS, stream)[0]) == [(0, 69_999, 70_000), (70_000, 119_999, 49_999)]


def test_what_the_background_answers_is_answered_in_every_event(tmp_path):
    file = tmp_path / "b.nt"
    file.write_text("".join(f"<urn:b{k}> <urn:p> <urn:c> .\n" for k in range(2000)))
    stream = [line(k, f"x{k}", START if k % 2 else P, "y") for k in range(1200)]
    found, _ = run(EVENTS, stream, background=[file])
    assert [count for _, _, count in spans(found)] == [2001] * 600 + [2000]


def test_late_statements_are_in_no_event_whatever_the_policy():
    stream = [line(1, "e", START, "a"), line(5, "a", P, "b"), line(2, "b", P, "c"), line(6, "c", P, "d")]
    for late in ("admit", "drop"):
        found, reasoner = run(EVENTS, stream, disorder=Disorder(2, late))
        assert spans(found) == [(1, 6, 2)]
        assert reasoner.counters()["streams"]["urn:s"]["missed_all"] == 1
    found, reasoner = run(EVENTS, stream, disorder=Disorder(3))
    assert spans(found) == [(1, 6, 3)]
    with pytest.raises(InputError, match="late"):
        run(EVENTS, stream, disorder=Disorder(2, "error"))


def test_a_late_statement_that_another_window_takes_is_in_no_event():
    reasoner = Reasoner()
    reasoner.register("REGISTER QUERY e AS " + PAIRS.format(EVENTS))
    reasoner.register("REGISTER QUERY w AS " + PAIRS.format("[RANGE 100ms STEP 10ms]"))
    reasoner.push("urn:s", [line(1, "a", P, "b"), line(25, "a", P, "c"), line(3, "a", P, "d")])
    found = [*reasoner.advance(), *reasoner.end()]
    assert [(each.query, len(each.answers.rows)) for each in found if each.query == "e"] == [("e", 2)]
    assert max(len(each.answers.rows) for each in found) == 3


def test_the_first_event_with_a_match_is_the_first():
    window = "[EVENT STARTS { ?e <urn:start> ?y } BACKGROUND UNTIL { ?x <urn:go> ?y }]"
    stream = [line(1, "o", START, "a"), line(2, "b", P, "c"), line(3, "d1", START, "a"), line(4, "d", P, "e")]
    stream += [line(5, "x", "<urn:go>", "y"), line(6, "f", P, "g"), line(7, "d2", START, "a")]
    found, reasoner = run(window, stream)
    assert spans(found) == [(3, 6, 3), (7, 7, 1)]
    assert reasoner.held()["background"] == 2
    assert spans(run(window, stream[:4])[0]) == []


def test_background_of_the_stream_may_hold_schema_and_lists():
    rdf, owl = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2002/07/owl#"
    chain = [
        ("<urn:uncle>", f"<{owl}propertyChainAxiom>", "_:l"),
        ("_:l", f"<{rdf}first>", "<urn:parent>"),
        ("_:l", f"<{rdf}rest>", "_:m"),
        ("_:m", f"<{rdf}first>", "<urn:brother>"),
        ("_:m", f"<{rdf}rest>", f"<{rdf}nil>"),
    ]
    stream = [(0, *each) for each in chain]
    stream += [
        line(1, "go", START, "x"),
        line(2, "a", "<urn:parent>", "b"),
        line(3, "b", "<urn:brother>", "c"),
    ]
    window = "[EVENT STARTS { ?e <urn:start> ?y } BACKGROUND UNTIL { ?e <urn:start> ?y }]"
    query = "SELECT ?x ?y FROM STREAM <urn:s> {} {{ ?x <urn:uncle> ?y }}"
    chains = [rule for rule in load_rules("owl2rl").rules if rule.name == "prp-spo2"]
    rules = RuleSet("chains", tuple(chains))
    for strategy in ("auto", "recompute", "rete", "dred"):
        found, _ = run(window, stream, query, rules=rules, strategy=strategy)
        assert [each.answers.rows for each in found] == [[("<urn:a>", "<urn:c>")]]
    with pytest.raises(InputError, match="lists"):
        run(EVENTS, stream, query, rules=rules)


def test_background_of_the_stream_is_that_of_its_events_alone():
    reasoner = Reasoner()
    window = "[EVENT STARTS { ?e <urn:start> ?y } BACKGROUND UNTIL { ?e <urn:start> ?y }]"
    reasoner.register("REGISTER QUERY e AS " + PAIRS.format(window))
    reasoner.register("REGISTER QUERY f AS " + PAIRS.format(EVENTS))
    reasoner.register("REGISTER QUERY w AS " + PAIRS.format("[RANGE 10ms]"))
    reasoner.push("urn:s", [line(1, "a", P, "b"), line(2, "e", START, "x"), line(15, "c", P, "d")])
    found = [*reasoner.advance(), *reasoner.end()]
    assert {name: [len(each.answers.rows) for each in found if each.query == name] for name in "efw"} == {
        "e": [2],
        "f": [1, 1],
        "w": [1, 1],
    }


def test_retraction_is_from_the_event_that_is_open():
    reasoner = Reasoner()
    reasoner.register(PAIRS.format(EVENTS))
    reasoner.push(
        "urn:s", [line(1, "a", P, "b"), line(2, "e", START, "x"), line(3, "a", P, "b"), line(3, "a", P, "c")]
    )
    reasoner.retract("urn:s", [line(4, "a", P, "b"), line(4, "e", START, "x")])
    assert spans([*reasoner.advance(), *reasoner.end()]) == [(1, 1, 1), (2, 3, 1)]
    reasoner = Reasoner()
    reasoner.register(PAIRS.format("[EVENT GRAPH]"))
    reasoner.push("urn:s", [line(3, "a", P, "b", "g"), line(3, "a", P, "b", "h"), line(3, "a", P, "c", "h")])
    reasoner.retract("urn:s", [line(3, "a", P, "b", "h")])
    assert spans([*reasoner.advance(), *reasoner.end()]) == [(3, 3, 1), (3, 3, 1)]


def test_retraction_before_the_switch_is_from_the_background():
    reasoner = Reasoner()
    window = "[EVENT STARTS { ?e <urn:start> ?y } BACKGROUND UNTIL { ?e <urn:start> ?y }]"
    reasoner.register(PAIRS.format(window))
    reasoner.push("urn:s", [line(1, "a", P, "b"), line(1, "a", P, "b"), line(1, "a", P, "c")])
    reasoner.retract("urn:s", [line(2, "a", P, "c")])
    reasoner.push("urn:s", [line(3, "e", START, "x")])
    assert [each.answers.rows for each in reasoner.end()] == [[("<urn:a>", "<urn:b>")]]


@pytest.mark.parametrize(
    ("relation", "wanted"), [("RSTREAM", [2, 1, 0]), ("ISTREAM", [2, 0, 0]), ("DSTREAM", [0, 1, 1])]
)
def test_events_are_compared_with_those_before(relation, wanted):
    query = f"REGISTER {relation} <urn:q> AS SELECT ?x ?y FROM NAMED WINDOW <urn:w> ON <urn:s> {EVENTS} "
    query += "{ WINDOW <urn:w> { ?x <urn:p> ?y } }"
    stream = [line(1, "a", P, "b"), line(1, "a", P, "c"), line(2, "e", START, "x"), line(3, "a", P, "c")]
    reasoner = Reasoner()
    reasoner.register(query)
    reasoner.push("urn:s", [*stream, line(4, "e", START, "x")])
    assert [len(each.answers.rows) for each in reasoner.end()] == wanted


def test_reports_and_until():
    stream = [line(k, f"x{k}", START, "y") for k in range(1, 8)]
    assert [close for _, close, _ in spans(run(EVENTS, stream, report=Report(nth=3))[0])] == [3, 6]
    for on in ("change", "content"):
        assert len(run(EVENTS, stream, report=Report(on))[0]) == 7
    found, _ = run(EVENTS, stream, until=True)
    assert {each.until for each in found} == {None}


def test_what_is_constructed_of_events_is_a_stream():
    reasoner = Reasoner()
    reasoner.register(
        "REGISTER STREAM <urn:t> AS CONSTRUCT { ?x <urn:q> ?y } "
        f"FROM STREAM <urn:s> {EVENTS} {{ ?x <urn:p> ?y }}"
    )
    reasoner.register("REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:t> [RANGE 10ms] { ?x <urn:q> ?y }")
    stream = [
        line(1, "a", P, "b"),
        line(12, "e", START, "x"),
        line(13, "c", P, "d"),
        line(31, "e", START, "x"),
    ]
    reasoner.push("urn:s", stream)
    found = [each for each in (*reasoner.advance(), *reasoner.end()) if each.query == "q"]
    assert [(each.close, each.answers.rows) for each in found] == [
        (20, [("<urn:a>",)]),
        (30, []),
        (40, [("<urn:c>",)]),
    ]
    reasoner = Reasoner()
    reasoner.register(
        "REGISTER STREAM <urn:t> AS CONSTRUCT { ?x <urn:q> ?y } "
        "FROM STREAM <urn:s> [EVENT GRAPH] { ?x <urn:p> ?y }"
    )
    reasoner.register("REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:t> [RANGE 10ms] { ?x <urn:q> ?y }")
    reasoner.push("urn:s", [line(1, "a", P, "b"), line(10, "c", P, "d"), line(31, "e", P, "f")])
    found = [each for each in (*reasoner.advance(), *reasoner.end()) if each.query == "q"]
    assert [(each.close, len(each.answers.rows)) for each in found] == [(10, 2), (20, 0), (30, 0), (40, 1)]


def test_several_queries_over_the_same_events_share_them():
    reasoner = Reasoner()
    for name in "ab":
        reasoner.register(f"REGISTER QUERY {name} AS " + PAIRS.format(EVENTS))
    assert reasoner.held()["scopes"] == 1
    reasoner.push("urn:s", [line(1, "a", P, "b"), line(2, "e", START, "x")])
    reasoner.remove("b")
    reasoner.remove("a")
    assert reasoner.streams == []


def test_violations_are_told_event_by_event():
    rules = parse_rules("[r: (?x <urn:p> ?y), (?x <urn:q> ?y) -> (?x violation:both ?y)]")
    window = "[EVENT STARTS { ?e <urn:start> ?y } BACKGROUND UNTIL { ?e <urn:start> ?y }]"
    stream = [line(0, "o", P, "n"), line(0, "o", "<urn:q>", "n")]
    stream += [line(1, "e", START, "x"), line(2, "a", P, "b"), line(3, "a", "<urn:q>", "b")]
    stream += [line(4, "e", START, "x"), line(5, "a", P, "b")]
    for strategy in ("auto", "recompute", "dred"):
        found, reasoner = run(window, stream, rules=rules, violations="changes", strategy=strategy)
        assert spans(found) == [(1, 3, 2), (4, 5, 2)]
        told = [(each.change, str(each.violation), each.open) for each in reasoner.violations()]
        assert told == [
            (None, "both: <urn:o> <urn:n>", None),
            ("new", "both: <urn:a> <urn:b>", 1),
            ("gone", "both: <urn:a> <urn:b>", 4),
        ]


def test_schema_in_an_event_is_of_that_event():
    below = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    stream = [
        line(1, "q", below, "p"),
        line(1, "a", "<urn:q>", "b"),
        line(2, "e", START, "x"),
        line(3, "a", "<urn:q>", "b"),
    ]
    for strategy in ("auto", "recompute", "dred", "rete"):
        assert spans(run(EVENTS, stream, rules="rdfs-jena", strategy=strategy)[0]) == [(1, 1, 1), (2, 3, 0)]


REFUSED = {
    "FROM STREAM <urn:s> [EVENT]": "expected STARTS, ENDS or GRAPH",
    "FROM STREAM <urn:s> [EVENT STARTS ?x a ?y]": "expected '{'",
    "FROM STREAM <urn:s> [EVENT GRAPH BACKGROUND { ?x a ?y }]": "expected 'UNTIL'",
    "FROM STREAM <urn:s> [EVENT STARTS { ?x a ?y]": "'{' is never closed",
    "FROM STREAM <urn:s> [EVENT STARTS { }]": "a marker has no triple pattern",
    "FROM STREAM <urn:s> [EVENT STARTS { ?x a ?y FILTER(?x > 1) }]": "more than a basic graph pattern",
    "FROM STREAM <urn:s> [EVENT STARTS { { ?x a ?y } UNION { } }]": "more than a basic graph pattern",
    "FROM STREAM <urn:s> [EVENT STARTS { ?x <urn:p>+ ?y }]": "a marker is no property path",
    "FROM STREAM <urn:s> [EVENT STARTS { ?x ex:p ?y }]": "the prefix 'ex:' is not declared",
    "FROM STREAM <urn:s> [EVENT STARTS { ?x a }]": "this is not SPARQL",
    "FROM STREAM <urn:s> [EVENT GRAPH] FROM STREAM <urn:t> [RANGE 1s]": "an event is read alone",
    "FROM STREAM <urn:s> [EVENT GRAPH] PARTITION BY GRAPH": "an event has no partitions",
    "FROM STREAM <urn:s> [EVENT GRAPH STEP 2]": "expected ']'",
}


@pytest.mark.parametrize("clause", REFUSED)
def test_what_is_refused(clause):
    with pytest.raises((QueryError, QuerySyntaxError), match=REFUSED[clause]) as caught:
        parse_query(f"SELECT ?x\n{clause} {{ ?x ?p ?y }}", "q.rq")
    assert caught.value.place.line == 2
    assert caught.value.hint


def test_more_that_is_refused():
    with pytest.raises(QueryError, match="answered as they end"):
        parse_query(f"REGISTER QUERY q COMPUTED EVERY 1s AS ASK FROM STREAM <urn:s> {EVENTS} {{ ?x ?p ?y }}")
    with pytest.raises(QueryError, match="temporal operators need windows of time"):
        parse_query(f"ASK FROM STREAM <urn:s> {EVENTS} {{ {{ ?x <urn:p> ?y }} SEQ {{ ?x <urn:q> ?y }} }}")
    function = "<http://larkc.eu/csparql/sparql/jena/ext#timestamp>"
    with pytest.raises(QueryError, match="f:timestamp"):
        parse_query(f"SELECT ({function}(?x, ?p, ?y) AS ?t) FROM STREAM <urn:s> {EVENTS} {{ ?x ?p ?y }}")
    reasoner = Reasoner()
    reasoner.register("REGISTER QUERY q AS " + PAIRS.format(EVENTS))
    with pytest.raises(QueryError, match="is what a query constructs"):
        reasoner.register(
            "REGISTER STREAM <urn:s> AS CONSTRUCT { ?x ?p ?y } FROM STREAM <urn:t> [RANGE 1s] { ?x ?p ?y }"
        )
    reasoner = Reasoner(explain=True)
    reasoner.register(PAIRS.format(EVENTS))
    reasoner.push("urn:s", [line(1, "a", P, "b")])
    with pytest.raises(UsageError, match="dropped as it is answered"):
        reasoner.explain(("<urn:a>", P, "<urn:b>"))
    list(reasoner.advance(to=5))
    with pytest.raises(UsageError, match="streams have begun"):
        reasoner.register("REGISTER QUERY late AS " + PAIRS.format(EVENTS))
