"""Whatever the text, both parsers return rules or raise an error that says where."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.maintain.program import compile_rules
from ensue.rules.lexer import SPARQL as LEXER
from ensue.rules.lexer import Source
from ensue.rules.load import load_rules, parse_rules

SPARQL = [
    "PREFIX e: <urn:e#> INSERT { ?a a [ e:q ?b ] } WHERE { ?a e:p/^e:q ?b FILTER(isIRI(?a) && ?b > 1) } ;",
    "INSERT DATA { <urn:a> <urn:b> 1, 'x'@en, \"y\"^^xsd:int, _:b . } ; # rule: x\n",
    "CONSTRUCT { ?a a ?c } WHERE { { ?a <urn:p> ?b } UNION { ?a a ?b } BIND(STR(?b) AS ?c) } VALUES ?b { 1 }",
    "INSERT { ?x a ?c } WHERE { GRAPH <urn:ensue:background> { ?p rdfs:domain ?c } ?x ?p (1 ?y) }",
    "INSERT { ?x ?x ?y } WHERE { ?x ?p (1 ?y) VALUES (?x ?y) { (1 UNDEF) (2 3) } FILTER REGEX(?y, 'a') }",
    "# use: domain as d\nSELECT ?a ?b { ?a a ?b BIND(<urn:ensue:datatype>(?b) AS ?c) } ; # use: rdf/rdfD2\n",
    "BASE <urn:x> INSERT { ?a <y> ?a } WHERE { ?a (<p>|!<q>)* ?b OPTIONAL { ?a ?b ?c } MINUS { ?a ?b 1e3 } }",
]
BRACKETED = [
    "@prefix e: <urn:e#> . [r1: (?a e:p 'x'@en), cut(?a rdf:type ?b), notLiteral(?b) -> (?a ?b 5)]",
    "[(?v ?p ?l), isDLiteral(?l, ?t), assignAnon(?l, ?b), makeTemp(?c) -> (?v ?p ?b), (?b rdf:type ?t)]",
    "[ax: -> (rdf:type rdf:type rdf:Property)] // and\n # so on",
]
PIECES = sorted({word for text in SPARQL + BRACKETED for word in text.split()})
PIECES += [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    '"',
    "'",
    "'''",
    "\\",
    "\\u12",
    "?",
    "$",
    ":",
    "_:",
    ";",
    "->",
]
PIECES += ["FILTER", "BIND(", "AS", "VALUES", "GRAPH", "UNDEF", "\ud800", "\0", "é", "\U0001f600", "^^", "@"]
PIECES += [
    "BIND(1 AS",
    "FILTER(",
    "VALUES (?a ?b) {(1 2)}",
    "UNION",
    "*",
    "+",
    "^",
    "!",
    "|",
    "/",
    "&&",
    "INSERT",
]

BRACKETS = "(){}[]"
TOKENS = [token.text for text in SPARQL for token in Source(text, "f").tokens(LEXER)]
TOKENS = sorted({text for text in TOKENS if text not in BRACKETS and not text.startswith("#")})
PAIRS = [
    ["(", ")"],
    ["{", "}"],
    ["[", "]"],
    ["(", "?a", ")"],
    ["BIND", "(", "?a", "AS", "?z", ")"],
    ["{", "?a", "}"],
]


@st.composite
def mutated(draw, texts):
    """A real text in which a few stretches were cut out, doubled or replaced."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 12)))
        new = draw(
            st.one_of(
                st.sampled_from(["", text[start:stop] * 2]), st.sampled_from(PIECES), st.text(max_size=3)
            )
        )
        text = text[:start] + new + text[stop:]
    return text


@st.composite
def shuffled(draw, texts):
    """A real text in which a few tokens were cut out, replaced or put in; brackets still match."""
    tokens = [token.text for token in Source(draw(st.sampled_from(texts)), "f").tokens(LEXER)]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(tokens) - 1))
        new = draw(st.lists(st.sampled_from(TOKENS), max_size=1) | st.sampled_from(PAIRS))
        keep = tokens[at] in BRACKETS or draw(st.booleans())
        tokens[at : at + 1] = [*new, tokens[at]] if keep else new or ["."]
    return " ".join(tokens)


def check(text, syntax):
    try:
        rules = parse_rules(text, "fuzz", syntax)
    except EnsueError as error:
        place = error.place
    else:
        compile_rules(rules, Dictionary())
        return
    assert place is not None
    assert place.line is not None
    assert place.column is not None


@settings(max_examples=300)
@given(mutated(SPARQL))
@example("INSERT { } WHERE { BIND( AS ?x) }")
@example("INSERT { ?a ?b ?c } WHERE { BIND(1 AS ) }")
@example("INSERT { ?a ?b ?c } WHERE { ?a ?b ?c FILTER(\ud800) }")
def test_mutated_sparql(text):
    check(text, "sparql")


@settings(max_examples=300)
@given(shuffled(SPARQL))
@example("INSERT { ?a ?b ?c } WHERE { ?a ?b ?c } FILTER")
def test_shuffled_sparql(text):
    check(text, "sparql")


@settings(max_examples=500)
@given(mutated(BRACKETED))
def test_mutated_brackets(text):
    check(text, "bracketed")


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join),
    st.sampled_from(["bracketed", "sparql", None]),
)
def test_words_in_any_order(text, syntax):
    if syntax is None:
        text = "[" + text
    check(text, syntax)


@settings(max_examples=100)
@given(st.text(max_size=60), st.sampled_from(["bracketed", "sparql", None]))
def test_any_text(text, syntax):
    check(text, syntax)


@pytest.mark.parametrize("regime", ["pdsv", "rdfs-jena", "transitive-isin", "owl2rl"])
@settings(max_examples=50)
@given(data=st.data())
def test_mutated_regimes(regime, data):
    text = "\n".join([str(rule) for rule in load_rules(regime).rules if not rule.lists][-4:])
    check(data.draw(mutated([text])), "bracketed")


@pytest.mark.parametrize("text", ["[" * 100_000, "[r: " + "(" * 100_000, "[r: cut(" * 50_000, "'" * 100_001])
def test_long_nonsense_in_brackets(text):
    check(text, "bracketed")
