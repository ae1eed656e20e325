"""Watched patterns: their solutions are those that a plain nested loop over the closure finds.

ENSUE_SEED sets the first seed (the cases follow from it), ENSUE_ANSWER_CASES how many there are
(`make soak`: 1500).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random

import pytest
from equivalence.cases import Admit, Case, Learn, Operation, Retract, make_case
from equivalence.linear import linear, mixed
from equivalence.replay import Replay, Truth, background, encode
from equivalence.rulegen import CLASSES, LINKS, SUB, THINGS, TYPE
from watching import Bgp, Found, Statement, is_variable, nested_loop, pinned, read, renamed, statements

from ensue.dictionary import Dictionary
from ensue.errors import StrategyError
from ensue.maintain import oracle
from ensue.maintain.expiration import Expiration, KeepAll
from ensue.maintain.program import Program, compile_rules
from ensue.maintain.rewrite import maintainer
from ensue.maintain.rewrite.maintainer import Hybrid, Rewrite, RewriteUnion
from ensue.model import BACKGROUND, NEVER, Copies
from ensue.rules.load import load_rules, parse_rules
from ensue.rules.tree import RuleSet
from ensue.terms import OWL, RDF, RDFS

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CHUNKS = 10
CASES_EACH = -(-int(os.environ.get("ENSUE_ANSWER_CASES", "150")) // CHUNKS)

MAINTAINERS = {maker.name: maker for maker in (Expiration, KeepAll, Rewrite, RewriteUnion, Hybrid)}


def is_visible(statement: Statement) -> bool:
    s, p, _ = statement
    return s[0] in "<_" and p[0] == "<" and not is_minted(statement)


def is_minted(statement: Statement) -> bool:
    return any(term.startswith("_:mint") for term in statement)


@dataclass(frozen=True)
class Closed:
    """A case's truth at one moment, closed from scratch: the facts by context, in terms."""

    facts: dict[int, dict[Statement, int]]

    @classmethod
    def of(cls, truth: Truth, program: Program, dictionary: Dictionary) -> Closed:
        copies = (background(dictionary, truth.background), encode(dictionary, truth.copies))
        closed = oracle.closure(program, dictionary, copies, truth.threshold)
        facts: dict[int, dict[Statement, int]] = {}
        for (context, *triple), stamp in closed.items():
            statement = tuple(map(dictionary.decode, triple))
            if is_visible(statement):
                facts.setdefault(context, {})[statement] = stamp
        return cls(facts)

    def solutions(self, bgp: Bgp, context: int, threshold: int) -> Found:
        seen = self.facts.get(BACKGROUND, {}) | self.facts.get(context, {})
        return nested_loop(bgp, {fact: stamp for fact, stamp in seen.items() if stamp > threshold})


class Run:
    """A maintainer going through a case while patterns are watched."""

    def __init__(self, case: Case, strategy: str, bgps: list[Bgp]) -> None:
        self.case, self.bgps = case, bgps
        self.replay = Replay(case, strategy, self._make)
        self.truth = Truth(case)
        self._dictionary = Dictionary(nesting=case.nesting)
        self._program = compile_rules(case.rules, self._dictionary)

    def _make(self, strategy, rules, dictionary):
        made = MAINTAINERS[strategy](rules, dictionary)
        for bgp in self.bgps:
            made.watch(pinned(bgp, dictionary))
        return made

    def watch(self, bgp: Bgp) -> None:
        self.bgps.append(bgp)
        self.replay.maintainer.watch(pinned(bgp, self.replay.dictionary))

    def go(self, random: Random) -> Iterator[tuple[int, Closed]]:
        """After every step, and now and then within one, the moment's closure."""
        for number, step in enumerate(self.case.steps):
            for operation in step.operations:
                self.truth.apply(operation)
                self.replay._apply(operation)
                if random.random() < 0.2:
                    yield number, self._closed()
            self.truth.advance(step.threshold)
            self.replay.maintainer.advance(step.threshold)
            yield number, self._closed()
            self.replay._then(step.then)

    def _closed(self) -> Closed:
        return Closed.of(self.truth, self._program, self._dictionary)

    def solutions(self, bgp: Bgp, context: int, threshold: int) -> Found:
        dictionary = self.replay.dictionary
        return read(self.replay.maintainer, bgp, context, threshold, dictionary)


class Lean(Run):
    """A maintainer of which nothing is read but the solutions of the patterns that it watched at first."""

    def __init__(self, case: Case, strategy: str, bgps: list[Bgp]) -> None:
        super().__init__(case, strategy, bgps)
        self.replay.maintainer.settle(only_answers=True)

    def watch(self, bgp: Bgp) -> None:
        """It is too late."""


