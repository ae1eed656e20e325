"""When a job can be divided among shards, by what, and why not."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict

import pytest
from plan.support import block, expand, job, routed

from ensue.errors import UsageError
from ensue.plan import relevance, routing
from ensue.plan.router import shard_of
from ensue.query.evaluator import TIMESTAMP
from ensue.query.language import parse_query
from ensue.query.share import Cut

UP = "[up: (?x rdf:type ?c), (?c rdfs:subClassOf ?d) -> (?x rdf:type ?d)]"


def keys(found):
    return {" ".join(term or "*" for term in shape).replace("urn:", ""): at for shape, at in found.keyed}


@pytest.mark.parametrize(
    ("where", "variable"),
    [
        ("?x :p ?y ; :q 1", "x"),
        ("?x :p ?y . ?z :q ?x", "x"),
        ("?x :p ?y OPTIONAL { ?x :q ?z }", "x"),
        ("?x :p ?y MINUS { ?x :q ?z }", "x"),
        ("{ ?x :p ?y } UNION { ?z :q ?x }", "x"),
        ("?x :p ?y FILTER NOT EXISTS { ?x :q ?z }", "x"),
        ("?x :p ?y FILTER(?y > 1) BIND(?y + 1 AS ?z)", "x"),
        ("?x :p ?y { SELECT ?x (COUNT(*) AS ?n) { ?x :q ?z } GROUP BY ?x }", "x"),
        ("?x :p ?y VALUES ?z { 1 2 }", "x"),
        ("VALUES ?x { :a :b } OPTIONAL { ?x :p ?y }", "x"),
        ("?x :p|^:q ?y . ?x :r ?z", "x"),
        ("?a ?p ?b . ?c :q ?p", "p"),
    ],
)
def test_stars_are_divided(where, variable):
    found = routed(where)
    assert found.one_shard_because is None
    assert found.variables == (("q", variable),)


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("?x :p ?y . ?y :q ?z . ?z :r ?x", "does not hold"),
        (":a :p :b", "holds a variable"),
        ("?x :p ?y . :a :q :b", "does not hold"),
        ("?x :p ?y OPTIONAL { ?y :q ?z } ?x :r ?z", "does not hold"),
        ("OPTIONAL { ?x :p ?y }", "need not have a value in what stands before OPTIONAL"),
        ("VALUES ?w { 1 } OPTIONAL { ?x :p ?z }", "need not have a value in what stands before OPTIONAL"),
        ("VALUES ?x { :a UNDEF } MINUS { ?x :p ?y }", "need not have a value in what stands before MINUS"),
        ("{ ?x :p ?y } UNION { VALUES ?w { 1 } }", "need not have a value in a side of UNION"),
        ("VALUES ?y { 1 } FILTER EXISTS { ?x :p 1 }", "need not have a value in what FILTER"),
        ("?x :p+ ?y", "holds a variable"),
        ("?x :p+ ?y . ?x :q 1", "does not hold"),
        ("?x :p ?y . ?x :q 1 FILTER EXISTS { ?y :r ?z }", "does not hold"),
        ("?x :p ?y . ?x :q 1 FILTER(?y > 1 && NOT EXISTS { ?y :r ?z })", "does not hold"),
        ("?x :p ?y OPTIONAL { ?x :q 1 FILTER EXISTS { ?y :r ?z } }", "does not hold"),
        ("?x :p ?y . ?x :q 1 BIND(EXISTS { ?y :r ?z } AS ?b)", "does not hold"),
        ("?x :p ?y { SELECT ?x { ?x :r ?z } GROUP BY ?x HAVING(EXISTS { ?y :r 1 }) }", "cannot be told"),
        ("?x :p* ?y", "can be empty"),
        ("?x :p ?y { SELECT ?z { ?x :q ?z } }", "need not have a value in a subquery's SELECT"),
        ("?x :p ?y { SELECT ?x { ?x :q ?z } LIMIT 1 }", "LIMIT"),
        ("{ SELECT (COUNT(*) AS ?n) { ?x :p ?y } }", "need not have a value in GROUP BY of a subquery"),
    ],
)
def test_other_queries_are_not(where, reason):
    found = routed(where)
    assert found.one_shard_because.startswith("query q: ")
    assert reason in found.one_shard_because


@pytest.mark.parametrize(
    ("head", "tail", "cut", "reason"),
    [
        ("SELECT ?y", "", Cut.ANSWERS, "answers do not hold ?x"),
        ("SELECT DISTINCT ?y", "", Cut.ANSWERS, "DISTINCT answers do not hold ?x"),
        ("SELECT ?x", " ORDER BY ?y", Cut.ANSWERS, "ORDER BY"),
        ("SELECT ?x", " LIMIT 3", Cut.ANSWERS, "LIMIT"),
        (
            "SELECT (COUNT(*) AS ?n)",
            "",
            Cut.GROUPS,
            "an aggregate without GROUP BY puts values of ?x together",
        ),
        ("SELECT ?y (COUNT(*) AS ?n)", " GROUP BY ?y", Cut.GROUPS, "GROUP BY puts values of ?x together"),
        ("SELECT (COUNT(*) AS ?n)", " GROUP BY ?x", Cut.ANSWERS, "answers do not hold ?x"),
        ("ASK", "", Cut.ANSWERS, "ASK"),
        ("CONSTRUCT { ?x :r [] }", "", Cut.ANSWERS, "CONSTRUCT makes a triple once"),
        ("CONSTRUCT { ?x :r ?y . ?y :r ?x }", "", Cut.ANSWERS, "CONSTRUCT"),
    ],
)
def test_what_is_done_to_all_answers_is_done_to_merged_parts(head, tail, cut, reason):
    found = routed("?x :p ?y . ?x :q 1", head=head, tail=tail)
    assert found.variables == (("q", "x"),)
    [merged] = found.merged
    assert (merged.query, merged.cut) == ("q", cut)
    assert merged.because.startswith(reason)
    assert found.share("q", 4, 0).cut is cut


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ("SELECT *", ""),
        ("SELECT DISTINCT ?x", ""),
        ("SELECT ?x (COUNT(*) AS ?n)", " GROUP BY ?x"),
        ("SELECT REDUCED ?x", ""),
    ],
)
def test_answers_that_hold_the_key_are_not_merged(head, tail):
    found = routed("?x :p ?y . ?x :q 1", head=head, tail=tail)
    assert found.variables == (("q", "x"),)
    assert found.merged == ()


@pytest.mark.parametrize(("head", "variable"), [("SELECT ?y", "y"), ("SELECT ?x", "x"), ("SELECT ?p", "x")])
def test_a_variable_among_the_answers_is_preferred(head, variable):
    found = routed("?x :p ?y . ?y :q ?x . ?x ?p ?y", head=head)
    assert found.variables == (("q", variable),)
    assert bool(found.merged) == (head == "SELECT ?p")


@pytest.mark.parametrize(
    ("relation", "head", "merged"), [("RSTREAM", "?y", 1), ("ISTREAM", "?y", 1), ("ISTREAM", "?x", 0)]
)
def test_differences_are_of_answers_put_together(relation, head, merged):
    text = f"""REGISTER {relation} q AS SELECT {head} FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE 1s]
        WHERE {{ WINDOW <urn:w> {{ ?x <urn:p> ?y ; <urn:q> 1 }} }}"""
    given = job([parse_query(text)])
    found = routing.find(*given, relevance.find(*given))
    assert found.one_shard_because is None
    assert len(found.merged) == merged


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["SELECT ?x FROM STREAM <urn:s> [RANGE TRIPLES 5] { ?x <urn:p> ?y }"], "count window"),
        (
            [
                "REGISTER STREAM <urn:m> AS CONSTRUCT { ?x <urn:p> 1 } "
                "FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?y }",
                "SELECT ?x FROM STREAM <urn:m> [RANGE 1s] { ?x <urn:p> ?y }",
            ],
            "constructs",
        ),
        (
            [
                "SELECT ?x FROM STREAM <urn:s> [RANGE 1s] "
                f"{{ ?x <urn:p> ?y FILTER(<{TIMESTAMP}>(?x, <urn:p>, ?y) > 0) }}"
            ],
            "f:timestamp",
        ),
    ],
)
def test_jobs_for_one_shard(texts, reason):
    given = job(map(parse_query, texts))
    assert reason in routing.find(*given, relevance.find(*given)).one_shard_because


def test_the_key_is_followed_through_rules():
    rules = """[inverse: (?x :has ?y) -> (?y :of ?x)]
        [both: (?x :of ?y), (?x :old ?z) -> (?x :kept ?y)]"""
    found = routed("?x :kept ?y ; :name ?n", rules)
    subjects = dict.fromkeys(("* <kept> *", "* <name> *", "* <of> *", "* <old> *"), "s")
    assert keys(found) == subjects | {"* <has> *": "o"}


def test_a_pattern_can_have_two_keys():
    assert keys(routed("?x :p ?y . ?z :p ?x"))["* <p> *"] == "so"


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("[far: (?x :p ?y), (?y :p ?z) -> (?x :p ?z)]", "rule 'far' concludes (?x <urn:p> ?z), and its (?y"),
        (
            "[one: (?x :q ?y) -> (:a :p ?x)]",
            "rule 'one' concludes (<urn:a> <urn:p> ?x), always about <urn:a>",
        ),
        ("[bound: (?x :q ?y), cut(?z :of :a) -> (?z :p ?y)]", "lacks ?z"),
        ("[kind: (?x :q ?y), isDLiteral(?y, ?t) -> (?t :p ?x)]", "lacks ?t"),
    ],
)
def test_rules_that_lose_the_key(rule, reason):
    found = routed("?x :p ?y ; :r ?z", rule, [":b :of :a"])
    assert found.one_shard_because.startswith("query q: ")
    assert reason in found.one_shard_because


def test_minted_nodes_are_no_keys():
    found = routed("?x :p ?y ; :r ?z", "[mint: (?x :q ?y), makeTemp(?b) -> (?b :p ?x)]")
    assert found.one_shard_because is None
    assert "* <q> *" not in keys(found)


def test_a_pattern_of_schema_need_not_hold_the_key_but_is_assumed():
    found = routed("?x a ?c . ?x :p ?y . ?c rdfs:subClassOf :D", UP)
    assert found.variables == (("q", "x"),)
    assert expand("* rdfs:subClassOf *") in found.assumed
    assert routed("?x :p ?y ; :q 1 . ?c rdfs:subClassOf :D").assumed == (expand("* rdfs:subClassOf :D"),)


def test_a_named_graph_need_not_hold_the_key():
    text = """SELECT * FROM NAMED <urn:g> FROM STREAM <urn:s> [RANGE 1s]
        { ?x <urn:p> ?y ; <urn:q> 1 GRAPH <urn:g> { ?y <urn:r> ?z } }"""
    given = job([parse_query(text)])
    assert routing.find(*given, relevance.find(*given)).describe(4) == ["query query is divided by ?x"]


def test_a_statement_goes_to_every_shard_that_a_pattern_demands():
    found = routed("?x :p ?y . ?z :p ?x")
    statement = expand(":a :p :d")
    [bits] = found.router(4).route(*block([statement])).tolist()
    assert bits == 1 << shard_of("<urn:a>", 4) | 1 << shard_of("<urn:d>", 4)
    assert bits.bit_count() == 2
    assert found.router(4).route(*block([expand(":a :q :d")])).tolist() == [0]


def test_one_shard_gets_everything():
    router = routed(":a :p :b").router(4)
    assert router.route(*block([expand(":a :p :b"), expand(":c :q :d")])).tolist() == [1, 1]


def test_each_value_is_accepted_by_one_shard():
    found = routed("?x :p ?y ; :q 1")
    shares = [found.share("q", 8, shard) for shard in range(8)]
    assert {share.variable for share in shares} == {"x"}
    for term in ("<urn:a>", '"é"@fr', "_:b"):
        assert sum(share.owns(term) for share in shares) == 1
    assert routed(":a :p :b").share("q", 8, 0) is None


def test_wrong_uses_are_said():
    found = routed("?x :p ?y")
    with pytest.raises(UsageError, match=r"63 shards .*from 1 to 62"):
        found.router(63)
    with pytest.raises(UsageError, match="no query is called 'r'"):
        found.share("r", 2, 0)


def test_it_can_be_sent_and_written():
    found = routed("?x a :D", UP, [":C rdfs:subClassOf :D"])
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.loads(json.dumps(asdict(found)))["variables"] == [["q", "x"]]
    share = pickle.loads(pickle.dumps(found.share("q", 3, 1)))
    assert (share.variable, share.owns("<urn:a>")) == ("x", shard_of("<urn:a>", 3) == 1)


def test_shards_of_terms_are_for_ever():
    assert [shard_of(term, 62) for term in ("<urn:a>", '"é"', "_:b")] == [28, 52, 6]
