"""The engine as a user of the Python interface sees it."""

from __future__ import annotations

import os

import pyoxigraph as ox
import pytest
import rdflib

from ensue import Reasoner
from ensue.errors import BufferFullError, InputError, QueryError, StrategyError, UsageError
from ensue.testing import FakeClock, FakeSource, run_queries
from ensue.windows.frontier import Disorder

EX = "http://example.org/"
IS_IN = f"<{EX}isIn>"
ALL = "SELECT ?x ?y FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?x <http://example.org/isIn> ?y }"


def named(name: str, text: str = ALL) -> str:
    return f"REGISTER QUERY {name} AS {text}"


def place(name: str) -> str:
    return f"<{EX}{name}>"


def is_in(time: int, x: str, y: str) -> tuple[int, str, str, str]:
    return time, place(x), IS_IN, place(y)


def summary(results) -> list[tuple[int, list[str]]]:
    return [(r.close, sorted(row[0].rsplit("/", 1)[-1][:-1] for row in r.answers.rows)) for r in results]


def test_terms_of_any_library_are_the_same_terms():
    reasoner = Reasoner()
    reasoner.register("SELECT ?s ?p ?o FROM STREAM <urn:s> [RANGE 1s] { ?s ?p ?o }")
    number = "http://www.w3.org/2001/XMLSchema#integer"
    reasoner.push("urn:s", [(1, rdflib.URIRef("urn:a"), rdflib.URIRef("urn:p"), rdflib.Literal(5))])
    reasoner.push("urn:s", [(2, ox.NamedNode("urn:a"), ox.NamedNode("urn:p"), ox.Literal(5))])
    reasoner.push("urn:s", [(3, "<urn:a>", "<urn:p>", f'"5"^^<{number}>')])
    [result] = reasoner.end()
    assert result.answers.rows == [("<urn:a>", "<urn:p>", f'"5"^^<{number}>')]


@pytest.mark.parametrize("bad", ["urn:a", "<urn:a", '"x', "", "<urn:a> <urn:b>", "<relative>"])
def test_a_bad_term_is_refused_and_nothing_of_its_call_is_taken(bad):
    reasoner = Reasoner()
    reasoner.register(ALL)
    with pytest.raises(InputError, match="is no term"):
        reasoner.push("urn:s", [is_in(1, "a", "b"), (2, bad, IS_IN, place("b"))])
    assert list(reasoner.end()) == []


def test_a_stream_that_nobody_reads_is_refused():
    reasoner = Reasoner()
    reasoner.register(ALL)
    with pytest.raises(UsageError, match=r"no query reads the stream <urn:t> \(hint: did you mean 'urn:s'"):
        reasoner.push("urn:t", [is_in(1, "a", "b")])


def test_push_refuses_more_than_it_may_hold_and_takes_it_later():
    reasoner = Reasoner(max_pending=3)
    reasoner.register(ALL)
    reasoner.push("urn:s", [is_in(1000, "a", "b"), is_in(7000, "b", "c")])
    with pytest.raises(BufferFullError, match="advance"):
        reasoner.push("urn:s", [is_in(12_000, "c", "d"), is_in(13_000, "d", "e")])
    assert summary(reasoner.advance()) == [(5000, ["a"])]
    reasoner.push("urn:s", [is_in(12_000, "c", "d"), is_in(13_000, "d", "e")])
    assert summary(reasoner.end()) == [(10_000, ["a", "b"]), (15_000, ["b", "c", "d"]), (20_000, ["c", "d"])]


def test_results_that_were_not_taken_come_first_the_next_time():
    reasoner = Reasoner()
    reasoner.register(ALL)
    reasoner.push("urn:s", [is_in(1000, "a", "b")])
    reasoner.advance(to=5000)
    reasoner.push("urn:s", [is_in(4000, "late", "b")])
    assert summary(reasoner.advance(to=10_000)) == [(5000, ["a"]), (10_000, ["a", "late"])]
    assert reasoner.metrics()["late"] == 1


def test_time_goes_by_the_stream_that_is_behind():
    reasoner = Reasoner()
    reasoner.register("ASK FROM STREAM <urn:a> [RANGE 5s] FROM STREAM <urn:b> [RANGE 5s] { ?x ?p ?y }")
    reasoner.push("urn:a", [is_in(1000, "a", "b"), is_in(21_000, "a", "b")])
    assert list(reasoner.advance()) == []
    reasoner.heartbeat("urn:b", 10_000)
    assert [result.close for result in reasoner.advance()] == [5000, 10_000]


