"""Rules over lists on Spark: the same answers as in process, and a list on a stream stops the query."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from ensue import Reasoner
from ensue.spark import answers
from ensue.streamfile import read_stream

RULES = Path(__file__).parents[1] / "rules" / "lists" / "every-kind.rules"
QUERY = """REGISTER QUERY q AS SELECT ?x ?t FROM STREAM <urn:s> [RANGE 4s STEP 2s]
    WHERE { ?x a ?t FILTER(?t IN (<urn:C>, <urn:U>)) }"""
ONTOLOGY = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
<urn:C> owl:intersectionOf (<urn:A> <urn:B>) . <urn:U> owl:unionOf (<urn:C> <urn:D>) ."""


def lines():
    kinds = ["A", "B", "D", "E"]
    for number in range(1, 40):
        yield f"{number * 500}\t<urn:x{number % 3}> a <urn:{kinds[number % 4]}> .\n".replace(
            " a ", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        )


@pytest.fixture
def files(tmp_path):
    (tmp_path / "onto.ttl").write_text(ONTOLOGY)
    (tmp_path / "s.tsv").write_text("".join(lines()))
    return tmp_path


def run(spark, files, name, **options):
    frame = answers(spark, QUERY, {"urn:s": files / "s.tsv"}, RULES, files / "onto.ttl", **options)
    frame.writeStream.format("memory").queryName(name).trigger(availableNow=True).start().awaitTermination()
    return sorted((row.close, row.x, row.t) for row in spark.table(name).collect())


def in_process(files):
    reasoner = Reasoner(RULES, [files / "onto.ttl"])
    reasoner.register(QUERY)
    for batch in read_stream(files / "s.tsv"):
        reasoner.feed("urn:s", batch)
    results = [*reasoner.advance(), *reasoner.end()]
    return sorted((r.close, *(term[1:-1] for term in row)) for r in results for row in r.answers.rows)


@pytest.mark.parametrize("options", [{}, {"shards": 2, "fixed_schema": True}])
def test_the_same_answers_as_in_process(spark, files, options):
    expected = in_process(files)
    assert {kind for _, _, kind in expected} == {"urn:C", "urn:U"}
    assert run(spark, files, f"lists{len(options)}", **options) == expected


@pytest.mark.parametrize("options", [{}, {"keep_all": True}])
def test_a_list_on_a_stream_stops_the_query(spark, files, options):
    owl = "http://www.w3.org/2002/07/owl#"
    with (files / "s.tsv").open("a") as stream:
        stream.write(f"30000\t<urn:E> <{owl}unionOf> <urn:l> .\n")
    with pytest.raises(
        StreamingQueryException, match=r"the stream <urn:s> brings <urn:E> .*into the background"
    ):
        run(spark, files, f"stops{len(options)}", **options)
