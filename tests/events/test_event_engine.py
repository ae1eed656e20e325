"""Temporal queries among others: what they read and make, what is late, what is remembered."""

from __future__ import annotations

from random import Random

import pytest

from ensue import Reasoner
from ensue.errors import QueryError
from ensue.events.allen import holds
from ensue.events.tree import Allen
from ensue.windows.frontier import Disorder

PAIRS = """PREFIX : <urn:> REGISTER STREAM :pairs AS CONSTRUCT { ?x :pair ?y }
    FROM STREAM :s [RANGE 10ms STEP 5ms] WHERE { { ?x :a ?y } SEQ { ?x :b ?y } }"""


def row(time: int, predicate: str, value: str = "v") -> tuple[int, str, str, str]:
    return time, "<urn:k>", f"<urn:{predicate}>", f"<urn:{value}>"


def test_exactly_one_relation_holds_between_two_intervals() -> None:
    times = [(start, end) for start in range(5) for end in range(start, 5)]
    for one in times:
        for other in times:
            assert sum(bool(holds(relation, *one, *other)) for relation in Allen) == 1, (one, other)


def test_what_a_temporal_query_constructs_can_be_read_in_time() -> None:
    reasoner = Reasoner()
    reasoner.register(PAIRS)
    reasoner.register(
        """PREFIX : <urn:> REGISTER QUERY after AS SELECT ?y ?z
        FROM STREAM :pairs [RANGE 20ms STEP 5ms] FROM STREAM :s [RANGE 20ms STEP 5ms]
        WHERE { { ?x :pair ?y } SEQ { ?x :c ?z } }"""
    )
    reasoner.push("urn:s", [row(1, "a"), row(2, "b"), row(5, "c", "same"), row(7, "c", "later")])
    found = {result.close: result.answers.rows for result in reasoner.end() if result.query == "after"}
    assert found[5] == []  # The pair is there at 5, when the window closes, and nothing is after it yet.
    assert found[10] == [("<urn:v>", "<urn:later>")]


def test_out_of_order_is_put_in_order_and_late_is_counted() -> None:
    text = (
        "PREFIX : <urn:> SELECT ?y ?z FROM STREAM :s [RANGE 30ms STEP 5ms] { { ?x :a ?y } SEQ { ?x :b ?z } }"
    )
    reasoner = Reasoner(disorder=Disorder(3))
    reasoner.register(text)
    reasoner.push("urn:s", [row(4, "b"), row(2, "a"), row(20, "c")])
    results = list(reasoner.advance())
    assert results[0].answers.rows == [("<urn:v>", "<urn:v>")]
    reasoner.push("urn:s", [row(6, "b", "late")])  # Its windows are open still, and so is the pair.
    [later] = [result for result in reasoner.end() if result.close == 20]
    assert sorted(later.answers.rows) == [("<urn:v>", "<urn:late>"), ("<urn:v>", "<urn:v>")]
    assert reasoner.metrics()["late_events"] == 1


def test_filters_aggregates_and_background_around_an_expression(tmp_path) -> None:
    path = tmp_path / "background.nt"
    path.write_text("<urn:k> <urn:in> <urn:room> .\n")
    reasoner = Reasoner(background=[path])
    reasoner.register(
        """PREFIX : <urn:> PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>
        SELECT ?room (COUNT(*) AS ?n) (MAX(f:duration()) AS ?longest) FROM STREAM :s [RANGE 100ms]
        WHERE { { ?x :a ?y FILTER(?y != :no) } AS ?a SEQ { ?x :b ?z } ?x :in ?room FILTER(f:end(?a) > 2) }
        GROUP BY ?room"""
    )
    reasoner.push("urn:s", [row(2, "a"), row(3, "a"), row(4, "a"), row(5, "a", "no"), row(9, "b")])
    [result] = reasoner.end()
    integer = "<http://www.w3.org/2001/XMLSchema#integer>"
    assert result.answers.rows[0][:2] == ("<urn:room>", f'"2"^^{integer}')
    assert result.answers.rows[0][2].startswith('"6"')


def test_times_as_ep_sparql_has_them() -> None:
    reasoner = Reasoner()
    reasoner.register(
        """PREFIX : <urn:> SELECT (getSTARTTIME() AS ?s) (getENDTIME() AS ?e) (getDURATION() AS ?d)
        FROM STREAM :s [RANGE 1h]
        WHERE { { ?x :a ?y } SEQ { ?x :b ?z } FILTER(getDURATION() > "PT1M"^^xsd:duration) }"""
    )
    reasoner.push("urn:s", [row(1000, "a"), row(2000, "b"), row(91_500, "b")])
    [result] = reasoner.end()
    [times] = [[term.split('"')[1] for term in answer] for answer in result.answers.rows]
    assert times == ["1970-01-01T00:00:01.000Z", "1970-01-01T00:01:31.500Z", "PT90.5S"]


def test_what_only_oxigraph_can_answer_is_refused() -> None:
    text = "PREFIX : <urn:> SELECT * FROM STREAM :s [RANGE 1s] { { ?x :a ?y } SEQ { ?x :b ?z } ?x :in+ ?r }"
    with pytest.raises(QueryError, match="cannot be in a query with temporal operators"):
        Reasoner().register(text)


@pytest.mark.parametrize("seed", range(3))
def test_memory_is_flat_and_nothing_outlives_its_time(seed: int) -> None:
    random = Random(seed)
    strategy = random.choice(("", "[RECENT]", "[CHRONICLE]"))
    reasoner = Reasoner()
    reasoner.register(
        f"""PREFIX : <urn:> SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 200ms STEP 50ms]
        WHERE {{ {{ ?x :a ?y }} SEQ {strategy} NOT {{ ?x :c ?y }}
                 SEQ {{ ?x :b ?z . ?x :a ?z }} WITHIN 60ms }}"""
    )
    most = []
    for step in range(60):
        rows = [
            (
                step * 50 + random.randint(1, 50),
                f"<urn:{random.randrange(20)}>",
                f"<urn:{random.choice('abc')}>",
                f"<urn:{random.randrange(3)}>",
            )
            for _ in range(100)
        ]
        reasoner.push("urn:s", sorted(rows))
        list(reasoner.advance(to=step * 50 + 50))
        assert reasoner.counters()["overdue"] == 0
        most.append(reasoner.counters()["partial_matches"])
    assert max(most[30:]) <= 1.3 * max(most[5:30])  # Of random numbers, not of what is kept.
    assert reasoner.counters()["collected"] > 1000
