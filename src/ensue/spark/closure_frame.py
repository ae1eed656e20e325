"""`closure`: the reasoned window itself, as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ensue.files import FilePath
from ensue.query.knowledge_in import Backgrounds
from ensue.query.terms_in import ByName, by_name
from ensue.rules.tree import RuleSet
from ensue.spark.answer_frame import answers
from ensue.spark.inputs import Stream

_TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
_NUMBER = r"""CAST(regexp_extract(stamp, '"(-?[0-9]+)"', 1) AS LONG) AS stamp"""


def closure(
    spark: SparkSession,
    window: str,
    streams: ByName[Stream],
    rules: str | FilePath | RuleSet | Iterable[str | FilePath] = (),
    background: Backgrounds = (),
    *,
    include_background: bool = False,
    **options: Any,
) -> DataFrame:
    """Everything that windows hold, and what follows from it: a row for each statement in each window.

        closure(spark, "RANGE 10s STEP 5s", {"urn:positions": "positions.tsv"}, rules="transitive-isin")

    Columns are `open`, `close`, `s`, `p` and `o`, in N-Triples, and `stamp`: the time of the oldest
    statement that the freshest derivation rests on. What the background says by itself is the same in
    every window, so it is left out, unless asked for: then its `stamp` is null. Options are those of
    `answers`.
    """
    over = "".join(f"FROM STREAM <{stream}> [{window}]\n" for stream in by_name(streams))
    bound = "" if include_background else "FILTER(BOUND(?stamp))"
    query = f"""
        SELECT ?s ?p ?o ?stamp {over}
        WHERE {{ ?s ?p ?o . BIND(<{_TIMESTAMP}>(?s, ?p, ?o) AS ?stamp) {bound} }}"""
    frame = answers(spark, query, streams, rules, background, terms="text", **options)
    return frame.selectExpr("open", "close", "s", "p", "o", _NUMBER)
