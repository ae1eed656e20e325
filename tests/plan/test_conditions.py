"""Programs built to break each of the four conditions stay on one shard, and are told which and where."""

from __future__ import annotations

import pytest
from plan.support import expand, query_of, rules_of

from ensue.cli.main import main
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.plan.spread import Spread, spread
from ensue.query.evaluator import TIMESTAMP
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet

RDFS = load_rules("rdfs-jena")
SCHEMA = (":p rdfs:domain :C", ":p rdfs:range :D", ":q rdfs:subPropertyOf :p", ":D rdfs:subClassOf :C")


def spread_of(
    *queries, rules: RuleSet | str = "", background=(), shards: int = 4, fixed_schema: bool = True, **settings
) -> Spread:
    found = rules_of(rules) if isinstance(rules, str) else rules
    knowledge = Sent(tuple((*expand(text), None) for text in background))
    return spread(
        Job.of(queries, found, knowledge, Settings(fixed_schema=fixed_schema, **settings)), shards=shards
    )


def refused(found: Spread) -> str:
    """The one line that says why there is one shard."""
    assert found.shards == 1
    assert found.routing is None
    [line] = [line for line in found.describe() if "condition" in line]
    return line


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("?x :p ?y . ?y :q ?z . ?z :r ?w", "(?z <urn:r> ?w) does not hold ?y"),
        ("?x :p ?y . ?z :q ?w", "(?z <urn:q> ?w) does not hold ?x"),
        (":a :p :b", "no pattern that a stream can match holds a variable"),
        ("?x :p ?y . :a :q :b", "(<urn:a> <urn:q> <urn:b>) does not hold ?x"),
        ("?x :p+ ?y", "no pattern that a stream can match holds a variable"),
        ("?x :q ?y . ?x :p+ ?y", "a path's step <urn:p> does not hold ?x"),
        ("?x :q ?y . ?x :p/:q/:r ?y", "a path's step <urn:q> does not hold ?x"),
        ("?x :p ?y ; :q 1 OPTIONAL { ?y :r ?z }", "(?y <urn:r> ?z) in OPTIONAL does not hold ?x"),
        ("?x :p ?y ; :q 1 MINUS { ?y :r ?z }", "(?y <urn:r> ?z) in MINUS does not hold ?x"),
        ("?x :p ?y ; :q 1 ; :t 2 FILTER EXISTS { ?y :r ?z }", "(?y <urn:r> ?z) in EXISTS does not hold ?x"),
        ("?x :p ?y ; :q 1 FILTER NOT EXISTS { :a :r ?z }", "(<urn:a> <urn:r> ?z) in EXISTS does not hold ?x"),
        ("{ ?x :p ?y } UNION { ?z :q ?w }", "(?z <urn:q> ?w) in UNION does not hold ?x"),
        ("{ ?x :p ?y } UNION { ?z :q ?y } ?x :r 1", "(?z <urn:q> ?y) in UNION does not hold ?x"),
        ("{ ?x :p ?y } UNION { VALUES ?w { 1 } }", "?x need not have a value in a side of UNION"),
        ("VALUES ?w { 1 } OPTIONAL { ?x :p ?y }", "?x need not have a value in what stands before OPTIONAL"),
        ("?x :p ?y ; :q 1 { SELECT ?x { ?x :p ?z . ?z :q ?w } }", "in a subquery does not hold ?x"),
    ],
)
def test_1_every_pattern_holds_the_variable(where, said):
    for head in ("SELECT *", "ASK"):
        line = refused(spread_of(query_of(where, head)))
        assert line.startswith("query q cannot be divided: condition 1 fails (every pattern")
        assert said in line


SAME = """
    [same1: (?x owl:sameAs ?y), (?x ?p ?z) -> (?y ?p ?z)]
    [same2: (?x owl:sameAs ?y), (?z ?p ?x) -> (?z ?p ?y)]"""


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("[far: (?x :p ?y), (?y :p ?z) -> (?x :p ?z)]", "rule 'far' concludes (?x <urn:p> ?z), and its (?y"),
        ("[hop: (?x :r ?y), (?y :r ?z) -> (?x :p ?z)]", "rule 'hop' concludes (?x <urn:p> ?z), and its (?y"),
        ("[all: (?x :r ?y), (?z :s ?w) -> (?x :p ?y)]", "its (?z <urn:s> ?w) lacks ?x"),
        ("[one: (?x :r ?y) -> (:a :p ?x)]", "always about <urn:a>"),
        (SAME, "rule 'same"),
        (
            "[odd: (?x :r ?y), (?y :s ?w) -> (?y :t ?x)] [then: (?x :t ?y) -> (?y :p ?x)]",
            "rule 'odd' concludes (?y <urn:t> ?x), and its (?y <urn:s> ?w) lacks ?x",
        ),
    ],
)
def test_2_rules_keep_to_the_variable(rules, said):
    line = refused(spread_of(query_of("?x :p ?y ; :q ?z"), rules=rules))
    assert line.startswith("query q cannot be divided: condition 2 fails (what rules conclude")
    assert said in line


