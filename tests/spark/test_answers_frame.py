"""`answers` and `closure`: the same answers as in process, as rows that any sink takes."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox
import pytest
import rdflib
from pyspark.errors import StreamingQueryException

from ensue import Reasoner
from ensue.errors import UsageError
from ensue.query.answers import Answers
from ensue.query.language import parse_query
from ensue.query.output import Result
from ensue.query.tree import Form
from ensue.spark import answers, closure, network_answers, session
from ensue.spark.answer_rows import Layout, Unpack
from ensue.spark.results import pack
from ensue.spark.source import register
from ensue.streamfile import read_stream
from ensue.windows.frontier import Disorder

GUIDE = Path(__file__).parents[2] / "docs" / "spark.md"
IN = "<http://example.org/isIn>"
STREAM = "FROM STREAM <urn:s> [RANGE 4s STEP 2s]"
WHERE = f"REGISTER QUERY where AS SELECT ?x ?y {STREAM} WHERE {{ ?x {IN} ?y }}"


def lines(first, last):
    """A train in a place each second, and all places in the city each third second."""
    for number in range(first, last):
        yield f"{1000 * number}\t<urn:train{number % 4}> {IN} <urn:place{number % 3}> .\n"
        if number % 3 == 0:
            yield f"{1000 * number}\t<urn:place{number % 3}> {IN} <urn:city> .\n"


def in_process(path, *queries, **options):
    """Results of the same in this process."""
    reasoner = Reasoner("transitive-isin", **options)
    for query in queries:
        reasoner.register(query)
    found = []
    for batch in read_stream(path):
        reasoner.feed("urn:s", batch)
        found += reasoner.advance()
    return [*found, *reasoner.end()]


def expected(results):
    return sorted(
        (result.query, result.open, result.close, *(term[1:-1] for term in row))
        for result in results
        for row in result.answers.rows
    )


def found(rows):
    return sorted((row.query, row.open, row.close, row.x, row.y) for row in rows)


def run(spark, frame, name):
    query = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.table(name).collect(), query


@pytest.fixture
def stream(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_text("".join(lines(1, 20)))
    return path


@pytest.mark.parametrize("sink", ["parquet", "json"])
def test_files_have_every_answer_once_over_a_restart(spark, tmp_path, sink):
    """The directory grows between two runs over one checkpoint, and ends in a third."""
    register(spark)
    folder = tmp_path / "stream"
    folder.mkdir()

    def go_on(finite):
        reader = spark.readStream.format("ensue").option("path", str(folder)).option("rows", "ranges")
        frame = answers(spark, WHERE, {"urn:s": reader.option("finite", finite).load()}, "transitive-isin")
        writer = frame.writeStream.format(sink).option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
        return spark.read.schema(frame.schema).format(sink).load(str(tmp_path / "out")).collect()

    (folder / "1.tsv").write_text("".join(lines(1, 11)))
    rows = go_on("false")
    assert {row.close for row in rows} == {2000, 4000, 6000, 8000}
    (folder / "2.tsv").write_text("".join(lines(11, 20)))
    rows = go_on("true")
    assert found(rows) == expected(in_process(folder, WHERE))
    assert {row.x_kind for row in rows} == {"uri"}


def test_two_shards_give_what_one_gives(spark, stream):
    query = f"REGISTER QUERY where AS SELECT ?x ?y {STREAM} WHERE {{ ?x {IN} ?y . ?x {IN} <urn:place1> }}"
    frame = answers(spark, query, {"urn:s": stream}, shards=2)
    rows, running = run(spark, frame, "shards")
    reasoner = Reasoner()
    reasoner.register(query)
    for batch in read_stream(stream):
        reasoner.feed("urn:s", batch)
    assert found(rows) == expected(reasoner.end())
    counted = running.recentProgress[0]["observedMetrics"]["ensue"]
    assert (counted.admitted, counted.answers) == (25, len(rows)), "all are heard by all, answers are divided"


def test_all_forms_in_one_job(spark, stream, tmp_path):
    """What has no value in a form is null; ASK always has a row, and with include_empty the others too."""
    window = "FROM STREAM <urn:s> [RANGE 1s STEP 1s]"
    construct = f"CONSTRUCT {{ ?x <urn:in> ?y }} {window} WHERE {{ ?x {IN} ?y . ?y {IN} ?z }}"
    (tmp_path / "asked.rq").write_text(f"ASK {window} WHERE {{ <urn:train1> {IN} ?y }}")
    values = f"""REGISTER QUERY values AS SELECT ?x ?n {STREAM}
        WHERE {{ ?x {IN} <urn:city> OPTIONAL {{ ?x {IN} <urn:place0> BIND("ja\\n"@de AS ?n) }} }}"""
    queries = [construct, str(tmp_path / "asked.rq"), parse_query(values)]
    frame = answers(spark, queries, {"urn:s": stream}, "transitive-isin", until=True, include_empty=True)
    terms = [each + part for each in ("x", "n") for part in ("", "_kind", "_datatype", "_lang")]
    triple = [each + part for each in ("subject", "predicate", "object") for part in terms[:4]]
    triple = [name.replace("x", "", 1) for name in triple]
    assert frame.columns == ["query", "open", "close", *triple, *terms, "answer", "until"]
    rows, _ = run(spark, frame, "forms")
    asked = {row.close: row.answer for row in rows if row.query == "asked"}
    assert asked == {1000 * at: at % 4 == 1 for at in range(1, 20)}
    made = {row.close: row for row in rows if row.query == "query1"}
    assert len(made) == 19
    assert made[1000].subject is made[1000].subject_kind is None, "no answers, and a row all the same"
    in_city = made[3000]
    assert (in_city.subject, in_city.predicate, in_city.object) == ("urn:train3", "urn:in", "urn:place0")
    assert in_city.until == 4000
    first = {row.x: row for row in rows if (row.query, row.close) == ("values", 4000)}
    assert set(first) == {"urn:place0", "urn:train3"}
    with_name = first["urn:train3"]
    assert (with_name.n, with_name.n_kind, with_name.n_lang) == ("ja\n", "literal", "de")
    assert first["urn:place0"].n_kind is None
    assert {row.answer for row in rows if row.query != "asked"} == {None}


def test_dead_letters_stop_if_they_shall(spark, stream):
    with stream.open("a") as file:
        file.write("20000\tnothing .\n")
    frame = answers(spark, WHERE, {"urn:s": stream}, dead_letters="stop")
    with pytest.raises(StreamingQueryException, match=r"s\.tsv at \d+: .*nothing"):
        run(spark, frame, "stops")


def test_the_closure_of_a_window(spark, stream, tmp_path):
    """What follows across stream and background has the stream's stamp, background by itself has none."""
    (tmp_path / "map.nt").write_text(f"<urn:city> {IN} <urn:land> .\n<urn:land> {IN} <urn:world> .\n")
    options = {"rules": "transitive-isin", "background": tmp_path / "map.nt"}
    window, streams = "RANGE 4s STEP 4s", {"urn:s": stream}
    frame = closure(spark, window, streams, **options, include_background=True)
    rows, _ = run(spark, frame, "closure")
    assert frame.columns == ["open", "close", "s", "p", "o", "stamp"]
    alone = [row for row in rows if row.stamp is None]
    assert {(row.s, row.o) for row in alone} == {
        ("<urn:city>", "<urn:land>"),
        ("<urn:city>", "<urn:world>"),
        ("<urn:land>", "<urn:world>"),
    }
    assert len(alone) == 3 * 5
    first = {(row.s, row.o): row.stamp for row in rows if row.close == 4000 and row not in alone}
    trains = {("<urn:train1>", "<urn:place1>"): 1000, ("<urn:train2>", "<urn:place2>"): 2000}
    trains |= {("<urn:train0>", "<urn:place1>"): 4000}
    places = ("<urn:place0>", "<urn:city>", "<urn:land>", "<urn:world>")
    followed = {("<urn:train3>", place): 3000 for place in places}
    followed |= {("<urn:place0>", place): 3000 for place in places[1:]}
    assert first == trains | followed


