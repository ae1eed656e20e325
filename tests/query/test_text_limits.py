"""Texts that would bring the process down: long ones work, and what goes beyond a limit has a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from ensue import Reasoner
from ensue.errors import QueryError, RuleError
from ensue.networks.parse import parse as parse_network
from ensue.query.language import parse_query
from ensue.rules import expressions, growth, textlimits
from ensue.rules.load import parse_rules

S = "FROM STREAM <urn:s> [RANGE 1s]"
EVALUATORS = ("compiled", "oxigraph")


def _answers(text: str, evaluator: str, statements: list[tuple[int, str, str, str]]) -> list[tuple]:
    reasoner = Reasoner(evaluator=evaluator)
    reasoner.register(text)
    reasoner.push("urn:s", statements)
    return [row for result in reasoner.advance(to=1000) for row in result.answers.rows]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_list_of_ten_thousand_terms(evaluator):
    members = ", ".join(f"<urn:x{n}>" for n in range(10_000))
    text = f"SELECT ?o {S} {{ ?s ?p ?o FILTER(?o IN ({members})) FILTER(?o NOT IN (1, <urn:x3>)) }}"
    given = [(n, "<urn:a>", "<urn:p>", f"<urn:x{n * 9_998}>") for n in (1, 2)]
    given.append((3, "<urn:a>", "<urn:p>", "<urn:x3>"))
    assert _answers(text, evaluator, given) == [("<urn:x9998>",)]


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_two_thousand_branches(evaluator):
    union = " UNION ".join(f"{{ ?s <urn:p{n}> ?o }}" for n in range(2_000))
    given = [(1, "<urn:a>", f"<urn:p{n}>", "<urn:b>") for n in (0, 7, 1_999, 2_000)]
    assert len(_answers(f"SELECT * {S} {{ {union} }}", evaluator, given)) == 3


@pytest.mark.parametrize("operator", ["+", "*", "||", "&&", "-", "/"])
def test_a_thousand_operators_and_not_one_more(operator):
    chain = f" {operator} ".join(["?o"] * 1_001)
    parse_query(f"ASK {S} {{ ?s ?p ?o FILTER({chain}) }}")
    with pytest.raises(QueryError, match="more than 1000 operators") as caught:
        parse_query(f"ASK {S} {{ ?s ?p ?o FILTER({chain} {operator} ?o) }}", "q.rq")
    assert caught.value.place.column == len(f"ASK {S} {{ ?s ?p ?o FILTER({chain} ") + 1
    assert caught.value.hint


DEEP = {
    "brackets": "?s ?p ?o FILTER(" + "(" * 60 + "1" + ")" * 60 + ")",
    "groups": "{" * 40 + "}" * 40,
    "calls": "?s ?p ?o FILTER(" + "STR(" * 60 + "?o" + ")" * 60 + " = '')",
    "operators": "?s ?p ?o FILTER(1" + "+1" * 8_000 + " > 0)",
    "negations": "?s ?p ?o FILTER(" + "!" * 8_000 + "?o)",
    "nested chains": "?s ?p ?o FILTER(" + ("1" + "+1" * 100 + "+(") * 40 + "1" + ")" * 40 + ")",
    "paths": "?s " + "/".join(["<urn:p>"] * 200) + " ?o",
    "bracketed paths": "?s (" + "/".join(["<urn:p>"] * 200) + ") ?o",
    "alternatives": "?s " + "|".join(["<urn:p>"] * 2_000) + " ?o",
    "patterns": " ".join(f"?s <urn:p> ?o{n} ." for n in range(200)),
    "objects": "?s <urn:p> " + ", ".join(f"?o{n}" for n in range(200)),
    "optional": " ".join(f"OPTIONAL {{ ?s <urn:p> ?o{n} }}" for n in range(200)),
    "binds": " ".join(f"BIND(1 AS ?o{n})" for n in range(3_000)),
    "groups beside": " ".join(f"{{ ?s <urn:p> ?o{n} }}" for n in range(200)),
    "branches": " UNION ".join(["{ ?s ?p ?o }"] * 2_100),
    "blank nodes": "?s <urn:p> " + "[ <urn:p> " * 60 + "1" + "]" * 60,
    "lists": "?s <urn:p> " + "( " * 60 + "1" + ")" * 60,
    "subqueries": "{ SELECT * " * 40 + "{ ?s ?p ?o }" + "}" * 40,
    "tokens": "VALUES ?s { " + "1 " * 200_001 + "}",
}


@pytest.mark.parametrize("where", DEEP.values(), ids=DEEP.keys())
def test_what_goes_beyond_a_limit_is_refused_with_a_place(where):
    with pytest.raises(QueryError) as caught:
        parse_query(f"ASK {S} {{ {where} }}", "q.rq")
    assert caught.value.place.column > len(f"ASK {S}")
    assert caught.value.hint
    with pytest.raises(RuleError) as caught:
        parse_rules(f"INSERT {{ ?s a ?o }} WHERE {{ ?s <urn:q> ?o . {where} }}", "r.ru")
    assert caught.value.place.line == 1
    with pytest.raises(RuleError) as caught:
        parse_network(f"INSERT {{ ?s a ?o }} WHERE {{ ?s <urn:q> ?o . {where} }}", "n.ru")
    assert caught.value.place.line == 1


def test_signs_within_strings_and_comments_do_not_count():
    quoted = '"' + "+(" * 3_000 + '"'
    parse_query(f"ASK {S} {{ ?s ?p {quoted} . # {'(((+' * 1_000}\n }}")


def test_nesting_within_the_limits_works_in_every_walk():
    where = (
        "?s ?p ?o FILTER(" + "(" * 45 + "?o" + ")" * 45 + " != 1) " + "OPTIONAL { ?s ?p ?o " * 30 + "}" * 30
    )
    for evaluator in EVALUATORS:
        assert _answers(f"SELECT ?o {S} {{ {where} }}", evaluator, [(1, "<urn:a>", "<urn:p>", '"x"')])
    many = " ".join(f"OPTIONAL {{ ?s <urn:p{n}> ?o{n} }}" for n in range(70))
    assert _answers(f"SELECT ?o {S} {{ ?s ?p ?o {many} }}", "compiled", [(1, "<urn:a>", "<urn:p>", '"x"')])


def _doubled(times: int) -> str:
    return " ".join(f"BIND(CONCAT(?x{n}, ?x{n}) AS ?x{n + 1})" for n in range(times))


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_term_that_is_doubled_has_an_end(evaluator):
    text = f"SELECT ?x20 ?x21 {S} {{ ?s ?p ?x0 {_doubled(35)} }}"
    ((last, beyond),) = _answers(text, evaluator, [(1, "<urn:a>", "<urn:p>", '"x"')])
    assert len(last) == growth.MAX_TERM + 2
    assert beyond is None


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_replace_group_concat_and_encode_for_uri_have_one_too(evaluator):
    given = [(n, "<urn:a>", "<urn:p>", f'"{n}{"é" * 3_000}"') for n in range(1, 400)]
    selected = "(STRLEN(GROUP_CONCAT(?o)) AS ?n) (GROUP_CONCAT(DISTINCT ?o; SEPARATOR=', ') AS ?g)"
    assert _answers(f"SELECT {selected} {S} {{ ?s ?p ?o }}", evaluator, given) == [(None, None)]
    made = (
        "BIND(REPLACE(?o, '.', ?o) AS ?r) BIND(REPLACE(?r, '.', ?o) AS ?t) BIND(REPLACE(?t, 'é', '') AS ?u)"
    )
    assert _answers(f"SELECT ?r ?t ?u {S} {{ ?s ?p ?o {made} }}", evaluator, given[:1]) == [
        (None, None, None)
    ]
    few = "SELECT (GROUP_CONCAT(DISTINCT STR(?s); SEPARATOR=', ') AS ?g) (ENCODE_FOR_URI('é') AS ?e)"
    assert _answers(f"{few} {S} {{ ?s ?p ?o }}", evaluator, given[:3]) == [('"urn:a"', '"%C3%A9"')]


def test_an_ask_that_is_evaluated_when_it_is_parsed():
    parse_query(f"ASK {S} {{ BIND('xxxxxxxx' AS ?x0) {_doubled(40)} FILTER(STRLEN(?x40) > 3) }}")


def test_a_bounded_function_gives_what_the_function_gives():
    cases = [
        ("CONCAT(?a, ?b)", x, y)
        for x in ('"a"', '"a"@en', '"1"^^<urn:t>', "<urn:a>")
        for y in ('"b"@en', '"b"')
    ]
    cases += [("REPLACE(?a, 'A', ?b, 'i')", '"Banana"@en', '"$0$0"'), ("REPLACE(?a, '(', ?b)", '"x"', '"y"')]
    cases += [("ENCODE_FOR_URI(?a)", '"é %"@en', '"b"')]
    for text, *args in cases:
        plain = expressions.value(text, ("a", "b"), tuple(args))
        own = growth.bounded(text)
        found = [
            row[2]
            for row in expressions._solutions(
                expressions._value_query(own.text, ("a", "b")), ("a", "b"), tuple(args), own.functions
            )
        ]
        assert [None if term is None else expressions.write_term(term) for term in found] == [plain]


def test_rules_stop_making_longer_terms():
    text = "INSERT { ?x <urn:p> ?z } WHERE { ?x <urn:p> ?y BIND(CONCAT(?y, ?y) AS ?z) }"
    reasoner = Reasoner(rules=parse_rules(text))
    reasoner.register(f"SELECT ?y {S} {{ ?x <urn:p> ?y }}")
    reasoner.push("urn:s", [(1, "<urn:a>", "<urn:p>", '"xy"')])
    (result,) = reasoner.advance(to=1000)
    assert max(len(row[0]) for row in result.answers.rows) == growth.MAX_TERM + 2


def test_the_limits_are_in_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "limits.md").read_text()
    limits = {name: value for name, value in vars(textlimits).items() if name.startswith("MAX_")}
    assert len(limits) == 7
    for name, value in limits.items():
        assert f"{value:,}" in text, name
