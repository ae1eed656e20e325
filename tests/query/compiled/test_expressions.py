"""Expressions over columns: by hand, and against oxigraph on one binding at a time."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from compiled.expression_cases import FORMS, TERMS, node_of, one, typed
from ensue.dictionary import Dictionary
from ensue.query.compiled import expressions
from ensue.query.compiled.expressions import Expression, NotCompiled, Values, expression

SEED = int(os.environ.get("ENSUE_SEED", "1"))


def columns_of(dictionary, bindings, names=("a", "b", "c")):
    ids = [[0 if row[name] is None else dictionary.encode(row[name]) for row in bindings] for name in names]
    return {name: np.array(column, np.int32) for name, column in zip(names, ids, strict=True)}


def texts(dictionary, ids):
    return [dictionary.decode(number) if number else None for number in ids.tolist()]


def random_bindings(random, count):
    some = [random.choice([*TERMS, None]) for _ in range(8)]  # few, so that they repeat and meet each other
    return [{name: random.choice([*some, None]) for name in "abc"} for _ in range(count)]


@pytest.mark.parametrize("text", FORMS)
def test_every_form_one_binding_at_a_time(text):
    print(f"seed {SEED} (ENSUE_SEED)")
    random = Random(f"{SEED} {text}")
    bindings = random_bindings(random, 12) + [
        dict.fromkeys("bc", random.choice(TERMS)) | {"a": term} for term in TERMS
    ]
    dictionary = Dictionary()
    columns = columns_of(dictionary, bindings)
    values, e = Values(dictionary, "http://base/"), expression(node_of(text))
    length = len(bindings)
    assert texts(dictionary, values.values(e, columns, length)) == [
        row["a"] if text == "?a" else one(text, row) for row in bindings
    ]
    assert values.holds(e, columns, length).tolist() == [one(text, row, holds=True) for row in bindings]


def random_expression(random, depth):
    if depth == 0:
        return random.choice(["?a", "?b", "?c", "<urn:a>", "'a'", "1", "true", "BOUND(?a)", "isIRI(?b)"])
    part = [random_expression(random, random.randrange(depth)) for _ in range(3)]
    return random.choice(
        [
            f"({part[0]} || {part[1]})",
            f"({part[0]} && {part[1]})",
            f"!({part[0]})",
            f"({part[0]} {random.choice(['=', '!=', '<', '>='])} {part[1]})",
            f"({part[0]} {random.choice(['IN', 'NOT IN'])} ({part[1]}, {part[2]}))",
            f"sameTerm({part[0]}, {part[1]})",
            f"({part[0]} {random.choice('+-*/')} {part[1]})",
            f"COALESCE({part[0]}, {part[1]})",
            f"IF({part[0]}, {part[1]}, {part[2]})",
            f"isLITERAL({part[0]})",
        ]
    )


@pytest.mark.parametrize("case", range(60))
def test_random_expressions_one_binding_at_a_time(case):
    seed = f"{SEED} {case}"
    print(f"seed {seed!r} (ENSUE_SEED)")
    random = Random(seed)
    text, bindings = random_expression(random, 3), random_bindings(random, 25)
    print(text)
    dictionary = Dictionary()
    columns = columns_of(dictionary, bindings)
    values, e = Values(dictionary, "http://base/"), expression(node_of(text))
    expected = [one(text, row, holds=True) for row in bindings]
    for start in (15, 5, 0):  # some bindings are known from the round before, and not the first ones
        later = {name: column[start:] for name, column in columns.items()}
        assert values.holds(e, later, len(bindings) - start).tolist() == expected[start:]
    unshaped = Expression(e.text, e.variables)
    assert Values(dictionary).holds(unshaped, columns, len(bindings)).tolist() == expected
    if e.bare is None:
        found = texts(dictionary, values.values(e, columns, len(bindings)))
        assert found == [one(text, row) for row in bindings]


def quoted(number):
    return f"<<( <urn:a> <urn:b> {typed(number, 'integer')} )>>"


@pytest.mark.parametrize(
    ("text", "binding", "value"),
    [
        ("?a + ?b", (typed(1, "integer"), typed("0.5", "decimal")), typed("1.5", "decimal")),
        ("?a + ?b", (typed(1, "integer"), '"x"'), None),
        ("?a", (typed("01", "integer"), None), typed("01", "integer")),
        ("?a + 0", (typed("01", "integer"), None), typed(1, "integer")),
        ("?a = ?b", ("_:x", "_:x"), typed("true", "boolean")),
        ("?a = ?b", ("_:x", "_:y"), typed("false", "boolean")),
        ("?a != ?b", ("<urn:a>", typed(1, "integer")), typed("true", "boolean")),
        ("?a = ?b", ("<urn:a>", None), None),
        ("?a = ?b", (typed("NaN", "double"), typed("NaN", "double")), typed("false", "boolean")),
        ("?a = ?b", (typed("1", "integer"), typed("1.0E0", "double")), typed("true", "boolean")),
        ("?a = ?b", (quoted("01"), quoted("1")), typed("true", "boolean")),
        ("sameTerm(?a, ?b)", (typed("01", "integer"), typed("1", "integer")), typed("true", "boolean")),
        ("IF(isBlank(?a), ?a, ?b)", ("_:x", '"b"'), "_:x"),
        ("STRLANG(?a, 'EN-gb')", ('"x"', None), '"x"@en-gb'),
        ("STRDT(?a, xsd:string)", ('"x"', None), '"x"'),
        ("CONCAT(?a, '\\n\\t')", ('"\\u0001\\\\"', None), '"\\u0001\\\\\\n\\t"'),
        ("IRI(?a)", ('"x"', None), "<http://base/x>"),
        ("COALESCE(?d, 'none')", (None, None), '"none"'),
    ],
)
def test_values_by_hand(text, binding, value):
    dictionary = Dictionary()
    rows = [dict(zip("ab", binding, strict=True)), {"a": None, "b": None}, {"a": "_:z", "b": "_:z"}]
    columns = columns_of(dictionary, rows, "ab")
    values = Values(dictionary, "http://base/")
    assert texts(dictionary, values.values(expression(node_of(text)), columns, 3))[0] == value


@pytest.mark.parametrize("text", ["COALESCE(?a)", "IF(BOUND(?a), ?a, IRI('x'))"])
def test_a_relative_iri_in_the_data_stays_one(text):
    dictionary = Dictionary()
    column = np.array([dictionary.encode("<relative>"), dictionary.encode("<urn:a>")])
    found = Values(dictionary, "http://base/").values(expression(node_of(text)), {"a": column}, 2)
    assert texts(dictionary, found) == ["<relative>", "<urn:a>"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("?a < NOW()", "NOW() gives another value each time"),
        ("STR(RAND())", "RAND() gives another value each time"),
        ("isBlank(BNODE('x'))", "BNODE() gives another value each time"),
        ("CONCAT(STRUUID(), ?a)", "STRUUID() gives another value each time"),
        ("STR(UUID())", "UUID() gives another value each time"),
        ("<urn:f>(?a)", "The custom function <urn:f> is not supported"),
        ("!EXISTS { ?a ?b ?c }", "EXISTS inside an expression"),
        ("IF(NOT EXISTS { ?a ?b ?c }, 1, 2)", "EXISTS inside an expression"),
    ],
)
def test_what_is_left_to_the_other_evaluator(text, reason):
    with pytest.raises(NotCompiled) as found:
        expression(node_of(text))
    assert found.value.reason == reason


def test_no_rows_and_no_variables():
    dictionary = Dictionary()
    values, two = Values(dictionary), expression(node_of("1 + 1"))
    assert values.values(two, {}, 0).tolist() == []
    assert texts(dictionary, values.values(two, {}, 2)) == [typed(2, "integer")] * 2
    assert values.holds(expression(node_of("?a > 1")), {"a": np.zeros(0, np.int32)}, 0).tolist() == []


def asked(monkeypatch):
    """The rows that oxigraph is asked about from here on."""
    seen = []

    def evaluate(text, table, length, base):
        seen.extend(zip(*table.values(), strict=True))
        return original(text, table, length, base)

    original = expressions.evaluate
    monkeypatch.setattr(expressions, "evaluate", evaluate)
    return seen


@pytest.mark.parametrize("text", ["STRLEN(?a) > 0", "STRLEN(?a) > STRLEN(?b)", "CONCAT(?a, ?b, ?c) > ''"])
def test_a_binding_is_evaluated_once(text, monkeypatch):
    seen, dictionary = asked(monkeypatch), Dictionary()
    values, e = Values(dictionary), expression(node_of(text))
    rows = [
        dict(zip("abc", word, strict=True)) for word in ['"x"', '"y"', '"z"'] for word in [[word] * 3] * 4
    ]
    columns = columns_of(dictionary, rows)
    for _ in range(3):
        values.holds(e, columns, len(rows))
    assert len(seen) == 3
    columns = columns_of(dictionary, [*rows, {"a": '"new"', "b": '"x"', "c": '"z"'}])
    values.holds(e, columns, len(rows) + 1)
    assert len(seen) == 4


def test_a_filter_and_a_value_are_remembered_apart():
    dictionary = Dictionary()
    values, e = Values(dictionary), expression(node_of("STRLEN(?a)"))
    columns = columns_of(dictionary, [{"a": '"abc"', "b": None, "c": None}])
    assert values.holds(e, columns, 1).tolist() == [True]
    assert texts(dictionary, values.values(e, columns, 1)) == [typed(3, "integer")]
    assert values.holds(e, columns, 1).tolist() == [True]


def test_a_sweep_makes_it_forget():
    dictionary = Dictionary()
    values, e = Values(dictionary), expression(node_of("UCASE(?a)"))
    number = dictionary.encode('"before"')
    assert texts(dictionary, values.values(e, {"a": np.array([number])}, 1)) == ['"BEFORE"']
    dictionary.sweep([])
    assert number in [dictionary.encode(text) for text in ('"after1"', '"after2"')], "it is handed out anew"
    assert texts(dictionary, values.values(e, {"a": np.array([number])}, 1)) == [
        dictionary.decode(number).upper()
    ]


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(expressions, "REMEMBERED", 5)
    seen, dictionary = asked(monkeypatch), Dictionary()
    values, e = Values(dictionary), expression(node_of("STRLEN(?a) > STRLEN(?b)"))
    for count, expected in ((5, 5), (5, 5), (6, 6), (6, 12)):
        rows = [{"a": f'"{number}"', "b": '"x"', "c": None} for number in range(count)]
        values.holds(e, columns_of(dictionary, rows), count)
        assert len(seen) == expected


def test_more_rows_than_one_query_takes(monkeypatch):
    monkeypatch.setattr("ensue.query.compiled.values_batch.AT_ONCE", 7)
    dictionary = Dictionary()
    rows = [
        {"a": "_:b" if number == 12 else typed(number, "integer"), "b": None, "c": None}
        for number in range(20)
    ]
    found = Values(dictionary).values(expression(node_of("?a + 1")), columns_of(dictionary, rows), 20)
    assert texts(dictionary, found) == [None if n == 12 else typed(n + 1, "integer") for n in range(20)]
