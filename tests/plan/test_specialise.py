"""Rules and background for what is read: what is left, why, and that each part of it is needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from plan.support import PREFIXES, expand, query_of, rules_of

from ensue import Reasoner
from ensue.errors import InputError
from ensue.knowledge import Sent
from ensue.plan.asked import OneWindow
from ensue.plan.known import close
from ensue.plan.specialise import specialise
from ensue.query.background import Background

RULES = """
[up: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]
[above: (?c rdfs:subClassOf ?d), (?d rdfs:subClassOf ?e) -> (?c rdfs:subClassOf ?e)]
[domain: (?x ?p ?y), (?p rdfs:domain ?c) -> (?x rdf:type ?c)]
[over: (?x ?p ?y), (?p rdfs:subPropertyOf ?q) -> (?x ?q ?y)]
[far: (?p rdf:type owl:TransitiveProperty), (?x ?p ?y), (?y ?p ?z) -> (?x ?p ?z)]
[back: (?p owl:inverseOf ?q), (?x ?p ?y) -> (?y ?q ?x)]
"""
KNOWN = [
    *(":Cat rdfs:subClassOf :Animal", ":Oak rdfs:subClassOf :Tree", ":purrs rdfs:domain :Cat"),
    *(":rustles rdfs:domain :Oak", ":near rdfs:subPropertyOf :at", ":far rdfs:subPropertyOf :away"),
    *(":at rdf:type owl:TransitiveProperty", ":away rdf:type owl:TransitiveProperty"),
    *(":holds owl:inverseOf :at", ":loses owl:inverseOf :away"),
]
WHERE = "?x a :Animal ; :at :home"
STREAM = [
    *(":a rdf:type :Cat", ":a :at :home"),
    *(":b rdf:type :Animal", ":b :near :home"),
    *(":c :purrs :d", ":c :at :box", ":box :at :home"),
    *(":e rdf:type :Cat", ":home :holds :e"),
    *(":f rdf:type :Oak", ":f :far :home", ":g :rustles :h"),
]


def specialised(where=WHERE, head="SELECT *", rules=RULES, known=KNOWN):
    found = rules_of(rules)
    background = close(found, map(expand, known))
    return specialise([(query_of(where, head), OneWindow(None))], found, background), background


def left(where, **given):
    """The names of the rules that are left, and the statements."""
    found, background = specialised(where, **given)
    return {rule.name for rule in found.rules.rules}, set(background.statements(found.background))


def fed(reasoner):
    reasoner.push("urn:s", [(1000 + k, *expand(text)) for k, text in enumerate(STREAM)])
    return [sorted(result.answers.rows) for result in reasoner.end()]


def answers(where=WHERE, rules=RULES, known=KNOWN, **options):
    knowledge = Sent(tuple((*expand(text), None) for text in known))
    reasoner = Reasoner(rules_of(rules), knowledge, **options)
    reasoner.register(query_of(where))
    return fed(reasoner)


def test_what_nobody_asks_for_is_left_out():
    rules, statements = left(WHERE)
    assert rules == {"up", "domain", "over", "far", "back"}
    wanted = [":Cat rdfs:subClassOf :Animal", ":purrs rdfs:domain :Cat", ":near rdfs:subPropertyOf :at"]
    wanted += [":at rdf:type owl:TransitiveProperty", ":holds owl:inverseOf :at"]
    assert statements == set(map(expand, wanted))


def test_a_leaf_needs_no_rule():
    assert left("?x a :Oak", rules=RULES.split("[domain")[0]) == (set(), set())


def test_joining_rules_are_filled_in():
    found, _ = specialised()
    [far] = (rule for rule in found.rules.rules if rule.name == "far")
    assert str(far) == "[far: (?x <urn:at> ?y), (?y <urn:at> ?z) -> (?x <urn:at> ?z)]"


def test_each_rule_and_each_statement_that_is_left_is_needed(monkeypatch):
    right = Background.specialised
    whole = answers()
    assert whole == answers(prune=False)
    assert len(whole[0]) == 4
    plan, _ = specialised()
    for number, rule in enumerate(plan.rules.rules):

        def without_rule(background, *given, number=number):
            found = right(background, *given)
            rules = found.rules.rules[:number] + found.rules.rules[number + 1 :]
            return replace(found, rules=replace(found.rules, rules=rules))

        monkeypatch.setattr(Background, "specialised", without_rule)
        assert answers() != whole, f"rule '{rule.name}' is not needed"
    for number in range(len(plan.background)):

        def without_statement(background, *given, number=number):
            found = right(background, *given)
            return replace(found, background=np.delete(found.background, number))

        monkeypatch.setattr(Background, "specialised", without_statement)
        # A rule that was filled in has done without its statement before.
        if answers() == whole:
            assert _is_filled_in(plan, number)


def _is_filled_in(plan, number):
    _, background = specialised()
    [statement] = background.statements(plan.background[number : number + 1])
    return statement[2] == expand(":at rdf:type owl:TransitiveProperty")[2]


@pytest.mark.parametrize(
    ("where", "rules"),
    [
        ("?x ?p ?y . ?p rdfs:subPropertyOf :at", set()),
        ("?x ?p :home VALUES ?p { :away }", {"over", "far", "back"}),
        ("?x ?p :home FILTER (?p = :loses)", set()),
        ("?x ?p :home FILTER (?p IN (:loses, :rustles))", set()),
        ("{ ?x a :Oak } UNION { ?x :loses ?y }", {"domain"}),
        ("?x :loses ?y OPTIONAL { ?x a ?c } FILTER NOT EXISTS { ?x :rustles ?y }", {"up", "domain"}),
    ],
)
def test_patterns_are_narrowed_by_each_other(where, rules):
    assert left(where)[0] == rules
    assert answers(where) == answers(where, prune=False)


def test_every_rule_is_accounted_for():
    _, rules, background = specialised()[0].reports
    assert rules.line == "5 of 6 are needed"
    assert "- above: what it concludes is not asked for" in rules.details
    assert "+ far: filled in from the background: 1 rule" in rules.details
    assert background.line == "5 of 10 statements are needed"


def test_everything_is_needed_and_why():
    found, _ = specialised("?x a :Thing", rules=RULES + "[thing: (?x ?p ?y) -> (?x rdf:type :Thing)]")
    assert found.background is None
    assert found.everything_because.startswith("any statement can matter: rule 'thing' can make (*")


def test_a_mark_wins():
    live = "[up: (?x rdf:type ?c), live(?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]"
    found, _ = specialised("?x a :Animal", rules=live)
    assert expand("* rdfs:subClassOf *") in found.needed
    assert found.assumed == ()
    cut = "[on: (?x :p ?y), cut(?y :q ?z) -> (?x :r ?z)]"
    found, _ = specialised("?x :r ?z", rules=cut, known=[":a :q :b"])
    assert set(found.needed) == {expand("* :p :a"), expand("* :r *")}
    assert found.assumed == ()


# -- schema on the stream -----------------------------------------------------------------------------


def reasoner(**options):
    made = Reasoner(rules_of(RULES), Sent(tuple((*expand(text), None) for text in KNOWN)), **options)
    made.register(query_of(WHERE))
    return made


def test_schema_on_the_stream_makes_it_go_on_with_everything():
    went_on = reasoner()
    went_on.push("urn:s", [(500, *expand(":Oak rdfs:subClassOf :Animal"))])
    went_on.push("urn:s", [(600, *expand(":loses rdfs:subPropertyOf :holds"))])
    went_on.push("urn:s", [(700, *expand(":home :loses :f"))])
    assert ("<urn:f>",) in fed(went_on)[0]
    [scope] = went_on.plan()["scopes"]
    assert len(scope["rules"]) == 6


def test_or_stop_where_it_was_said_to_be_fixed():
    fixed = reasoner(fixed_schema=True)
    fixed.push("urn:s", [(500, *expand(":Oak rdfs:subClassOf :Animal"))])
    with pytest.raises(InputError, match="schema on the stream <urn:s>: <urn:Oak>"):
        fed(fixed)


def test_a_query_that_comes_later_gets_what_it_needs():
    both = reasoner()
    both.push("urn:s", [(1000 + k, *expand(text)) for k, text in enumerate(STREAM)])
    list(both.advance(to=1500))
    trees = (
        f"{PREFIXES.replace('@prefix', 'PREFIX').replace('> . ', '> ')} REGISTER QUERY trees AS SELECT ?x "
    )
    both.register(trees + "FROM STREAM <urn:s> [RANGE 10s STEP 5s] WHERE { ?x a :Tree }")
    found = {result.query: sorted(result.answers.rows) for result in both.end()}
    assert found["trees"] == [("<urn:f>",), ("<urn:g>",)]
    assert len(found["q"]) == 4