def unpacked(layout, *results):
    payloads = [
        {
            "kind": "answers",
            "query": each.query,
            "open": each.open,
            "close": each.close,
            "payload": pack(each),
        }
        for each in results
    ]
    tables = Unpack(layout)([pa.RecordBatch.from_pylist(payloads)])
    return [row for table in tables for row in table.to_pylist()]


def test_evaluations_of_a_query_are_unpacked_together():
    """With answers or without, with `until` or without, in order; those of other queries apart."""
    layout = Layout(("x",), until=True, terms="text")
    some = Answers(Form.SELECT, ("x",), [("<urn:b>",), (None,), ("<urn:a>",)])
    none = Answers(Form.SELECT, ("x",), [])
    results = [
        Result("q", 0, 1, none, []),
        Result("q", 1, 2, some, [5, None, 6]),
        Result("p", 1, 2, some),
        Result("q", 2, 3, some),
    ]
    rows = [tuple(row.values()) for row in unpacked(layout, *results)]
    assert rows == [
        ("q", 1, 2, "<urn:b>", 5),
        ("q", 1, 2, None, None),
        ("q", 1, 2, "<urn:a>", 6),
        *(("q", 2, 3, term, None) for term in ("<urn:b>", None, "<urn:a>")),
        *(("p", 1, 2, term, None) for term in ("<urn:b>", None, "<urn:a>")),
    ]
    rows = unpacked(Layout(("x",), empty=True, terms="text"), *results[:2])
    assert [(row["close"], row["x"]) for row in rows] == [
        (1, None),
        (2, "<urn:b>"),
        (2, None),
        (2, "<urn:a>"),
    ]


