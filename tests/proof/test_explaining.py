"""Facts and answers of queries, explained: by what, until when, and what went when they left."""

from __future__ import annotations

import pytest

from ensue import Reasoner
from ensue.errors import UsageError
from ensue.model import FOREVER
from ensue.proof.explanation import NotHeldError
from ensue.proof.proof import leaves
from ensue.proof.replay import replay
from ensue.resumable import Resumable
from ensue.rules.load import load_rules, parse_rules

ISIN = "<http://example.org/isIn>"
WHERE = """
    REGISTER QUERY where AS SELECT ?x
    FROM STREAM <urn:positions> [RANGE 10s STEP 5s]
    WHERE { ?x <http://example.org/isIn> <urn:berlin> }"""


def trains(**options):
    r = Reasoner("transitive-isin", **options)
    r.register(WHERE)
    r.push("urn:positions", [(1000, "<urn:train>", ISIN, "<urn:station>")])
    r.push("urn:positions", [(4000, "<urn:station>", ISIN, "<urn:berlin>")])
    return r


def sources(explanation):
    return [(leaf.fact[0], explanation.time(leaf)) for leaf in leaves(*explanation.proofs)]


def test_an_answer_and_until_when():
    r = trains(explain=True)
    [result] = r.advance(to=5000)
    why = r.explain_answer(result, ("<urn:train>",))
    assert why.about == "?x = <urn:train>"
    assert sources(why) == [("<urn:train>", 1000), ("<urn:station>", 4000)]
    assert (why.stamp, why.until, why.window) == (1000, 15000, (-5000, 5000))
    replay(why.proofs[0], load_rules("transitive-isin"))


def test_the_freshest_derivation_counts_and_not_the_smallest():
    r = trains(explain=True)
    r.push("urn:positions", [(2000, "<urn:train>", ISIN, "<urn:berlin>")])
    r.push("urn:positions", [(3000, "<urn:train>", ISIN, "<urn:station>")])
    [result] = r.advance(to=5000)
    why = r.explain_answer(result, ("<urn:train>",))
    assert sources(why) == [("<urn:train>", 3000), ("<urn:station>", 4000)]
    assert why.until == 15000


def test_until_is_what_results_say():
    r = trains(explain=True, until=True)
    for result in [*r.advance(to=10_000), *r.end()]:
        if result.close == r._why.memory.moments("where")[-1].evaluation.at:
            for row, until in zip(result.answers.rows, result.until, strict=True):
                assert r.explain_answer(result, row).until == until


def test_an_answer_that_left_because_something_expired():
    r = trains(explain=True)
    list(r.advance(to=10_000))
    list(r.advance(to=15_000))
    why = r.explain_left("where", ("<urn:train>",))
    assert [(gone.leaf.fact[0], gone.why) for gone in why.gone] == [
        ("<urn:train>", "expired"),
        ("<urn:station>", "expired"),
    ]
    assert "gone: <urn:train>" in str(why)


def test_an_answer_that_left_because_something_was_retracted():
    r = trains(explain=True)
    list(r.advance(to=5_000))
    r.retract("urn:positions", [(6000, "<urn:station>", ISIN, "<urn:berlin>")])
    list(r.advance(to=10_000))
    why = r.explain_left("where", ("<urn:train>",))
    assert [(gone.leaf.fact[0], gone.why) for gone in why.gone] == [("<urn:station>", "retracted")]


def test_an_answer_that_has_not_left():
    r = trains(explain=True)
    list(r.advance(to=10_000))
    with pytest.raises(UsageError, match="still an answer"):
        r.explain_left("where", ("<urn:train>",))


def test_without_a_memory_what_is_held_is_explained_and_the_past_is_not():
    r = trains()
    list(r.advance(to=5000))
    assert r.explain(("<urn:train>", ISIN, "<urn:berlin>")).until == 15000
    with pytest.raises(UsageError, match="explain=True"):
        r.explain_left("where", ("<urn:train>",))


