"""Rules without echoes: rewritten as they should be, and with the same closure."""

from __future__ import annotations

from random import Random

import pytest

from ensue.dictionary import Dictionary
from ensue.maintain import make, oracle
from ensue.maintain.kernel.echoes import wants_difference, without_echoes
from ensue.maintain.program import CompiledRule, compile_rules
from ensue.model import Copies
from ensue.rules.load import parse_rules

EQUALITY = "[same: (?u ?p ?v), (?u :same ?w), (?v :same ?z) -> (?w ?p ?z)]"


def _cases(text: str) -> list[CompiledRule]:
    parsed = parse_rules(f"@prefix : <urn:> .\n{text}", syntax="bracketed")
    return list(without_echoes(compile_rules(parsed, Dictionary())).rules)


def _wanted(rule: CompiledRule) -> list[bool]:
    return [wants_difference(rule, premise) for premise in rule.premises]


def test_a_transitive_rule_wants_links_between_two_things():
    (rule,) = _cases("[t: (?x :in ?y), (?y :in ?z) -> (?x :in ?z)]")
    assert _wanted(rule) == [True, True]


def test_a_property_is_not_its_own_super_property():
    (rule,) = _cases("[sub: (?p :sub ?q), (?x ?p ?y) -> (?x ?q ?y)]")
    assert _wanted(rule) == [True, False]


def test_where_two_pairs_must_be_equal_there_are_three_cases():
    cases = _cases(EQUALITY)
    assert sorted(_wanted(case)[1:] for case in cases) == [[False, True], [True, False], [True, True]]
    one_end = next(case for case in cases if _wanted(case) == [False, True, False])
    (u, p, v), _, (same_v, _, also_v) = one_end.premises
    assert same_v == also_v == v
    assert one_end.conclusions[0][1:] == (p, v)
    assert one_end.conclusions[0][0] != u


def test_a_rule_that_only_repeats_a_premise_is_left_out():
    assert _cases("[no: (?x :in ?y), (?y :in ?z) -> (?y :in ?z)]") == []


@pytest.mark.parametrize(
    "text",
    [
        "[one: (?x :in ?y) -> (?y :in ?x)]",
        "[any: (?p :of :T), (?x ?p ?y), (?y ?p ?z) -> (?x ?p ?z)]",
        "[two: (?x :in ?y), (?y :in ?z) -> (?x :in ?z), (?z :has ?x)]",
        "[new: (?u ?p ?v), (?u :same ?w), (?v :same ?z), makeTemp(?n) -> (?w ?p ?z)]",
    ],
)
def test_other_rules_stay_as_they_are(text):
    (rule,) = _cases(text)
    assert not any(_wanted(rule))


@pytest.mark.parametrize("seed", range(40))
def test_equality_that_comes_and_goes_is_as_the_rules_say(seed):
    """Everything equals itself; now and then the stream says that two things are equal."""
    random, dictionary = Random(seed), Dictionary()
    text = f"""
    @prefix : <urn:> .
    [self:  (?u ?p ?v) -> (?u :same ?u)]
    [other: (?u ?p ?v), notLiteral(?v) -> (?v :same ?v)]
    [back:  (?u :same ?v) -> (?v :same ?u)]
    [on:    (?u :same ?v), (?v :same ?w) -> (?u :same ?w)]
    [sub:   (?p :sub ?q), (?x ?p ?y) -> (?x ?q ?y)]
    {EQUALITY}
    """
    parsed = parse_rules(text, syntax="bracketed")
    program = compile_rules(parsed, dictionary)
    ground = [("<urn:p>", "<urn:sub>", "<urn:p>")]
    background = Copies.background(tuple(map(dictionary.encode, t)) for t in ground)
    maintainer = make("expiration", parsed, dictionary)
    maintainer.load_background(background)
    rows: list[tuple[int, ...]] = []
    for step in range(6):
        said = [_statement(random, equal=step >= 2) for _ in range(4)]
        new = [(1, *map(dictionary.encode, t), random.randrange(10 * step, 10 * step + 25)) for t in said]
        maintainer.admit(Copies.of(new))
        rows += new
        if step == 4:
            maintainer.retract(Copies.of(new[:1]), every=True)
            rows = [row for row in rows if row[:4] != new[0][:4]]
        maintainer.advance(10 * step)
        want = oracle.closure(program, dictionary, [background, Copies.of(rows)], 10 * step)
        expected = {fact: stamp for fact, stamp in want.items() if fact[0] == 1}
        assert maintainer.closure(1).stamps() == expected, f"seed {seed}, step {step}"


def _statement(random: Random, *, equal: bool) -> tuple[str, str, str]:
    things = [f"<urn:{letter}>" for letter in "abcd"]
    if equal and random.random() < 0.3:
        return random.choice(things), "<urn:same>", random.choice(things)
    if equal and random.random() < 0.1:
        return "<urn:p>", "<urn:sub>", "<urn:q>"
    o = '"text"' if random.random() < 0.2 else random.choice(things)
    return random.choice(things), random.choice(["<urn:p>", "<urn:q>"]), o
