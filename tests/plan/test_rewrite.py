"""Alternatives of patterns: what can be stated for them to match, and how it is read."""

from __future__ import annotations

import pytest
from plan.support import rules_of

from ensue.dictionary import Dictionary
from ensue.errors import StrategyError
from ensue.maintain import make
from ensue.maintain.rewrite import maintainer
from ensue.model import Copies
from ensue.plan.known import Closed
from ensue.plan.rewrite import NotRewritable, Rewriter, slots_of
from ensue.plan.split import split
from ensue.plan.wider import Widest
from ensue.rules.tree import Var

INVERSE = "[inverse: (?x <urn:parent> ?y) -> (?y <urn:child> ?x)]"
SYMMETRIC = "[symmetric: (?x <urn:near> ?y) -> (?y <urn:near> ?x)]"
UP = "[up: (?x ?p ?y), cut(?p <urn:sub> ?q) -> (?x ?q ?y)]"
DOMAIN = "[domain: (?x ?p ?y), cut(?p <urn:domain> ?c) -> (?x <urn:a> ?c)]"
RANGE = "[range: (?x ?p ?y), cut(?p <urn:range> ?c), notLiteral(?y) -> (?y <urn:a> ?c)]"
BELOW = "[below: (?x <urn:a> ?c), cut(?c <urn:below> ?d) -> (?x <urn:a> ?d)]"
LINKED = "[linked: (?x ?p ?x) -> (?x <urn:loops> ?p)]"
TRANSITIVE = "[transitive: (?x <urn:in> ?y), (?y <urn:in> ?z) -> (?x <urn:in> ?z)]"


def term(short: str) -> str:
    return short if short[0] in '"_' else f"<urn:{short}>"


def known(text: str) -> Closed:
    words = [term(word) for word in text.split()]
    return Closed.of(list(zip(words[::3], words[1::3], words[2::3], strict=True)))


def pattern(text: str):
    return slots_of(Var(word) if word[0] == "?" else term(word) for word in text.split())


def rewritten(rules: str, goal: str, background: str = "") -> set[str]:
    readings = Rewriter(rules_of(rules).rules, known(background)).alternatives(pattern(goal))
    assert len(set(readings)) == len(readings)
    return {str(reading).replace("<urn:", "").replace(">", "") for reading in readings}


def test_an_inverse_is_read_with_subject_and_object_swapped():
    assert rewritten(INVERSE, "?x child ?y") == {"(0 child 2) as it is", "(0 parent 2) as (2 child 0)"}
    assert rewritten(INVERSE, "a child ?y") == {"(a child 2) as it is", "(0 parent a) as (a child 0)"}
    assert rewritten(INVERSE, "?x parent ?y") == {"(0 parent 2) as it is"}


def test_a_symmetric_property_has_two_alternatives_and_no_more():
    assert rewritten(SYMMETRIC, "?x near ?y") == {"(0 near 2) as it is", "(0 near 2) as (2 near 0)"}


def test_a_variable_that_stands_twice_stands_twice_in_the_alternatives():
    """Swapped, it is the same statement: there is one alternative."""
    assert rewritten(SYMMETRIC, "?x near ?x") == {"(0 near 0) as it is"}
    assert rewritten(INVERSE, "?x child ?x") == {"(0 child 0) as it is", "(0 parent 0) as (0 child 0)"}
    assert rewritten(LINKED, "?x loops ?y") == {
        "(0 loops 2) as it is",
        "(0 1 0) as (0 loops 1)",
        "(0 0 0) as (0 loops loops)",  # For then it loops by itself, so it loops by looping.
    }
    assert rewritten(LINKED, "a loops near") == {"(a loops near) as it is", "(a near a) as (a loops near)"}


def test_a_chain_from_a_property_through_its_domain_into_a_class():
    background = "barks sub speaks speaks domain Animal Animal below Thing"
    assert rewritten(UP + DOMAIN + BELOW, "?x a Thing", background) == {
        "(0 a Thing) as it is",
        "(0 a Animal) as (0 a Thing)",
        "(0 speaks 2) as (0 a Thing)",
        "(0 barks 2) as (0 a Thing)",
    }


def test_a_variable_for_the_class_is_read_for_every_pair():
    background = "Dog below Pet Pet below Thing Dog below Thing"
    assert rewritten(BELOW, "?x a ?c", background) == {
        "(0 a 2) as it is",
        "(0 a Dog) as (0 a Pet)",
        "(0 a Dog) as (0 a Thing)",
        "(0 a Pet) as (0 a Thing)",
    }


def test_cyclic_hierarchies_come_to_an_end():
    background = "A below B B below C C below A"
    found = rewritten(BELOW, "?x a A", background)
    assert found == {"(0 a A) as it is", "(0 a B) as (0 a A)", "(0 a C) as (0 a A)"}


def test_constants_of_the_pattern_are_filled_in():
    assert rewritten(UP, 'b p "5"', "q sub p") == {'(b p "5") as it is', '(b q "5") as (b p "5")'}
    assert rewritten(DOMAIN, "b a C", "p domain C") == {"(b a C) as it is", "(b p 2) as (b a C)"}


def test_conditions_are_decided_where_terms_are_known_and_carried_where_not():
    background = "p range C"
    assert rewritten(RANGE, "?x a C", background) == {
        "(0 a C) as it is",
        "(0 p 2) as (2 a C), if notLiteral(2)",
    }
    assert rewritten(RANGE, "b a C", background) == {"(b a C) as it is", "(0 p b) as (b a C)"}
    assert rewritten(RANGE, '"5" a C', background) == {'("5" a C) as it is'}


