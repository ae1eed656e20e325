"""Plans that are sent do what those do that a process makes for itself."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest

from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import load_rules, parse_rules
from ensue.terms import RDF, RDFS

TYPE, SUB = f"<{RDF}type>", f"<{RDFS}subClassOf>"
QUERY = "REGISTER QUERY {0} AS SELECT ?x FROM STREAM <urn:s> [RANGE 1s] {{ ?x a <urn:{0}> }}"
KNOWN = [
    ("<urn:Cat>", SUB, "<urn:Animal>"),
    ("<urn:Oak>", SUB, "<urn:Tree>"),
    ("<urn:Oak>", SUB, "<urn:Old>"),
]
CAME = [(10, f"<urn:{n}>", TYPE, f"<urn:{c}>") for n, c in (("tom", "Cat"), ("oak", "Oak"), ("rex", "Dog"))]


def job(rules, known=KNOWN, queries=("Animal", "Tree"), **settings):
    asked = [parse_query(QUERY.format(name)) for name in queries]
    sent = Sent(tuple((*statement, None) for statement in known))
    return Job.of(asked, rules, sent, Settings(fixed_schema=True, **settings))


def settled(job, sent=None, before=()):
    """A reasoner that is ready, with numbers of its own if some terms were there before."""
    made = job.resumable()
    for term in before:
        made.dictionary.encode(term)
    if sent is not None:
        made.plans.take(pickle.loads(pickle.dumps(sent)))
    made.settle()
    return made


def answers(reasoner):
    reasoner.push("urn:s", CAME)
    found = list(reasoner.end())
    return {(result.query, result.close): Counter(result.answers.rows) for result in found}


@pytest.mark.parametrize("regime", ["rdfs", "owl2rl", "transitive-isin"])
def test_who_is_sent_a_plan_makes_none(regime):
    asked = job(load_rules(regime))
    one = settled(asked)
    sent = one.plans.give()
    assert sent or regime == "transitive-isin"  # Of which nothing is left that could be planned.
    other = settled(asked, sent, [f"<urn:other{n}>" for n in range(50)])
    assert other.plans.give() == {}
    right = answers(one)
    assert answers(other) == right
    assert any(right.values()) == (regime != "transitive-isin")


@pytest.mark.parametrize(
    "other",
    [
        job(load_rules("rdfs"), [*KNOWN[1:], ("<urn:Dog>", SUB, "<urn:Animal>")]),
        job(parse_rules("[up: (?x a <urn:Dog>) -> (?x a <urn:Tree>)]".replace(" a ", " rdf:type "))),
        job(load_rules("rdfs"), queries=("Tree", "Animal")),
        job(load_rules("rdfs"), queries=("Animal", "Tree", "Old")),
    ],
    ids=["background", "rules", "order", "queries"],
)
def test_a_plan_for_something_else_is_not_taken(other):
    sent = settled(job(load_rules("rdfs"))).plans.give()
    one, alone = settled(other, sent), settled(other)
    assert one.plans.give().keys() == alone.plans.give().keys() != set()
    right = answers(alone)
    assert answers(one) == right
    assert any(right.values())