def test_an_idle_stream_holds_nobody_back():
    clock = FakeClock()
    reasoner = Reasoner(clock=clock, disorder={"urn:b": Disorder(idle_after_ms=1000)})
    reasoner.register("ASK FROM STREAM <urn:a> [RANGE 5s] FROM STREAM <urn:b> [RANGE 5s] { ?x ?p ?y }")
    reasoner.push("urn:a", [is_in(1000, "a", "b"), is_in(6000, "a", "b")])
    clock.tick(999)
    assert list(reasoner.advance()) == []
    clock.tick(1)
    assert [result.close for result in reasoner.advance()] == [5000]


def test_a_query_that_comes_later_reads_what_is_held():
    reasoner = Reasoner(rules="transitive-isin")
    reasoner.register(named("long", ALL.replace("RANGE 10s", "RANGE 100s")))
    reasoner.push("urn:s", [is_in(1000, "a", "b"), is_in(9000, "b", "c"), is_in(16_000, "c", "d")])
    list(reasoner.advance())
    assert reasoner.register(named("short")).exact_from == 20_000
    results = list(reasoner.advance(to=20_000))
    assert {(r.query, r.exact, len(r.answers.rows)) for r in results} == {
        ("long", True, 6),
        ("short", True, 1),
    }
    assert reasoner.metrics()["scopes"] == 1


def test_a_query_that_comes_too_late_for_its_window_says_so():
    reasoner = Reasoner()
    reasoner.register(named("short"))
    reasoner.push("urn:s", [is_in(1000, "a", "b"), is_in(30_000, "b", "c"), is_in(31_000, "c", "d")])
    list(reasoner.advance())
    long = named("long", ALL.replace("RANGE 10s", "RANGE 60s"))
    exact_from = reasoner.register(long).exact_from
    assert exact_from is not None
    assert exact_from > 35_000
    results = [result for result in reasoner.advance(to=100_000) if result.query == "long"]
    assert [result.exact for result in results] == [result.close >= exact_from for result in results]
    assert not results[0].exact
    assert results[-1].exact


def test_a_removed_query_is_gone_and_its_stream_holds_nobody_back():
    reasoner = Reasoner()
    reasoner.register(named("one"))
    reasoner.register(named("two", ALL.replace("urn:s", "urn:t")))
    reasoner.push("urn:s", [is_in(1000, "a", "b")])
    assert list(reasoner.advance()) == []
    reasoner.remove("two")
    assert summary(reasoner.advance(to=5000)) == [(5000, ["a"])]
    assert reasoner.metrics()["scopes"] == 1
    with pytest.raises(UsageError, match="registered: one"):
        reasoner.remove("two")
    with pytest.raises(UsageError, match="registered already"):
        reasoner.register(named("one"))


@pytest.mark.parametrize("strategy", ["recompute", "dred", "expiration", "rete"])
def test_a_retraction_takes_effect_at_its_time(strategy):
    reasoner = Reasoner(rules="transitive-isin", strategy=strategy)
    reasoner.register(ALL.replace("RANGE 10s", "RANGE 100s"))
    reasoner.push("urn:s", [is_in(1000, "a", "b"), is_in(2000, "b", "c"), is_in(3000, "b", "c")])
    reasoner.retract("urn:s", [is_in(6000, "b", "c")])
    reasoner.retract("urn:s", [is_in(11_000, "b", "c")])
    counts = [len(result.answers.rows) for result in reasoner.advance(to=15_000)]
    assert counts == [3, 3, 1]


def test_every_copy_can_be_retracted_at_once():
    reasoner = Reasoner()
    reasoner.register(ALL)
    reasoner.push("urn:s", [is_in(1000, "a", "b"), is_in(2000, "a", "b")])
    reasoner.retract("urn:s", [is_in(3000, "a", "b")], every=True)
    assert summary(reasoner.advance(to=5000)) == [(5000, [])]


STREAM = (
    "REGISTER STREAM <urn:t> AS CONSTRUCT { ?y <http://example.org/isIn> ?x } "
    "FROM STREAM <urn:s> [RANGE 5s] { ?x <http://example.org/isIn> ?y }"
)
READER = named("reader", ALL.replace("urn:s", "urn:t"))


@pytest.mark.parametrize("order", [(STREAM, READER), (READER, STREAM)])
def test_a_query_reads_what_another_constructs_whatever_their_order(order):
    source = FakeSource("1000 ex:a ex:isIn ex:b .\n7000 ex:c ex:isIn ex:d .", ex=EX)
    sink = run_queries(order, {"urn:s": source})
    found = {(r.query, r.close): len(r.answers.rows) for r in sink.results}
    assert found == {
        ("urn:t", 5000): 1,
        ("reader", 5000): 1,
        ("urn:t", 10_000): 1,
        ("reader", 10_000): 2,
        ("reader", 15_000): 1,
    }
    assert sink.rows("reader", 15_000) == [(place("d"), place("c"))]


