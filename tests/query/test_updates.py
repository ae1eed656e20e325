"""A background that changes in mid-run: what `update` and `reload` promise, case by case and at random.

What is compared with here is a reasoner that was started with the other background, and given the same
streams. `equivalence/test_changes.py` compares with the definition. ENSUE_SEED sets the first seed.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from equals.cases import SAME, random_case
from query.partition_cases import KEY, ROOMS, THINGS, make_case, run

from ensue import Reasoner
from ensue.errors import InputError, UsageError
from ensue.knowledge import Sent
from ensue.proof.explanation import NotHeldError
from ensue.query.updates import changed
from ensue.rules.load import parse_rules
from ensue.rules.tree import RuleSet
from ensue.terms import RDF, RDFS

SEED = int(os.environ.get("ENSUE_SEED", "1"))
STRATEGIES = ("auto", "recompute", "dred", "expiration", "rete", "hybrid")
IN = "<http://example.org/isIn>"
TYPE, BELOW = f"<{RDF}type>", f"<{RDFS}subClassOf>"
QUERY = "REGISTER {} q AS SELECT ?x ?y FROM STREAM <urn:s> [RANGE 20ms STEP 10ms] {{ ?x <urn:p> ?y }}"
WITHIN = f"SELECT ?x FROM STREAM <urn:s> [RANGE 20ms STEP 10ms] {{ ?x {IN} <urn:c> }}"
A_IN_B, B_IN_C, C_IN_D = ((f"<urn:{x}>", IN, f"<urn:{y}>") for x, y in (("a", "b"), ("b", "c"), ("c", "d")))


def knowledge(*statements):
    return Sent(tuple((*statement, None) for statement in statements))


def rows(results):
    return [(result.close, sorted(result.answers.rows)) for result in results]


def within(strategy="auto", *known, **options):
    """Who is in <urn:c>, by a rule that joins."""
    reasoner = Reasoner("transitive-isin", knowledge(*known), strategy, **options)
    reasoner.register(WITHIN)
    return reasoner


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_holds_at_its_instant_and_later_is_the_other_background(strategy):
    reasoner = within(strategy, B_IN_C)
    assert reasoner.update(remove=[B_IN_C], at=20) == 20
    reasoner.update(add=[B_IN_C], at=31)
    reasoner.push("urn:s", [(time, *A_IN_B) for time in (5, 15, 25, 35)])
    a, b = ("<urn:a>",), ("<urn:b>",)
    assert rows(reasoner.end()) == [(10, [a, b]), (20, []), (30, []), (40, [a, b]), (50, [a, b])]


def test_bounds_say_which_instant_is_the_last_of_a_window():
    reasoner = within("auto", B_IN_C, bounds="[)")
    reasoner.update(remove=[B_IN_C], at=20)
    reasoner.push("urn:s", [(5, *A_IN_B)])
    # Neither a statement at 20 is in [0, 20), nor is an update at 20.
    assert [(close, len(found)) for close, found in rows(reasoner.end())] == [(10, 2), (20, 2)]


def test_an_update_whose_time_has_come_is_refused_and_changes_nothing():
    reasoner = within()
    reasoner.push("urn:s", [(5, *A_IN_B)])
    list(reasoner.advance(to=12))
    with pytest.raises(UsageError, match="cannot change at 12: time has come to 12"):
        reasoner.update(add=[B_IN_C], at=12)
    assert reasoner.update(add=[B_IN_C], at=13) == 13
    assert rows(reasoner.end()) == [(20, [("<urn:a>",), ("<urn:b>",)])]
    with pytest.raises(UsageError, match="all streams have ended"):
        reasoner.update(add=[B_IN_C], at=1000)
    with pytest.raises(UsageError, match="64 bits"):
        within().update(add=[B_IN_C], at=2**63)


def test_what_is_said_for_one_time_is_done_in_order():
    reasoner = within()
    reasoner.update(add=[B_IN_C, B_IN_C], at=3)
    reasoner.update(remove=[B_IN_C, C_IN_D], at=3)
    reasoner.push("urn:s", [(5, *A_IN_B)])
    assert rows(reasoner.end()) == [(10, []), (20, [])]


def test_istream_and_dstream_compare_with_what_was_answered_before():
    texts = ("ISTREAM <urn:i>", "DSTREAM <urn:d>")
    reasoner = Reasoner("transitive-isin", knowledge(B_IN_C))
    for text in texts:
        reasoner.register(
            f"REGISTER {text} AS SELECT ?x FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE 30ms STEP 10ms] "
            f"WHERE {{ WINDOW <urn:w> {{ ?x {IN} <urn:d> }} }}"
        )
    reasoner.update(add=[C_IN_D], at=15)
    reasoner.update(remove=[B_IN_C], at=25)
    reasoner.push("urn:s", [(5, *A_IN_B)])
    found = [(result.query, *each) for result in reasoner.end() for each in rows([result])]
    a, b, c = (f"<urn:{name}>" for name in "abc")
    assert [each for each in found if each[0] == "urn:i"] == [
        ("urn:i", 10, []),
        ("urn:i", 20, [(a,), (b,), (c,)]),
        ("urn:i", 30, []),
    ]
    assert [each[2] for each in found if each[0] == "urn:d"] == [[], [], [(a,), (b,)]]


def test_graphs_are_reloaded_by_iri(tmp_path):
    old, new = tmp_path / "old.nt", tmp_path / "new.nt"
    old.write_text("<urn:a> <urn:p> <urn:old> .\n")
    new.write_text("<urn:a> <urn:p> <urn:new> .\n")
    reasoner = Reasoner(graphs={"urn:g": old, "urn:h": old})
    reasoner.register(
        "SELECT ?x ?y FROM NAMED <urn:g> FROM <urn:h> FROM STREAM <urn:s> [RANGE 10ms STEP 10ms] "
        "{ ?a <urn:p> ?x GRAPH <urn:g> { ?a <urn:p> ?y } }"
    )
    reasoner.reload(graphs={"urn:g": new}, at=11)
    reasoner.reload(graphs={"urn:h": new}, at=21)
    new.write_text("this was read already")
    reasoner.push("urn:s", [(5, *A_IN_B), (15, *A_IN_B), (25, *A_IN_B)])
    was, is_now = "<urn:old>", "<urn:new>"
    assert rows(reasoner.end()) == [(10, [(was, was)]), (20, [(was, is_now)]), (30, [(is_now, is_now)])]


def test_a_reload_is_all_of_the_background(tmp_path):
    file = tmp_path / "new.ttl"
    file.write_text(f"<urn:x> {IN} <urn:c> .\n")
    reasoner = within("auto", B_IN_C)
    reasoner.reload([file], at=11)
    reasoner.push("urn:s", [(5, *A_IN_B)])
    assert rows(reasoner.end())[1] == (20, [("<urn:x>",)])
    with pytest.raises(InputError):
        within().reload([tmp_path / "there is none"], at=1)


RULES = parse_rules(
    f"[sub: (?x {TYPE} ?c), (?c {BELOW} ?d) -> (?x {TYPE} ?d)]"
    f"[shown: (?x {TYPE} ?c), cut(?c <urn:shown> ?y) -> (?x <urn:p> ?y)]"
)
CAT_IS_PET, TOM = ("<urn:Cat>", BELOW, "<urn:Pet>"), ("<urn:tom>", TYPE, "<urn:Cat>")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_schema_that_came_before_it_mattered_is_seen(strategy):
    """Under the first plan nobody asks for types, so nobody looks out for what is below what."""
    reasoner = Reasoner(RULES, strategy=strategy)
    reasoner.register(QUERY.format("QUERY"))
    reasoner.push("urn:s", [(1, *CAT_IS_PET), (2, *TOM)])
    list(reasoner.advance(to=10))
    reasoner.update(add=[("<urn:Pet>", "<urn:shown>", "<urn:pet>")], at=15)
    assert rows(reasoner.advance(to=20)) == [(20, [("<urn:tom>", "<urn:pet>")])]


def test_with_a_fixed_schema_it_stops_the_run():
    reasoner = Reasoner(RULES, fixed_schema=True)
    reasoner.register(QUERY.format("QUERY"))
    reasoner.push("urn:s", [(1, *CAT_IS_PET), (2, *TOM)])
    list(reasoner.advance(to=10))
    reasoner.update(add=[("<urn:Pet>", "<urn:shown>", "<urn:pet>")], at=15)
    with pytest.raises(InputError, match="schema on the stream <urn:s>: <urn:Cat>"):
        list(reasoner.advance(to=20))


def test_a_query_that_comes_later_sees_schema_that_came_before():
    reasoner = Reasoner(RULES, strategy="expiration")
    reasoner.register("ASK FROM STREAM <urn:s> [RANGE 20ms STEP 10ms] { ?x <urn:q> ?y }")
    reasoner.push("urn:s", [(1, *CAT_IS_PET), (2, *TOM)])
    list(reasoner.advance(to=10))
    reasoner.register(
        "REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 20ms STEP 10ms] { ?x a <urn:Pet> }"
    )
    [_, pets] = reasoner.advance(to=20)
    assert pets.answers.rows == [("<urn:tom>",)]


LATE = "REGISTER QUERY q COMPUTED EVERY 4ms AS " + WITHIN


@pytest.mark.parametrize("strategy", ["expiration", "dred"])
def test_a_window_that_is_seen_later_than_it_is_read_is_closed_once_more(strategy):
    reasoner = Reasoner("transitive-isin", knowledge(B_IN_C), strategy, check=1)
    reasoner.register(LATE)
    reasoner.update(remove=[B_IN_C], at=14)
    reasoner.push("urn:s", [(1, *A_IN_B), (2, *B_IN_C), (25, *A_IN_B)])
    found = [(result.exact, len(result.answers.rows)) for result in reasoner.advance(to=19)]
    assert found[:2] == [(True, 2), (True, 2)], "at 12 and 16, over the window up to 10"
    reasoner = Reasoner("transitive-isin", knowledge(B_IN_C), strategy)
    reasoner.register(LATE)
    reasoner.update(remove=[B_IN_C], at=14)
    reasoner.push("urn:s", [(1, *A_IN_B), (25, *A_IN_B)])
    assert [len(result.answers.rows) for result in reasoner.advance(to=19)][:2] == [2, 0]


def test_where_nobody_knew_of_the_update_it_is_said_from_when_on_answers_are_exact():
    reasoner = Reasoner("transitive-isin", knowledge(B_IN_C))
    reasoner.register(LATE)
    reasoner.push("urn:s", [(1, *A_IN_B)])
    assert [len(result.answers.rows) for result in reasoner.advance(to=13)] == [2]
    assert reasoner.update(remove=[B_IN_C], at=14) == 20
    found = [(result.exact, len(result.answers.rows)) for result in reasoner.advance(to=24)]
    assert found == [(False, 2), (True, 0), (True, 0)], "at 16, 20 and 24"


def test_a_count_window_is_full_at_an_instant():
    reasoner = Reasoner("transitive-isin", knowledge(B_IN_C))
    reasoner.register(f"SELECT ?x FROM STREAM <urn:s> [RANGE TRIPLES 2 STEP 1] {{ ?x {IN} <urn:c> }}")
    reasoner.update(remove=[B_IN_C], at=7)
    reasoner.push("urn:s", [(time, *A_IN_B) for time in (5, 6, 7, 8)])
    assert [len(result.answers.rows) for result in reasoner.end()] == [2, 2, 0, 0, 0]


def test_temporal_queries_are_refused():
    text = (
        "SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 5s] WHERE { { ?x <urn:p> ?y } SEQ { ?x <urn:q> ?z } }"
    )
    reasoner = Reasoner()
    reasoner.register(text)
    with pytest.raises(UsageError, match="temporal query"):
        reasoner.update(add=[B_IN_C], at=5)
    reasoner = within()
    reasoner.update(add=[B_IN_C], at=5)
    with pytest.raises(UsageError, match="temporal query"):
        reasoner.register(text)


def test_what_a_query_has_constructed_stays():
    reasoner = Reasoner("transitive-isin", knowledge(B_IN_C))
    reasoner.register(
        f"REGISTER STREAM <urn:made> AS CONSTRUCT {{ ?x {IN} <urn:c> }} "
        f"FROM STREAM <urn:s> [RANGE 10ms STEP 10ms] {{ ?x {IN} <urn:c> . FILTER(?x != <urn:b>) }}"
    )
    reasoner.register(WITHIN.replace("urn:s", "urn:made"))
    reasoner.update(remove=[B_IN_C], at=15)
    reasoner.push("urn:s", [(time, *A_IN_B) for time in (5, 15, 25)])
    found = [(result.close, result.answers.rows) for result in reasoner.end() if result.query != "urn:made"]
    # Constructed at 10 and never again; from 20 on <urn:b> is not in <urn:c> any more.
    assert [(close, sorted(each)) for close, each in found[:3]] == [
        (10, [("<urn:a>",), ("<urn:b>",)]),
        (20, [("<urn:a>",)]),
        (30, []),
    ]


def test_what_is_explained_is_what_held_then():
    reasoner = within("auto", B_IN_C, explain=True)
    reasoner.update(remove=[B_IN_C], at=15)
    reasoner.push("urn:s", [(5, *A_IN_B), (6, *B_IN_C)])
    list(reasoner.advance(to=20))
    a_in_c = ("<urn:a>", IN, "<urn:c>")
    assert reasoner.explain(a_in_c, at=10).stamp == 5
    sources = {leaf.source for proof in reasoner.explain(a_in_c, at=10).proofs for leaf in leaves(proof)}
    assert sources == {"background", "urn:s"}
    sources = {leaf.source for proof in reasoner.explain(a_in_c).proofs for leaf in leaves(proof)}
    assert sources == {"urn:s"}
    reasoner = within("auto", B_IN_C)
    reasoner.update(remove=[B_IN_C], at=15)
    reasoner.push("urn:s", [(5, *A_IN_B)])
    list(reasoner.advance(to=20))
    with pytest.raises(NotHeldError):
        reasoner.explain(a_in_c)


def leaves(proof):
    return [leaf for each in proof.premises for leaf in leaves(each)] if proof.premises else [proof]


def test_what_the_background_violates_comes_and_goes():
    rules = parse_rules("[r: (?x <urn:p> ?y), (?x <urn:q> ?y) -> (?x violation:both ?y)]")
    is_p, is_q = ("<urn:a>", "<urn:p>", "<urn:b>"), ("<urn:a>", "<urn:q>", "<urn:b>")
    reasoner = Reasoner(rules, knowledge(is_p), violations="changes")
    reasoner.register("ASK FROM STREAM <urn:s> [RANGE 10ms STEP 10ms] { ?x ?p ?y }")
    reasoner.update(add=[is_q], at=15)
    reasoner.update(remove=[is_p], at=25)
    reasoner.push("urn:s", [(5, *is_q), (14, *A_IN_B), (24, *A_IN_B), (34, *A_IN_B)])
    list(reasoner.end())
    found = [(each.change, each.close) for each in reasoner.violations()]
    assert found == [("new", 10), ("new", None), ("gone", 20), ("gone", None)]


# -- at random, against a reasoner that is started with the other background ---------------------------


def assert_changes(given, before, after, first):
    """What is given is what there was before, and from the first one at or after a time on, what is after."""
    assert [close for close, _ in given] == [close for close, _ in before] == [close for close, _ in after]
    for (close, got), (_, was), (_, is_now) in zip(given, before, after, strict=True):
        assert got == (is_now if close >= first else was), close


@pytest.mark.parametrize("chunk", range(2))
def test_partitions_are_those_of_the_other_background(chunk):
    seen = Counter()
    for seed in range(SEED + 16 * chunk, SEED + 16 * (chunk + 1)):
        random, case = Random(f"{seed}/update"), replace(make_case(seed), frame="")
        other = other_partitions(case, random)
        keys_come = any(event.statement[1] == case.by for event in case.events)
        options = {"fixed_schema": case.by != "GRAPH" and not keys_come}
        at = random.randint(0, 30)
        given = case.reasoner(strategy=STRATEGIES[seed % len(STRATEGIES)], **options)
        added, removed = set(other) - set(case.background), set(case.background) - set(other)
        given.register(case.text())
        given.change(changed(sorted(added), sorted(removed), at))
        found = []
        for background in (case.background, other):
            plain = replace(case, background=background).reasoner(strategy="recompute", **options)
            plain.register(case.text())
            found.append(bags(run(case, plain)))
        print(f"seed {seed}: {case.by}, at {at}")
        assert_changes(bags(run(case, given)), *found, at)
        seen[case.by == "GRAPH", options["fixed_schema"], found[0] != found[1]] += 1
    assert all(seen[key] for key in ((False, True, True), (False, False, True))), seen


def other_partitions(case, random):
    """The background of a case with other keys, and without some of what there was."""
    kept = [each for each in dict.fromkeys(case.background) if random.random() < 0.6]
    key = KEY if case.by == "GRAPH" else case.by
    news = [(random.choice(THINGS), key, random.choice(ROOMS)) for _ in range(random.randint(0, 4))]
    return tuple(dict.fromkeys((*kept, *news)))


def bags(results):
    return [(result.close, Counter(map(tuple, result.answers.rows))) for result in results]


@pytest.mark.parametrize("chunk", range(2))
def test_who_is_equal_to_whom_is_as_the_other_background_says(chunk):
    changed_answers = 0
    for seed in range(SEED + 8 * chunk, SEED + 8 * (chunk + 1)):
        random, case = Random(f"{seed}/update"), random_case(seed)
        before = [each for each in case.background if is_plain(each)]
        other = [each for each in before if random.random() < (0.4 if each[1] == SAME else 0.9)]
        other += [(random.choice(THINGS), SAME, random.choice(THINGS)) for _ in range(random.randint(0, 2))]
        admitted = [each for step in case.steps for each in step.admitted if is_plain(each[0])]
        stream = [(time, *triple) for triple, time in sorted(admitted, key=lambda each: each[1])]
        at = random.randint(2, 12)
        found = [equal_answers(case.rules, known, stream, equality="plain") for known in (before, other)]
        update = changed([each for each in other if each not in before], set(before) - set(other), at)
        strategy = ("expiration", "dred", "auto")[seed % 3]
        print(f"seed {seed}: {strategy}, at {at}")
        given = equal_answers(case.rules, before, stream, strategy=strategy, update=update)
        assert_changes(given, *found, at)
        changed_answers += found[0] != found[1]
    assert changed_answers >= 3


def is_plain(statement):
    """Whether queries see it: a literal or a blank node in its place would be another in each run."""
    s, p, o = statement
    return s.startswith("<") and p.startswith("<") and not o.startswith("_:")


def equal_answers(rules: RuleSet, known, stream, update=None, **options):
    reasoner = Reasoner(rules, knowledge(*known), **{"strategy": "recompute", **options})
    reasoner.register("SELECT ?x ?p ?y FROM STREAM <urn:s> [RANGE 6ms STEP 2ms] { ?x ?p ?y }")
    reasoner.register(
        "REGISTER QUERY q AS SELECT ?x FROM STREAM <urn:s> [RANGE 4ms STEP 4ms] "
        "{ ?x <urn:p> ?y . ?y <urn:q> ?z }"
    )
    if update is not None:
        reasoner.change(update)
    reasoner.push("urn:s", stream)
    return sorted(bags(reasoner.end()), key=lambda each: each[0])
