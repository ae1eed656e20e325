"""The bracketed syntax: what it parses into, and what it says about what it cannot parse."""

from __future__ import annotations

import pytest

from ensue.errors import Place, RuleError, RuleSyntaxError, UnsafeRuleError
from ensue.rules.bracketed import parse
from ensue.rules.load import load_rules, regime_names
from ensue.rules.tree import Bind, Guard, Mint, Pattern, Premise, Rule, Var
from ensue.terms import RDF, RDFS, XSD

TYPE, DOMAIN = f"<{RDF}type>", f"<{RDFS}domain>"
U, V, P, X, L, B, T, C = map(Var, "uvpxlbtc")


def test_a_rule_is_premises_and_conclusions():
    (rule,) = parse("[rdfs2: (?x ?p ?v), (?p rdfs:domain ?c) -> (?x rdf:type ?c)]", "f.rules").rules
    premises = (Premise(Pattern(X, P, V)), Premise(Pattern(P, DOMAIN, C)))
    assert rule == Rule("rdfs2", premises, (Pattern(X, TYPE, C),), (), Place("f.rules", 1, 1))


def test_conditions_keep_their_order_and_their_kind():
    text = """[lg: (?v ?p ?l), isDLiteral(?l, ?t), notLiteral(?t), assignAnon(?l, ?b), makeTemp(?c)
        -> (?v ?p ?b), (?b rdf:type ?t), (?c ?p ?b)]"""
    (rule,) = parse(text).rules
    assert rule.conditions == (
        Bind("isDLiteral", (L,), T),
        Guard("notLiteral", (T,)),
        Mint(B, "assignAnon", (L,)),
        Mint(C, "lg"),
    )
    assert len(rule.conclusions) == 3


@pytest.mark.parametrize("cut", ["cut(?p rdfs:domain ?c)", "cut((?p rdfs:domain ?c))"])
def test_a_cut_premise_has_two_spellings(cut):
    (rule,) = parse(f"[r: (?x ?p ?v), {cut} -> (?x rdf:type ?c)]").rules
    assert rule.premises == (Premise(Pattern(X, P, V)), Premise(Pattern(P, DOMAIN, C), cut=True))


@pytest.mark.parametrize(
    ("written", "term"),
    [
        ("<urn:a>", "<urn:a>"),
        ("ex:a.b-c", "<http://example.org/a.b-c>"),
        (":a", "<urn:empty#a>"),
        (r"ex:a\,b", "<http://example.org/a,b>"),
        ("'it'", '"it"'),
        ('"say \\"hi\\"\\n"', r'"say \"hi\"\n"'),
        (r'"\u0041\U0001F600"', '"A\U0001f600"'),
        ("'chat'@FR", '"chat"@fr'),
        ("'x'^^xsd:string", '"x"'),
        ("'01'^^xsd:integer", f'"01"^^<{XSD}integer>'),
        ("'01'^^<urn:t>", '"01"^^<urn:t>'),
        ("01", f'"01"^^<{XSD}integer>'),
        ("-1.50", f'"-1.50"^^<{XSD}decimal>'),
        ("1e3", f'"1e3"^^<{XSD}double>'),
        ("'# // [ -> ]'", '"# // [ -> ]"'),
    ],
)
def test_terms_keep_their_lexical_form(written, term):
    prefixes = "@prefix ex: <http://example.org/> .\n@prefix : <urn:empty#>\n"
    (rule,) = parse(f"{prefixes}[r: (?x ?p {written}) -> (?x ?p ?p)]").rules
    assert rule.premises[0].pattern.o == term


def test_comments_commas_and_names_are_free():
    text = """
    # a comment with a [bracket
    // and another
    [ (?u ?p ?v) (?v ?p ?x) -> (?u ?p ?x) ] # behind
    [2nd.rule-x :(?u ?p ?v)->(?v ?p ?u)]
    [r3:notLiteral(?v) (?u ?p ?v) -> (?v ?p ?u),]
    """
    assert [rule.name for rule in parse(text, name="mine").rules] == ["mine-1", "2nd.rule-x", "r3"]


def test_a_rule_without_premises_states_axioms():
    rules = parse("[ax: -> (rdf:type rdf:type rdf:Property), (rdf:type rdfs:domain rdfs:Resource)]")
    assert rules.rules == ()
    assert rules.axioms[0] == Pattern(TYPE, TYPE, f"<{RDF}Property>")
    assert len(rules.axioms) == 2


def test_an_empty_text_has_no_rules():
    assert parse("  # nothing\n").rules == ()


@pytest.mark.parametrize("regime", regime_names())
def test_what_is_printed_parses_into_the_same_rule(regime):
    rules = load_rules(regime).rules
    again = parse("\n".join(map(str, rules))).rules
    assert [(r.name, r.premises, r.conditions, r.conclusions) for r in again] == [
        (r.name, r.premises, r.conditions, r.conclusions) for r in rules
    ]


def test_a_premise_that_streams_may_match_is_marked_too():
    (rule,) = parse("[r: (?x ?p ?v), live(?p rdfs:domain ?c) -> (?x rdf:type ?c)]").rules
    assert rule.premises[1] == Premise(Pattern(P, DOMAIN, C), live=True)
    assert parse(str(rule)).rules[0].premises == rule.premises


