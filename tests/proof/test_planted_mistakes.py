"""A replay that believes everything would check nothing: proofs with a mistake in them must not pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.model import FOREVER
from ensue.proof import search
from ensue.proof.closing import close_statements
from ensue.proof.held import Held
from ensue.proof.proof import Proof, leaves, size, steps
from ensue.proof.replay import ProofError, entailed, replay
from ensue.proof.search import ProofLimitError, prove
from ensue.rules.load import parse_rules
from proof.test_proofs_at_random import random_window

SEEDS = range(1, 11)
RULES = parse_rules("""
[sub:   (?x <urn:is> ?c), (?c <urn:sub> ?d) -> (?x <urn:is> ?d)]
[chain: (?c <urn:sub> ?d), (?d <urn:sub> ?e) -> (?c <urn:sub> ?e)]
""")
SUBS = [(f"<urn:C{at}>", "<urn:sub>", f"<urn:C{at + 1}>") for at in range(4)]
IS = ("<urn:a>", "<urn:is>", "<urn:C1>")


def proof_of(fact, window=()):
    held = close_statements(RULES, SUBS, window)
    return prove(held, held.find(fact)).proof


def says(leaf):
    return (leaf.fact in SUBS and leaf.stamp == FOREVER) or (leaf.fact, leaf.stamp) == (IS, 7)


@pytest.fixture
def right():
    found = proof_of(("<urn:a>", "<urn:is>", "<urn:C4>"), [("urn:s", 7, IS)])
    replay(found, RULES, says)
    return found


def changed(proof: Proof, change) -> Iterator[Proof]:
    """The proof with one of its steps changed, for each step that can be."""
    other = change(proof)
    if other is not None:
        yield other
    for at, premise in enumerate(proof.premises):
        for instead in changed(premise, change):
            yield replace(proof, premises=(*proof.premises[:at], instead, *proof.premises[at + 1 :]))


MISTAKES = {
    "a premise is missing": lambda p: replace(p, premises=p.premises[1:]) if p.premises else None,
    "the premises are in the wrong order": lambda p: (
        replace(p, premises=p.premises[::-1]) if p.premises else None
    ),
    "another rule": lambda p: replace(p, rule={"sub": "chain", "chain": "sub"}[p.rule]) if p.rule else None,
    "no such rule": lambda p: replace(p, rule="nothing") if p.rule else None,
    "a stale stamp": lambda p: replace(p, stamp=p.stamp - 1),
    "a stamp that is too fresh": lambda p: replace(p, stamp=p.stamp + 1) if p.stamp < FOREVER else None,
    "a leaf of nobody": lambda p: None if p.rule else replace(p, source=None),
    "a leaf that was not stated": lambda p: None if p.rule else replace(p, fact=(*p.fact[:2], "<urn:C0>")),
    "a step passed for a leaf": lambda p: Proof(p.fact, p.stamp, source="urn:s") if p.rule else None,
    "another conclusion": lambda p: replace(p, fact=(*p.fact[:2], "<urn:C9>")),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_proof_with_a_mistake_does_not_replay(right, mistake):
    wrong = list(changed(right, MISTAKES[mistake]))
    assert wrong
    for proof in wrong:
        with pytest.raises(ProofError):
            replay(proof, RULES, says)


def test_leaves_that_do_not_entail_the_fact_are_noticed(right):
    assert entailed(right, RULES) == 7
    without = replace(right, premises=right.premises[:1])
    assert entailed(without, RULES) is None


def test_a_premise_that_is_cut_is_met_by_background_alone():
    rules = parse_rules("[r: (?x <urn:is> ?c), cut(?c <urn:sub> ?d) -> (?x <urn:is> ?d)]")
    one = Proof(("<urn:a>", "<urn:is>", "<urn:C>"), 5, source="urn:s")
    other = Proof(("<urn:C>", "<urn:sub>", "<urn:D>"), 9, source="urn:s")
    with pytest.raises(ProofError, match="does not conclude it"):
        replay(Proof(("<urn:a>", "<urn:is>", "<urn:D>"), 5, "r", (one, other)), rules)


@cache
def closures():
    cases = [random_window(seed) for seed in SEEDS]
    return [
        (close_statements(case.rules, case.background, window, Dictionary(case.nesting)), case.rules)
        for case, window in cases
    ]


def all_proofs():
    """Every fact of some random closures, with what holds besides and the rules."""
    for held, rules in closures():
        for triple, stamp in held:
            yield held, triple, stamp, rules


def fails():
    """Whether some proof is wrong: does not replay, is not as fresh as its fact, or cannot be had."""
    for held, triple, stamp, rules in all_proofs():
        try:
            proof = prove(held, triple).proof
            replay(proof, rules)
            if proof.stamp != stamp:
                return True
        except (EnsueError, AssertionError, KeyError):
            return True
    return False


def test_a_search_without_mistakes_is_right():
    assert not fails()


def any_copy_will_do(searching, fact):
    if fact not in searching.sizes:
        if searching.held.statement(fact) is None:
            return False
        searching.sizes[fact] = 1
    return fact not in searching.best


@pytest.mark.parametrize(
    ("owner", "name", "mutant"),
    [
        (search._Search, "_is_stated", lambda self, fact: any_copy_will_do(self, fact)),
        (Held, "matching", lambda self, slots, *, cut: self.ground.index.matching(slots)),
        (search, "conclude", lambda rule, binding, dictionary: []),
        (search, "_filled", lambda pattern, binding: tuple(slot if slot >= 0 else -1 for slot in pattern)),
        (Held, "statement", lambda self, triple: self.ground.stated.get(triple)),
    ],
)
def test_a_search_with_a_mistake_is_noticed(monkeypatch, owner, name, mutant):
    monkeypatch.setattr(owner, name, mutant)
    assert fails()


def test_a_search_that_is_given_up_says_so():
    held = close_statements(RULES, SUBS, [("urn:s", 7, ("<urn:a>", "<urn:is>", "<urn:C0>"))])
    goal = held.find(("<urn:a>", "<urn:is>", "<urn:C4>"))
    with pytest.raises(ProofLimitError, match="1 ways"):
        prove(held, goal, limit=1)
    assert prove(held, goal).smallest
    early = next(found for limit in range(2, 99) if (found := _tried(held, goal, limit)))
    assert not early.smallest
    assert size(early.proof) >= size(prove(held, goal).proof)


def _tried(held, goal, limit):
    try:
        return prove(held, goal, limit=limit)
    except ProofLimitError:
        return None


def test_the_smallest_proof_is_as_small_as_any():
    """Against sizes found by trying everything, round by round."""
    for held, triple, stamp, _ in all_proofs():
        fresh = [fact for fact, of in held if of >= stamp]
        sizes = {}
        for fact in fresh:
            stated = held.statement(fact)
            if stated is not None and stated.stamp >= stamp:
                sizes[fact] = 1
        every = {fact: list(search._ways(held, fact, stamp)) for fact in fresh} if triple not in sizes else {}
        while every:
            before = dict(sizes)
            for fact, ways in every.items():
                known = [1 + sum(sizes[p] for p in of) for _, of in ways if all(p in sizes for p in of)]
                sizes[fact] = min([*known, sizes.get(fact, 10**9)])
                if sizes[fact] == 10**9:
                    del sizes[fact]
            if sizes == before:
                break
        assert size(prove(held, triple).proof) == sizes[triple]


def test_a_deep_proof_is_no_trouble():
    rules = parse_rules("[next: (?x <urn:n> ?y), (?x <urn:on> ?z) -> (?y <urn:on> ?z)]")
    links = [(f"<urn:{at}>", "<urn:n>", f"<urn:{at + 1}>") for at in range(1500)]
    held = close_statements(rules, [*links, ("<urn:0>", "<urn:on>", "<urn:a>")])
    proof = prove(held, held.find(("<urn:1500>", "<urn:on>", "<urn:a>"))).proof
    replay(proof, rules)
    assert size(proof) == 3001
    assert len(list(leaves(proof))) == 1501
    assert len(list(steps(proof))) == 3001
