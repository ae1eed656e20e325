"""Results in each format, read back by somebody else's parser where there is one."""

from __future__ import annotations

import csv
import errno
import io
import json
import os

import pyoxigraph as ox
import pytest
from marks import needs_full_device

from ensue.cli.output import Output
from ensue.errors import EnsueError, UsageError
from ensue.query.answers import Answers
from ensue.query.output import WRITERS, Result, writer
from ensue.query.tree import Form
from ensue.terms import XSD, literal

INTEGER = f'"01"^^<{XSD}integer>'
ODD_TEXT = 'a "quoted",\ttab\r\nline \\ 字 \x07'
TERMS = ["<http://example/a>", "_:b0", '"x"', '"chat"@fr', INTEGER, literal(ODD_TEXT), '""', None]
SELECT = Answers(Form.SELECT, ("x", "y"), [(term, "<urn:y>") for term in TERMS])
TRIPLES = [("<urn:a>", "<urn:p>", INTEGER), ("_:b", "<urn:p>", literal(ODD_TEXT))]
CONSTRUCT = Answers(Form.CONSTRUCT, (), TRIPLES)
ASK = Answers(Form.ASK, (), [()])
FORMS = {Form.SELECT: SELECT, Form.CONSTRUCT: CONSTRUCT, Form.ASK: ASK}
FORMS[Form.DESCRIBE] = Answers(Form.DESCRIBE, (), TRIPLES)


def written(kind, *results):
    out = io.StringIO(newline="")
    to = writer(kind, out)
    for result in results:
        to.write(result)
    to.close()
    return out.getvalue()


class TestJson:
    def test_select(self):
        answers = Answers(
            Form.SELECT, ("x", "y"), [("<urn:a>", None), ("_:b", '"chat"@fr'), (INTEGER, '"a\\nb"')]
        )
        assert Result("q", -5, 10, answers).json() == {
            "query": "q",
            "open": -5,
            "close": 10,
            "vars": ["x", "y"],
            "bindings": [
                {"x": {"type": "uri", "value": "urn:a"}},
                {
                    "x": {"type": "bnode", "value": "b"},
                    "y": {"type": "literal", "value": "chat", "xml:lang": "fr"},
                },
                {
                    "x": {"type": "literal", "value": "01", "datatype": f"{XSD}integer"},
                    "y": {"type": "literal", "value": "a\nb"},
                },
            ],
        }

    def test_oxigraph_reads_the_terms(self):
        found = Result("q", 0, 10, SELECT).json()
        text = json.dumps({"head": {"vars": found["vars"]}, "results": {"bindings": found["bindings"]}})
        solutions = ox.parse_query_results(text, format=ox.QueryResultsFormat.JSON)
        assert [(row[0] and str(row[0]), str(row[1])) for row in solutions] == SELECT.rows

    def test_quoted_triples(self):
        quoted = '<<( <urn:a> <urn:p> <<( _:b <urn:q> "x"@en )>> )>>'
        found = Result("q", 0, 10, Answers(Form.SELECT, ("x",), [(quoted,)])).json()["bindings"][0]["x"]
        assert found["type"] == "triple"
        inner = found["value"]["object"]["value"]
        assert found["value"]["subject"] == {"type": "uri", "value": "urn:a"}
        assert inner["object"] == {"type": "literal", "value": "x", "xml:lang": "en"}

    def test_construct_and_ask(self):
        assert Result("q", 0, 10, CONSTRUCT).json()["triples"][0] == f"<urn:a> <urn:p> {INTEGER} ."
        assert Result("q", 0, 10, ASK).json() == {"query": "q", "open": 0, "close": 10, "boolean": True}

    def test_what_else_is_known(self):
        found = Result("q", 0, 10, SELECT, until=[5, None], exact=False).json()
        assert (found["until"], found["exact"]) == ([5, None], False)
        assert not {"until", "exact"} & Result("q", 0, 10, SELECT).json().keys()

    def test_a_line_an_evaluation(self):
        results = [Result("q", 0, 10, SELECT), Result("r", 0, 10, CONSTRUCT), Result("q", 10, 20, ASK)]
        results.append(
            Result("q", 20, 30, Answers(Form.SELECT, ("x",), [(literal("a\u2028\u2029\x85\x0bb"),)]))
        )
        lines = written("jsonl", *results).splitlines()  # at any character that ends a line for somebody
        assert [json.loads(line) for line in lines] == [result.json() for result in results]


class TestRows:
    def test_csv(self):
        text = written("csv", Result("q", 0, 10, SELECT), Result("q", 10, 20, SELECT))
        head, *rows = csv.reader(io.StringIO(text, newline=""))
        assert head == ["query", "open", "close", "x", "y"]
        values = ["http://example/a", "_:b0", "x", "chat", "01", ODD_TEXT, "", ""]
        assert rows == [
            ["q", *window, value, "urn:y"] for window in (["0", "10"], ["10", "20"]) for value in values
        ]
        assert text.startswith("query,open,close,x,y\r\nq,0,10,http://example/a,urn:y\r\n")

    def test_tsv(self):
        text = written("tsv", Result("a\tb", 0, 10, SELECT))
        found = ox.parse_query_results(text, format=ox.QueryResultsFormat.TSV)
        assert [variable.value for variable in found.variables] == ["query", "open", "close", "x", "y"]
        rows = [[term and str(term) for term in row] for row in found]
        assert [row[3] for row in rows] == TERMS
        assert rows[0][:3] == ['"a\\tb"', f'"0"^^<{XSD}integer>', f'"10"^^<{XSD}integer>']

    @pytest.mark.parametrize("kind", ["csv", "tsv"])
    def test_each_query_has_its_header_once(self, kind):
        other = Answers(Form.SELECT, ("z",), [])
        results = [Result("q", 0, 10, SELECT), Result("r", 0, 10, other), Result("q", 10, 20, SELECT)]
        lines = [line for line in written(kind, *results).split("\n") if "close" in line]
        assert [line.strip()[-1] for line in lines] == ["y", "z"]