def random_bgp(random: Random, facts: list[Statement]) -> Bgp:
    """One to three facts with variables for some terms; three share variables, or too much would match."""
    while True:
        bgp = tuple(random_pattern(random, facts) for _ in range(random.choice((1, 1, 2, 2, 2, 3))))
        if random.random() < 0.05:
            bgp = (*bgp, bgp[0])
        if len(set(bgp)) < 3 or is_connected(bgp):
            return bgp


def random_pattern(random: Random, facts: list[Statement]) -> Statement:
    s, p, o = random.choice(facts)
    s = s if random.random() < 0.12 else random.choice(("?x", "?y", "_:b"))
    o = o if random.random() < 0.15 else random.choice(("?x", "?y", "?z", "_:b"))
    if o == s and random.random() < 0.7:
        o = "?w"
    p = p if random.random() < 0.8 else random.choices(("?p", "?q", "?x"), (6, 3, 1))[0]
    return s, p, o


def is_connected(bgp: Bgp) -> bool:
    first, *rest = [{node for node in pattern if is_variable(node)} for pattern in bgp]
    while near := [other for other in rest if other & first]:
        first = first.union(*near)
        rest = [other for other in rest if other not in near]
    return not rest


def check(case: Case, strategy: str = "expiration", kind: type[Run] = Run) -> int:
    """Compare a case's solutions with the reference; how many there were."""
    random = Random(f"answers {case.seed}")
    facts = everything(case)
    bgps = [random_bgp(random, facts) for _ in range(random.randrange(1, 4))]
    run = kind(case, strategy, [*bgps, renamed(bgps[0])] if random.random() < 0.3 else bgps)
    seen = 0
    for step, closed in run.go(random):
        for bgp in run.bgps:
            for context in (BACKGROUND, *range(1, 4)):
                stamps = {NEVER, *closed.facts.get(context, {}).values()}
                lowest = run.truth.threshold
                for threshold in {lowest, max(lowest, random.choice(sorted(stamps)))}:
                    want = closed.solutions(bgp, context, threshold)
                    got = run.solutions(bgp, context, threshold)
                    assert got == want, (
                        f"seed {case.seed}, {strategy}, step {step}, context {context}, "
                        f"above {threshold}: {bgp} over {case.rules}"
                    )
                    seen += len(want)
        if random.random() < 0.1:
            run.watch(random_bgp(random, facts))
    return seen


def everything(case: Case) -> list[Statement]:
    """What would hold if all of a case's copies were there at once, but not about minted nodes."""
    truth, dictionary = Truth(case), Dictionary(nesting=case.nesting)
    for operation in (operation for step in case.steps for operation in step.operations):
        if not isinstance(operation, Retract):
            truth.apply(operation)
    copies = (background(dictionary, truth.background), encode(dictionary, truth.copies))
    closed = oracle.closure(compile_rules(case.rules, dictionary), dictionary, copies, NEVER)
    facts = {tuple(map(dictionary.decode, triple)) for _, *triple in closed}
    return sorted(fact for fact in facts if not is_minted(fact)) or [(THINGS[0], TYPE, CLASSES[0])]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_watched_patterns_agree_with_a_nested_loop(chunk):
    first = SEED + chunk * CASES_EACH
    print(f"first seed {first} (ENSUE_SEED)")
    seen = sum(check(make_case(seed)) for seed in range(first, first + CASES_EACH))
    assert seen > 100 * CASES_EACH, "cases with next to no solutions show nothing"


@pytest.mark.parametrize("seed", range(SEED, SEED + 20))
def test_keeping_every_derivation_gives_the_same_answers(seed):
    check(make_case(seed), "expiration-keep-all")


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_rules_folded_into_patterns_give_the_same_answers(chunk, monkeypatch):
    first = SEED + chunk * CASES_EACH
    print(f"first seed {first} (ENSUE_SEED)")
    monkeypatch.setattr(maintainer, "MOST_MEMBERS", 60)  # Larger unions take long, and show nothing new.
    seen = unions = 0
    for case in map(make_case, range(first, first + CASES_EACH, 3)):
        seen += check(mixed(case), "hybrid")
        seen += check(linear(case), "rewrite")
        with suppress(StrategyError):  # As the union would be too large.
            check(linear(case), "rewrite-union")
            unions += 1
    assert seen > 20 * CASES_EACH, "cases with next to no solutions show nothing"
    assert unions >= CASES_EACH / 10