def test_a_cut_premise_and_literals_survive_printing():
    text = r"""[r: (?x ?p "a\"\\\n"@en), cut(?p <urn:q> "1"^^<urn:t>), equal(?x, <urn:z>) -> (?x ?p 5)]"""
    (rule,) = parse(text).rules
    (again,) = parse(str(rule)).rules
    assert (again.premises, again.conditions, again.conclusions) == (
        rule.premises,
        rule.conditions,
        rule.conclusions,
    )


SYNTAX_ERRORS = [
    ("[r: (?a ?p ?b) -> (?b ?p ?a)", 1, 29, "end of the file"),
    ("[r: (?a ?p ?b)\n  -> (?b ?p ?a) ?x]", 2, 17, "expected '(' or ']'"),
    ("[r: (?a ?p) -> (?b ?p ?a)]", 1, 11, "expected a variable"),
    ("[r: (?a ?p ?b ?c) -> (?b ?p ?a)]", 1, 15, "three parts"),
    ("[r: (?a ?p ?b) <- (?b ?p ?a)]", 1, 16, "forwards"),
    ("[r: (?a ?p ?b) -> ]", 1, 19, "expected '('"),
    ("[r: (?a ?p ?b), notLiteral(b) -> (?b ?p ?a)]", 1, 28, "written ?b"),
    ("[r: (?a ?p ?b), notLiterl(?b) -> (?b ?p ?a)]", 1, 17, "did you mean 'notLiteral'?"),
    ("[r: (?a ?p ?b), frobnicate(?b) -> (?b ?p ?a)]", 1, 17, "there are assignAnon"),
    ("[r: (?a ?p ?b), notLiteral(?a, ?b) -> (?b ?p ?a)]", 1, 17, "takes 1 argument, not 2"),
    ("[r: (?a ?p ?b), isDLiteral(?b) -> (?b ?p ?a)]", 1, 17, "takes 2 arguments, not 1"),
    ("[r: (?a ?p ?b), isDLiteral(?b, 5) -> (?b ?p ?a)]", 1, 17, "takes variables"),
    ("[r: (?a ?p ?b), assignAnon(5, ?c) -> (?b ?p ?c)]", 1, 17, "takes variables"),
    ("[r: (?a ?p ?b), makeTemp() -> (?b ?p ?a)]", 1, 17, "takes 1 argument, not 0"),
    ("[r: (?a ?p ?b), cut(?a ?p) -> (?b ?p ?a)]", 1, 26, "expected a variable"),
    ("[r: (?a ex:p ?b) -> (?b ?p ?a)]", 1, 9, "'ex:' is not declared"),
    ("[r: (?a <p> ?b) -> (?b ?p ?a)]", 1, 9, "relative IRI"),
    ("[r: (?a <urn:\\u0020> ?b) -> (?b ?p ?a)]", 1, 9, "no IRI can have"),
    ("[r: (_:a ?p ?b) -> (?b ?p ?a)]", 1, 6, "blank node"),
    ("[r: (?a ?p 'x\\q') -> (?a ?p ?a)]", 1, 14, "is no character"),
    ("[r: (?a ?p 'x\\uD800') -> (?a ?p ?a)]", 1, 14, "is no character"),
    ("[r: (?a ?p 'x) -> (?a ?p ?a)]", 1, 12, "expected a variable"),
    ("[r: (?a ?p 'x'@abcdefghi) -> (?a ?p ?a)]", 1, 15, "language tag"),
    ("[r: (?a ?p 'x'^^?t) -> (?a ?p ?a)]", 1, 17, "datatype"),
    ("@prefix ex <urn:x> .", 1, 9, "ends in ':'"),
    ("@prefix ex: urn:x .", 1, 13, "IRI in < >"),
    ("@include <RDFS>.", 1, 1, "expected '['"),
    ("(?a ?p ?b) -> (?b ?p ?a) .", 1, 1, "written [name:"),
    ("\ud800", 1, 1, "surrogate"),
]


@pytest.mark.parametrize(("text", "line", "column", "says"), SYNTAX_ERRORS)
def test_a_syntax_error_says_what_and_where(text, line, column, says):
    with pytest.raises(RuleSyntaxError) as raised:
        parse(text, "f.rules")
    assert raised.value.place == Place("f.rules", line, column)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("text", "error", "line", "column"),
    [
        ("[r: (?a ?p ?b) ->\n (?b ?p ?c)]", UnsafeRuleError, 2, 9),
        ("[r: (?a ?p ?b), notLiteral(?c) -> (?b ?p ?a)]", UnsafeRuleError, 1, 28),
        ("[r: (?a ?p ?b), notLiteral(?t), isDLiteral(?b, ?t) -> (?b ?p ?t)]", UnsafeRuleError, 1, 28),
        ("[r: (?a ?p ?b), makeTemp(?a) -> (?b ?p ?a)]", RuleError, 1, 6),
        ("\n [r: (?a 'x' ?b) -> (?b ?a ?a)]", RuleError, 2, 2),
        ("[r: -> (?b ?p ?a)]", UnsafeRuleError, 1, 9),
        ("[r: equal(1, 1) -> (<urn:a> <urn:a> <urn:a>)]", RuleError, 1, 1),
        ("[r: (?a ?p ?b) -> (?b ?p ?a)]\n[r: (?a ?p ?b) -> (?b ?p ?b)]", RuleError, 2, 1),
    ],
)
def test_a_rule_that_cannot_run_is_refused(text, error, line, column):
    with pytest.raises(error) as raised:
        parse(text, "f.rules")
    assert raised.value.place == Place("f.rules", line, column)
    assert raised.value.hint
