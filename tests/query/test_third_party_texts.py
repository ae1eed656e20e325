"""What third-party queries and rules say that was refused or ignored: bases, prefixes, select expressions."""

from __future__ import annotations

import pickle

import pytest

from ensue import Networks, Reasoner
from ensue.cli import main
from ensue.errors import InputError, QueryError, RuleError, RuleSyntaxError, UsageError
from ensue.job import Job, check_streams
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import parse_rules
from ensue.rules.sparql import parse as parse_sparql_rules

S = "FROM STREAM <urn:s> [RANGE 10s STEP 10s]"
BASE = "BASE <http://example.org/x/>"
ROWS = [
    (number * 1000, f"<urn:{s}>", "<urn:p>", f'"{o}"') for number, (s, o) in enumerate(["ab", "ac", "cb"], 1)
]


def rows_of(query, rules=(), evaluator="auto", rows=ROWS):
    reasoner = Reasoner(rules, evaluator=evaluator)
    reasoner.register(query)
    reasoner.push("urn:s", rows)
    [result] = reasoner.end()
    return sorted(result.answers.rows)


# -- IRI() and the BASE ----------------------------------------------------------------------------

MADE = [("<http://example.org/x/b>",), ("<http://example.org/x/c>",)]


@pytest.mark.parametrize("evaluator", ["compiled", "oxigraph"])
@pytest.mark.parametrize("call", ["IRI", "uri"])
def test_a_query_resolves_iris_against_its_base(evaluator, call):
    query = f"{BASE} SELECT DISTINCT ?y {S} {{ ?x <urn:p> ?o BIND({call}(?o) AS ?y) }}"
    assert rows_of(query, evaluator=evaluator) == MADE


@pytest.mark.parametrize(
    "where",
    [
        "?x <urn:p> ?o BIND(IRI(?o) AS ?y)",
        "?x <urn:p> ?o BIND(uri(CONCAT(?o, '')) AS ?y)",
        "?x <urn:p> ?o BIND(IF(BOUND(?o), IRI(?o), <urn:no>) AS ?y) "
        "FILTER(?y != IRI('z') && URI('b') != <urn:b>)",
        "{ ?x <urn:p> ?o BIND(IRI(?o) AS ?y) } UNION { ?x <urn:q> ?y }",
    ],
)
def test_rules_and_networks_resolve_iris_against_their_base(where):
    rules = parse_sparql_rules(f"{BASE} INSERT {{ ?x <urn:made> ?y }} WHERE {{ {where} }}")
    query = f"SELECT DISTINCT ?y {S} {{ ?x <urn:made> ?y }}"
    assert rows_of(query, rules) == MADE
    job = pickle.loads(pickle.dumps(Job.of([parse_query(query)], rules, Sent())))
    shard = job.resumable()  # What a shard of Spark does, with the flat dictionary.
    shard.push("urn:s", ROWS)
    assert [sorted(result.answers.rows) for result in shard.end()] == [MADE]
    network = Networks(f"{BASE} SELECT DISTINCT ?y WHERE {{ {where} }}")
    assert sorted(row for result in network.push(ROWS) for row in result.answers.rows) == MADE


def test_each_rule_has_the_base_that_stands_before_it():
    text = "".join(
        f"BASE <urn:{base}/> INSERT {{ ?x <urn:made> ?y }} "
        "WHERE { ?x <urn:p> ?o BIND(IRI(CONCAT('#', ?o)) AS ?y) } ;"
        for base in "mn"
    )
    found = rows_of(f"SELECT DISTINCT ?y {S} {{ ?x <urn:made> ?y }}", parse_sparql_rules(text))
    assert found == [(f"<urn:{base}/#{o}>",) for base in "mn" for o in "bc"]


def test_a_relative_iri_without_a_base_is_refused_where_it_can_be_seen():
    text = "INSERT { ?x <urn:made> ?y } WHERE { ?x <urn:p> ?o BIND(IRI('b') AS ?y) }"
    for parse in (parse_sparql_rules, lambda text: Networks(text)):
        with pytest.raises(
            RuleError, match=r'"b" is a relative IRI \(hint: write the whole IRI, or declare a BASE'
        ):
            parse(text)
        parse(text.replace("'b'", "'urn:b'"))


# -- prefixes --------------------------------------------------------------------------------------


