"""Linear rules over a cut schema: what the epsilon table puts is what the rules say."""

from __future__ import annotations

from random import Random

import pytest

from ensue.dictionary import Dictionary
from ensue.maintain import make, oracle
from ensue.maintain.kernel.epsilon import ANY, THE_OBJECT, THE_SUBJECT, Epsilon
from ensue.maintain.program import compile_rules
from ensue.model import Copies
from ensue.rules.load import parse_rules

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


def _schema(random: Random) -> list[tuple[str, str, str]]:
    classes = [f"<urn:C{k}>" for k in range(5)]
    links = [f"<urn:p{k}>" for k in range(4)]
    made = [(random.choice(classes), "<urn:subClass>", random.choice(classes)) for _ in range(4)]
    for kind, other in (("domain", classes), ("range", classes), ("sub", links), ("inverse", links)):
        made += [(random.choice(links), f"<urn:{kind}>", random.choice(other)) for _ in range(2)]
    made += [("<urn:C1>", "<urn:on>", random.choice(links)), ("<urn:C1>", "<urn:value>", "<urn:b>")]
    return [*made, ("<urn:C2>", "<urn:someOf>", random.choice(links))]


@pytest.mark.parametrize("joining", [False, True], ids=["linear rules alone", "with a joining rule"])
@pytest.mark.parametrize("seed", range(40))
def test_the_table_puts_what_the_rules_say(seed, joining):
    random, dictionary = Random(seed), Dictionary()
    rules = parse_rules(HIERARCHY, syntax="bracketed")
    if joining:
        rules = rules + parse_rules(JOINING, syntax="bracketed")
    background = Copies.background(tuple(map(dictionary.encode, t)) for t in _schema(random))
    maintainer = make("expiration", rules, dictionary)
    maintainer.load_background(background)
    batches = [background]
    for step in range(4):
        rows = []
        for _ in range(6):
            link = random.choice(["<urn:p0>", "<urn:p1>", "<urn:p2>", "<urn:p3>", "<urn:type>"])
            o = f"<urn:C{random.randrange(5)}>" if link == "<urn:type>" else f"<urn:{random.choice('abcd')}>"
            terms = (f"<urn:{random.choice('abcd')}>", link, o)
            rows.append((1, *map(dictionary.encode, terms), random.randrange(10 * step, 10 * step + 20)))
        batches.append(Copies.of(rows))
        maintainer.admit(Copies.of(rows))
        maintainer.advance(10 * step)
        want = oracle.closure(compile_rules(rules, dictionary), dictionary, batches, 10 * step)
        expected = {fact: stamp for fact, stamp in want.items() if fact[0] == 1}
        assert maintainer.closure(1).stamps() == expected, f"seed {seed}, step {step}"


def test_what_follows_is_closed_and_each_thing_is_there_once():
    typed, near, far = 1, 2, 3
    rules = {
        (near, ANY): {(THE_SUBJECT, far, THE_OBJECT), (THE_SUBJECT, typed, 10)},
        (far, ANY): {(THE_OBJECT, far, THE_SUBJECT), (THE_SUBJECT, typed, 10)},
        (typed, 10): {(THE_SUBJECT, typed, 11)},
    }
    closed = Epsilon(rules).closed((near, ANY))
    both_ways = {(THE_SUBJECT, far, THE_OBJECT), (THE_OBJECT, far, THE_SUBJECT)}
    types = {(end, typed, c) for end in (THE_SUBJECT, THE_OBJECT) for c in (10, 11)}
    assert closed.keys() == both_ways | types
    assert not any(closed.values())


def test_an_implied_fact_whose_object_may_matter_is_looked_at_again():
    rules = {(2, ANY): {(THE_SUBJECT, 1, THE_OBJECT)}, (1, 10): {(THE_SUBJECT, 1, 11)}}
    assert Epsilon(rules).closed((2, ANY)) == {(THE_SUBJECT, 1, THE_OBJECT): True}