def test_what_does_not_hold_has_no_proof_but_neighbours():
    r = trains()
    list(r.advance(to=5000))
    with pytest.raises(NotHeldError, match=r"near it: <urn:train> .*<urn:station>"):
        r.explain(("<urn:train>", ISIN, "<urn:rome>"))


def test_the_last_but_one_window_can_be_asked_for():
    r = trains(explain=True)
    list(r.advance(to=10_000))
    assert r.explain(("<urn:train>", ISIN, "<urn:berlin>"), at=5000).window.close == 5000
    with pytest.raises(UsageError, match="5000, 10000"):
        r.explain(("<urn:train>", ISIN, "<urn:berlin>"), at=3)


def test_background_alone(tmp_path):
    (tmp_path / "b.nt").write_text(f"<urn:a> {ISIN} <urn:b> .\n<urn:b> {ISIN} <urn:c> .\n")
    r = Reasoner("transitive-isin", [tmp_path / "b.nt"])
    why = r.explain(("<urn:a>", ISIN, "<urn:c>"))
    assert (why.stamp, why.until) == (FOREVER, None)
    assert {leaf.source for leaf in leaves(*why.proofs)} == {"background"}


def test_which_of_two_streams_and_when_with_different_ranges():
    r = Reasoner("transitive-isin", explain=True)
    r.register(
        "REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:a> [RANGE 20s STEP 5s] "
        f"FROM STREAM <urn:b> [RANGE 10s STEP 5s] WHERE {{ ?x {ISIN} <urn:c> }}"
    )
    r.push("urn:a", [(1000, "<urn:x>", ISIN, "<urn:y>")])
    r.push("urn:b", [(4000, "<urn:y>", ISIN, "<urn:c>")])
    [result] = r.advance(to=5000)
    why = r.explain_answer(result, ("<urn:x>",))
    found = [(leaf.source, why.time(leaf)) for leaf in leaves(*why.proofs)]
    assert found == [("urn:a", 1000), ("urn:b", 4000)]
    assert why.until == 15_000


def test_variables_that_are_not_projected_take_the_freshest():
    r = Reasoner(explain=True)
    r.register("REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 9s STEP 1s] { ?x <urn:p> ?y }")
    r.push("urn:s", [(100, "<urn:a>", "<urn:p>", "<urn:b>"), (200, "<urn:a>", "<urn:p>", "<urn:c>")])
    [result] = r.advance(to=1000)
    assert r.explain_answer(result, ("<urn:a>",)).proofs[0].fact[2] == "<urn:c>"


@pytest.mark.parametrize(
    ("pattern", "row", "facts", "note"),
    [
        ("?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z }", ("<urn:a>", "<urn:b>", "<urn:c>"), 2, None),
        ("?x <urn:p> ?y OPTIONAL { ?y <urn:r> ?z }", ("<urn:a>", "<urn:b>", None), 1, "OPTIONAL"),
        ("{ ?x <urn:p> ?y } UNION { ?x <urn:q> ?y } BIND(1 AS ?z)", ("<urn:b>", "<urn:c>", 1), 1, None),
        ("?x <urn:p> ?y FILTER NOT EXISTS { ?x <urn:q> ?z }", ("<urn:a>", "<urn:b>", None), 1, "NOT EXISTS"),
        ("?x <urn:p> ?y MINUS { ?x <urn:q> ?y }", ("<urn:a>", "<urn:b>", None), 1, "MINUS"),
        ("?x <urn:p>/<urn:q> ?z . ?x <urn:p> ?y", ("<urn:a>", "<urn:b>", "<urn:c>"), 3, None),
        ("?x <urn:p> ?y { SELECT ?y { ?y <urn:q> ?x } }", ("<urn:a>", "<urn:b>", None), 2, None),
    ],
)
def test_the_facts_that_an_answer_rests_on(pattern, row, facts, note):
    r = Reasoner(explain=True)
    r.register(f"REGISTER QUERY q AS SELECT ?x ?y ?z FROM STREAM <urn:s> [RANGE 9s STEP 1s] {{ {pattern} }}")
    r.push("urn:s", [(100, "<urn:a>", "<urn:p>", "<urn:b>"), (200, "<urn:b>", "<urn:q>", "<urn:c>")])
    [result] = r.advance(to=1000)
    one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    row = tuple(one if term == 1 else term for term in row)
    assert row in result.answers.rows
    why = r.explain_answer(result, row)
    assert len(why.proofs) == facts
    assert [note in each for each in why.notes] == ([] if note is None else [True])