def test_two_prefixes_may_stand_for_one_namespace():
    query = f"""PREFIX a: <urn:> PREFIX b: <urn:> PREFIX : <urn:> PREFIX x: <http://www.w3.org/2001/XMLSchema#>
        SELECT ?x ?n {S} {{ ?x a:p ?o . ?x b:p ?o . ?x :p ?o FILTER(?x != a:c)
        {{ SELECT (COUNT(*) AS ?n) {{ ?y b:p ?z FILTER("1"^^x:int = "1"^^xsd:int) }} }} }}"""
    for evaluator in ("compiled", "oxigraph"):
        found = rows_of(query, evaluator=evaluator)
        assert {row[0] for row in found} == {"<urn:a>"}
        assert {row[1][:3] for row in found} == {'"3"'}
    events = (
        "PREFIX a: <urn:> PREFIX b: <urn:> SELECT DISTINCT ?x FROM STREAM <urn:s> [RANGE 10s STEP 10s] "
        "{ { ?x a:p 'b' } SEQ { ?x b:p 'c' } }"
    )
    reasoner = Reasoner()
    reasoner.register(events)
    reasoner.push("urn:s", ROWS)
    assert [row for result in reasoner.end() for row in result.answers.rows] == [("<urn:a>",)]


@pytest.mark.parametrize(
    ("parse", "text", "hint"),
    [
        (parse_query, f"ASK {S} {{ ?s ex:p ?o }}", "declare it: PREFIX ex: <...>"),
        (
            parse_query,
            f"PREFIX exa: <urn:> ASK {S} {{ ?s exb:p ?o }}",
            "did you mean 'exa:'? Or declare it: PREFIX",
        ),
        (parse_sparql_rules, "INSERT { ?s ex:p ?o } WHERE { ?s ?p ?o }", "declare it: PREFIX ex: <...>"),
        (parse_rules, "[r: (?s ex:p ?o) -> (?o ?s ?s)]", "declare it: @prefix ex: <...> ."),
    ],
)
def test_a_prefix_is_declared_as_the_language_has_it(parse, text, hint):
    with pytest.raises((QueryError, RuleSyntaxError), match="is not declared") as caught:
        parse(text)
    assert caught.value.hint.startswith(hint)
    assert hint.startswith("declare it: @") == ("@prefix" in caught.value.hint)


# -- select expressions ----------------------------------------------------------------------------


@pytest.mark.parametrize("evaluator", ["auto", "oxigraph"])
def test_a_select_expression_may_use_the_names_before_it(evaluator):
    """RSP4J has `(COUNT(?r) AS ?c) ... ((?c > ?d) AS ?e)`: SPARQL 1.1, section 16.1.2."""
    query = f"""SELECT ?x (COUNT(?o) AS ?c) (COUNT(DISTINCT ?x) AS ?d) ((?c > ?d) AS ?e)
        (IF(?e, ?c * ?c, -?c) AS ?f) {S} {{ ?x <urn:p> ?o }} GROUP BY ?x ORDER BY ?f"""
    found = [
        [term.partition("^^")[0].strip('"<>') for term in row] for row in rows_of(query, evaluator=evaluator)
    ]
    assert found == [["urn:a", "2", "1", "true", "4"], ["urn:c", "1", "1", "false", "-1"]]
    alone = "SELECT (COUNT(*) AS ?n) (?n + 1 AS ?m) (MAX(?o) AS ?most) (STRLEN(?most) AS ?k) "
    alone += f"{S} {{ ?x <urn:p> ?o }}"
    [row] = rows_of(alone, evaluator=evaluator)
    assert [term.partition("^^")[0] for term in row] == ['"3"', '"4"', '"c"', '"1"']
    nested = f"SELECT ?m {S} {{ {{ SELECT (COUNT(*) AS ?n) (?n + 1 AS ?m) {{ ?x <urn:p> ?o }} }} }}"
    assert [row[0][:3] for row in rows_of(nested, evaluator=evaluator)] == ['"4"']
    plain = f"SELECT (STR(?x) AS ?a) (CONCAT(?a, ?o) AS ?b) {S} {{ ?x <urn:p> ?o }}"
    assert ('"urn:a"', '"urn:ab"') in rows_of(plain, evaluator=evaluator)


def test_names_that_use_each_other_cannot_grow_without_bound():
    """Each doubles the one before: 2**40 operators, if all were written out."""
    items = " ".join(f"(?n{k} + ?n{k} AS ?n{k + 1})" for k in range(40))
    with pytest.raises(QueryError, match=r"\?n\d+ is more than 4,000 characters when written out"):
        parse_query(f"SELECT (COUNT(*) AS ?n0) {items} {S} {{ ?x <urn:p> ?o }}")
    wide = " + ".join(["?n0"] * 900)
    with pytest.raises(QueryError, match=r"\?m is more than 4,000 characters when written out"):
        parse_query(f"SELECT (COUNT(*) AS ?n0) ({wide} AS ?m) {S} {{ ?x <urn:p> ?o }}")