def test_what_a_query_constructs_is_not_pushed():
    reasoner = Reasoner()
    reasoner.register(STREAM)
    reasoner.register(READER)
    with pytest.raises(UsageError, match="constructs"):
        reasoner.push("urn:t", [is_in(1, "a", "b")])


def test_queries_that_read_each_other_are_refused():
    reasoner = Reasoner()
    reasoner.register(STREAM)
    back = STREAM.replace("urn:t", "urn:x").replace("urn:s", "urn:t").replace("urn:x", "urn:s")
    with pytest.raises(QueryError, match=r"in a circle: urn:t -> urn:s -> urn:t|urn:s -> urn:t -> urn:s"):
        reasoner.register(back)
    assert [query.name for query in reasoner.queries] == ["urn:t"]


def test_a_stream_that_has_begun_gets_no_other_source():
    reasoner = Reasoner()
    reasoner.register(READER)
    reasoner.push("urn:t", [is_in(1, "a", "b")])
    with pytest.raises(UsageError, match="is read already"):
        reasoner.register(STREAM)


COUNT = "REGISTER STREAM <urn:t> AS CONSTRUCT { ?x <http://example.org/isIn> ?y } "
COUNT += "FROM STREAM <urn:s> [RANGE TRIPLES 2 STEP 2] { ?x <http://example.org/isIn> ?y }"


def test_what_count_windows_construct_comes_at_the_time_of_its_last_statement():
    source = FakeSource("1000 ex:a ex:isIn ex:b .\n4000 ex:b ex:isIn ex:c .\n9000 ex:c ex:isIn ex:d .", ex=EX)
    sink = run_queries([READER, COUNT], {"urn:s": source})
    assert [(r.query, r.close, len(r.answers.rows)) for r in sink.results] == [
        ("urn:t", 2, 2),
        ("reader", 5000, 2),
        ("urn:t", 4, 1),
        ("reader", 10_000, 3),
        ("reader", 15_000, 1),
    ]


def test_answers_say_when_they_will_leave():
    reasoner = Reasoner(rules="transitive-isin", until=True)
    reasoner.register(ALL)
    reasoner.push("urn:s", [is_in(1000, "a", "b"), is_in(4000, "b", "c"), is_in(7000, "c", "d")])
    results = list(reasoner.end())
    for result in results:
        for row, until in zip(result.answers.rows, result.until, strict=True):
            still = {r.close for r in results if row in r.answers.rows}
            assert until == max(still) + 5000


def test_a_graph_is_read_only_from_where_the_user_said(tmp_path):
    file = tmp_path / "open" / "g.ttl"
    file.parent.mkdir()
    file.write_text(f"{place('b')} {IS_IN} {place('c')} .")
    link = tmp_path / "open" / "link.ttl"
    os.symlink("/etc/passwd", link)
    query = ALL.replace("FROM STREAM", f"FROM <{file.as_uri()}> FROM STREAM")
    with pytest.raises(QueryError, match="may not be read"):
        Reasoner().register(query)
    with pytest.raises(QueryError, match="may not be read"):
        Reasoner(allow=[tmp_path / "open"]).register(query.replace("g.ttl", "../open/../../x.ttl"))
    with pytest.raises(QueryError, match="may not be read"):
        Reasoner(allow=[tmp_path / "open"]).register(query.replace("g.ttl", "link.ttl"))
    reasoner = Reasoner(rules="transitive-isin", allow=[tmp_path / "open"])
    reasoner.register(query)
    reasoner.push("urn:s", [is_in(1000, "a", "b")])
    assert [len(result.answers.rows) for result in reasoner.advance(to=5000)] == [3]


@pytest.mark.parametrize("iri", ["http://example.org/g", "urn:g", "ftp://example.org/g"])
def test_nothing_is_fetched(iri):
    query = ALL.replace("FROM STREAM", f"FROM <{iri}> FROM STREAM")
    with pytest.raises(QueryError, match=r"is not known .*--graph"):
        Reasoner(allow=["/"]).register(query)


def test_queries_over_the_same_stream_share_one_materialisation():
    reasoner = Reasoner(rules="transitive-isin")
    for seconds in (5, 10, 50):
        reasoner.register(named(f"q{seconds}", ALL.replace("RANGE 10s", f"RANGE {seconds}s")))
    [scope] = reasoner.plan()["scopes"]
    assert scope["readers"] == ["q5", "q10", "q50"]
    assert scope["watched"] == 1


