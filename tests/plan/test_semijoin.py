"""Which patterns an answer needs, and on which statements their matches rest, query by query."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan.support import expand, job, query_of

from ensue.job import Job, Settings
from ensue.knowledge import Sent, Update
from ensue.plan import relevance, routing
from ensue.plan.spread import spread
from ensue.query.language import parse_query

OVER = "[over: (?x ?p ?y), (?p rdfs:subPropertyOf ?q) -> (?x ?q ?y)]"
DOMAIN = "[domain: (?x ?p ?y), (?p rdfs:domain ?c) -> (?x rdf:type ?c)]"
BACK = "[back: (?x :back ?y) -> (?y :p ?x)]"
TWO = "[two: (?x :r ?y), (?x :s ?z) -> (?x :q ?y)]"
FAR = "[far: (?x :p ?y), (?y :p ?z) -> (?x :p ?z)]"


def semijoins(queries, rules="", background=()):
    found = job(queries, rules, background)
    return routing.find(*found, relevance.find(*found)).semijoins


def required(where, rules="", background=(), head="SELECT *"):
    """For each pattern that is needed: what its matches rest on, as `:p@0`; None if nothing is needed."""
    found = semijoins([query_of(where, head)], rules, background)
    if not found:
        return None
    [semijoin] = found
    return sorted((sorted(keyed, key=repr) for keyed in semijoin.required), key=repr)


def keyed(*texts):
    return sorted(((expand(text[:-2]), int(text[-1])) for text in texts), key=repr)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("?x :p ?y ; :q :a", [keyed("* :p *@0"), keyed("* :q :a@0")]),
        ("?x :p ?y . ?z :q ?x", [keyed("* :p *@0"), keyed("* :q *@2")]),
        ("?x :p ?y ; :q ?z OPTIONAL { ?x :r ?u }", [keyed("* :p *@0"), keyed("* :q *@0")]),
        ("?x :p ?y ; :q ?z MINUS { ?x :r ?u }", [keyed("* :p *@0"), keyed("* :q *@0")]),
        ("?x :p ?y ; :q ?z FILTER NOT EXISTS { ?x :r ?u }", [keyed("* :p *@0"), keyed("* :q *@0")]),
        ("?x :p ?y ; :q ?z BIND(STR(?y) AS ?s)", [keyed("* :p *@0"), keyed("* :q *@0")]),
        ("?x :p ?y ; :q ?z ; :r/:s ?u", None),
        ("?x :p ?y ; (:q|:r) ?z", None),
        ("?x :p ?y OPTIONAL { ?x :q ?z }", None),
        ("?x :p ?y { ?x :q ?z } UNION { ?x :r ?z }", None),
        ("?x :p ?y { SELECT ?x { ?x :q ?z } }", None),
        ("?x :p ?y", None),
        ("?x :p ?y . ?y :q ?z . ?z :r ?u", None),
        ("?x ?p ?y . ?x ?q ?z", [keyed("* * *@0"), keyed("* * *@0")]),
    ],
)
def test_what_an_answer_needs(where, expected):
    assert required(where) == (expected and sorted(expected, key=repr))


def test_a_match_rests_on_whatever_rules_make_it_of():
    assert required(
        "?x :p ?y ; rdf:type :C", OVER + DOMAIN, [":s rdfs:subPropertyOf :p", ":t rdfs:domain :C"]
    ) == [
        keyed("* rdf:type :C@0", "* :t *@0"),
        keyed("* :p *@0", "* :s *@0"),
    ]


def test_a_rule_may_turn_a_statement_around():
    assert required("?x :p ?y ; :q :a", BACK) == [keyed("* :back *@2", "* :p *@0"), keyed("* :q :a@0")]


def test_all_premises_of_a_rule_that_joins_count():
    assert required("?x :p ?y ; :q ?z", TWO) == [keyed("* :p *@0"), keyed("* :q *@0", "* :r *@0", "* :s *@0")]


def test_what_cannot_be_divided_is_not_reduced():
    assert required("?x :p ?y ; :q ?z", FAR) is None


def test_one_query_that_needs_all_it_gets_is_enough():
    two, one = query_of("?x :p ?y ; :q ?z"), replace(query_of("?x :r ?y"), name="other")
    assert len(semijoins([two])) == 1
    assert semijoins([two, one]) == ()


def test_statements_that_are_no_match_count_for_what_can_be_used():
    [found] = semijoins([query_of("?x :p ?y ; :q ?z OPTIONAL { ?u :r ?x }")])
    assert sorted(found.wanted, key=repr) == keyed("* :p *@0", "* :q *@0", "* :r *@2")


def reduction(where="?x :p ?y ; :q ?z", updates=(), shards=1, stated=(), **settings):
    query = query_of(where)
    background = Sent(tuple((*expand(text), None) for text in stated))
    rules = job([query], OVER)[1]
    return spread(Job.of([query], rules, background, Settings(**settings), updates), shards=shards).reduction


def test_when_nothing_is_left_out():
    assert reduction(fixed_schema=True) is not None
    assert reduction(fixed_schema=True, shards=2) is not None
    assert reduction() is None  # Schema may come, and anything may matter then.
    assert reduction(fixed_schema=True, prune=False) is None
    assert reduction(fixed_schema=True, check=1) is None
    assert reduction(fixed_schema=True, updates=[Update(5, ((*expand(":a :p :b"), None),))]) is None


def test_what_is_assumed_is_said():
    found = reduction(fixed_schema=True, stated=[":s rdfs:subPropertyOf :p"])
    assert found.assumed


def test_of_many_queries_nobody_looks_what_each_needs():
    text = query_of("?x :p ?y ; :q ?z").text
    for many, is_reduced in ((8, True), (9, False)):
        queries = [parse_query(text.replace("QUERY q", f"QUERY q{number}")) for number in range(many)]
        found = spread(Job.of(queries, job([])[1], Sent(), Settings()))
        assert (found.reduction is not None) is is_reduced