def test_what_is_written_out_keeps_its_terms():
    text = f"""SELECT (CONCAT(MAX(?o), "é \\u0041\\n"@en, 'a'^^xsd:string) AS ?a) (STRLEN(?a)AS ?b)
        {S} {{ ?x <urn:p> ?o }}"""
    for evaluator in ("auto", "oxigraph"):
        [(_, length)] = rows_of(text, evaluator=evaluator)
        assert length.startswith('"6"')


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT »?x (COUNT(*) AS ?n) {S} {{ ?x <urn:p> ?o }}",
        f"SELECT ?x »?o {S} {{ ?x <urn:p> ?o }} GROUP BY ?x",
        f"SELECT ?x (STR(»?o) AS ?n) {S} {{ ?x <urn:p> ?o }} GROUP BY ?x",
        f"SELECT ?x (COUNT(?o) AS ?c) (»?d + ?c AS ?e) (1 AS ?d) {S} {{ ?x <urn:p> ?o }} GROUP BY ?x",
        f"SELECT ?x {S} {{ ?x <urn:p> ?y {{ SELECT ?x (»?o AS ?z) {{ ?x <urn:p> ?o }} GROUP BY ?x }} }}",
        f"SELECT (SUM(?o) AS ?n)\n »?x\n {S}\n {{ ?x <urn:p> ?o BIND(?x AS ?y) }}\n",
        f"SELECT ?k »?o {S} {{ ?x <urn:p> ?o }} GROUP BY (STR(?x) AS ?k) HAVING (COUNT(*) > 1) LIMIT 2",
        f"SELECT (COUNT(*) AS ?n) (RAND() AS ?r) (»?q AS ?t) {S} {{ ?x <urn:p> ?o }}",
    ],
)
def test_a_variable_that_is_not_grouped_is_named(text):
    offset = text.index("»")
    name = text[offset + 1 :][:2]
    with pytest.raises(QueryError) as caught:
        parse_query(text.replace("»", ""))
    assert caught.value.what == f"{name} is selected, but neither grouped nor inside an aggregate"
    line = text[:offset].count("\n") + 1
    column = offset - text[:offset].rfind("\n")
    assert (caught.value.place.line, caught.value.place.column) == (line, column)


def test_a_name_that_has_a_value_already_is_still_refused():
    for text in (
        f"SELECT ?x (?x AS »?o) {S} {{ ?x <urn:p> ?o }}",
        f"ASK {S} {{ ?x <urn:p> ?o BIND(1 AS »?o) }}",
    ):
        with pytest.raises(QueryError, match=r"\?o has a value before AS gives it one") as caught:
            parse_query(text.replace("»", ""))
        assert caught.value.place.column == text.index("»") + 1


# -- names of streams ------------------------------------------------------------------------------


def test_a_stream_that_is_misspelt_is_what_the_error_is_about():
    """The user's own word was what the hint suggested."""
    with pytest.raises(
        UsageError, match=r"^no query reads the stream <urn:taxi> \(hint: did you mean 'urn:taxis'"
    ):
        check_streams(["urn:taxi"], ["urn:taxis"], "add {}")
    with pytest.raises(
        UsageError, match=r"^nothing is given for the stream <urn:taxis> \(hint: add urn:taxis"
    ):
        check_streams(["urn:other"], ["urn:taxis"], "add {}")
    with pytest.raises(UsageError, match=r"^nothing is given for the stream <urn:a2> \(hint: add urn:a2"):
        check_streams(["urn:a1"], ["urn:a1", "urn:a2"], "add {}")


# -- graphs ----------------------------------------------------------------------------------------


def test_a_file_iri_that_is_no_file_is_an_error_of_the_query(tmp_path, capsys):
    (tmp_path / "circle.ttl").symlink_to(tmp_path / "circle.ttl")
    odd = [
        "file://localhost/..%00x",
        "file:///%00",
        f"file:///{'x' * 5000}",
        (tmp_path / "circle.ttl").as_uri(),
    ]
    for iri in odd:
        path = tmp_path / "q.rq"
        path.write_text(f"ASK FROM <{iri}> {S} {{ ?s ?p ?o }}")
        with pytest.raises((QueryError, InputError)):
            Reasoner(allow="/").register(path.read_text())
        for engine in ("spark", "local"):
            assert (
                main(["run", str(path), "--engine", engine, "--allow", "/", "--stream", "urn:s=s.tsv"]) == 1
            )
            said = capsys.readouterr().err
            assert said.startswith("ensue: ")
            assert len(said.splitlines()) == 1