def test_queries_share_only_under_equal_differences_of_ranges():
    both = (
        "ASK FROM STREAM <urn:a> [RANGE {}s STEP 5s] FROM STREAM <urn:b> [RANGE {}s STEP 5s] {{ ?x ?p ?y }}"
    )
    reasoner = Reasoner()
    for name, ranges in {"one": (10, 15), "two": (20, 25), "three": (10, 10)}.items():
        reasoner.register(named(name, both.format(*ranges)))
    readers = [scope["readers"] for scope in reasoner.plan()["scopes"]]
    assert readers == [["one", "two"], ["three"]]


def test_terms_that_no_window_holds_are_forgotten():
    reasoner = Reasoner(rules="transitive-isin")
    reasoner.register(ALL)
    sizes = []
    for second in range(120):
        reasoner.push("urn:s", [is_in(second * 1000 + k, f"a{second}_{k}", "b") for k in range(500)])
        list(reasoner.advance())
        sizes.append(reasoner.metrics()["terms"])
    assert max(sizes) < 40_000


def test_an_ended_stream_takes_nothing_more():
    reasoner = Reasoner()
    reasoner.register(ALL)
    reasoner.push("urn:s", [is_in(1000, "a", "b")])
    list(reasoner.end())
    with pytest.raises(UsageError, match="has ended"):
        reasoner.push("urn:s", [is_in(90_000, "a", "b")])
    assert list(reasoner.advance()) == []


def test_nothing_pushed_means_nothing_answered():
    reasoner = Reasoner()
    reasoner.register(ALL)
    assert list(reasoner.advance(to=1000)) == []
    assert list(reasoner.end()) == []


def test_a_query_can_be_wrong_in_ways_that_name_the_place():
    with pytest.raises(QueryError, match="not compiled"):
        Reasoner(evaluator="compiled").register(ALL.replace("<http://example.org/isIn>", "<urn:p>+"))
    with pytest.raises(UsageError, match="unknown evaluator"):
        Reasoner(evaluator="fast").register(ALL)
    with pytest.raises(UsageError, match="unknown strategy"):
        Reasoner(strategy="fast").register(ALL)


def test_a_statement_without_a_time_has_the_time_of_its_arrival():
    clock = FakeClock(1000)
    reasoner = Reasoner(clock=clock)
    reasoner.register(ALL)
    reasoner.push("urn:s", [(None, *is_in(0, "a", "b")[1:])])
    clock.tick(5000)
    reasoner.push("urn:s", [(None, *is_in(0, "b", "c")[1:])])
    assert summary(reasoner.advance()) == [(5000, ["a"])]
    assert summary(reasoner.end()) == [(10_000, ["a", "b"]), (15_000, ["b"])]


@pytest.mark.parametrize("strategy", ["recompute", "dred", "expiration", "rete"])
def test_metrics_tell_what_is_held_and_what_of_it_is_derived(strategy):
    reasoner = Reasoner(rules="transitive-isin", strategy=strategy)
    reasoner.register(ALL)
    reasoner.push("urn:s", [is_in(1000, "a", "b"), is_in(2000, "b", "c"), is_in(2000, "b", "c")])
    list(reasoner.advance(to=5000))
    found = reasoner.metrics()
    assert (found["admitted"], found["facts"], found["derived"], found["late"]) == (3, 3, 1, 0)


@pytest.mark.parametrize("strategy", ["rewrite", "rewrite-union"])
def test_a_query_that_needs_a_join_of_rules_is_refused_when_it_is_registered(strategy):
    """Whoever reads the same stream already goes on, and a query that needs no such rule is taken."""
    near = ALL.replace("isIn", "near")
    reasoner = Reasoner("transitive-isin", strategy=strategy)
    reasoner.register(named("first", near))
    with pytest.raises(StrategyError, match=r"rule 'R' joins .* use --strategy hybrid or expiration"):
        reasoner.register(named("where"))
    reasoner.register(named("second", near))
    reasoner.push("urn:s", [(1000, place("a"), f"<{EX}near>", place("b"))])
    assert summary(reasoner.advance(to=5000)) == [(5000, ["a"]), (5000, ["a"])]


def test_a_union_that_is_too_large_is_refused_when_its_query_is_registered(monkeypatch):
    monkeypatch.setattr("ensue.maintain.rewrite.maintainer.MOST_MEMBERS", 0)
    reasoner = Reasoner("transitive-isin", strategy="rewrite-union")
    with pytest.raises(StrategyError, match="1 members, at most 0"):
        reasoner.register(named("first", ALL.replace("isIn", "near")))
    assert reasoner.queries == []
