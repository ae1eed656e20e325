"""SPARQL expressions on given terms."""

from __future__ import annotations

import pytest

from ensue.errors import RuleSyntaxError
from ensue.rules import builtins
from ensue.rules.expressions import holds, problem, value
from ensue.terms import XSD


def integer(lexical):
    return f'"{lexical}"^^<{XSD}integer>'


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("?a < ?b", (integer(2), integer(10)), True),
        ("?a < ?b", ('"2"', '"10"'), False),
        ("?a < ?b", ('"2"', integer(10)), False),
        ("?a = ?b", (integer("01"), integer(1)), True),
        ("?a = ?b", ("_:x", "_:x"), True),
        ("?a = ?b", ("_:x", "_:y"), False),
        ("?a != ?b", ("_:x", "<urn:x>"), True),
        ("isBlank(?a) && isIRI(?b)", ("_:x", "<urn:x>"), True),
        ("bound(?a) && bound(?b)", ("_:x", '"x"'), True),
        ("bound(?c)", ("_:x", '"x"'), False),
        ("?c = 1 || ?a = 1", (integer(1), '"x"'), True),
        ("?c = 1", (integer(1), '"x"'), False),
        ("?a / ?b > 1", (integer(1), integer(0)), False),
        ("?a", (integer(0), '"x"'), False),
        ("?b", (integer(0), '"x"'), True),
        ("?a", ("<urn:x>", '"x"'), False),
        ("REGEX(?a, '(')", ('"x"', '"x"'), False),
        ("LANG(?a) = 'en' && ?b IN (1, 2)", ('"x"@en', integer(2)), True),
        ("STR(?a) = 'a\\\"b\\n'", ('"a\\"b\\n"', '"x"'), True),
        ("COALESCE(?c, ?a) = ?b", ('"x"', '"x"'), True),
    ],
)
def test_holds(text, args, expected):
    assert holds(text, ("a", "b"), args) is expected


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        ("?a + 1", (integer(1),), integer(2)),
        ("?a + 1", ('"x"',), None),
        ("?a + 1", ("_:x",), None),
        ("?a", (integer("01"),), integer("01")),
        ("?a", ("_:x",), "_:x"),
        ("?b", ("_:x",), None),
        ("IF(isBlank(?a), ?a, 1)", ("_:x",), "_:x"),
        ("STRLEN(STR(?a))", ('"\U0001f600"',), integer(1)),
        ("IRI(CONCAT(STR(?a), '#x'))", ("<urn:a>",), "<urn:a#x>"),
        ("IRI('relative')", ("<urn:a>",), None),
        ("STRLANG(?a, 'EN')", ('"x"',), '"x"@en'),
        ("<http://www.w3.org/2001/XMLSchema#integer>(?a)", ('"5"',), integer(5)),
        ("?value", ("_:x",), None),
        ("DATATYPE(?a)", (integer(5),), f"<{XSD}integer>"),
        ("?a", ("<<( <urn:a> <urn:b> _:x )>>",), "<<( <urn:a> <urn:b> _:x )>>"),
        ("COALESCE(?a)", ("<<( <urn:a> <urn:b> _:x )>>",), "<<( <urn:a> <urn:b> _:x )>>"),
    ],
)
def test_value(text, args, expected):
    assert value(text, ("a",), args) == expected


def test_without_variables():
    assert holds("1 < 2", (), ())
    assert value("'a'", (), ()) == '"a"'


def test_a_variable_can_be_called_like_the_result():
    assert value("?value + ?value_", ("value", "value_"), (integer(1), integer(2))) == integer(3)


def test_through_the_builtins():
    assert builtins.holds("sparql", "?a > 1", ("a",), (integer(2),))
    assert builtins.value("sparql", "?a * 2", ("a",), (integer(2),)) == integer(4)


@pytest.mark.parametrize("text", ["?a >", "(", "1) (2 AS ?z", "<urn:f>(?a)", ""])
def test_what_is_no_expression(text):
    assert problem(text)
    with pytest.raises(RuleSyntaxError):
        value(text, ("a",), ("<urn:a>",))
