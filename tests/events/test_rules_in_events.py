"""Occurrences of what rules derive: when their statements are, whichever way they are derived."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest

from ensue import Reasoner
from ensue.errors import InputError, QueryError
from ensue.rules.load import parse_rules

from . import random_events
from .brute_force import Fact, Triple

RULES = """
[linear: (?x <urn:c> ?y) -> (?x <urn:a> ?y)]
[turned: (?x <urn:d> ?y) -> (?y <urn:b> ?x)]
[joining: (?x <urn:a> ?y), (?y <urn:b> ?z) -> (?x <urn:e> ?z)]
[twice: (?x <urn:e> ?y), (?x <urn:d> ?y) -> (?x <urn:f> ?y)]
"""
"""Three levels, of which the upper two join; `f` rests on all of them."""

QUERIES = (
    "{ ?x :a ?y } SEQ { ?x :b ?z }",
    "{ ?x :e ?y } SEQ { ?x :a ?z }",
    "{ ?x :e ?y } OVERLAPS { ?x :e ?z }",
    "{ ?x :f ?y } FINISHED_BY { ?x :b ?z }",
    "{ ?x :e ?y . ?y :b ?u } AFTER { ?x :c ?z }",
    "{ ?x :a ?u } SEQ NOT { ?x :e ?x } SEQ { ?x :a ?y }",
)


def derived(copies: list[Triple], background: frozenset[Triple]) -> tuple[list[Fact], frozenset[Triple]]:
    """All that rules make of some copies, with what each derivation rests on; and the background, closed."""
    facts = {Fact(triple, frozenset([n])) for n, triple in enumerate(copies)}
    facts |= {Fact(triple, frozenset()) for triple in background}
    while True:
        known = {fact.triple for fact in facts if not fact.copies}
        more = {fact for fact in _step(facts) if not fact.copies or fact.triple not in known}
        if more <= facts:
            stated = {Fact(triple, frozenset([n])) for n, triple in enumerate(copies)}
            return sorted(facts - stated, key=str), frozenset(known)
        # What the background holds is not derived from anything else.
        known |= {fact.triple for fact in more if not fact.copies}
        facts = {fact for fact in facts | more if not fact.copies or fact.triple not in known}


def _step(facts: set[Fact]) -> set[Fact]:
    made = set()
    for fact in facts:
        s, p, o = fact.triple
        made |= {Fact((s, "<urn:a>", o), fact.copies)} if p == "<urn:c>" else set()
        made |= {Fact((o, "<urn:b>", s), fact.copies)} if p == "<urn:d>" else set()
    for one, other in product(facts, facts):
        (s, p, o), (t, q, r) = one.triple, other.triple
        both = one.copies | other.copies
        if (p, q) == ("<urn:a>", "<urn:b>") and o == t:
            made.add(Fact((s, "<urn:e>", r), both))
        if (p, q) == ("<urn:e>", "<urn:d>") and (s, o) == (t, r):
            made.add(Fact((s, "<urn:f>", o), both))
    return made


@pytest.mark.parametrize("where", QUERIES)
def test_derived_facts_occur_when_their_statements_do(where: str, tmp_path: Path) -> None:
    found_some = 0
    for seed in range(6):
        random = Random(seed)
        names = tuple(dict.fromkeys(name for name in "xyzu" if f"?{name}" in where))
        asked = random_events.asked(where, names, 12, 4)
        rows = tuple(
            (
                random.randint(1, 14),
                f"<urn:{random.choice('12')}>",
                f"<urn:{random.choice('abcdd')}>",
                f"<urn:{random.choice('12')}>",
            )
            for _ in range(7)
        )
        background = frozenset({("<urn:2>", "<urn:d>", "<urn:1>")} if random.random() < 0.4 else ())
        case = random_events.Case(asked, rows, background, 0)
        ordered = sorted(rows, key=lambda each: each[0])
        rules = parse_rules(RULES, "r.rules")
        facts, closed = derived([row[1:] for row in ordered], background)
        stored = random_events.write_background(case, tmp_path)
        found = random_events.engine_answers(case, ordered, random, stored, rules=rules)
        wanted = random_events.expected(case, ordered, found, facts, closed)
        assert found == wanted, f"seed {seed}: {case}"
        found_some += sum(map(len, wanted.values()))
    assert found_some, "nothing was compared"


def reasoner_for(rules: str, where: str) -> Reasoner:
    reasoner = Reasoner(rules=parse_rules(rules, "r.rules"))
    reasoner.register(f"PREFIX : <urn:> SELECT * FROM STREAM <urn:s> [RANGE 1s] WHERE {{ {where} }}")
    return reasoner


def test_recursion_is_refused_with_the_cycle_of_rules() -> None:
    rules = "[far: (?x <urn:in> ?y), (?y <urn:in> ?z) -> (?x <urn:in> ?z)]"
    with pytest.raises(QueryError, match=r"rest on themselves: far -> far.*no interval") as raised:
        reasoner_for(rules, "{ ?x :in ?y } SEQ { ?x :a ?z }")
    assert raised.value.place.column == 65
    reasoner_for(rules, "{ ?x :b ?y } SEQ { ?x :a ?z }")  # It rests on no such rule.


def test_rules_that_look_at_values_are_refused() -> None:
    rules = "[hot: (?x <urn:t> ?v), (?x <urn:u> ?w), notEqual(?v, ?w) -> (?x <urn:a> ?v)]"
    with pytest.raises(QueryError, match="rule 'hot', which looks at values"):
        reasoner_for(rules, "{ ?x :b ?y } SEQ { ?x :a ?z }")


def test_schema_on_the_stream_stops_the_job() -> None:
    below = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    reasoner = Reasoner(rules="rdfs-jena")
    reasoner.register("SELECT * FROM STREAM <urn:s> [RANGE 1s] { { ?x a <urn:A> } SEQ { ?x a <urn:B> } }")
    reasoner.push("urn:s", [(1, "<urn:C>", below, "<urn:A>")])
    with pytest.raises(InputError, match="schema on the stream"):
        list(reasoner.end())
