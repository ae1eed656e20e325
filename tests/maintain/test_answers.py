"""What is promised of watched patterns, one promise a test; `test_answers_at_random.py` has all at once."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest
from watching import Bgp, pinned, read, renamed, statements

from ensue.dictionary import Dictionary
from ensue.maintain.expiration import Expiration
from ensue.maintain.kernel.answers import AnswerTable, watched_rule
from ensue.model import BACKGROUND, FOREVER, NEVER, Copies
from ensue.rules.load import parse_rules
from ensue.rules.tree import RuleSet

SEED = int(os.environ.get("ENSUE_SEED", "1"))

IN = "<urn:in>"
TRANSITIVE = parse_rules("[t: (?x <urn:in> ?y), (?y <urn:in> ?z) -> (?x <urn:in> ?z)]", syntax="bracketed")
CHAIN = (("?x", IN, "?y"), ("?y", IN, "?z"))


class World:
    """A maintainer that is spoken to in short terms, and watches some patterns."""

    def __init__(self, rules: RuleSet, *bgps: Bgp) -> None:
        self.dictionary = Dictionary()
        self.maintainer = Expiration(rules, self.dictionary)
        for bgp in bgps:
            self.watch(bgp)

    def watch(self, bgp: Bgp) -> None:
        self.maintainer.watch(pinned(bgp, self.dictionary))

    def _copies(self, text: str, context: int, stamp: int) -> Copies:
        triples = [map(self.dictionary.encode, statement) for statement in statements(text)]
        return Copies.of((context, *triple, stamp) for triple in triples)

    def background(self, text: str) -> None:
        self.maintainer.load_background(self._copies(text, BACKGROUND, FOREVER))

    def admit(self, text: str, stamp: int, context: int = 1) -> None:
        self.maintainer.admit(self._copies(text, context, stamp))

    def retract(self, text: str, *, every: bool = False) -> int:
        return self.maintainer.retract(self._copies(text, 1, 0), every=every)

    def solutions(self, bgp: Bgp, context: int = 1, threshold: int = NEVER) -> dict[str, int]:
        """The values in the order of the variables' names, as text, with the stamp."""
        found = read(self.maintainer, bgp, context, threshold, self.dictionary)
        return {" ".join(term[5:-1] for _, term in key): stamp for key, stamp in found.items()}


def test_a_chain_is_as_fresh_as_its_older_half_and_falls_back_to_an_older_copy():
    world = World(RuleSet("none", ()), CHAIN)
    world.admit("a in b", 10)
    world.admit("a in b", 30)
    world.admit("b in c", 20)
    assert world.solutions(CHAIN) == {"a b c": 20}
    world.retract("a in b")
    assert world.solutions(CHAIN) == {"a b c": 10}
    world.retract("a in b")
    assert world.solutions(CHAIN) == {}


def test_retracting_a_premise_of_a_premise_takes_the_answer_back():
    """a -> b -> c -> d, and a late copy of a -> c that keeps what rests on it, but older."""
    world = World(TRANSITIVE, CHAIN)
    world.admit("a in b, b in c, c in d", 50)
    world.admit("a in c", 20)
    assert world.solutions(CHAIN) == {"a b c": 50, "a b d": 50, "a c d": 50, "b c d": 50}
    world.retract("a in b")
    assert world.solutions(CHAIN) == {"a c d": 20, "b c d": 50}
    world.retract("c in d", every=True)
    assert world.solutions(CHAIN) == {}


def test_expiry_takes_answers_and_nothing_else():
    world = World(TRANSITIVE, CHAIN)
    world.admit("a in b", 10)
    world.admit("b in c, c in d", 20)
    world.maintainer.advance(9)
    assert world.solutions(CHAIN, threshold=10) == {"b c d": 20}
    assert world.solutions(CHAIN) == {"a b c": 10, "a b d": 10, "a c d": 10, "b c d": 20}
    world.maintainer.advance(10)
    assert world.solutions(CHAIN) == {"b c d": 20}
    assert world.maintainer.statistics()["answers"] == 1