def in_words(case: Case, rules: RuleSet, words: dict[str, str], known: tuple[Statement, ...]) -> Case:
    """A case's steps in the words of a regime, under its rules and over background of its own."""

    def said(statement: Statement) -> Statement:
        s, p, o = (words.get(term, term) for term in statement)
        return s, p, o

    def operation(given: Operation) -> Operation:
        if isinstance(given, Learn):
            return Learn(tuple(map(said, given.statements)))
        return replace(given, copies=tuple(replace(c, statement=said(c.statement)) for c in given.copies))

    steps = tuple(replace(s, operations=tuple(map(operation, s.operations))) for s in case.steps)
    return replace(case, rules=rules, background=(*known, *map(said, case.background)), steps=steps)


LINEAR = """
@prefix : <urn:> .
[domain:  cut(?p :domain ?c), (?x ?p ?y) -> (?x :type ?c)]
[range:   cut(?p :range ?c), (?x ?p ?y) -> (?y :type ?c)]
[super:   (?p :sub ?q), (?x ?p ?y) -> (?x ?q ?y)]
[inverse: cut(?p :inverse ?q), (?x ?p ?y) -> (?y ?q ?x)]
[class:   (?c :sub ?d), (?x :type ?c) -> (?x :type ?d)]
[value:   cut(?c :on ?p), cut(?c :value ?v), (?x ?p ?v) -> (?x :type ?c)]
"""
CUT = LINEAR.replace(" (?p :", " cut(?p :").replace(" (?c :", " cut(?c :")
TREE = statements("p domain C, p range D, q sub p, r inverse q, C sub E, D on r, D value a")
TYPED = {TYPE: f"<{RDF}type>", SUB: f"<{RDFS}subClassOf>"}
SCHEMA = statements("p rdfs:domain C, p rdfs:range D, q rdfs:subPropertyOf p, C rdfs:subClassOf E")
PROMISE = statements("E owl:someValuesFrom D, E owl:onProperty q, p rdf:type owl:TransitiveProperty")
REGIMES = {
    "linear": (parse_rules(LINEAR, syntax="bracketed"), {}, TREE),
    "linear, all cut": (parse_rules(CUT, syntax="bracketed"), {}, TREE),
    "rdfs-jena": (load_rules("rdfs-jena"), TYPED, SCHEMA),
    "pdsv": (load_rules("pdsv"), TYPED | {LINKS[2]: f"<{OWL}sameAs>"}, SCHEMA + PROMISE),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_what_the_epsilon_table_puts_and_what_rules_mint_is_seen_as_it_should(regime):
    print(f"first seed {SEED} (ENSUE_SEED)")
    count = {"pdsv": 2, "rdfs-jena": 6}.get(regime, 12)
    assert sum(check(in_words(make_case(seed), *REGIMES[regime])) for seed in range(SEED, SEED + count))


def settled(case: Case) -> Case:
    """A case in which statements come and expire, and nothing else happens."""
    steps = tuple(
        replace(
            step,
            operations=tuple(each for each in step.operations if isinstance(each, Admit)),
            then=step.then if step.then == "sweep" else "",
        )
        for step in case.steps
    )
    return replace(case, steps=steps)


@pytest.mark.parametrize("chunk", range(4))
def test_facts_that_no_answer_rests_on_need_not_be_there(chunk):
    first = SEED + chunk * CASES_EACH
    print(f"first seed {first} (ENSUE_SEED)")
    cases = (settled(make_case(seed)) for seed in range(first, first + CASES_EACH))
    assert sum(check(case, kind=Lean) for case in cases) > 50 * CASES_EACH


@pytest.mark.parametrize("regime", REGIMES)
def test_nor_those_that_linear_rules_alone_ask_for(regime):
    print(f"first seed {SEED} (ENSUE_SEED)")
    count = {"pdsv": 3, "rdfs-jena": 10}.get(regime, 25)
    cases = (settled(in_words(make_case(seed), *REGIMES[regime])) for seed in range(SEED, SEED + count))
    assert sum(check(case, kind=Lean) for case in cases)


def test_of_a_statement_that_linear_rules_ask_for_only_what_follows_is_held():
    dictionary = Dictionary()
    maintainer = Expiration(parse_rules(CUT, syntax="bracketed"), dictionary)
    maintainer.watch(pinned((("?x", "<urn:type>", "<urn:E>"),), dictionary))
    maintainer.load_background(background(dictionary, TREE))
    maintainer.settle(only_answers=True)
    a, b, q = map(dictionary.encode, ("<urn:a>", "<urn:b>", "<urn:q>"))
    maintainer.admit(Copies.of([(1, a, q, b, 1000)]))
    # Not (a q b), (a p b), (b r a), (a type C) nor (b type D); (a type E) is asked for.
    assert maintainer.statistics()["facts"] == 1
    assert len(maintainer.solutions(pinned((("?x", "<urn:type>", "<urn:E>"),), dictionary), 1, 0).stamps) == 1
