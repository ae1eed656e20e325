"""Limits of derivation on Spark: the same error as in process, and the same marks on partial answers."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from pyspark.errors import StreamingQueryException

from ensue import Reasoner
from ensue.rules.load import parse_rules
from ensue.spark import answers
from ensue.streamfile import read_stream

RULES = parse_rules("""
    # priority: 1
    [square: (?a <urn:p> ?x), (?b <urn:p> ?y) -> (?a <urn:q> ?b)]
    # priority: 2
    [inverse: (?a <urn:p> ?x) -> (?x <urn:of> ?a)]
""")
QUERY = "REGISTER QUERY q AS SELECT ?s ?p ?o FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?s ?p ?o }"
LIMITS = {"max_facts": 700, "at_limit": "partial"}


@pytest.fixture
def stream(tmp_path):
    points = [(1000 * i, f"<urn:b{i}>") for i in range(1, 10)]
    points += [(10_001 + i, f"<urn:a{i}>") for i in range(40)]
    points += [(1000 * i, f"<urn:c{i}>") for i in range(16, 40)]
    path = tmp_path / "s.tsv"
    path.write_text("".join(f"{time}\t{name} <urn:p> <urn:o> .\n" for time, name in points))
    return path


def run(spark, frame, name):
    query = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.table(name).collect()


def test_a_shard_that_exceeds_the_budget_names_the_rule(spark, stream):
    frame = answers(spark, QUERY, {"urn:s": stream}, RULES, max_facts=700)
    with pytest.raises(StreamingQueryException, match="max_facts = 700; by rule: square derived"):
        run(spark, frame, "exceeded")


def test_partial_answers_are_those_of_one_process_and_marked(spark, stream):
    frame = answers(spark, QUERY, {"urn:s": stream}, RULES, terms="text", **LIMITS)
    assert frame.columns == ["query", "open", "close", "s", "p", "o", "partial"]
    rows = run(spark, frame, "partial_answers")
    reasoner = Reasoner(RULES, **LIMITS)
    reasoner.register(QUERY)
    for batch in read_stream(stream):
        reasoner.feed("urn:s", batch)
    wanted = list(reasoner.end())
    assert [result.close for result in wanted if not result.complete] == [15_000, 20_000]
    assert Counter((row.close, row.s, row.p, row.o) for row in rows) == Counter(
        (result.close, *row) for result in wanted for row in result.answers.rows
    )
    marks = {row.close: row.partial and set(json.loads(row.partial)["rules"]) for row in rows}
    assert marks == {result.close: result.partial and {"square"} for result in wanted}