def test_2_recursion_that_keeps_the_variable_is_safe():
    rules = "[on: (?x :p ?y), (?x :next ?z) -> (?x :p ?z)]"
    assert spread_of(query_of("?x :p ?y ; :q ?z"), rules=rules).shards == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT ?x FROM STREAM <urn:s> [RANGE TRIPLES 5] { ?x <urn:p> ?y }", "a count window"),
        (
            "SELECT ?x FROM STREAM <urn:s> [RANGE 1s] "
            f"{{ ?x <urn:p> ?y FILTER(<{TIMESTAMP}>(?x, <urn:p>, ?y) > 0) }}",
            "f:timestamp",
        ),
        (
            "REGISTER QUERY q COMPUTE EVERY 3s AS SELECT ?x FROM STREAM <urn:s> [RANGE 4s STEP 2s] "
            "{ ?x <urn:p> ?y }",
            "when a query is evaluated depends on which statements came",
        ),
    ],
)
def test_3_each_statement_is_sent_where_it_is_needed(text, said):
    line = refused(spread_of(parse_query(text)))
    assert "condition 3 fails (each statement" in line
    assert said in line


def test_3_a_query_that_reads_what_another_constructs():
    stream = "FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?y }"
    makes = f"REGISTER STREAM <urn:m> AS CONSTRUCT {{ ?x <urn:q> 1 }} {stream}"
    reads = "REGISTER QUERY reads AS SELECT ?x FROM STREAM <urn:m> [RANGE 1s] { ?x <urn:q> ?y }"
    apart = f"REGISTER QUERY apart AS SELECT ?x {stream}"
    found = spread_of(*map(parse_query, (makes, reads, apart)))
    assert found.shards == 1
    lines = found.describe()
    assert "query apart could be divided by ?x" in lines
    for name in ("urn:m", "reads"):
        [line] = [line for line in lines if line.startswith(f"query {name} ")]
        assert "condition 3 fails" in line
        assert "one query reads what another one constructs" in line


def test_3_schema_that_may_come_on_a_stream():
    chain = query_of("?x :p ?y . ?y :q ?z")
    line = refused(spread_of(chain, rules=RDFS, background=SCHEMA, fixed_schema=False))
    assert line.startswith("one shard: condition 3 fails")
    assert "schema may come on the streams" in line
    assert spread_of(chain, rules=RDFS, background=SCHEMA).shards == 4


@pytest.mark.parametrize(
    ("head", "where", "tail", "said"),
    [
        ("SELECT ?x", "?x :p ?y { SELECT (COUNT(*) AS ?n) { ?x :q ?z } }", "", "GROUP BY of a subquery"),
        ("SELECT ?x", "?x :p ?y { SELECT ?z { ?x :q ?z } }", "", "a subquery's SELECT"),
        ("SELECT ?x", "?x :p ?y { SELECT ?x { ?x :q ?z } LIMIT 1 }", "", "LIMIT and OFFSET of a subquery"),
        ("SELECT (SAMPLE(?y) AS ?n)", "?x :p ?y ; :q 1", "", "SAMPLE depends on the order of solutions"),
        ("SELECT (GROUP_CONCAT(?y) AS ?n)", "?x :p ?y ; :q 1", "", "GROUP_CONCAT depends on the order"),
        (
            "SELECT ?z (COUNT(*) AS ?n)",
            "?x :p ?z ; :q 1",
            " GROUP BY ?z VALUES ?z { 1 }",
            "something is joined",
        ),
        ("SELECT ?y", "?x :p ?y ; :q 1 FILTER EXISTS { ?x :r 1 OPTIONAL { ?x :p 2 } }", "", "EXISTS of more"),
    ],
)
def test_4_what_is_done_to_all_answers(head, where, tail, said):
    line = refused(spread_of(query_of(where, head, tail)))
    assert line.startswith("query q cannot be divided: condition 4 fails (what is done to all answers")
    assert said in line


def test_4_oxigraph_merges_nothing():
    query = query_of("?x :p ?y ; :q 1", "SELECT ?y")
    assert "oxigraph cannot put parts together" in refused(spread_of(query, evaluator="oxigraph"))
    assert spread_of(query).shards == 4
    assert spread_of(query_of("?x :p ?y ; :q 1"), evaluator="oxigraph").shards == 4


@pytest.mark.parametrize("rules", ["", RDFS])
@pytest.mark.parametrize(
    ("where", "variable"),
    [
        ("?x :p ?y . ?y :q ?z", "y"),
        ("?x :p ?y . ?y a :C", "y"),
        ("?x a :C ; :p ?y", "x"),
        ("?x a :C . ?y :p ?x OPTIONAL { ?x :q ?z } MINUS { ?x a :E }", "x"),
    ],
)
def test_stars_and_chains_are_divided_also_under_rdfs(rules, where, variable):
    found = spread_of(query_of(where, "SELECT ?x ?y"), rules=rules, background=SCHEMA)
    assert found.shards == 4
    assert found.routing.variables == (("q", variable),)


def test_explain_says_it(tmp_path, capsys):
    texts = {
        "star": "SELECT ?x FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?x <urn:p> ?y ; <urn:q> ?z }",
        "chain": "ASK FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?x <urn:p> ?y . ?y <urn:q> ?z }",
        "far": "SELECT ?x FROM STREAM <urn:s> [RANGE 1s STEP 1s] { ?x <urn:p> ?y . ?z <urn:q> ?w }",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.rq").write_text(text)
    paths = {name: str(tmp_path / f"{name}.rq") for name in texts}
    assert main(["explain", paths["star"], paths["chain"], "--shards", "4"]) == 0
    said = capsys.readouterr().out
    assert "  4 shards\n  query star is divided by ?x\n" in said
    assert "  query chain is divided by ?y; parts are merged: ASK has one answer for all values\n" in said
    assert main(["explain", *paths.values()]) == 0
    said = capsys.readouterr().out
    assert "  one shard\n  query star could be divided by ?x\n  query chain could be divided by ?y" in said
    assert "  query far cannot be divided: condition 1 fails (every pattern" in said