def test_aggregates_ask_and_construct():
    r = Reasoner(explain=True)
    window = "FROM STREAM <urn:s> [RANGE 9s STEP 1s]"
    r.register(f"REGISTER QUERY n AS SELECT ?x (COUNT(?y) AS ?n) {window} {{ ?x <urn:p> ?y }} GROUP BY ?x")
    r.register(f"REGISTER QUERY ask AS ASK {window} {{ ?x <urn:p> ?y }}")
    r.register(f"REGISTER QUERY c AS CONSTRUCT {{ ?y <urn:r> ?x }} {window} {{ ?x <urn:p> ?y }}")
    r.push("urn:s", [(100, "<urn:a>", "<urn:p>", "<urn:b>")])
    found = {result.query: result for result in r.advance(to=1000)}
    [row] = found["n"].answers.rows
    assert "aggregate" in r.explain_answer("n", row).notes[0]
    assert r.explain_answer("ask", ()).about == "yes"
    assert r.explain_answer("c", ("<urn:b>", "<urn:r>", "<urn:a>")).proofs[0].fact[0] == "<urn:a>"


def test_what_oxigraph_answers_is_refused():
    r = Reasoner(explain=True)
    r.register("REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 9s STEP 1s] { ?x <urn:p>+ ?y }")
    r.push("urn:s", [(100, "<urn:a>", "<urn:p>", "<urn:b>")])
    [result] = r.advance(to=1000)
    with pytest.raises(UsageError, match="cannot be explained"):
        r.explain_answer(result, ("<urn:a>",))


def test_named_windows_are_explained_each_on_its_own():
    r = Reasoner(explain=True)
    r.register(
        "REGISTER RSTREAM <urn:q> AS SELECT ?x FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE PT10S STEP PT5S] "
        "FROM NAMED WINDOW <urn:v> ON <urn:t> [RANGE PT20S STEP PT5S] "
        "WHERE { WINDOW <urn:w> { ?x <urn:p> ?y } WINDOW <urn:v> { ?y <urn:p> ?z } }"
    )
    r.push("urn:s", [(1000, "<urn:a>", "<urn:p>", "<urn:b>")])
    r.push("urn:t", [(2000, "<urn:b>", "<urn:p>", "<urn:c>")])
    [result] = r.advance(to=5000)
    why = r.explain_answer(result, ("<urn:a>",))
    assert why.graphs == ("urn:w", "urn:v")
    assert why.until == 15_000


def test_partitions_are_explained_each_on_its_own():
    r = Reasoner("transitive-isin", explain=True)
    r.register(
        "REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 5s] PARTITION BY GRAPH "
        f"WHERE {{ ?x {ISIN} <urn:c> }}"
    )
    rows = [(1000, "<urn:a>", ISIN, "<urn:b>"), (2000, "<urn:b>", ISIN, "<urn:c>")]
    r.push("urn:s", [(*row, "<urn:g>") for row in rows])
    [result] = r.advance(to=5000)
    why = r.explain_answer(result, ("<urn:a>",))
    assert (why.partition, len(list(leaves(*why.proofs)))) == ("<urn:g>", 2)


