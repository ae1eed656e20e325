"""Temporal expressions in queries: what parses into what, and what is refused, where and with which hint."""

from __future__ import annotations

import pytest

from ensue import Reasoner
from ensue.errors import QueryError, UsageError
from ensue.events.tree import Allen, Group, Related, Repeat, Strategy, show
from ensue.query.language import parse_query
from ensue.query.tree import ContinuousQuery

F = "http://larkc.eu/csparql/sparql/jena/ext#"
HEAD = f"PREFIX : <urn:> PREFIX f: <{F}> SELECT * FROM STREAM <urn:s> [RANGE 9s]"


def parsed(where: str) -> ContinuousQuery:
    return parse_query(f"{HEAD}\nWHERE {{ {where} }}")


def expression(where: str) -> str:
    query = parsed(where)
    assert query.events is not None
    [tree] = query.events.expressions
    return show(tree)


def test_operators_are_read_from_left_to_right() -> None:
    shown = expression("{ ?x :a 1 } SEQ { ?x :b 2 } during [Recent] { ?x :c 3 } WITHIN 5 min")
    assert shown == "{ {?x} BEFORE {?x} } DURING [RECENT] {?x} WITHIN 300000 ms"


def test_braces_say_otherwise() -> None:
    assert (
        expression("{ ?x :a 1 } SEQ { { ?x :b 2 } EQUALS { ?x :c 3 } }") == "{?x} BEFORE { {?x} EQUALS {?x} }"
    )


def test_within_bounds_what_stands_to_its_left() -> None:
    shown = expression("{ ?x :a 1 } SEQ { ?x :b 2 } WITHIN PT1S SEQ { ?x :c 3 } WITHIN 1h")
    assert shown == "{ {?x} BEFORE {?x} WITHIN 1000 ms } BEFORE {?x} WITHIN 3600000 ms"


@pytest.mark.parametrize("name", list(Allen))
def test_every_relation_has_its_word(name: str) -> None:
    query = parsed(f"{{ ?x :a 1 }} {name} {{ ?x :b 2 }}")
    assert query.events is not None
    [tree] = query.events.expressions
    assert isinstance(tree, Related)
    assert (tree.relation, tree.strategy, tree.optional) == (name, Strategy.UNRESTRICTED, False)


def test_repetitions_share_what_is_written_elsewhere() -> None:
    query = parsed("{ ?x :a ?v }{2,5} AS ?row SEQ NOT { ?x :c ?w } SEQ { ?x :b 1 }")
    assert query.events is not None
    [tree] = query.events.expressions
    assert isinstance(tree, Related)
    assert isinstance(tree.left, Repeat)
    assert isinstance(tree.right, Group)
    assert (tree.left.least, tree.left.most, tree.left.variables, tree.left.name) == (2, 5, ("x",), "row")
    assert len(tree.without) == 1
    assert [str(name) for name in query.algebra.PV] == ["x"]  # Neither ?v nor ?w is seen.


def test_bounds_of_repetitions() -> None:
    assert expression("{ ?x :a 1 }+") == "{?x}{1,}"
    assert expression("{ ?x :a 1 }{3} SEQ { ?x :b 1 }") == "{ {?x}{3,3} } BEFORE {?x}"
    assert expression("{ ?x :a 1 }{3,} SEQ { ?x :b 1 }") == "{ {?x}{3,} } BEFORE {?x}"


def test_several_expressions_and_plain_sparql_around_them() -> None:
    query = parsed(
        "{ { ?x :a 1 } SEQ { ?x :b 2 } } UNION { { ?x :b 1 } SEQ { ?x :a 2 } } "
        "?x :in ?room . FILTER(?room != :r)"
    )
    assert query.events is not None
    assert [show(tree) for tree in query.events.expressions] == ["{?x} BEFORE {?x}"] * 2


def test_keywords_in_names_and_elsewhere_are_none() -> None:
    assert parsed("{ ?SEQ :SEQ 'SEQ' } OPTIONAL { ?x :WITHIN 1 } FILTER(CONTAINS(?SEQ, 'x'))").events is None
    assert parsed("?x :a 1 BIND(EXISTS { ?x :b 1 } AS ?b)").events is None


def test_windows_of_rsp_ql() -> None:
    text = """PREFIX : <urn:> REGISTER RSTREAM :q AS SELECT *
        FROM NAMED WINDOW :w ON :s [RANGE PT9S STEP PT1S] FROM NAMED WINDOW :v ON :t [RANGE PT9S STEP PT1S]
        WHERE { %s }"""
    for where in (
        "WINDOW :w { { ?x :a 1 } SEQ { ?x :b 2 } }",
        "{ WINDOW :w { ?x :a 1 } } SEQ { WINDOW :v { ?x :b 2 } }",
    ):
        reasoner = Reasoner()
        reasoner.register(text % where)
        one, two = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (1, 2))
        other = "urn:s" if where.startswith("WINDOW") else "urn:t"
        reasoner.push("urn:s", [(1, "<urn:k>", "<urn:a>", one)])
        reasoner.push(other, [(1500, "<urn:k>", "<urn:b>", two)])
        reasoner.push("urn:t", [(1700, "<urn:k>", "<urn:a>", one)])  # Nobody looks for it there.
        found = [(each.close, each.answers.rows) for each in reasoner.end()]
        assert found[:2] == [(1000, []), (2000, [("<urn:k>",)])]
    with pytest.raises(QueryError, match=r"nothing of a window is seen.*put it into a group"):
        parse_query(text % "WINDOW :w { { ?x :a 1 } SEQ { ?x :b 2 } } WINDOW :v { ?x :c 3 }")