def test_a_context_sees_its_own_answers_and_the_backgrounds():
    world = World(TRANSITIVE, CHAIN)
    world.background("a in b, b in c")
    world.admit("c in d", 10, context=1)
    world.admit("c in e", 20, context=2)
    assert world.solutions(CHAIN, BACKGROUND) == {"a b c": FOREVER}
    assert world.solutions(CHAIN, 1) == {"a b c": FOREVER, "a b d": 10, "a c d": 10, "b c d": 10}
    assert world.solutions(CHAIN, 2, threshold=20) == {"a b c": FOREVER}


def test_patterns_without_variables_twice_the_same_and_not_connected():
    ground, itself = (("<urn:a>", IN, "<urn:b>"),), (("?x", "?p", "?x"),)
    twice, apart = (("?x", IN, "?y"), ("?x", IN, "?y")), (("?x", IN, "?y"), ("<urn:a>", "?p", "?z"))
    bgps = (ground, itself, twice, apart)
    world = World(RuleSet("none", ()), *bgps)
    assert [world.solutions(bgp) for bgp in bgps] == [{}, {}, {}, {}]
    world.admit("a in b", 10)
    world.admit("c is c", 20)
    assert [world.solutions(bgp) for bgp in bgps] == [
        {"": 10},
        {"is c": 20},
        {"a b": 10},
        {"in a b b": 10},
    ]


def test_one_table_serves_patterns_that_differ_in_names_alone():
    world = World(TRANSITIVE, CHAIN, renamed(CHAIN))
    world.admit("a in b, b in c", 10)
    assert world.solutions(CHAIN) == world.solutions(renamed(CHAIN)) == {"a b c": 10}
    assert world.maintainer.statistics()["answers"] == 1


def test_what_is_not_watched_has_no_solutions_and_can_be_watched_later():
    world = World(TRANSITIVE, ())
    world.admit("a in b, b in c", 10)
    world.maintainer.advance(5)
    assert world.maintainer.solutions((), 1, NEVER) is None
    assert world.maintainer.solutions(pinned(CHAIN, world.dictionary), 1, NEVER) is None
    world.watch(CHAIN)
    assert world.solutions(CHAIN) == {"a b c": 10}
    change = world.maintainer.advance(6)
    assert (len(change.inserted), len(change.deleted)) == (0, 0)


def test_memory_is_flat_under_ever_new_keys():
    world = World(RuleSet("none", ()), CHAIN)
    sizes = []
    for step in range(60):
        world.admit(", ".join(f"x{step}n{k} in b" for k in range(50)) + ", b in c", step)
        world.maintainer.advance(step - 3)
        world.dictionary.sweep(world.maintainer.used_terms())
        assert len(world.solutions(CHAIN)) == 50 * min(step + 1, 3)
        sizes.append(world.maintainer.statistics()["bytes"])
    assert max(sizes) == max(sizes[:10])


@pytest.mark.parametrize("seed", range(SEED, SEED + 5))
def test_a_table_is_a_mapping_that_keeps_the_larger_stamp(seed):
    """Few keys, so that they come back; many at once, so that the table grows and its slots shift."""
    random, dictionary = Random(seed), Dictionary()
    p, *terms = [dictionary.encode(f"<urn:{k}>") for k in range(40)]
    table, model = AnswerTable(watched_rule((("x", p, "y"),))[0]), {}
    for _ in range(60):
        keys = [(1, random.choice(terms), random.choice(terms)) for _ in range(random.randrange(1, 120))]
        stamps = [random.randrange(100) for _ in keys]
        match random.choice(("put", "put", "put", "remove", "expire")):
            case "put":
                table.put(np.array(keys), np.array(stamps), dictionary)
                for key, stamp in zip(keys, stamps, strict=True):
                    model[key] = max(stamp, model.get(key, stamp))
            case "remove":
                table.remove(np.array(keys))
                model = {key: stamp for key, stamp in model.items() if key not in keys}
            case _:
                table.expire(stamps[0])
                model = {key: stamp for key, stamp in model.items() if stamp > stamps[0]}
        (x, y), found = table.read(1, 50)
        read = dict(zip(zip(x.tolist(), y.tolist(), strict=True), found.tolist(), strict=True))
        assert read == {key[1:]: stamp for key, stamp in model.items() if stamp > 50}, f"seed {seed}"
        assert len(table) == len(model)
