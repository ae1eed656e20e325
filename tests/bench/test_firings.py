from __future__ import annotations

from ensue.bench.firings import Firings, count_firings, firings_table
from ensue.rules.tree import Guard, Pattern, Premise, Rule, RuleSet, Var

from .naive import Naive

X, Y, Z = Var("x"), Var("y"), Var("z")
P, Q = "<urn:p>", "<urn:q>"
DOMAIN = "<http://www.w3.org/2000/01/rdf-schema#domain>"
ONTOLOGY = [(P, DOMAIN, "<urn:C>")]


def rule(name, *premises, conditions=()):
    return Rule(name, tuple(map(Premise, premises)), (Pattern(X, Q, X),), conditions)


def firings_of(*rules, stream):
    found = count_firings(RuleSet("t", rules), ONTOLOGY, stream, Naive)
    return {f.rule: f for f in found}


def test_firings_are_solutions_that_rest_on_the_stream():
    chain = rule("chain", Pattern(X, P, Y), Pattern(Y, P, Z))
    anything = rule("anything", Pattern(X, DOMAIN, Y))
    mixed = rule("mixed", Pattern(X, P, Y), Pattern(P, DOMAIN, Z))
    stream = [("<urn:a>", P, "<urn:b>"), ("<urn:b>", P, "<urn:c>"), ("<urn:b>", P, "<urn:d>")]
    found = firings_of(chain, anything, mixed, stream=stream)
    assert (found["chain"].stream, found["chain"].background) == (2, 0)
    assert (found["mixed"].stream, found["mixed"].background) == (3, 0)
    assert (found["anything"].stream, found["anything"].background) == (0, 1)


def test_a_rule_that_could_fire_but_does_not_is_missed():
    chain = rule("chain", Pattern(X, P, Y), Pattern(Y, P, Z))
    found = firings_of(chain, stream=[("<urn:a>", P, "<urn:b>")])
    assert found["chain"].missed
    assert found["chain"].reason == ""


def test_reasons_name_the_premise_or_the_condition():
    never = Guard("isPLiteral", (Y,))
    found = firings_of(
        rule("alone", Pattern(X, "<urn:unknown>", Y)),
        rule("together", Pattern(X, P, Y), Pattern(X, DOMAIN, Y)),
        rule("guarded", Pattern(X, P, Y), conditions=(never,)),
        stream=[],
    )
    assert found["alone"].reason == "nothing matches (?x <urn:unknown> ?y)"
    assert found["together"].reason == "nothing matches (?x rdfs:domain ?y) together with (?x <urn:p> ?y)"
    assert found["guarded"].reason == "never holds: isPLiteral(?y)"


def test_the_table_puts_what_fired_first_and_marks_what_was_missed():
    table = firings_table([Firings("a", 0, 0, "no"), Firings("b", 3, 0), Firings("c", 0, 0)])
    assert [row["rule"] for row in table.rows] == ["b", "a", "c"]
    assert [row["remark"] for row in table.rows] == ["", "no", "APPLICABLE, BUT DID NOT FIRE"]
