"""Which strategy is chosen, and that it is chosen again when others read."""

from __future__ import annotations

from plan.support import PREFIXES, expand

from ensue import Reasoner
from ensue.knowledge import Sent
from ensue.resumable import Resumable

SCHEMA = Sent(((*expand(":Cat rdfs:subClassOf :Animal"), None),))


def query(name, where, window="RANGE 10s STEP 10s"):
    prefixes = PREFIXES.replace("@prefix", "PREFIX").replace("> . ", "> ")
    return f"{prefixes} REGISTER QUERY {name} AS SELECT ?x FROM STREAM <urn:s> [{window}] WHERE {{ {where} }}"


def chosen(reasoner):
    return [scope["strategy"] for scope in reasoner.plan()["scopes"]]


def made(*queries, kind=Reasoner, rules="rdfs-jena", **options):
    reasoner = kind(rules, SCHEMA, **options)
    for text in queries:
        reasoner.register(text)
    return reasoner


def test_windows_that_overlap_by_half_at_most_are_rewritten():
    assert chosen(made(query("q", "?x a :Animal"))) == ["rewrite"]
    assert chosen(made(query("q", "?x a :Cat . ?x :p ?y"))) == ["rewrite"]  # For which no rule is left.
    assert chosen(made(query("q", "?x a :Cat . ?x :p ?y"), rules=())) == ["rewrite"]
    assert chosen(made(query("q", "?x a :Cat . ?x :p ?y", "RANGE 10s STEP 5s"))) == ["rewrite"]  # By half.


def test_others_are_not():
    assert chosen(made(query("q", "?x a :Animal", "RANGE 10s STEP 1s"))) == ["expiration"]
    assert chosen(made(query("q", "?x a :Cat . ?x :p ?y", "RANGE 10s STEP 1s"), rules=())) == ["expiration"]
    assert chosen(made(query("q", "?x a :Cat . ?x :p ?y", "RANGE 10s STEP 2s"))) == ["expiration"]
    assert chosen(made(query("q", "?x :p* ?y"))) == ["expiration"]
    assert chosen(made(query("q", "?x a :Animal"), kind=Resumable)) == ["expiration"]
    isin = query("q", "?x <http://example.org/isIn> ?y")
    [scope] = made(isin, rules="transitive-isin").plan()["scopes"]
    assert "joins" in scope["chosen_because"]


def test_what_is_asked_for_is_done():
    assert chosen(made(query("q", "?x a :Animal"), strategy="dred")) == ["dred"]


def test_it_is_chosen_again_when_another_query_comes():
    reasoner = made(query("q", "?x a :Animal"))
    reasoner.push("urn:s", [(1000, *expand(":tom rdf:type :Cat"))])
    list(reasoner.advance(to=2000))
    reasoner.register(query("often", "?x a :Animal", "RANGE 10s STEP 1s"))
    assert chosen(reasoner) == ["expiration"]
    found = {result.query: result.answers.rows for result in reasoner.advance(to=10_000)}
    assert found == {"q": [("<urn:tom>",)], "often": [("<urn:tom>",)]}
    reasoner.remove("often")
    assert chosen(reasoner) == ["rewrite"]


def test_schema_on_the_stream_ends_rewriting():
    reasoner = made(query("q", "?x a :Animal"))
    reasoner.push("urn:s", [(1000, *expand(":rex rdf:type :Dog"))])
    list(reasoner.advance(to=2000))
    reasoner.push("urn:s", [(3000, *expand(":Dog rdfs:subClassOf :Animal"))])
    [result] = reasoner.advance(to=10_000)
    assert result.answers.rows == [("<urn:rex>",)]
    assert chosen(reasoner) == ["expiration"]
