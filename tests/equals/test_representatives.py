"""Terms that are equal for ever are kept once, and nobody sees a difference.

ENSUE_SEED sets the first seed, ENSUE_REPRESENTATIVES_CASES how many random cases there are for each strategy.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import numpy as np
import pytest

from ensue.bench.equality_joins import joining_equals
from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.knowledge import Sent
from ensue.model import FOREVER, Copies
from ensue.plan.equality import equality_of
from ensue.plan.known import close_plainly, copies_of
from ensue.plan.representatives import settle
from ensue.reasoner import Reasoner
from ensue.rules.load import load_rules, parse_rules
from equals.cases import AGAINST, AXIOMS, OTHERS, PREFIXES, SAME, TYPE, random_case
from equals.replay import STRATEGIES, replay

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_REPRESENTATIVES_CASES", "8"))


def rules_of(*more, axioms=AXIOMS):
    return parse_rules(PREFIXES + axioms + "\n".join(more), "equality.rules", syntax="bracketed")


def settled(rules, statements):
    dictionary = Dictionary()
    found = settle(rules, copies_of(statements, dictionary), dictionary, close_plainly)
    classes = [
        {dictionary.decode(member) for member in found.classes.members(number)}
        for number in sorted(set(found.classes.representative[found.classes.listed].tolist()))
    ]
    return found, classes


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_closure_is_that_of_recompute_under_the_plain_rules(strategy, capsys):
    counts = Counter()
    # Other cases for each strategy: all of them are the same to what is tested here.
    first = SEED + CASES * STRATEGIES.index(strategy)
    for seed in range(first, first + CASES):
        problem = replay(random_case(seed), strategy, counts)
        assert problem is None, f"case {seed}: {problem}"
    with capsys.disabled():
        print(f"\nrepresentatives, {strategy}: {CASES} cases from seed {first}: {dict(counts)}")
    assert counts["classes"] >= CASES / 2
    assert counts["facts"] > 10 * CASES


# -- mistakes that the cases must find ---------------------------------------------------------------


def _without_the_log(self, copies, *, every=False):
    return self._inner.retract(self._classes.over_copies(copies), every=every)


def _subjects_only(self, facts):
    columns = {name: np.asarray(getattr(facts, name)) for name in ("context", "s", "p", "o", "stamp")}
    return type(facts)(**self.expanded_columns(columns, ("s",)))


MISTAKES = {
    "a copy of an equal term is taken back": (
        ("ensue.maintain.represented.Represented.retract", _without_the_log),
    ),
    "only representatives are read": (("ensue.classes.Classes.expanded", lambda self, facts: facts),),
    "only subjects are expanded": (("ensue.classes.Classes.expanded", _subjects_only),),
    "what comes is not about representatives": (
        ("ensue.classes.Classes.over_copies", lambda self, copies: copies),
    ),
    "rules name terms that no fact is about": (
        ("ensue.plan.representatives.renamed", lambda rules, names: rules),
    ),
    "what rules compute is no representative": tuple(
        (f"{module}.represented", lambda dictionary, classes: dictionary)
        for module in ("ensue.plan.representatives", "equals.replay")
    ),
    "terms that a rule tells apart are in classes": (
        ("ensue.plan.equality._telling_apart", lambda found, rules: found),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_caught(mistake, monkeypatch):
    for where, wrong in MISTAKES[mistake]:
        monkeypatch.setattr(where, wrong)
    assert any(replay(random_case(seed), "rete") for seed in range(1, 200)), "not caught in 200 cases"


# -- queries -------------------------------------------------------------------------------------------

WHERE = (
    "?x :p ?y",
    "?x a :A",
    ":b ?p ?y",
    "?x :p ?y . ?y :q ?z",
    "?x :p ?x",
    "?x owl:sameAs ?y FILTER(?x != ?y)",
    "?x ?p ?y FILTER(isIRI(?y) && sameTerm(?x, :b))",
    "?x :q ?y FILTER(?x = :c || STR(?y) > 'urn:b')",
    "?x a ?c MINUS { ?x :p :a }",
    "?x :p ?y OPTIONAL { ?y a ?c }",
    "VALUES ?x { :a :c } ?x ?p [ :p ?y ]",
    "?x :p/:q ?y",
    "?x :p+ ?y",
    "?x :p ?y FILTER NOT EXISTS { ?y :q :d }",
    "{ ?x :p ?y } UNION { ?y owl:sameAs ?x }",
)
HEADS = (
    "SELECT *",
    "SELECT *",
    "SELECT (COUNT(*) AS ?n)",
    "SELECT DISTINCT ?x",
    "CONSTRUCT { ?x :made ?y }",
    "ASK",
)


def text_of(where, head="SELECT *"):
    prefixes = PREFIXES.replace("@prefix", "PREFIX").replace("> . ", "> ").replace("> .", ">")
    where = where.replace("?y", "?x") if head.startswith("CONSTRUCT") and "?y" not in where else where
    return (
        f"{prefixes} REGISTER QUERY q AS {head} FROM STREAM <urn:s> [RANGE 6ms STEP 3ms] WHERE {{ {where} }}"
    )


def answers(case, query, strategy, equality, **options):
    known = Sent(tuple((*triple, None) for triple in case.background))
    reasoner = Reasoner(case.rules, known, strategy, equality=equality, until=True, **options)
    reasoner.register(query)
    found = []
    for number, step in enumerate(case.steps):
        now = 3 * (number + 1)
        reasoner.feed("urn:s", [(now - 1 - time % 2, *triple, None) for triple, time in step.admitted])
        # As `retract` does, which takes no literals for subjects: rules may make such statements.
        gone = reasoner.arrivals([(now, *triple, None) for triple in step.retracted])
        reasoner._intake.put_retraction("urn:s", gone, every=step.every)
        for result in reasoner.advance(to=now):
            rows = result.answers.rows
            found.append(sorted(zip(rows, result.until or [None] * len(rows), strict=True), key=str))
    return found, reasoner


def test_answers_are_those_under_the_plain_rules(capsys):
    told = Counter()
    for seed in range(SEED, SEED + 2 * CASES):
        random = Random(f"queries {seed}")
        case, query = random_case(seed), text_of(random.choice(WHERE), random.choice(HEADS))
        evaluator = random.choice(("auto", "auto", "oxigraph"))  # Only one of them tells until when.
        right, _ = answers(case, query, "recompute", "plain", evaluator=evaluator, prune=False)
        options = {
            "evaluator": evaluator,
            "prune": random.random() < 0.7,
            "check": random.choice((None, 1)),
        }
        strategy = random.choice(("auto", "expiration", "recompute", "rete", "hybrid"))
        given, reasoner = answers(case, query, strategy, "representatives", **options)
        assert given == right, f"seed {seed}: {strategy}, {options}, {query}"
        [scope] = reasoner.plan()["scopes"]
        told["classes"] += any("each kept once" in each["line"] for each in scope["passes"])
        told["with answers"] += any(right)
    with capsys.disabled():
        print(f"\nqueries over representatives: {2 * CASES} cases from seed {SEED}: {dict(told)}")
    assert told["classes"] >= CASES / 2
    assert told["with answers"] >= CASES / 2


# -- who is in a class ---------------------------------------------------------------------------------


def test_equal_terms_are_found_by_rules_and_by_what_follows_from_that():
    rules = rules_of(*OTHERS[:2])
    same = [
        ("<urn:x>", "<urn:p>", "<urn:a>"),
        ("<urn:x>", "<urn:p>", "<urn:b>"),
        ("<urn:p>", TYPE, "<urn:Functional>"),
    ]
    chained = [("<urn:a>", "<urn:p>", "<urn:c>"), ("<urn:b>", "<urn:p>", "<urn:d>")]
    found, classes = settled(rules, [*same, *chained])
    assert classes == [{"<urn:a>", "<urn:b>"}, {"<urn:c>", "<urn:d>"}]
    assert found.report.line == "4 terms in 2 classes of equals, each kept once"


def test_what_rules_can_tell_apart_is_in_no_class():
    links = [("<urn:a>", SAME, term) for term in ('"1"', "<urn:b>", "<urn:c>", "_:n")]
    assert settled(rules_of(), links)[1] == [{"<urn:a>", "<urn:b>", "<urn:c>", "_:n"}]
    assert settled(rules_of("[r: (?x :q ?y), isBlank(?y) -> (?y :p ?x)]"), links)[1] == [
        {"<urn:a>", "<urn:b>", "<urn:c>"}
    ]
    named = settled(rules_of("[r: (?x :q ?y), notEqual(?y, :c) -> (?y :p ?x)]"), links)[1]
    assert named == [{"<urn:a>", "<urn:b>", "_:n"}]


@pytest.mark.parametrize("rule", [AGAINST, "[r: (?x :q ?y), same(?x, ?z), notEqual(?y, ?z) -> (?x :p ?y)]"])
def test_a_rule_that_tells_any_two_terms_apart_keeps_the_plain_rules(rule):
    found, classes = settled(rules_of(rule), [("<urn:a>", SAME, "<urn:b>")])
    assert classes == []
    assert found.report.line.startswith("by plain rules: rule")


@pytest.mark.parametrize("missing", range(5))
def test_without_one_of_the_axioms_there_are_no_classes(missing):
    lines = AXIOMS.strip().splitlines()
    rules = rules_of(axioms="\n".join(lines[:missing] + lines[missing + 1 :]))
    assert equality_of(rules) is None
    assert settled(rules, [("<urn:a>", SAME, "<urn:b>")])[1] == []


def test_owl_2_rl_has_classes():
    found = equality_of(load_rules("owl2rl"))
    assert found is not None
    assert found.why_not is None


def test_an_equality_that_is_none():
    with pytest.raises(UsageError, match="representatives, plain"):
        settle(rules_of(), Copies(), Dictionary(), close_plainly, "none")


def test_nobody_derives_all_pairs_of_equals_unless_asked():
    rules = rules_of(OTHERS[0], OTHERS[5])
    for where, asked in (("?x a :A", False), ("?x owl:sameAs ?y", True)):
        reasoner = Reasoner(rules, Sent(), "expiration")
        reasoner.register(text_of(where))
        [scope] = reasoner.plan()["scopes"]
        assert ("- eq-trans" in str(scope["passes"])) != asked


# -- equality in joins, which `ensue bench equality` compares with ------------------------------------------


def test_joins_through_equality_find_the_same():
    rules = rules_of(OTHERS[0], "[join: (?x :p ?y), (?y :q ?z) -> (?x :r ?z)]")
    told = [
        ("<urn:a>", "<urn:p>", "<urn:b>"),
        ("<urn:b>", SAME, "<urn:c>"),
        ("<urn:c>", "<urn:q>", "<urn:d>"),
    ]
    dictionary = Dictionary()
    facts = close_plainly(joining_equals(rules), copies_of(told, dictionary), dictionary)
    made = tuple(map(dictionary.encode, ("<urn:a>", "<urn:r>", "<urn:d>")))
    assert (0, *made, FOREVER) in list(facts)
    repeated = tuple(map(dictionary.encode, ("<urn:b>", "<urn:q>", "<urn:d>")))
    assert (0, *repeated, FOREVER) not in list(facts)
