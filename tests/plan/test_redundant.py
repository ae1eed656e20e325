"""Schema that anything makes in vain: premises stay cut, and nothing is missed.

ENSUE_SEED sets the first seed, ENSUE_PLAN_CASES how many random cases there are.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from plan.redundancy_cases import Closing, make_case, make_closing
from plan.support import block, expand, query_of, rules_of, shapes_of
from plan.test_dropping_at_random import Tally
from plan.test_dropping_at_random import check as check_dropping
from query.equivalence.replay import bag, render, run

from ensue.dictionary import Dictionary
from ensue.knowledge import Sent
from ensue.maintain import make
from ensue.model import NEVER, Copies
from ensue.plan import relevance, routing
from ensue.plan.cuts import Cuts, goal_of
from ensue.plan.known import close, copies_of
from ensue.plan.matches import Matches
from ensue.plan.redundant import Redundancy
from ensue.reasoner import Reasoner
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_PLAN_CASES", "80"))
RDFS = load_rules("rdfs")
KNOWN = (
    *(":Cat rdfs:subClassOf :Animal", ":Oak rdfs:subClassOf :Tree", ":purrs rdfs:domain :Cat"),
    *(":owner rdfs:range :Person", ":near rdfs:subPropertyOf :at", ":far rdfs:subPropertyOf :away"),
)
STREAM = (
    *(":a rdf:type :Cat", ":b rdf:type :New", ":c :purrs :d", ":e :owner :f", ":g :near :h"),
    *(":New rdf:type rdfs:Class", ":i rdf:type :Animal", ":i :at :h"),
)


def found(where, rules=RDFS, known=KNOWN):
    """What the filter before the shuffle lets pass, and how the job is divided."""
    given = [query_of(where)], rules, close(rules, map(expand, known))
    relevant = relevance.find(*given)
    return relevant, routing.find(*given, relevant)


def cut_premises(rules=RDFS, known=KNOWN):
    """The premises that are cut, by rule."""
    cuts = Cuts(rules, close(rules, map(expand, known)))
    return {head.rule: [cut.at for cut in cuts.inferred(head)] for head in cuts.index.every}


def rows(where, rules=RDFS, known=KNOWN, stream=STREAM, **options):
    """The answers of every window, though it closes when some statements have left it."""
    reasoner = Reasoner(rules, Sent(tuple((*expand(text), None) for text in known)), **options)
    reasoner.register(query_of(where))
    reasoner.push("urn:s", [(1000 + 1500 * k, *expand(text)) for k, text in enumerate(stream)])
    return [sorted(result.answers.rows) for result in reasoner.end()]


# -- under RDFS ------------------------------------------------------------------------------------


def test_all_premises_about_schema_are_cut_but_those_that_anything_makes():
    cut = {name: at for name, at in cut_premises().items() if at}
    assert cut == {
        **{
            "rdfs1": [0],
            "rdfs2": [0],
            "rdfs3": [0],
            "rdfs7": [0],
            "rdfs9": [0],
            "rdfs12": [0],
            "rdfs13": [0],
        },
        **{"rdfs5": [0, 1], "rdfs11": [0, 1]},
    }


def test_a_star_needs_what_it_asks_for_and_no_more():
    relevant, divided = found("?x a :Animal ; :at ?y")
    of_stream = shapes_of("* rdf:type :Animal", "* rdf:type :Cat", "* :purrs *", "* :at *", "* :near *")
    assert set(relevant.patterns) == of_stream
    assert set(relevant.assumed) == shapes_of(
        *(f"* rdfs:{word} *" for word in ("subClassOf", "subPropertyOf", "domain", "range")),
        *(f"* rdf:type rdfs:{word}" for word in ("Datatype", "ContainerMembershipProperty")),
    )
    assert divided.variables == (("q", "x"),)


def test_classes_below_one_that_is_known_are_looked_up():
    relevant, _ = found("?x a ?c . ?c rdfs:subClassOf :Animal")
    assert not relevant.everything
    assert set(relevant.patterns) >= shapes_of("* rdf:type :Cat", "* rdf:type :Animal")
    assert not set(relevant.patterns) & shapes_of("* rdf:type *", "* rdf:type :Oak")


def test_that_a_class_is_declared_on_a_stream_is_no_schema_that_matters():
    reasoner = Reasoner(RDFS, Sent(tuple((*expand(text), None) for text in KNOWN)), fixed_schema=True)
    reasoner.register(query_of("?x a :Animal"))
    reasoner.push("urn:s", [(1000, *expand(":New rdf:type rdfs:Class")), (2000, *expand(":a rdf:type :Cat"))])
    assert {row for result in reasoner.end() for row in result.answers.rows} == {("<urn:a>",)}


@pytest.mark.parametrize(
    ("where", "some"),
    [
        ("?c rdfs:subClassOf ?d", "<urn:New>"),
        ("?c rdfs:subClassOf rdfs:Resource", "<urn:New>"),
        ("?c a rdfs:Class", "<urn:New>"),
        ("?x a ?c . ?c rdfs:subClassOf :New", "<urn:b>"),
        ("?x a ?c . ?c rdfs:subClassOf :Animal", "<urn:a>"),
        ("?x a rdfs:Resource", "<urn:h>"),
        ("?x a :Animal", "<urn:c>"),
        ("?x a :Person", "<urn:f>"),
        ("?x :at ?y", "<urn:g>"),
        ("?x a rdf:Property", "<urn:purrs>"),
    ],
)
def test_whoever_asks_for_schema_gets_all_of_it(where, some):
    pruned = rows(where)
    assert pruned == rows(where, prune=False, strategy="recompute")
    assert any(some in row for window in pruned for row in window)


# -- what is not in vain ---------------------------------------------------------------------------

UP = "[up: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]"
CLASS = "[class: (?x rdf:type ?c) -> (?c rdf:type rdfs:Class)]"
TOP = "[top: (?c rdf:type rdfs:Class) -> (?c rdfs:subClassOf :Top)]"
ALL = "[all: (?x ?p ?y) -> (?x rdf:type :Top)]"
ABOVE = "[above: (?c rdfs:subClassOf ?d), (?d rdfs:subClassOf ?e) -> (?c rdfs:subClassOf ?e)]"
LOWER = "[lower: (?c rdfs:subClassOf ?d) -> (?c rdf:type rdfs:Class)]"
SMALL = UP + CLASS + TOP + ALL


@pytest.mark.parametrize(
    ("rules", "known", "cut"),
    [
        (SMALL, [], True),
        (SMALL + ABOVE + LOWER, [], True),
        (SMALL + ABOVE + LOWER, [":Top rdfs:subClassOf :Top"], True),
        (UP + CLASS + TOP, [], False),
        (UP + CLASS + TOP + "[all: (?x ?p ?y) -> (?y rdf:type :Top)]", [], False),
        (UP + CLASS + TOP + "[all: (?x ?p ?y), notLiteral(?y) -> (?x rdf:type :Top)]", [], False),
        (UP + CLASS + TOP + "[all: cut(?x ?p ?y) -> (?x rdf:type :Top)]", [], False),
        (UP + CLASS + TOP + "[all: (?x rdf:type ?y), (?x :p ?z) -> (?x rdf:type :Top)]", [], False),
        (SMALL + "[odd: (?c rdf:type rdfs:Class) -> (?c rdfs:subClassOf :Odd)]", [], False),
        (SMALL + ABOVE, [], False),
        (SMALL + ABOVE + LOWER, [":Top rdfs:subClassOf :Odd"], False),
        (SMALL.replace("(?c rdfs:subClassOf ?d)", "live(?c rdfs:subClassOf ?d)"), [], False),
    ],
)
def test_when_a_premise_is_cut_though_anything_makes_what_it_matches(rules, known, cut):
    assert bool(cut_premises(rules_of(rules), known)["up"]) == cut
    for where in ("?x a :Top", "?x a :Odd", "?x a :Animal", "?c rdfs:subClassOf ?d"):
        given = rules_of(rules), (*KNOWN, *known)
        assert rows(where, *given) == rows(where, *given, prune=False, strategy="recompute")


# -- at random -------------------------------------------------------------------------------------


def closed(rules: RuleSet, case: Closing) -> dict[tuple[str, ...], int]:
    """Every fact of the window that all statements are in, with its stamp."""
    dictionary = Dictionary()
    maintainer = make("recompute", rules, dictionary)
    maintainer.load_background(copies_of(case.background, dictionary))
    encoded = [(1, *map(dictionary.encode, statement), time) for time, statement in case.stream]
    maintainer.admit(Copies.of(encoded))
    maintainer.advance(NEVER)
    facts = maintainer.closure(1).stamps()
    return {tuple(map(dictionary.decode, fact[1:])): stamp for fact, stamp in facts.items()}


def as_planned(case: Closing) -> tuple[Cuts, RuleSet, Closing]:
    """What is cut, the rules with these cuts marked, and the case without statements that must not come."""
    background = close(case.rules, case.background)
    cuts = Cuts(case.rules, background)
    every = [head for _, heads in cuts.by_rule() for head in heads]
    assumed = Matches(cuts.assumed_by(goal_of(cut) for head in every for cut in cuts.inferred(head)))
    mask = assumed(*block([statement for _, statement in case.stream]))
    stream = tuple(row for row, out in zip(case.stream, mask, strict=True) if not out)
    marked = [
        replace(rule, premises=cuts.marked(rule, [head]), conclusions=(head.conclusion,))
        for rule, heads in cuts.by_rule()
        for head in heads
    ]
    known = tuple(background.statements())
    return cuts, replace(case.rules, rules=tuple(marked)), replace(case, background=known, stream=stream)


def check(seed: int) -> Counter[str]:
    """Every fact and every stamp is the same where premises that are cut match background alone."""
    cuts, marked, case = as_planned(make_closing(seed))
    whole = closed(case.rules, case)
    assert closed(marked, case) == whole, f"case {seed}"
    return Counter(cut=bool(cuts._cuts), spared=bool(cuts._spendthrift and cuts._cuts))


def test_cutting_changes_no_fact_and_no_stamp(capsys):
    seen = sum((check(seed) for seed in range(SEED, SEED + CASES)), Counter())
    with capsys.disabled():
        print(f"\n{CASES} cases from seed {SEED}: {dict(seen)}")
    assert seen["spared"] >= CASES / 4


def test_that_a_mistake_would_be_noticed(monkeypatch):
    monkeypatch.setattr(Redundancy, "spares", lambda *_: True)
    with pytest.raises(AssertionError, match="case"):
        sum((check(seed) for seed in range(SEED, SEED + 40)), Counter())


def test_pruning_and_dropping_change_no_answer():
    tally = Tally()
    pruned_some = 0
    for seed in range(SEED, SEED + CASES // 4):
        case = make_case(seed)
        pruned = run(case, ("expiration", "auto")[seed % 2], "compiled")
        whole = run(case, "recompute", "compiled", prune=False)
        if answers(pruned) != answers(whole):
            pytest.fail(f"case {seed}\n{render(case)}", pytrace=False)
        scopes = pruned.reasoner.plan()["scopes"]
        pruned_some += any(len(scope["rules"]) < len(case.rules.rules) for scope in scopes)
        check_dropping(case, tally)
    assert pruned_some >= CASES / 20
    assert tally.with_drops >= CASES / 40


def answers(engine) -> list:
    return [(result.open, result.close, bag(result)) for result in engine.results]