def test_terms_of_every_kind():
    long = "http://www.w3.org/2001/XMLSchema#long"
    row = ("_:b1", f'"7"^^<{long}>', "<<( <urn:a> <urn:p> <urn:b> )>>", '"plain"')
    given = Answers(Form.SELECT, ("b", "n", "t", "s"), [row])
    [found] = unpacked(Layout(given.variables), Result("q", 0, 1, given))
    assert (found["b"], found["b_kind"]) == ("b1", "bnode")
    assert (found["n"], found["n_kind"], found["n_datatype"]) == ("7", "literal", long)
    assert (found["t"], found["t_kind"]) == (row[2], "triple")
    assert (found["s"], found["s_kind"], found["s_datatype"], found["s_lang"]) == (
        "plain",
        "literal",
        None,
        None,
    )


@pytest.mark.parametrize("variables", ["?close", "?x ?X", "?x ?x_kind", "?Query"])
def test_columns_need_names_of_their_own(spark, stream, variables):
    query = f"SELECT {variables} {STREAM} WHERE {{ ?s ?p ?o }}"
    with pytest.raises(UsageError, match=r"two columns .*another name"):
        answers(spark, query, {"urn:s": stream})


def test_words_must_be_known(spark, stream):
    with pytest.raises(UsageError, match=r"terms='txt' .*text"):
        answers(spark, WHERE, {"urn:s": stream}, terms="txt")
    with pytest.raises(UsageError, match=r"dead_letters='drop' .*count, keep, stop"):
        answers(spark, WHERE, {"urn:s": stream}, dead_letters="drop")


MERGED = {
    "count": f"REGISTER QUERY count AS SELECT (COUNT(*) AS ?n) {STREAM} WHERE {{ ?x {IN} ?y }}",
    "ordered": f"REGISTER QUERY ordered AS SELECT ?y {STREAM} WHERE {{ ?x {IN} ?y }} ORDER BY ?y LIMIT 2",
    "asked": f"REGISTER QUERY asked AS ASK {STREAM} WHERE {{ ?x {IN} <urn:place1> ; {IN} ?y }}",
    "made": f"REGISTER STREAM <made> AS CONSTRUCT {{ ?y {IN} <urn:x> }} {STREAM} WHERE {{ ?x {IN} ?y }}",
} | {
    relation: f"""REGISTER {relation} <{relation}> AS SELECT DISTINCT ?y FROM NAMED WINDOW <urn:w> ON <urn:s>
        [RANGE PT2S STEP PT1S] WHERE {{ WINDOW <urn:w> {{ ?x {IN} ?y }} }}"""
    for relation in ("ISTREAM", "DSTREAM")
}