@pytest.mark.parametrize(
    ("where", "place", "message"),
    [
        ("{ ?x :a 1 } SEQQ { ?x :b 2 }", "2:21", r"'SEQQ' is no temporal operator.*'SEQ'"),
        ("{ ?x :a 1 } SEQ [RECENTLY] { ?x :b 2 }", "2:26", r"a consumption strategy.*'RECENT'"),
        ("{ ?x :a 1 } SEQ ?x :b 2", "2:25", r"expected a group, but found '\?x'"),
        ("{ ?x :a 1 } SEQ { ?x :b }", "2:27", r"this is not SPARQL, from '\?x' on"),
        ("{ ?x :a 1 } SEQ { ?x :b 2 } WITHIN 5", "2:46", r"a unit of time"),
        ("{ ?x :a 1 }{5,2} SEQ { ?x :b 2 }", "2:20", r"these bounds leave nothing"),
        ("{ ?x :a 1 }{0} SEQ { ?x :b 2 }", "2:20", r"these bounds leave nothing"),
        ("{ ?x :a 1 } DURING NOT { ?x :c 3 } SEQ { ?x :b 2 }", "2:28", r"NOT cannot follow DURING"),
        ("{ ?x :a 1 } SEQ NOT { ?x :c 3 }", "2:41", r"expected 'SEQ'.*stands between two"),
        ("{ ?x :a 1 } OPTIONALSEQ { ?x :c 3 } SEQ { ?x :b 2 }", "2:45", r"what is optional comes last"),
        ("{ ?x :a 1 } SEQ { { ?x :b 2 } OPTIONALSEQ { ?x :c 3 } }", "2:39", r"what is optional comes last"),
        ("{ ?x :a 1 } AS ?e SEQ { ?x :b ?e }", "2:39", r"\?e names an occurrence and has no value.*f:start"),
        ("{ ?x :a 1 } AS ?e SEQ { ?x :b 2 } AS ?e", "2:9", r"\?e names two occurrences"),
        ("{ ?x :a 1 } SEQ { ?x :b 2 } FILTER(f:end(?z) > 1)", "2:50", r"\?z names no occurrence"),
        ("{ ?x :a 1 FILTER(f:end() > 1) } SEQ { ?x :b 2 }", "2:26", r"write the FILTER behind"),
        (
            "{ ?x :a 1 } AS ?e { ?x :b 2 } SEQ { ?x :c 3 } FILTER(f:end() > 1)",
            None,
            r"which expression is meant",
        ),
    ],
)
def test_what_is_wrong_is_said_with_place_and_hint(where: str, place: str | None, message: str) -> None:
    with pytest.raises(QueryError, match=message) as raised:
        parsed(where)
    assert raised.value.hint
    assert place is None or str(raised.value.place) == f"<text>:{place}"


@pytest.mark.parametrize(
    ("where", "window", "message"),
    [
        ("{ ?x :a 1 OPTIONAL { ?x :c 3 } } SEQ { ?x :b 2 }", "RANGE 9s", "more than a basic graph pattern"),
        ("{ ?x :a+ 1 } SEQ { ?x :b 2 }", "RANGE 9s", "cannot be in a temporal group"),
        ("{ } SEQ { ?x :b 2 }", "RANGE 9s", "this group has no pattern"),
        ("{ ?x :a 1 } SEQ { ?x :b 2 }", "RANGE TRIPLES 9", "need windows of time"),
    ],
)
def test_what_cannot_run_is_refused_when_registered(where: str, window: str, message: str) -> None:
    text = HEAD.replace("RANGE 9s", window)
    with pytest.raises(QueryError, match=message) as raised:
        Reasoner().register(f"{text} WHERE {{ {where} }}")
    assert raised.value.hint
    assert raised.value.place


def test_keys_on_the_stream_and_retractions_are_refused() -> None:
    where = "{ ?x :a 1 } SEQ { ?x :b 2 }"
    with pytest.raises(QueryError, match=r"a stream may bring keys of <urn:in>.*fixed-schema"):
        Reasoner().register(f"{HEAD} PARTITION BY :in WHERE {{ {where} }}")
    reasoner = Reasoner()
    reasoner.register(f"{HEAD} WHERE {{ {where} }}")
    with pytest.raises(UsageError, match="cannot be taken back"):
        reasoner.retract("urn:s", [(1, "<urn:k>", "<urn:a>", "<urn:b>")])
    reasoner.push("urn:s", [(1, "<urn:k>", "<urn:a>", "<urn:b>")])
    assert list(reasoner.end()), "it goes on as if nobody had asked"
    both = Reasoner()
    both.register("ASK FROM STREAM <urn:s> [RANGE 1s] { ?x ?p ?y }")
    both.retract("urn:s", [(1, "<urn:k>", "<urn:a>", "<urn:b>")])
    with pytest.raises(UsageError, match="cannot be taken back"):
        both.register(f"{HEAD} WHERE {{ {where} }}")
    assert [query.events for query in both.queries] == [None]