def test_an_alternative_that_a_wider_one_covers_is_left_out():
    anything = "[anything: (?x ?p ?y) -> (?x <urn:a> <urn:Thing>)]"
    assert rewritten(anything + DOMAIN, "?x a Thing", "p domain Thing") == {"(0 1 2) as (0 a Thing)"}


def test_rules_without_live_premises_are_done_in_the_background():
    done = "[done: cut(?x <urn:in> ?y), cut(?y <urn:in> ?z) -> (?x <urn:in> ?z)]"
    assert rewritten(done, "?x in ?y") == {"(0 in 2) as it is"}


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (TRANSITIVE, r"rule 'transitive' joins \(\?x <urn:in> \?y\) with \(\?y <urn:in> \?z\)"),
        ("[m: (?x <urn:p> ?y), makeTemp(?n) -> (?x <urn:q> ?n)]", "rule 'm' makes a node"),
        ("[d: (?x <urn:p> ?l), isDLiteral(?l, ?t) -> (?l <urn:a> ?t)]", "rule 'd' computes a term"),
    ],
)
def test_what_cannot_be_rewritten_is_refused_with_the_reason(rule, reason):
    with pytest.raises(NotRewritable, match=reason):
        Rewriter(rules_of(rule).rules, known(""))
    for strategy in ("rewrite", "rewrite-union"):
        with pytest.raises(StrategyError, match=reason) as refusal:
            make(strategy, rules_of(rule), Dictionary())
        assert "--strategy hybrid" in str(refusal.value)
    make("hybrid", rules_of(rule), Dictionary())


def test_what_feeds_a_joining_rule_is_materialised_and_the_rest_folded_in():
    """What a rule feeds can depend on the background."""
    feeding = (
        "[at: (?x <urn:on> ?y) -> (?x <urn:at> ?y)] [is: (?x <urn:at> ?y), cut(?q <urn:is> ?z) -> (?x ?q ?y)]"
    )
    rules = rules_of(TRANSITIVE + feeding + INVERSE).rules
    parts = split(rules, known("in is place"))
    assert [rule.name for rule in parts.materialised] == ["transitive", "is", "at"]
    assert [rule.name for rule in parts.folded] == ["inverse"]
    parts = split(rules, known("near is place"))
    assert [rule.name for rule in parts.materialised] == ["transitive"]


class World:
    """A maintainer over some background, with some statements."""

    RULES = UP + DOMAIN + BELOW + INVERSE
    BACKGROUND = "barks sub speaks speaks domain Animal Animal below Thing owned sub had"
    STATED = "rex barks loudly tom a Animal kim parent rex bob speaks x ann a Thing zoe child ann"

    def __init__(self, strategy: str) -> None:
        self.dictionary = Dictionary()
        self.maintainer = make(strategy, rules_of(self.RULES), self.dictionary)
        ground = self._triples(self.BACKGROUND)
        self.maintainer.load_background(Copies.background(ground))
        rows = [(1, *triple, time) for time, triple in enumerate(self._triples(self.STATED), 1)]
        self.maintainer.admit(Copies.of(rows))

    def _triples(self, text: str):
        numbers = [self.dictionary.pin(term(word)) for word in text.split()]
        return list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))

    def answers(self, *goals: str) -> dict[tuple[str, ...], int]:
        patterns = tuple(
            tuple(word if word[0] == "?" else self.dictionary.pin(term(word)) for word in goal.split())
            for goal in goals
        )
        found = self.maintainer.solutions(patterns, 1, 0)
        rows = zip(*(found.columns[name].tolist() for name in sorted(found.columns)), strict=True)
        texts = [
            tuple(self.dictionary.decode(n).strip("<>").removeprefix("urn:") for n in row) for row in rows
        ]
        return dict(zip(texts, found.stamps.tolist(), strict=True))


@pytest.mark.parametrize("strategy", ["rewrite", "rewrite-union", "hybrid"])
def test_alternatives_are_joined(strategy):
    world = World(strategy)
    assert world.answers("?x a Thing") == {("rex",): 1, ("tom",): 2, ("bob",): 4, ("ann",): 5}
    assert world.answers("?x a Thing", "?x child ?y") == {("rex", "kim"): 1}
    assert world.maintainer.statistics()["derivations"] == 0
    assert world.maintainer.statistics()["facts"] == 6


@pytest.mark.parametrize("strategy", ["rewrite", "rewrite-union"])
@pytest.mark.parametrize("left_out", range(6))
def test_no_alternative_can_be_left_out(strategy, left_out, monkeypatch):
    """Each of the alternatives of the two patterns is what some answer rests on."""
    right, seen = Widest.every, []

    def every(found):
        readings = right(found)
        kept = [r for k, r in enumerate(readings, len(seen)) if k != left_out]
        seen.extend(readings)
        return tuple(kept)

    monkeypatch.setattr(Widest, "every", every)
    world = World(strategy)
    got = world.answers("?x a Thing"), world.answers("?x child ?y")
    things, children = (
        {("rex",): 1, ("tom",): 2, ("bob",): 4, ("ann",): 5},
        {("rex", "kim"): 3, ("zoe", "ann"): 6},
    )
    assert len(seen) == 6
    assert got != (things, children)
    assert got[0].items() <= things.items()
    assert got[1].items() <= children.items()


def test_a_union_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(maintainer, "MOST_MEMBERS", 7)
    world = World("rewrite-union")
    assert world.answers("?x a Thing")
    with pytest.raises(StrategyError, match=r"4 x 2 = 8 members, at most 7"):
        world.answers("?x a Thing", "?x child ?y")
