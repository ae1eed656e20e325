"""Linear rules over a cut schema: what the epsilon table puts is what the rules say."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ensue.dictionary import Dictionary
from ensue.maintain import make, oracle
from ensue.maintain.kernel.epsilon import make_epsilon
from ensue.maintain.kernel.links import ANY, THE_OBJECT, THE_SUBJECT
from ensue.maintain.kernel.network import Network
from ensue.maintain.kernel.plans import EVERY_KIND, make_plans
from ensue.maintain.program import compile_rules
from ensue.model import Copies
from ensue.rules.load import parse_rules
from ensue.terms import Kind

HIERARCHY = """
@prefix : <urn:> .
[domain:  cut(?p :domain ?c), (?x ?p ?y) -> (?x :type ?c)]
[range:   cut(?p :range ?c), (?x ?p ?y) -> (?y :type ?c)]
[sub:     cut(?p :sub ?q), (?x ?p ?y) -> (?x ?q ?y)]
[inverse: cut(?p :inverse ?q), (?x ?p ?y) -> (?y ?q ?x)]
[class:   cut(?c :subClass ?d), (?x :type ?c) -> (?x :type ?d)]
[value:   cut(?c :on ?p), cut(?c :value ?v), (?x ?p ?v) -> (?x :type ?c)]
"""
JOINING = """
@prefix : <urn:> .
[some: cut(?c :someOf ?p), (?x ?p ?y), (?y :type :C0) -> (?x :type ?c)]
"""
ANY_FACT = """
[thing:   (?x ?p ?y) -> (?x :type :Thing), (?p :type :Link)]
[object:  (?x ?p ?y), notLiteral(?y) -> (?y :same ?y)]
"""


def _schema(random: Random) -> list[tuple[str, str, str]]:
    classes = [f"<urn:C{k}>" for k in range(5)]
    links = [f"<urn:p{k}>" for k in range(4)]
    made = [(random.choice(classes), "<urn:subClass>", random.choice(classes)) for _ in range(4)]
    for kind, other in (("domain", classes), ("range", classes), ("sub", links), ("inverse", links)):
        made += [(random.choice(links), f"<urn:{kind}>", random.choice(other)) for _ in range(2)]
    made += [("<urn:C1>", "<urn:on>", random.choice(links)), ("<urn:C1>", "<urn:value>", "<urn:b>")]
    return [*made, ("<urn:C2>", "<urn:someOf>", random.choice(links))]


RULES = {
    "cut": HIERARCHY,
    "cut, and a joining rule": HIERARCHY + JOINING,
    "live": HIERARCHY.replace("cut(", "("),
    "live, and a joining rule": (HIERARCHY + JOINING).replace("cut(", "("),
    "live, and rules for any fact": HIERARCHY.replace("cut(", "(") + ANY_FACT,
}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", range(30))
def test_the_table_puts_what_the_rules_say(seed, rules):
    """Where the schema is live it also arrives on the stream, and the table must give way."""
    random, dictionary = Random(seed), Dictionary()
    parsed = parse_rules(RULES[rules], syntax="bracketed")
    program = compile_rules(parsed, dictionary)
    background = Copies.background(tuple(map(dictionary.encode, t)) for t in _schema(random))
    maintainer = make("expiration", parsed, dictionary)
    maintainer.load_background(background)
    batches = [background]
    for step in range(5):
        said = [_statement(random) for _ in range(6)]
        if step in (2, 3) and rules.startswith("live"):
            said += random.sample(_schema(random), 1)
        stamps = [random.randrange(10 * step, 10 * step + 20) for _ in said]
        rows = [(1, *map(dictionary.encode, t), stamp) for t, stamp in zip(said, stamps, strict=True)]
        batches.append(Copies.of(rows))
        maintainer.admit(Copies.of(rows))
        maintainer.advance(10 * step)
        want = oracle.closure(program, dictionary, batches, 10 * step)
        expected = {fact: stamp for fact, stamp in want.items() if fact[0] == 1}
        assert maintainer.closure(1).stamps() == expected, f"seed {seed}, step {step}"


def _statement(random: Random) -> tuple[str, str, str]:
    link = random.choice(["<urn:p0>", "<urn:p1>", "<urn:p2>", "<urn:p3>", "<urn:type>"])
    o = f"<urn:C{random.randrange(5)}>" if link == "<urn:type>" else f"<urn:{random.choice('abcd')}>"
    return f"<urn:{random.choice('abcd')}>", link, '"text"' if random.random() < 0.1 else o


def _anything(*templates):
    return {(template, EVERY_KIND, EVERY_KIND) for template in templates}


def test_what_follows_is_closed_and_each_thing_is_there_once():
    typed, near, far = 1, 2, 3
    rules = {
        (near, ANY): _anything((THE_SUBJECT, far, THE_OBJECT), (THE_SUBJECT, typed, 10)),
        (far, ANY): _anything((THE_OBJECT, far, THE_SUBJECT), (THE_SUBJECT, typed, 10)),
        (typed, 10): _anything((THE_SUBJECT, typed, 11)),
    }
    closed = Network(rules).closed((near, ANY))
    both_ways = [(THE_SUBJECT, far, THE_OBJECT), (THE_OBJECT, far, THE_SUBJECT)]
    types = [(end, typed, c) for end in (THE_SUBJECT, THE_OBJECT) for c in (10, 11)]
    assert closed.keys() == _anything(*both_ways, *types)
    assert not any(closed.values())


def test_an_implied_fact_whose_object_may_matter_is_looked_at_again():
    implied = (THE_SUBJECT, 1, THE_OBJECT)
    rules = {(2, ANY): _anything(implied), (1, 10): _anything((THE_SUBJECT, 1, 11))}
    assert Network(rules).closed((2, ANY)) == {(implied, EVERY_KIND, EVERY_KIND): True}


def test_a_guard_goes_along_with_what_follows():
    no_literal = EVERY_KIND & ~(1 << Kind.PLAIN | 1 << Kind.TYPED)
    turned, typed = (THE_OBJECT, 3, THE_SUBJECT), (THE_SUBJECT, 1, 10)
    rules = {(2, ANY): {(turned, EVERY_KIND, no_literal)}, (3, ANY): _anything(typed)}
    assert Network(rules).closed((2, ANY)).keys() == {
        (turned, EVERY_KIND, no_literal),
        ((THE_OBJECT, 1, 10), EVERY_KIND, no_literal),
    }


def _tree(size: int, fanout: int) -> list[tuple[str, str, str]]:
    """A tree of classes, with every pair of a class and one above it."""
    found = []
    for k in range(1, size):
        above = k
        while above:
            above = (above - 1) // fanout
            found.append((f"<urn:C{k}>", "<urn:subClass>", f"<urn:C{above}>"))
    return found


def _many_types(size: int):
    rules, dictionary = parse_rules(HIERARCHY, syntax="bracketed"), Dictionary()
    ground = np.array([list(map(dictionary.encode, t)) for t in _tree(size, 6)], np.int32)
    return rules, dictionary, ground


def test_thousands_of_types_go_through_the_table():
    rules, dictionary, ground = _many_types(3_000)
    maintainer = make("expiration", rules, dictionary)
    maintainer.load_background(Copies.background(map(tuple, ground.tolist())))
    statement = tuple(map(dictionary.encode, ("<urn:x>", "<urn:type>", "<urn:C2999>")))
    maintainer.admit(Copies.of([(1, *statement, 7)]))
    maintainer.advance(0)
    above = [o for s, _, o in _tree(3_000, 6) if s == "<urn:C2999>"]
    want = {(1, *statement[:2], dictionary.encode(c)): 7 for c in (*above, "<urn:C2999>")}
    assert len(above) == 5
    assert maintainer.closure(1).stamps() == want
    # One look-up for the statement, and none for what follows.
    assert len(maintainer._engine.store.epsilon) == len(ground)


def test_where_too_much_would_follow_the_largest_rules_do_without_the_table():
    rules, dictionary, ground = _many_types(50)
    program = compile_rules(rules, dictionary)
    planned = make_plans(program, ground, keep_all=False)
    whole = make_epsilon(program, planned, ground, set(), bytes(dictionary.kinds))
    part = make_epsilon(program, planned, ground, set(), bytes(dictionary.kinds), most_rows=60)
    assert whole.plans - part.plans == {planned.given[4, 1]}
    assert part.plans < whole.plans
    assert not part.network.implied