class TestTable:
    def test_it_stands_in_columns(self):
        rows = [("<urn:a>", '"日本"@ja'), (None, "_:b")]
        answers = Answers(Form.SELECT, ("x", "y"), rows)
        assert written("table", Result("rooms", 0, 10, answers)).splitlines() == [
            "rooms (0, 10]: 2 answers",
            "  ?x       ?y",
            "  -------  ---------",
            '  <urn:a>  "日本"@ja',
            "           _:b",
            "",
        ]

    def test_other_forms_and_nothing(self):
        nothing = Answers(Form.SELECT, ("x",), [])
        results = [Result("q", 0, 10, nothing), Result("q", 0, 10, ASK), Result("q", 0, 10, CONSTRUCT)]
        text = written("table", *results)
        assert "q (0, 10]: no answers\n\nq (0, 10]: yes\n\nq (0, 10]: 2 triples\n  subject" in text

    def test_a_solution_without_variables(self):
        assert "1 answer\n" in written("table", Result("q", 0, 10, Answers(Form.SELECT, (), [()])))

    def test_a_terminal_is_not_told_what_to_do(self):
        nasty = Answers(Form.SELECT, ("x",), [(literal("\x1b[2J\x9b1m\u202e"),)])
        text = written("table", Result("\x1b]0;title\x07", 0, 10, nasty))
        assert set(text) - {"\n"} == {c for c in text if c.isprintable()}
        assert "\\u202e" in text


class TestGraphs:
    def test_ntriples(self):
        text = written("nt", Result("q", 0, 10, CONSTRUCT), Result("q", 10, 20, FORMS[Form.DESCRIBE]))
        found = [tuple(map(str, quad.triple)) for quad in ox.parse(text, format=ox.RdfFormat.N_TRIPLES)]
        assert found == TRIPLES * 2

    @pytest.mark.parametrize(
        ("name", "close", "graph", "time"),
        [
            ("q", 1500, "urn:ensue:q/1500", "1970-01-01T00:00:01.500Z"),
            ("http://e/a b", 0, "urn:ensue:http%3A%2F%2Fe%2Fa%20b/0", "1970-01-01T00:00:00Z"),
            ("q", -1, "urn:ensue:q/-1", "1969-12-31T23:59:59.999Z"),
            ("q", 253_402_300_800_000, "urn:ensue:q/253402300800000", "10000-01-01T00:00:00Z"),
        ],
    )
    def test_trig(self, name, close, graph, time):
        quads = list(ox.parse(written("trig", Result(name, 0, close, CONSTRUCT)), format=ox.RdfFormat.TRIG))
        about, *triples = quads
        assert (about.subject.value, about.graph_name) == (graph, ox.DefaultGraph())
        assert about.predicate.value == "http://www.w3.org/ns/prov#generatedAtTime"
        assert about.object == ox.Literal(time, datatype=ox.NamedNode(f"{XSD}dateTime"))
        assert [tuple(map(str, quad.triple)) for quad in triples] == TRIPLES
        assert {quad.graph_name.value for quad in triples} == {graph}


ABLE = {"jsonl": set(Form), "table": set(Form), "csv": {Form.SELECT}, "tsv": {Form.SELECT}}
ABLE |= {kind: {Form.CONSTRUCT, Form.DESCRIBE} for kind in ("nt", "trig")}


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("kind", WRITERS)
def test_a_format_that_cannot_hold_a_form_says_so(kind, form):
    result = Result("q", 0, 10, FORMS[form])
    if form in ABLE[kind]:
        assert written(kind, result)
    else:
        with pytest.raises(UsageError, match=rf"'q' is a {form} .*hint: jsonl"):
            written(kind, result)


def test_an_unknown_format():
    with pytest.raises(UsageError, match=r"unknown output format 'jsonnl'.*did you mean 'jsonl'"):
        writer("jsonnl", io.StringIO())


@needs_full_device
def test_a_full_disk_is_an_error():
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)), open("/dev/full", "w") as full:
        writer("jsonl", full).write(Result("q", 0, 10, SELECT))
    with pytest.raises(EnsueError, match="/dev/full: cannot be written"), Output("/dev/full") as output:
        writer("jsonl", output).write(Result("q", 0, 10, SELECT))


def test_a_broken_pipe_is_an_error():
    reading, writing = os.pipe()
    os.close(reading)
    pipe = os.fdopen(writing, "w")
    with pytest.raises(BrokenPipeError):
        writer("table", pipe).write(Result("q", 0, 10, SELECT))
    with pytest.raises(BrokenPipeError):
        pipe.close()


def test_results_can_be_seen_at_once_and_a_file_appears_whole(tmp_path):
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as read, os.fdopen(writing, "w") as pipe:
        writer("jsonl", pipe).write(Result("q", 0, 10, ASK))
        assert json.loads(read.readline())["boolean"] is True
    path = tmp_path / "out.nt"
    with Output(str(path)) as output:
        writer("nt", output).write(Result("q", 0, 10, CONSTRUCT))
        assert not path.exists()
    assert path.read_text() == written("nt", Result("q", 0, 10, CONSTRUCT))
