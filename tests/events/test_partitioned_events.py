"""Temporal queries in partitions: as if each partition were a stream of its own, found by enumeration."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from ensue import Reasoner
from ensue.errors import InputError
from ensue.rules.load import parse_rules
from ensue.windows.frontier import Disorder

from . import random_events
from .brute_force import Statement, Triple

GRAPHS = (None, "<urn:g1>", "<urn:g2>")
KEYS = {"<urn:1>": ("<urn:k1>", "<urn:k2>"), "<urn:2>": ("<urn:k2>",)}
"""By subject. `<urn:3>` has none."""
KEYED = frozenset((s, "<urn:in>", key) for s, keys in KEYS.items() for key in keys)

Rows = list[tuple[Statement, str | None]]
Answered = dict[tuple[int, int], Counter[tuple[object, ...]]]


def partitioned(case: random_events.Case, by: str) -> str:
    return case.asked.text.replace(" WHERE {", f" PARTITION BY {by} WHERE {{", 1)


def answers(reasoner: Reasoner, text: str, case: random_events.Case, rows: Rows, random: Random) -> Answered:
    """What the engine gives, window by window, if statements come in pieces."""
    reasoner.register(text)
    results, at = [], 0
    while at < len(rows):
        some = random.randint(1, 4)
        reasoner.push("urn:s", [(*row, graph) for row, graph in rows[at : at + some]])
        results += reasoner.advance()
        assert reasoner.counters()["overdue"] == 0
        at += some
    results += reasoner.end()
    return {(each.open, each.close): random_events.bag(case, each.answers.rows) for each in results}


def expected(
    case: random_events.Case, parts: list[list[Statement]], windows: Answered, closed: frozenset[Triple]
) -> Answered:
    """The same query over the statements of each partition by themselves, by enumeration."""
    found: Answered = {window: Counter() for window in windows}
    for rows in parts:
        for window, some in random_events.expected(case, rows, windows, closed=closed).items():
            found[window] += some
    return found


@pytest.mark.parametrize("seed", range(16))
def test_by_graph_it_is_as_if_each_graph_were_a_stream(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    asked, compared = random_events.make_query(random), 0
    for _ in range(3):
        case = random_events.make_case(asked, random)
        # The same statements in several graphs: who does not tell them apart finds much more.
        rows: Rows = [(row, random.choice(GRAPHS)) for row in random_events.arrival(case, random)]
        background = random_events.write_background(case, tmp_path)
        reasoner = Reasoner(background=[background] if background else [], disorder=Disorder(case.disorder))
        found = answers(reasoner, partitioned(case, "GRAPH"), case, rows, random)
        parts = [[row for row, of in rows if of == graph] for graph in GRAPHS]
        wanted = expected(case, parts, found, case.background)
        assert found == wanted, f"seed {seed}: {case}\n rows {rows}"
        compared += len(found)
    assert compared


@pytest.mark.parametrize("seed", range(8))
def test_by_a_property_it_is_as_if_each_key_were_a_stream(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    asked = random_events.make_query(random)
    path = tmp_path / "keys.nt"
    path.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in sorted(KEYED)))
    for _ in range(3):
        case = random_events.make_case(asked, random)
        moved = [(row[0], random.choice((row[1], row[1], "<urn:3>")), *row[2:]) for row in case.statements]
        rows: Rows = [
            (row, None) for row in sorted(moved, key=lambda each: each[0] + random.uniform(0, case.disorder))
        ]
        reasoner = Reasoner(background=[path], disorder=Disorder(case.disorder), fixed_schema=True)
        found = answers(reasoner, partitioned(case, "<urn:in>"), case, rows, random)
        parts = [[row for row, _ in rows if key in KEYS.get(row[1], ())] for key in ("<urn:k1>", "<urn:k2>")]
        assert found == expected(case, parts, found, KEYED), f"seed {seed}: {case}\n rows {rows}"
        in_none = [row for row, _ in rows if row[1] not in KEYS]
        counted = sum(open_ < row[0] <= close for open_, close in found for row in in_none)
        assert reasoner.counters()["unkeyed"] == counted


def test_every_partition_that_holds_a_statement_is_answered_in_order_of_keys() -> None:
    reasoner = Reasoner()
    reasoner.register(
        """PREFIX : <urn:> SELECT (COUNT(*) AS ?n) FROM STREAM :s [RANGE 10ms] PARTITION BY GRAPH
        WHERE { { ?x :a ?y } SEQ { ?x :b ?y } }"""
    )
    rows = [(1, "a", "h"), (2, "b", "h"), (3, "b", "g"), (4, "other", "f"), (12, "b", "h")]
    reasoner.push("urn:s", [(time, "<urn:k>", f"<urn:{p}>", "<urn:v>", f"<urn:{g}>") for time, p, g in rows])
    counts = [[row[0].split('"')[1] for row in result.answers.rows] for result in reasoner.end()]
    assert counts == [["0", "0", "1"], ["0"]]  # f, g and h; then h alone.


def test_each_form_of_a_query_is_answered_in_partitions() -> None:
    reasoner = Reasoner()
    for form, head in (("made", "CONSTRUCT { ?x :then ?z }"), ("asked", "ASK")):
        reasoner.register(
            f"""PREFIX : <urn:> REGISTER QUERY {form} AS {head} FROM STREAM :s [RANGE 10ms]
            PARTITION BY GRAPH WHERE {{ {{ ?x :a ?y }} SEQ {{ ?x :b ?z }} }}"""
        )
    rows = [(1, "a", "g"), (2, "b", "h"), (3, "b", "g"), (11, "a", "g"), (12, "b", "h")]
    reasoner.push(
        "urn:s", [(time, "<urn:k>", f"<urn:{p}>", f"<urn:v{time}>", f"<urn:{g}>") for time, p, g in rows]
    )
    found = {(result.query, result.close): result.answers.rows for result in reasoner.end()}
    assert found["made", 10] == [("<urn:k>", "<urn:then>", "<urn:v3>")]
    assert found["made", 20] == []
    assert [bool(found["asked", close]) for close in (10, 20)] == [True, False]


def test_a_stream_that_brings_a_key_stops_the_job(tmp_path: Path) -> None:
    reasoner = Reasoner(fixed_schema=True)
    reasoner.register(
        """PREFIX : <urn:> SELECT * FROM STREAM :s [RANGE 10ms] PARTITION BY :in
        WHERE { { ?x :a ?y } SEQ { ?x :b ?y } }"""
    )
    reasoner.push("urn:s", [(1, "<urn:k>", "<urn:in>", "<urn:room>")])
    with pytest.raises(InputError, match="schema on the stream"):
        list(reasoner.end())


def test_what_rules_join_is_of_one_partition() -> None:
    rules = """[joining: (?x <urn:a> ?y), (?y <urn:b> ?z) -> (?x <urn:e> ?z)]
        [linear: (?x <urn:d> ?y) -> (?x <urn:c> ?y)]"""
    reasoner = Reasoner(rules=parse_rules(rules, "r.rules"))
    reasoner.register(
        """PREFIX : <urn:> SELECT ?y ?z FROM STREAM :s [RANGE 10ms] PARTITION BY GRAPH
        WHERE { { ?x :e ?y } SEQ { ?x :c ?z } }"""
    )
    rows = [(1, "k a m", "g"), (2, "m b x", "h"), (3, "m b y", "g"), (4, "k d u", "h"), (5, "k d v", "g")]
    reasoner.push("urn:s", [(t, *(f"<urn:{n}>" for n in (*text.split(), g))) for t, text, g in rows])
    [result] = reasoner.end()
    assert result.answers.rows == [("<urn:y>", "<urn:v>")]