def test_a_late_statement_was_not_in_the_window_that_had_closed():
    r = trains(explain=True)
    list(r.advance(to=5000))
    r.push("urn:positions", [(4500, "<urn:train>", ISIN, "<urn:berlin>")])
    assert r.explain(("<urn:train>", ISIN, "<urn:berlin>"), at=5000).stamp == 1000
    list(r.advance(to=10_000))
    assert r.explain(("<urn:train>", ISIN, "<urn:berlin>"), at=10_000).stamp == 4500
    assert r.explain(("<urn:train>", ISIN, "<urn:berlin>"), at=5_000).stamp == 1000


def test_count_windows():
    r = Reasoner(explain=True)
    r.register("REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE TRIPLES 3 STEP 1] { ?x ?p ?y }")
    r.push("urn:s", [(at, f"<urn:{at}>", "<urn:p>", "<urn:b>") for at in range(1, 6)])
    list(r.advance(to=5))
    why = r.explain_answer("q", ("<urn:4>",))
    assert (why.stamp, why.until) == (4, 7)


def test_memory_stays_bounded():
    r = Reasoner(explain=True)
    r.register("REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?x <urn:p> ?y }")
    for at in range(300):
        r.push("urn:s", [(at * 1000 + k, f"<urn:{at}/{k}>", "<urn:p>", "<urn:b>") for k in range(20)])
        list(r.advance(to=at * 1000 + 999))
    assert sum(map(len, r._why.memory._copies.values())) < 2500


def test_a_rule_named_by_its_file_is_named_in_the_proof():
    rules = parse_rules("[ (?x <urn:p> ?y) -> (?y <urn:p> ?x) ]", "mine.rules")
    r = Reasoner(rules)
    r.register("ASK FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?x ?y ?z }")
    r.push("urn:s", [(1, "<urn:a>", "<urn:p>", "<urn:b>")])
    list(r.advance(to=1))
    assert r.explain(("<urn:b>", "<urn:p>", "<urn:a>")).proofs[0].rule == rules.rules[0].name


def test_a_violation_is_explained_by_the_statements_that_are_responsible():
    rules = parse_rules("[both: (?x ?p ?y), (?x <urn:not> ?y) -> (?x violation:both ?y)]")
    r = Reasoner(rules, explain=True)
    r.register("ASK FROM STREAM <urn:s> [RANGE 2s STEP 1s] { ?x <urn:p> ?y }")
    r.push("urn:s", [(500, "<urn:a>", "<urn:p>", "<urn:b>"), (900, "<urn:a>", "<urn:not>", "<urn:b>")])
    list(r.advance(to=1000))
    why = r.explain(("<urn:a>", "<urn:ensue:violation:both>", "<urn:b>"))
    assert {leaf.fact[1] for leaf in leaves(*why.proofs)} == {"<urn:not>"}  # It is about itself alone.
    assert why.until == 3000
    replay(why.proofs[0], rules)


def test_a_violation_is_explained_though_nobody_looks_out_for_it(tmp_path):
    (tmp_path / "b.nt").write_text("<urn:a> <urn:not> <urn:b> .\n<urn:a> <urn:p> <urn:b> .\n")
    rules = parse_rules("[both: (?x <urn:p> ?y), (?x <urn:not> ?y) -> (?x violation:both ?y)]")
    why = Reasoner(rules, [tmp_path / "b.nt"]).explain(("<urn:a>", "<urn:ensue:violation:both>", "<urn:b>"))
    assert len(list(leaves(*why.proofs))) == 2
    with pytest.raises(NotHeldError):
        Reasoner(rules).explain(("<urn:a>", "<urn:ensue:violation:both>", "<urn:b>"))


def test_a_reasoner_that_keeps_no_copies_says_so():
    r = Resumable("transitive-isin")
    r.register(WHERE)
    r.settle()
    with pytest.raises(UsageError, match="no copies of statements are kept"):
        r.explain(("<urn:train>", ISIN, "<urn:berlin>"))
