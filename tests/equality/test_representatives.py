"""Terms that are equal for ever are kept once, and nobody sees a difference.

ENSUE_SEED sets the first seed, ENSUE_REPRESENTATIVES_CASES how many random cases there are for each strategy.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import numpy as np
import pytest

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.knowledge import Sent
from ensue.maintain.represented import Represented
from ensue.plan.equality import equality_of
from ensue.plan.known import close_plainly, copies_of
from ensue.plan.representatives import settle
from ensue.query.language import parse_query
from ensue.reasoner import Reasoner
from ensue.rules.load import parse_rules

from equality.cases import AGAINST, AXIOMS, OTHERS, PREFIXES, SAME, random_case
from equality.replay import STRATEGIES, replay

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_REPRESENTATIVES_CASES", "12"))


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
        for module in ("ensue.plan.representatives", f"equality.replay")
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
HEADS = ("SELECT *", "SELECT *", "SELECT (COUNT(*) AS ?n)", "SELECT DISTINCT ?x", "CONSTRUCT { ?x :made ?y }", "ASK")


def text_of(where, head="SELECT *"):
    prefixes = PREFIXES.replace("@prefix", "PREFIX").replace("> . ", "> ").replace("> .", ">")
    where = where.replace("?y", "?x") if head.startswith("CONSTRUCT") and "?y" not in where else where
    return f"{prefixes} REGISTER QUERY q AS {head} FROM STREAM <urn:s> [RANGE 6ms STEP 3ms] WHERE {{ {where} }}"


def answers(case, query, strategy, equality, **options):
    known = Sent(tuple((*triple, None) for triple in case.background))
    reasoner = Reasoner(case.rules, known, strategy, equality=equality, until=True, **options)
    reasoner.register(query)
    found = []
    for number, step in enumerate(case.steps):
        now = 3 * (number + 1)
        reasoner.push("urn:s", [(now - 1 - time % 2, *triple) for triple, time in step.admitted])
        reasoner.retract("urn:s", [(now, *triple) for triple in step.retracted], every=step.every)
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
