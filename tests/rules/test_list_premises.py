"""List premises: what both syntaxes make of them, and what they say of those that cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ensue.errors import NotMonotoneError, RuleError, RuleSyntaxError, UnsafeRuleError
from ensue.rules import bracketed, sparql
from ensue.rules.load import load_rules
from ensue.rules.tree import Chain, Each, Member, Pair, Pattern, Premise, Rule, Var
from ensue.terms import OWL, RDF

FOLDER = Path(__file__).parent / "lists"
TYPE, UNION = f"<{RDF}type>", f"<{OWL}unionOf>"
C, L, P, T, V, X, Y = map(Var, "clptvxy")
HEAD = "INSERT { ?x a ?c } WHERE { ?c owl:unionOf ?l . "


def without_places(rules):
    return [replace(rule, place=None) for rule in rules.rules]


def test_every_kind_says_the_same_in_both_syntaxes():
    written, in_sparql = (load_rules(FOLDER / f"every-kind.{ending}") for ending in ("rules", "ru"))
    assert without_places(written) == without_places(in_sparql)
    assert {type(each) for rule in written.rules for each in rule.lists} == {Member, Pair, Each, Chain}


def test_a_rule_over_a_list_is_printed_as_it_is_written():
    rules = load_rules(FOLDER / "every-kind.rules")
    again = bracketed.parse("\n".join(map(str, rules.rules)))
    assert without_places(again) == without_places(rules)
    assert len({*rules.rules, *load_rules(FOLDER / "every-kind.rules").rules}) == len(rules.rules)


def test_the_tree_of_a_rule_over_a_list():
    (rule,) = bracketed.parse(
        "[r: (?c owl:unionOf ?l) each(?l ?p (?x ?p ?v) (?y ?p ?v)) -> (?x ?c ?y)]"
    ).rules
    each = Each(L, P, (Pattern(X, P, V), Pattern(Y, P, V)))
    assert rule == Rule("r", (Premise(Pattern(C, UNION, L)),), (Pattern(X, C, Y),), (), rule.place, (each,))


def test_a_list_may_be_a_constant_or_a_member_of_another_one():
    (one, two) = bracketed.parse(
        "[one: member(<urn:l>, ?x) -> (?x <urn:p> ?x)]"
        "[two: (?c <urn:all> ?k), member(?k, ?l), member(?l, ?x) -> (?x <urn:p> ?l)]"
    ).rules
    assert one.lists == (Member("<urn:l>", X),)
    assert [premise.of for premise in two.lists] == [Var("k"), L]


def test_values_are_put_into_list_premises():
    text = (
        "INSERT { ?x a ?c } WHERE { VALUES (?l ?c) { (<urn:l> <urn:C>) } ?l rdf:rest*/rdf:first ?x ."
        "?l <urn:ensue:list:pair> (?x ?c) ; <urn:ensue:list:chain> (?c ?x)"
        "FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?t FILTER NOT EXISTS { ?c a ?t } } }"
    )
    (rule,) = sparql.parse(text).rules
    c = "<urn:C>"
    assert set(rule.lists) == {
        Member("<urn:l>", X),
        Pair("<urn:l>", X, c),
        Chain("<urn:l>", c, X),
        Each("<urn:l>", T, (Pattern(c, TYPE, T),)),
    }


@pytest.mark.parametrize(
    ("body", "error", "column", "what"),
    [
        ("(?c owl:unionOf ?l), members(?l, ?x)", RuleSyntaxError, 26, "no built-in 'members'"),
        ("(?c owl:unionOf ?l), member(?l)", RuleSyntaxError, 26, "member takes 2 arguments, not 1"),
        ("(?c owl:unionOf ?l), pair(?l, ?x)", RuleSyntaxError, 26, "pair takes 3 arguments, not 2"),
        ("(?c owl:unionOf ?l), chain ?l", RuleSyntaxError, 32, "expected '('"),
        ("(?c owl:unionOf ?l), each(?l, (?x ?t ?c))", RuleSyntaxError, 26, "a list and a variable"),
        ("(?c owl:unionOf ?l), each(?l, <urn:t>, (?x ?l ?c))", RuleSyntaxError, 26, "a list and a variable"),
        ("(?c owl:unionOf ?l), each(?l, ?t)", RuleSyntaxError, 26, "one pattern at least"),
        ("(?c owl:unionOf ?l), each(?l, ?t, ?x)", RuleSyntaxError, 26, "a list and a variable"),
        ("(?c owl:unionOf ?l), each(?l, ?t, (?x ?t))", RuleSyntaxError, 45, "expected a variable"),
        ("(?c owl:unionOf ?l), each(?l, ?t, (?x ?l ?c))", RuleError, 35, "says nothing about ?t"),
        ("(?t owl:unionOf ?l), each(?l, ?t, (?x ?t ?c))", RuleError, 6, "every member in turn"),
        ("(?c owl:unionOf ?l), member(?k, ?x)", UnsafeRuleError, 33, "nothing binds ?k"),
        (
            "(?c owl:unionOf ?l), each(?l, ?k, (?x ?k ?c)), member(?k, ?x)",
            RuleError,
            35,
            "every member in turn",
        ),
        ("(?c ?p ?l), member(?l, ?x)", RuleError, 9, "anything could be one"),
        ("(?c owl:unionOf ?l), cut(?c ?p ?l), member(?l, ?x)", RuleError, 33, "anything could be one"),
        ("(?c owl:unionOf ?l), member(?l, ?y)", UnsafeRuleError, 45, "nothing binds ?x"),
        ("member(<urn:l>, ?x), makeTemp(?c)", RuleError, 1, "no premise"),
    ],
)
def test_what_is_wrong_with_a_list_premise(body, error, column, what):
    with pytest.raises(error, match="hint: ") as caught:
        bracketed.parse(f"[r: {body} -> (?x rdf:type ?c)]", "l.rules")
    assert what in caught.value.what
    assert (caught.value.place.line, caught.value.place.column) == (1, column)


@pytest.mark.parametrize(
    ("rest", "error", "column", "what"),
    [
        ("?l <urn:ensue:list:par> (?x ?c) }", RuleError, 51, "no list premise 'par'"),
        ("?l <urn:ensue:list:pair> ?x }", RuleError, 51, "two in brackets, not 0"),
        ("?l <urn:ensue:list:chain> (?x ?y ?z) }", RuleError, 51, "two in brackets, not 3"),
        ("?l rdf:rest*/rdf:rest ?x }", RuleError, 51, "a path with '*'"),
        ("?l rdf:rest+/rdf:first ?x }", RuleError, 51, "a path with '+'"),
        ("?l rdf:first/rdf:rest* ?x }", RuleError, 61, "a path with '*'"),
        ("FILTER NOT EXISTS { ?x a ?c } }", NotMonotoneError, 59, "turn false"),
        ("FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?x } }", NotMonotoneError, 59, "turn false"),
        (
            "FILTER NOT EXISTS { ?l rdf:rest/rdf:first ?t FILTER NOT EXISTS { ?x a ?t } } }",
            NotMonotoneError,
            59,
            "turn false",
        ),
        (
            "FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?t FILTER EXISTS { ?x a ?t } } }",
            NotMonotoneError,
            59,
            "turn false",
        ),
        (
            "FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?t FILTER NOT EXISTS { ?x a ?t FILTER(?x != 1) } } }",
            NotMonotoneError,
            59,
            "turn false",
        ),
        (
            "FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?t FILTER NOT EXISTS { ?x a ?t } ?x a ?c } }",
            NotMonotoneError,
            59,
            "turn false",
        ),
        (
            "FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?t FILTER NOT EXISTS { ?x <urn:p>|<urn:q> ?t } } }",
            RuleError,
            1,
            "plain patterns",
        ),
        (
            "FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?t "
            "FILTER NOT EXISTS { ?t rdf:rest*/rdf:first ?x } } }",
            RuleError,
            1,
            "plain patterns",
        ),
    ],
)
def test_what_is_wrong_with_a_list_premise_in_sparql(rest, error, column, what):
    with pytest.raises(error, match="hint: ") as caught:
        sparql.parse(HEAD + rest, "l.ru")
    assert what in caught.value.what
    if column > 1:
        assert (caught.value.place.line, caught.value.place.column) == (1, column)