def test_parts_of_shards_are_merged_and_empty_evaluations_known(spark, tmp_path):
    for number in range(3):
        path = tmp_path / "in" / f"{number}.tsv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(lines(1 + 10 * number, 11 + 10 * number)))
        os.utime(path, (number, number))

    def rows_of(shards, name):
        text = spark.readStream.format("text").option("maxFilesPerTrigger", 1).load(str(tmp_path / "in"))
        options = {"shards": shards, "include_empty": True, "terms": "text"}
        rows, running = run(spark, answers(spark, MERGED.values(), {"urn:s": text}, **options), name)
        return Counter(map(tuple, rows)), [each["numInputRows"] for each in running.recentProgress]

    (one, _), (three, batches) = rows_of(1, "whole"), rows_of(3, "parts")
    assert one == three
    assert len([size for size in batches if size]) == 3, "last answers are remembered over micro-batches"
    closes = Counter(row[0] for row in three)
    assert set(closes) == {parse_query(text).name for text in MERGED.values()}
    assert min(closes.values()) > 10, "an evaluation without answers has a row"


def test_the_package_gives_functions_whichever_modules_are_loaded():
    assert session.__name__ == "session"
    assert {answers.__module__, closure.__module__} == {
        "ensue.spark.answer_frame",
        "ensue.spark.closure_frame",
    }


def test_the_guide(spark, tmp_path, monkeypatch):
    """Every Python example of the guide, in order, in a folder that goes away."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    names = {"spark": spark}
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    try:
        for number, block in enumerate(blocks):
            exec(compile(block, f"{GUIDE.name}, example {number + 1}", "exec"), names)
    finally:
        # The guide asks for a session, and gets this one, with what it asks for.
        spark.conf.set("spark.sql.shuffle.partitions", partitions)
    assert list(tmp_path.glob("*/answers/*.parquet")), "what the examples write is there"


def test_values_of_every_kind_are_taken_as_in_process(spark, stream):
    """Names, times, backgrounds and graphs as `tests/test_user_values.py` has them for one process."""
    query = f"REGISTER QUERY where AS SELECT ?x ?y FROM <urn:g> {STREAM} WHERE {{ ?x {IN} ?y . ?x a ?c }}"
    typed = rdflib.Graph()
    for train in ("urn:train1", "urn:train2"):
        typed.add((rdflib.URIRef(train), rdflib.RDF.type, rdflib.URIRef("urn:Train")))
    land = ox.Triple(ox.NamedNode("urn:city"), ox.NamedNode(IN[1:-1]), ox.NamedNode("urn:land"))
    other = [("<urn:city>", IN, rdflib.URIRef("urn:county"))]
    moment, name = datetime(1970, 1, 1, 0, 0, 14, tzinfo=UTC), rdflib.URIRef("urn:s")
    options = {"background": land, "graphs": {ox.NamedNode("urn:g"): typed}, "t0": moment}
    options["disorder"] = {name: Disorder(1000)}
    rows, _ = run(
        spark,
        answers(spark, query, {name: stream}, "transitive-isin", reload={moment: other}, **options),
        "kinds",
    )
    reasoner = Reasoner("transitive-isin", **options)
    reasoner.register(query)
    reasoner.reload(other, at=moment)
    for batch in read_stream(stream):
        reasoner.feed("urn:s", batch)
    assert found(rows) == expected(reasoner.end())
    assert {row.y for row in rows} >= {"urn:land", "urn:county"}
    columns = closure(spark, "RANGE 4s STEP 4s", {ox.NamedNode("urn:s"): stream}, background=typed).columns
    assert columns == ["open", "close", "s", "p", "o", "stamp"]
    network_answers(
        spark, "SELECT ?x WHERE { ?x ?p ?y }", {name: stream}, typed, disorder=options["disorder"]
    )
    with pytest.raises(UsageError, match="does not name a stream"):
        answers(spark, query, {5: stream})
    with pytest.raises(UsageError, match=r"a time of reload is 1\.5, not a time"):
        answers(spark, query, {name: stream}, reload={1.5: other})
