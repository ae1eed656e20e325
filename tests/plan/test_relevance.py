"""What a job needs of its streams, case by case."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict, replace

import pytest
from plan.support import blanked, block, expand, job, masked, query_of, relevant, rules_of, shapes_of
from query.equivalence.cases import Case, End, Push, Register
from query.equivalence.replay import bag, run

from ensue.knowledge import Sent
from ensue.plan import relevance
from ensue.plan.asked import OneWindow
from ensue.plan.known import Closed, close
from ensue.plan.matches import Matches
from ensue.plan.shapes import ANY
from ensue.plan.specialise import specialise
from ensue.query.language import parse_query
from ensue.reasoner import Reasoner
from ensue.rules.load import load_rules

NOTHING = Closed.of([])
UP = "[up: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]"
ABOVE = "[above: (?c rdfs:subClassOf ?d), (?d rdfs:subClassOf ?e) -> (?c rdfs:subClassOf ?e)]"
DOMAIN = "[domain: (?x ?p ?y), (?p rdfs:domain ?c) -> (?x rdf:type ?c)]"
OVER = "[over: (?x ?p ?y), (?p rdfs:subPropertyOf ?q) -> (?x ?q ?y)]"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("?x :p ?y . ?y :q :a", ["* :p *", "* :q :a"]),
        ("?x :p 'v'@EN", ['* :p "v"@en']),
        ("?x :p ?y OPTIONAL { ?x :q ?z }", ["* :p *", "* :q *"]),
        ("{ ?x :p ?y } UNION { ?x :q ?y }", ["* :p *", "* :q *"]),
        ("?x :p ?y MINUS { ?x :q :a }", ["* :p *", "* :q :a"]),
        ("?x :p ?y FILTER NOT EXISTS { ?x :q :a }", ["* :p *", "* :q :a"]),
        ("?x :p ?y BIND(EXISTS { ?x :q :a } AS ?b)", ["* :p *", "* :q :a"]),
        ("?x :p ?y { SELECT ?x { ?x :q ?z } }", ["* :p *", "* :q *"]),
        ("?x :p/:q ?y", ["* :p *", "* :q *"]),
        (":a :p/^:q :b", [":a :p *", ":b :q *"]),
        ("?x :p|:q :a", ["* :p :a", "* :q :a"]),
        (":a :p+ ?y", ["* :p *"]),
        ("?x :p/:q* ?y", ["* :p *", "* :q *"]),
        (":a :q* ?y", ["* :q *"]),
        (":a !:p ?y", [":a * *", "* * :a"]),
        (":a ?p ?y", [":a * *"]),
        ("?x :p [] ; :p :a", ["* :p *"]),
    ],
)
def test_every_pattern_of_a_query_counts(where, expected):
    found = relevant(where)
    assert set(found.patterns) == shapes_of(*expected)
    assert not found.everything
    assert found.assumed == ()


HAVING = "{ SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING(EXISTS { ?x :q 1 }) }"


@pytest.mark.parametrize(
    "where", ["?x ?p ?y", "?x :q* ?y", "?x !:p ?y", "?x :p? ?y", "?x (:p|:q*) ?y", HAVING]
)
def test_everything_counts_where_patterns_say_so(where):
    assert relevant(where).everything


def test_describe_asks_for_everything():
    found = relevant("?x :p ?y", head="DESCRIBE ?x")
    assert found.patterns == (ANY,)
    assert "DESCRIBE" in found.describe()[0]


def test_graphs_that_no_stream_feeds_do_not_count():
    text = """REGISTER RSTREAM q AS SELECT *
        FROM NAMED <urn:g> FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE 1s]
        WHERE { WINDOW <urn:w> { ?a <urn:p> ?b } GRAPH <urn:g> { ?a <urn:q> ?b } GRAPH ?g { ?a <urn:r> ?b }
                WINDOW ?w { ?a <urn:t> ?b } ?a <urn:u> ?b }"""
    found = relevance.find([parse_query(text)], rules_of(""), NOTHING)
    assert set(found.patterns) == shapes_of("* :p *", "* :t *")


def rules_for(query, rules):
    """The rules that are left of the window that a query has."""
    return specialise([(query, OneWindow(None))], rules, NOTHING).rules.rules


def maker(predicate):
    """A query that constructs statements of a predicate, as the stream urn:m."""
    stream = "FROM STREAM <urn:s> [RANGE 1s]"
    return parse_query(
        f"REGISTER STREAM <urn:m> AS CONSTRUCT {{ ?x {predicate} ?y }} {stream} {{ ?x <urn:p> ?y }}"
    )


def test_what_a_query_constructs_is_no_input():
    make = maker("<urn:q>")
    read = parse_query("SELECT * FROM STREAM <urn:m> [RANGE 1s] { ?x <urn:q> ?y }")
    found = relevance.find([read, make], rules_of(""), NOTHING)
    assert set(found.patterns) == shapes_of("* :p *")
    assert found.streams == ("urn:s",)


def test_rules_apply_to_what_a_query_constructs():
    make, rules = maker("<urn:q>"), rules_of("[on: (?x :q ?y) -> (?x :r ?y)]")
    read = parse_query("SELECT * FROM STREAM <urn:m> [RANGE 1s] { ?x <urn:r> ?y }")
    assert rules_for(read, rules) == rules.rules
    # Nobody asks for what the rule makes of the statements from outside.
    assert rules_for(make, rules) == ()


@pytest.mark.parametrize("prune", [True, False])
def test_and_to_what_named_graphs_hold_though_none_is_left_for_the_window(prune):
    rules = rules_of("[on: (?x :q ?y) -> (?x :r ?y)]")
    given = "FROM NAMED <urn:g> FROM STREAM <urn:s> [RANGE 1s]"
    where = "?x <urn:p> ?y GRAPH <urn:g> { ?y <urn:r> ?z }"
    graph = {"urn:g": (("<urn:b>", "<urn:q>", "<urn:c>", None),)}
    reasoner = Reasoner(rules, Sent((), graph), prune=prune)
    reasoner.register(f"SELECT * {given} {{ {where} }}")
    reasoner.push("urn:s", [(500, "<urn:a>", "<urn:p>", "<urn:b>")])
    [result] = reasoner.advance(to=1000)
    assert result.answers.rows == [("<urn:a>", "<urn:b>", "<urn:c>")]
    [scope] = reasoner.plan()["scopes"]
    assert [rule.split(":")[0] for rule in scope["rules"]] == ([] if prune else ["on"])


def test_a_query_that_constructs_schema_for_another_keeps_everything():
    make = maker("<http://www.w3.org/2000/01/rdf-schema#subClassOf>")
    both = "FROM STREAM <urn:m> [RANGE 1s] FROM STREAM <urn:s> [RANGE 1s]"
    read = parse_query(f"SELECT * {both} {{ ?x a <urn:C> }}")
    rules = rules_of(UP)
    assert not relevance.find([read], rules, NOTHING).everything
    assert "constructs" in relevance.find([read, make], rules, NOTHING).everything_because


def test_cut_premises_are_grounded():
    stated = [":B rdfs:subClassOf :C", ":C rdfs:subClassOf :D", ":E rdfs:subClassOf :F"]
    found = relevant("?x a :D", UP + ABOVE, stated)
    assert set(found.patterns) == shapes_of("* rdf:type :B", "* rdf:type :C", "* rdf:type :D")
    assert set(found.assumed) == shapes_of("* rdfs:subClassOf *")


def test_a_rule_all_of_whose_premises_are_schema_assumes_that_no_more_comes():
    rules = "[kind: (?c rdfs:subClassOf ?d) -> (?c rdf:type ?d)]"
    found = relevant("?x a :D", rules)
    assert set(found.patterns) == shapes_of("* rdf:type :D")
    assert set(found.assumed) == shapes_of("* rdfs:subClassOf :D")
    assert set(relevant("?x a ?c", rules).assumed) == shapes_of("* rdfs:subClassOf *")


def test_a_premise_that_the_rule_marks_is_cut_without_assuming_anything():
    rules = "[r: (?x :is ?c), cut(?c :below ?d) -> (?x :is ?d)]"
    found = relevant("?x :is :D", rules, [":C :below :D"])
    assert set(found.patterns) == shapes_of("* :is :C", "* :is :D")
    assert found.assumed == ()


def test_a_live_premise_of_the_same_kind_is_not_cut():
    found = relevant("?x :is :D", "[r: (?x :is ?c), (?c :below ?d) -> (?x :is ?d)]", [":C :below :D"])
    assert set(found.patterns) == shapes_of("* :is *", "* :below *")


def test_assumed_is_no_wider_than_what_the_queries_need():
    everything = UP + ABOVE + DOMAIN + OVER
    assert set(relevant("?x :p ?y", everything).assumed) == shapes_of("* rdfs:subPropertyOf *")


def test_what_the_background_puts_under_schema_is_assumed_too():
    found = relevant("?x a :D", UP + OVER, [":kindOf rdfs:subPropertyOf rdfs:subClassOf"])
    assert set(found.assumed) == shapes_of("* :kindOf *", "* rdfs:subClassOf *", "* rdfs:subPropertyOf *")


def test_schema_that_comes_of_other_statements_is_not_cut():
    rules = UP + "[learn: (?x :typicalOf ?c), (?x rdf:type ?d) -> (?d rdfs:subClassOf ?c)]"
    found = relevant("?x a :D", rules)
    assert found.assumed == ()
    assert set(found.patterns) == shapes_of("* rdf:type *", "* rdfs:subClassOf *", "* :typicalOf *")


def test_a_rule_that_only_repeats_what_it_is_given_needs_no_assumption():
    itself = "[itself: (?x ?p ?y) -> (?p rdfs:subPropertyOf ?p)]"
    found = relevant("?x :p ?y", OVER + itself, [":q rdfs:subPropertyOf :p"])
    assert set(found.patterns) == shapes_of("* :p *", "* :q *")
    assert set(found.assumed) == shapes_of("* rdfs:subPropertyOf *")


def test_a_rule_that_makes_schema_of_anything_leaves_nothing_to_drop():
    to_top = "[top: (?x ?p ?y) -> (?p rdfs:subPropertyOf :top)]"
    assert relevant("?x :top ?y", OVER + to_top, [":q rdfs:subPropertyOf :top"]).everything


def test_minted_nodes_are_nobodys_constants():
    rules = "[mint: (?x :p ?y), makeTemp(?b) -> (?x :q ?b), (?b :r ?y)]"
    assert set(relevant("?x :q :a", rules).patterns) == shapes_of("* :q :a")
    assert set(relevant("?x :q ?y", rules).patterns) == shapes_of("* :q *", "* :p *")


def test_computed_values_may_be_any():
    rules = "[kind: (?x :p ?y), isDLiteral(?y, ?t) -> (?x :is ?t)]"
    assert set(relevant("?x :is :a", rules).patterns) == shapes_of("* :is :a", "* :p *")


def test_wider_patterns_swallow_narrower_ones():
    rules = "[a: (?x :p :a) -> (?x :q :b)] [b: (?x :p ?y) -> (?x :q :c)]"
    assert set(relevant("?x :q ?y", rules).patterns) == shapes_of("* :q *", "* :p *")


def test_rdfs_as_shipped_drops_most_statements():
    rules = load_rules("rdfs-jena")
    stated = [
        ":Cat rdfs:subClassOf :Animal",
        ":eats rdfs:domain :Animal",
        ":devours rdfs:subPropertyOf :eats",
    ]
    found = relevance.find([query_of("?x a :Animal")], rules, close(rules, map(expand, stated)))
    types = shapes_of("* rdf:type :Animal", "* rdf:type :Cat", "* :eats *", "* :devours *")
    assert set(found.patterns) == types
    assert expand("* rdf:type rdfs:Class") in found.assumed


def test_ten_thousand_classes():
    tree = [f":C{k} rdfs:subClassOf :C{(k - 1) // 3}" for k in range(1, 10_000)]
    found = relevance.find(*job([query_of("?x a :C0")], UP + ABOVE + DOMAIN, tree))
    assert len(found.patterns) == 10_000


def test_it_can_be_sent_and_written():
    found = relevant("?x a :D", UP, [":C rdfs:subClassOf :D"])
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.loads(json.dumps(asdict(found)))["patterns"] == [list(shape) for shape in found.patterns]
    assert "2 patterns" in found.describe()[0]
    assert "(* <http://www.w3.org/2000/01/rdf-schema#subClassOf> *)" in found.describe()[1]


# -- each pattern is needed ------------------------------------------------------------------------

ANIMALS = """REGISTER QUERY <urn:q> AS SELECT ?x ?y FROM STREAM <urn:s> [RANGE 20ms STEP 20ms]
    WHERE { ?x a <urn:Animal> . ?x <urn:near> ?y MINUS { ?y a <urn:Keeper> } }"""
STREAM = (
    *(":tom rdf:type :Cat", ":tom :near :b", ":ann :eats :grass", ":ann :near :c", ":kim rdf:type :Animal"),
    *(
        ":kim :at :d",
        ":joe :devours :fish",
        ":joe :near :e",
        ":joe :near :f",
        ":e rdf:type :Keeper",
        ":c :name :n",
    ),
)
"""Each says something that the query needs, but for the last."""
KNOWN = (
    *(":Cat rdfs:subClassOf :Animal", ":eats rdfs:domain :Animal", ":devours rdfs:domain :Cat"),
    ":at rdfs:subPropertyOf :near",
)


def test_each_pattern_is_needed():
    rules = rules_of(UP + DOMAIN + OVER)
    rows = tuple((time, expand(text)) for time, text in enumerate(STREAM, 1))
    actions = (Register(ANIMALS), Push("urn:s", rows), End())
    case = Case(0, rules, tuple(map(expand, KNOWN)), {}, 0, "(]", {"urn:s": 0}, actions)
    found = relevance.find([parse_query(ANIMALS)], rules, close(rules, case.background))
    assert len(found.patterns) == 7
    whole = _answers(case, found)
    assert whole == _bags(case)
    for shape in found.patterns:
        fewer = replace(found, patterns=tuple(other for other in found.patterns if other != shape))
        assert _answers(case, fewer) != whole, f"{shape} is not needed"


def _answers(case, found):
    statements = [statement for _, statement in case.actions[1].rows]
    return _bags(blanked(case, masked(statements, ~Matches(found.patterns)(*block(statements)))))


def _bags(case):
    return [bag(result) for result in run(case, "expiration", "compiled").results]
