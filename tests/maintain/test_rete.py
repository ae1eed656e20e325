"""`rete` against the naive reference, and what is particular to a token network."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain import oracle
from ensue.maintain.program import CompiledRule, compile_rules
from ensue.maintain.rete import Rete
from ensue.maintain.rete.network import Network
from ensue.maintain.rete.order import join_order
from ensue.maintain.rete.token import size
from ensue.maintain.rete.trivial import without_trivial
from ensue.model import BACKGROUND, NEVER, Copies
from ensue.rules.bracketed import parse
from ensue.rules.tree import Guard, Mint, Pattern, Premise, Rule, RuleSet, Var

TERMS = [*(f"<urn:{letter}>" for letter in "abcdef"), '"text"', '"1"^^<urn:int>']
CONTEXTS = (1, 2)


def random_rule(rng, number):
    variables = [Var(f"v{i}") for i in range(4)]

    def node(odds=0.7):
        return rng.choice(variables) if rng.random() < odds else rng.choice(TERMS)

    def premise():
        predicate = rng.choice(TERMS[:4]) if rng.random() < 0.7 else rng.choice(variables)
        return Premise(Pattern(node(), predicate, node()), cut=rng.random() < 0.15)

    premises = tuple(premise() for _ in range(rng.randint(1, 3)))
    bound = sorted({v for p in premises for v in p.pattern.variables()}, key=str)
    conditions = []
    if bound and rng.random() < 0.3:
        test = rng.choice(("equal", "notEqual"))
        conditions.append(Guard(test, (rng.choice(bound), rng.choice([*bound, *TERMS[:2]]))))
    if bound and rng.random() < 0.3:
        conditions.append(Guard(rng.choice(("notLiteral", "isIRI", "isPLiteral")), (rng.choice(bound),)))
    heads = list(bound)
    if bound and rng.random() < 0.15:
        key = None if rng.random() < 0.5 else (rng.choice(bound),)
        conditions.append(Mint(Var("m"), f"r{number}", key))
        heads.append(Var("m"))

    def head():
        return rng.choice(heads) if heads and rng.random() < 0.7 else rng.choice(TERMS[:6])

    conclusions = tuple(Pattern(head(), rng.choice(TERMS[:4]), head()) for _ in range(rng.randint(1, 2)))
    return Rule(f"r{number}", premises, conclusions, tuple(conditions))


class Scene:
    """A maintainer and the plain truth beside it."""

    def __init__(self, rng):
        self.rng = rng
        rules = RuleSet("random", tuple(random_rule(rng, n) for n in range(rng.randint(1, 4))))
        self.dictionary = Dictionary(nesting=1)
        self.program = compile_rules(rules, self.dictionary)
        self.rules = rules
        self.rete = Rete(rules, self.dictionary)
        self.ground, self.live, self.threshold, self.before = [], [], NEVER, set()

    def triple(self):
        s, p, o = (self.rng.choice(TERMS[:n]) for n in (6, 4, 8))
        return tuple(map(self.dictionary.encode, (s, p, o)))

    def load(self, n):
        triples = [self.triple() for _ in range(n)]
        self.ground += triples
        self.rete.load_background(Copies.background(triples))

    def admit(self, n, now):
        # Some stamps lie well before `now`: late copies, a few of them expired already.
        rows = [(self.rng.choice(CONTEXTS), *self.triple(), now + self.rng.randint(-6, 4)) for _ in range(n)]
        self.live += [row for row in rows if row[4] > self.threshold]
        self.rete.admit(Copies.of(rows))

    def retract(self, n):
        every = self.rng.random() < 0.3
        known = [row[:4] for row in self.live]
        wanted = [self.rng.choice(known) if known else (1, *self.triple()) for _ in range(n)]
        gone = 0
        for fact in wanted:
            while same := [row for row in self.live if row[:4] == fact]:
                self.live.remove(max(same, key=lambda row: row[4]))
                gone += 1
                if not every:
                    break
        assert self.rete.retract(Copies.of((*fact, 0) for fact in wanted), every=every) == gone

    def expected(self):
        copies = [Copies.background(self.ground), Copies.of(self.live)]
        return oracle.closure(self.program, self.dictionary, copies, self.threshold)

    def check_closure(self):
        expected = self.expected()
        for context in (BACKGROUND, *CONTEXTS):
            held = {fact: stamp for fact, stamp in expected.items() if fact[0] == context}
            assert self.rete.closure(context).stamps() == held
        return expected

    def advance(self, threshold):
        self.threshold = max(self.threshold, threshold)
        self.live = [row for row in self.live if row[4] > self.threshold]
        change = self.rete.advance(self.threshold)
        expected = self.check_closure()
        ground = {fact[1:] for fact in expected if fact[0] == BACKGROUND}
        now = {fact for fact in expected if fact[0] != BACKGROUND}
        assert set(change.inserted.stamps()) == now - self.before
        assert set(change.deleted.stamps()) == {f for f in self.before - now if f[1:] not in ground}
        assert len(change.inserted) == len(change.inserted.stamps())
        self.before = now
        self.check_indexes()

    def check_indexes(self):
        """Each index holds each fact that it should, once, and no key without one."""
        for memory in self.rete._contexts.values():
            for port, index in memory.right.items():
                assert size(index) == sum(port.takes(triple) for triple in memory.facts)
                assert all(index.values())
            assert all(all(index.values()) for index in memory.left.values())

    def take_over(self):
        """Go on with another maintainer, from a snapshot."""
        again = Rete(self.rules, self.dictionary)
        again.restore(self.rete.snapshot())
        self.rete = again


def play(seed):
    rng = random.Random(seed)
    scene = Scene(rng)
    scene.load(rng.randint(0, 4))
    now = 0
    for _ in range(6):
        scene.admit(rng.randint(0, 5), now)
        if rng.random() < 0.1:
            scene.load(1)
        if rng.random() < 0.4:
            scene.retract(2)
        if rng.random() < 0.3:
            scene.check_closure()
        now += rng.randint(0, 4)
        scene.advance(now - 5)
        if rng.random() < 0.1:
            scene.take_over()
    scene.advance(now + 100)
    return scene.rete


@pytest.mark.parametrize("block", range(10))
def test_agrees_with_the_reference_after_every_step(block):
    for seed in range(block * 40, block * 40 + 40):
        rete = play(seed)
        # Nothing is left over in the network when everything has expired.
        assert rete.statistics()["facts"] == 0
        assert all(memory.count_tokens() == 0 for memory in rete._contexts.values())


TRANSITIVE = "[t: (?a <urn:in> ?b), (?b <urn:in> ?c) -> (?a <urn:in> ?c)]"


def make(text, ground=()):
    d = Dictionary()
    rete = Rete(parse(text), d)
    rete.load_background(Copies.background(tuple(map(d.encode, triple)) for triple in ground))
    return d, rete


def copies(d, *rows):
    return Copies.of((1, *map(d.encode, (f"<urn:{s}>", "<urn:in>", f"<urn:{o}>")), t) for s, o, t in rows)


def stamp(d, rete, s, o, context=1):
    fact = (context, *map(d.encode, (f"<urn:{s}>", "<urn:in>", f"<urn:{o}>")))
    return rete.closure(context).stamps().get(fact)


def test_a_join_is_as_old_as_its_oldest_parent_and_rises_with_it():
    d, rete = make(TRANSITIVE)
    rete.admit(copies(d, ("a", "b", 10), ("b", "c", 20)))
    rete.advance(0)
    assert stamp(d, rete, "a", "c") == 10
    rete.admit(copies(d, ("a", "b", 30)))
    change = rete.advance(10)
    assert stamp(d, rete, "a", "c") == 20
    assert (len(change.inserted), len(change.deleted)) == (0, 0)


@pytest.mark.parametrize("renewed", ["in", "has"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_rise_reaches_a_partner_just_above_the_floor(renewed, order):
    d, rete = make("[r: (?a <urn:in> ?b), (?c <urn:has> ?b) -> (?a <urn:near> ?c)]")
    partner = {"in": "has", "has": "in"}[renewed]
    subjects = {"in": "<urn:a>", "has": "<urn:c>"}

    def row(name, time):
        return (1, *map(d.encode, (subjects[name], f"<urn:{name}>", "<urn:b>")), time)

    rete.admit(Copies.of([row(renewed, 5), row(partner, 6)][::order]))
    rete.advance(0)
    rete.admit(Copies.of([row(renewed, 7)]))
    rete.advance(0)
    near = (1, *map(d.encode, ("<urn:a>", "<urn:near>", "<urn:c>")))
    assert rete.closure(1).stamps()[near] == 6


def test_background_is_never_replaced_by_a_timed_copy():
    d, rete = make(TRANSITIVE, [("<urn:a>", "<urn:in>", "<urn:b>")])
    rete.admit(copies(d, ("a", "b", 10), ("b", "c", 20)))
    rete.advance(0)
    assert stamp(d, rete, "a", "b") is None
    assert stamp(d, rete, "a", "c") == 20
    assert len(rete.advance(10).deleted) == 0


def test_a_cut_premise_does_not_match_the_stream():
    rule = "[r: cut(?a <urn:in> ?b), (?b <urn:in> ?c) -> (?a <urn:in> ?c)]"
    d, rete = make(rule, [("<urn:a>", "<urn:in>", "<urn:b>")])
    rete.admit(copies(d, ("b", "c", 10), ("c", "d", 10)))
    rete.advance(0)
    assert stamp(d, rete, "a", "c") == 10
    assert stamp(d, rete, "b", "d") is None


def test_contexts_do_not_see_each_other():
    d, rete = make(TRANSITIVE)
    first, second = copies(d, ("a", "b", 10)), copies(d, ("b", "c", 10))
    second.context[0] = 2
    rete.admit(first)
    rete.admit(second)
    rete.advance(0)
    assert stamp(d, rete, "a", "c") is None
    assert len(rete.closure(1)) == len(rete.closure(2)) == 1


def test_a_fact_that_comes_and_goes_in_one_step_is_not_reported():
    d, rete = make(TRANSITIVE)
    rete.admit(copies(d, ("a", "b", 10)))
    assert len(rete.closure(1)) == 1
    change = rete.advance(10)
    assert (len(change.inserted), len(change.deleted)) == (0, 0)


def test_patterns_share_alpha_nodes_and_rules_that_begin_alike_share_joins():
    text = """[a: (?x <urn:p> ?y), (?y <urn:q> ?z) -> (?x <urn:r> ?z)]
              [b: (?u <urn:p> ?v), (?v <urn:q> ?w) -> (?u <urn:s> ?w)]
              [c: (?k <urn:q> ?k) -> (?k <urn:r> ?k)]"""
    _, rete = make(text)
    statistics = rete.statistics()
    assert statistics["alpha_nodes"] == 3
    assert statistics["beta_nodes"] == 1


def test_joins_begin_with_what_matches_least_of_the_background():
    text = "[r: (?x ?p ?y), (?p <urn:domain> ?c), (?c <urn:in> ?d) -> (?x <urn:type> ?d)]"
    rule = compile_rules(parse(text), Dictionary()).rules[0]
    assert join_order(rule, [90, 10, 20]) == [1, 2, 0]
    assert join_order(rule, [90, 20, 10]) == [2, 1, 0]
    # The first and the last premise share no variable, so the middle one comes between them.
    assert join_order(rule, [10, 90, 20]) == [0, 1, 2]


def test_only_expired_tokens_are_looked_at(monkeypatch):
    d, rete = make(TRANSITIVE)
    rete.admit(copies(d, *((f"x{i}", f"y{i}", 1000 + i) for i in range(500)), ("a", "b", 1)))
    rete.advance(0)
    memory = rete._contexts[1]
    looked_at = []
    monkeypatch.setattr(type(memory), "forget", lambda self, fact: looked_at.append(fact.values))
    memory.expire(1)
    assert len(looked_at) == 1


def test_a_renewal_passes_over_partners_that_cannot_rise():
    d, rete = make("[r: (?a <urn:in> ?b), (?c <urn:has> ?b) -> (?a <urn:near> ?c)]")
    rows = [(1, *map(d.encode, (f"<urn:h{i}>", "<urn:has>", "<urn:b>")), 5) for i in range(50)]
    rete.admit(Copies.of(rows))
    rete.admit(copies(d, ("a", "b", 5)))
    rete.advance(0)
    drawn = rete.statistics()["derivations"]
    rete.admit(copies(d, ("a", "b", 6)))
    rete.advance(0)
    assert rete.statistics()["derivations"] == drawn


def test_what_concludes_its_own_premise_is_left_out():
    replace = "[r: (?u ?p ?v), (?u <urn:same> ?x), (?v <urn:same> ?y) -> (?x ?p ?y)]"
    program = compile_rules(parse(f"{TRANSITIVE} {replace}"), Dictionary())
    tests = [[[(c.condition.name, c.args) for c in variant.conditions] for variant in without_trivial(rule)]
             for rule in program.rules]  # fmt: skip
    assert tests[0] == [[("notEqual", (~2, ~1)), ("notEqual", (~1, ~0))]]
    assert tests[1] == [[("notEqual", (~3, ~0))], [("equal", (~3, ~0)), ("notEqual", (~4, ~2))]]


def test_trivial_derivations_cost_no_tokens():
    d, rete = make("[s: (?v ?p ?w) -> (?v <urn:in> ?v)]" + TRANSITIVE)
    rows = [(1, *map(d.encode, (f"<urn:x{i}>", "<urn:p>", '"v"')), 5) for i in range(20)]
    rete.admit(Copies.of(rows))
    rete.advance(0)
    assert rete.statistics()["facts"] == 40
    assert rete.statistics()["tokens"] == 0


def test_matches_answers_a_body_that_is_no_rule():
    d, rete = make(TRANSITIVE, [("<urn:c>", "<urn:in>", "<urn:d>")])
    rete.admit(copies(d, ("a", "b", 10), ("b", "c", 20)))
    body = "[q: (<urn:a> <urn:in> ?x), (?x <urn:in> ?y) -> (?x <urn:in> ?y)]"
    (query,) = compile_rules(parse(body), d).rules
    found = {(*map(d.decode, binding), stamp) for binding, stamp in rete.matches(query, 1)}
    b, c, e = "<urn:b>", "<urn:c>", "<urn:d>"
    assert found == {(b, c, 10), (b, e, 10), (c, e, 10)}
    assert list(rete.matches(query, 7)) == []


def test_terms_in_use_are_kept_and_others_freed():
    d, rete = make(TRANSITIVE)
    rete.admit(copies(d, ("a", "b", 10)))
    rete.admit(copies(d, ("b", "c", 20)))
    rete.advance(10)
    d.sweep(rete.used_terms())
    assert "<urn:a>" not in d
    assert "<urn:c>" in d


def test_misuse_is_refused():
    _, rete = make(TRANSITIVE)
    rete.advance(5)
    with pytest.raises(UsageError, match="threshold"):
        rete.advance(4)
    with pytest.raises(UsageError, match="context"):
        rete.admit(Copies.background([(1, 1, 1)]))


def test_a_rule_without_premises_is_background():
    rule = CompiledRule("axiom", 0, (), (), (), ((1, 2, 3),), 0)
    d, rete = make(TRANSITIVE)
    rete._program = type(rete._program)((*rete._program.rules, rule), ())
    assert (BACKGROUND, 1, 2, 3) in rete.closure(BACKGROUND).stamps()
    assert Network(rete._program, d, []).beta_nodes == 1


def test_nothing_but_the_standard_library_is_loaded():
    code = "import sys, ensue.maintain.rete; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in ran.stdout.split() if not name.startswith("_")}
    assert loaded - set(sys.stdlib_module_names) <= {"ensue", "sitecustomize", "usercustomize"}
