"""Rules for equality leave something to prune: that everything is the same as itself says nothing.

ENSUE_SEED sets the first seed, ENSUE_EQUALITY_CASES how many random cases there are.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest
from plan.equality import RULES
from plan.support import expand, query_of

from ensue.knowledge import Sent
from ensue.plan.asked import OneWindow
from ensue.plan.known import close
from ensue.plan.loops import without_loops
from ensue.plan.specialise import specialise
from ensue.reasoner import Reasoner
from ensue.rules.load import load_rules, parse_rules

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = int(os.environ.get("ENSUE_EQUALITY_CASES", "120"))
EQUALITY = parse_rules(RULES, "equality.rules", syntax="bracketed")
SCHEMA = (
    ":Cat rdfs:subClassOf :Animal",
    ":Oak rdfs:subClassOf :Tree",
    ":barks rdfs:domain :Dog",
    ":Dog rdfs:subClassOf :Animal",
    ":has rdfs:subPropertyOf :knows",
    ":chip rdf:type owl:FunctionalProperty",
)


def planned(where, rules=EQUALITY, schema=SCHEMA):
    known = close(rules, list(map(expand, schema)))
    return specialise([(query_of(where), OneWindow(None))], rules, known)


def names(plan):
    return {rule.name for rule in plan.rules.rules}


def test_only_what_can_make_what_is_asked_for_is_left():
    plan = planned("?x a :Animal")
    assert plan.everything_because is None
    # A chip says who is the same, so it matters; who knows whom does not.
    assert names(plan) == {"eq-sym", "eq-trans", "eq-rep-s", "eq-rep-o", "prp-fp", "prp-dom", "cax-sco"}
    asked = {shape[1].rpartition("/")[2].rpartition(":")[2].rpartition("#")[2] for shape in plan.needed}
    assert asked == {"type>", "sameAs>", "barks>", "chip>"}


def test_that_a_class_is_another_one_is_assumed_away_and_looked_out_for():
    plan = planned("?x a :Animal")
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    assert {("<urn:Cat>", same, None), (None, same, "<urn:Cat>")} <= set(plan.assumed)
    assert not any(shape[0] is None and shape[2] is None and shape[1] == same for shape in plan.assumed)


@pytest.mark.parametrize("where", ["?x owl:sameAs ?y", "?x ?p ?y"])
def test_whoever_asks_for_loops_gets_them(where):
    reasoner = Reasoner(EQUALITY, Sent())
    reasoner.register(query_of(where).text)
    reasoner.push("urn:s", [(500, *expand(":a :p :b"))])
    [result] = reasoner.advance(to=5000)
    assert ("<urn:a>", "<urn:a>") in {(row[0], row[-1]) for row in result.answers.rows}


def test_a_rule_that_loops_feed_keeps_them():
    more = "[more: (?x owl:sameAs ?x) -> (?x rdf:type <urn:Thing>)]"
    text = RULES + more
    assert without_loops(parse_rules(text, "r.rules", syntax="bracketed"), close(EQUALITY, [])) is None
    assert (
        "any statement"
        in planned("?x a :Thing", parse_rules(text, "r.rules", syntax="bracketed")).everything_because
    )


def test_rules_without_loops_are_left_as_they_are():
    rules = load_rules("rdfs-jena")
    assert without_loops(rules, close(rules, [])) is None


THINGS, CLASSES, LINKS = (":a", ":b", ":c", ":d"), (":A", ":B", ":C"), (":p", ":q", ":r")
META = ["rdfs:subClassOf", "rdfs:subPropertyOf", "rdfs:domain"]


def statement(random, schema):
    """A statement about things; or about classes and properties, if `schema` is so likely."""
    if random.random() < schema:
        kind = random.choice([*META, "owl:sameAs", "type"])
        if kind == "type":
            return expand(f"{random.choice(LINKS)} rdf:type owl:FunctionalProperty")
        of = CLASSES if kind == "rdfs:subClassOf" else LINKS
        to = CLASSES if kind in ("rdfs:subClassOf", "rdfs:domain") else LINKS
        if kind == "owl:sameAs":
            of = to = random.choice((CLASSES, LINKS, (*THINGS, *CLASSES)))
        return expand(f"{random.choice(of)} {kind} {random.choice(to)}")
    kind = random.choice(("type", "link", "link", "same"))
    if kind == "type":
        return expand(f"{random.choice(THINGS)} rdf:type {random.choice(CLASSES)}")
    p = "owl:sameAs" if kind == "same" else random.choice(LINKS)
    return expand(f"{random.choice(THINGS)} {p} {random.choice(THINGS)}")


WHERE = ("?x a :A", "?x :p ?y", "?x a :B . ?x :q ?y", ":a :r ?y . ?y a ?z", "?x a :C . ?x owl:sameAs ?y")


def test_pruning_changes_no_answer(capsys):
    told = Counter()
    for seed in range(SEED, SEED + CASES):
        random = Random(f"equality {seed}")
        known = Sent(tuple((*statement(random, 0.8), None) for _ in range(random.randrange(8))))
        schema = random.choice((0, 0, 0.1))
        arriving = sorted((random.randrange(1, 4000), *statement(random, schema)) for _ in range(12))
        query = query_of(random.choice(WHERE)).text.replace("10s STEP 5s", "2s STEP 1s")
        found = []
        for prune in (True, False):
            reasoner = Reasoner(EQUALITY, known, strategy="expiration", prune=prune)
            reasoner.register(query)
            reasoner.push("urn:s", arriving)
            found.append([sorted(result.answers.rows) for result in reasoner.advance(to=6000)])
            if prune:
                [scope] = reasoner.plan()["scopes"]
                told["pruned"] += len(scope["rules"]) < len(EQUALITY.rules)
                told["with answers"] += any(found[0])
        assert found[0] == found[1], f"seed {seed}: {query} over {known.stated}, {arriving}"
    with capsys.disabled():
        print(f"\nequality: {CASES} cases from seed {SEED}: {dict(told)}")
    assert told["pruned"] >= CASES / 4
    assert told["with answers"] >= CASES / 3
