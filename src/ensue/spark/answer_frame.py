"""`answers`: streams in as DataFrames, answers out as a DataFrame, to go on with in Spark.

`docs/spark.md` is the guide.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import get_args

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from ensue.errors import UsageError, did_you_mean
from ensue.files import FilePath
from ensue.inputlimits import MAX_LINE, check_max_line
from ensue.job import Job, Settings, check_streams, read_query
from ensue.maintain.budget import AtLimit, Budget
from ensue.query.knowledge_in import Backgrounds, knowledge_in
from ensue.query.language import parse_query
from ensue.query.terms_in import ByName, Statements, by_name
from ensue.query.timed_in import Time, time_in
from ensue.query.tree import ContinuousQuery
from ensue.query.updates import reloaded
from ensue.reasoner import rule_set
from ensue.rules.tree import RuleSet
from ensue.spark.answer_rows import DeadLetters, Layout, Terms, Unpack
from ensue.spark.inputs import Stream, sources_of
from ensue.spark.merge_rows import MergeRows
from ensue.spark.payload_files import lasting
from ensue.spark.pipeline import stepped
from ensue.spark.plan import Plan, plan_of
from ensue.spark.processor import ANSWERS, COUNTERS, FAILED, LETTERS, STEPPED
from ensue.spark.results import EVENTS
from ensue.windows.frontier import Disorder, LatePolicy
from ensue.windows.jump_guard import MAX_JUMP
from ensue.windows.report import Report
from ensue.windows.spec import Bounds
from ensue.windows.stretch import MAX_EMPTY

Query = str | os.PathLike[str] | ContinuousQuery
"""A query: its text, the path of its file (a text that ends so is one), or parsed already."""

_FILE = ".rq"


def answers(
    spark: SparkSession,
    queries: Query | Iterable[Query],
    streams: ByName[Stream],
    rules: str | FilePath | RuleSet | Iterable[str | FilePath] = (),
    background: Backgrounds = (),
    *,
    graphs: ByName[FilePath | Statements] | None = None,
    allow: FilePath | Iterable[FilePath] = (),
    reload: Mapping[Time, Backgrounds] | None = None,
    disorder: int | Disorder | ByName[Disorder] = 0,
    late: LatePolicy = "admit",
    strategy: str = "auto",
    evaluator: str = "auto",
    t0: Time = 0,
    bounds: Bounds = "(]",
    report: Report | None = None,
    until: bool = False,
    max_empty: int | None = MAX_EMPTY,
    max_jump: int | None = MAX_JUMP,
    shards: int = 1,
    keep_all: bool = False,
    expand: bool = False,
    fixed_schema: bool = False,
    max_facts: int | None = None,
    max_memory: int | str | None = None,
    max_rounds: int | None = None,
    at_limit: AtLimit = "stop",
    terms: Terms = "parts",
    include_empty: bool = False,
    dead_letters: DeadLetters = "count",
    max_line: int = MAX_LINE,
    name: str = "ensue",
) -> DataFrame:
    """The answers of continuous queries, as a streaming DataFrame: a row for each answer.

        frame = answers(
            spark,
            "SELECT ?x FROM STREAM <urn:positions> [RANGE 10s STEP 5s] WHERE { ?x <urn:in> <urn:berlin> }",
            streams={"urn:positions": spark.readStream.format("socket").options(**server).load()},
            rules="transitive-isin",
        )
        frame.select("close", "x").writeStream.format("console").start()

    Columns are `query`, `open` and `close`, the window (open, close] in milliseconds; for each variable `x`
    of any query `x`, `x_kind` (uri, literal, bnode), `x_datatype` and `x_lang`, or with `terms="text"` only
    `x`, in N-Triples; triples are `subject`, `predicate` and `object`; ASK has `answer`. A query without
    REGISTER is named by its file, or `query1` and so on.

    `reload` has for a time what is all of the background from then on; backgrounds, graphs and times are as
    for `Reasoner`.
    `streams` are streaming DataFrames (`inputs.py` says of which columns), or paths, by IRI. `disorder` is
    how many milliseconds older than the newest statement one may be, `late` what becomes of those that are
    older; or it says both itself. `shards`: over how many partitions the work is spread, where that is
    possible; `keep_all`, `expand` and `fixed_schema` as in `ensue run`. `until` adds a column: when an
    answer will leave if nothing more arrives. `include_empty`: an evaluation without answers has a row too,
    without values. Lines that cannot be read, or have more than
    `max_line` bytes, are counted and left out; or kept as rows with a column
    `dead`; or the first one stops the query. What is counted is in the progress of the streaming query,
    among the observed metrics of this `name`. `max_facts` is for each shard, `max_memory` for each worker
    process; `at_limit="partial"` adds a column `partial`, which says in JSON what an evaluation went without.
    The rest is as for `Reasoner`.
    """
    check_word("terms", terms, get_args(Terms))
    check_word("dead_letters", dead_letters, get_args(DeadLetters))
    asked = list(_parsed(queries))
    named = by_name(streams)
    updates = [reloaded(given, {}, time_in(at, "a time of reload")) for at, given in (reload or {}).items()]
    settings = Settings(
        strategy=strategy,
        evaluator=evaluator,
        disorder=disorder_of(disorder, late),
        t0=time_in(t0, "t0"),
        bounds=bounds,
        report=report or Report(),
        until=until,
        max_empty=max_empty,
        max_jump=max_jump,
        fixed_schema=fixed_schema,
        budget=Budget.of(max_facts, max_memory, max_rounds, at_limit),
    )
    job = Job.of(asked, rule_set(rules), knowledge_in(background, graphs, allow), settings, updates)
    check_streams(named, job.reasoner().streams, 'add it: streams={{"{}": ...}}')
    layout = Layout.of(
        asked,
        terms=terms,
        until=until,
        empty=include_empty,
        dead_letters=dead_letters,
        partial=at_limit == "partial",
    )
    plan = plan_of(job, shards=shards, keep_all=keep_all, expand=expand, max_line=check_max_line(max_line))
    rows = stepped(sources_of(spark, named, plan), [plan]).observe(name, *counted())
    return table(_merged(rows, plan) if _wants_merge(layout, plan) else rows, layout)


def disorder_of(given: int | Disorder | ByName[Disorder], late: LatePolicy) -> Disorder | dict[str, Disorder]:
    """What is allowed of streams: so many milliseconds, or said by itself, of all or by name."""
    if isinstance(given, int):
        return Disorder(given, late)
    return by_name(given) if isinstance(given, Mapping) else given


def files_of(given: FilePath | Iterable[FilePath]) -> Iterable[FilePath]:
    """Files that may be one."""
    return [given] if isinstance(given, str | os.PathLike) else given


def check_word(option: str, word: str, words: tuple[str, ...]) -> None:
    """Raise UsageError where an option has another word than one of these."""
    if word not in words:
        hint = did_you_mean(word, words) or f"one of {', '.join(words)}"
        raise UsageError(f"{option}='{word}'", hint=hint)


def _wants_merge(layout: Layout, plan: Plan) -> bool:
    """Whether rows of several shards have to meet. Whether others have answers, too, no shard knows."""
    return len(plan.keys) > 1 and (layout.empty or bool(plan.merging().queries))


def _merged(rows: DataFrame, plan: Plan) -> DataFrame:
    """Rows of `processor.STEPPED`, those of an evaluation as one.

    All of them are in one micro-batch, so what brings them together has nothing to remember.
    """
    return rows.repartition(len(plan.keys), "query").mapInArrow(
        MergeRows.of(plan, lasting(rows.sparkSession).pack), STEPPED
    )


def _parsed(queries: Query | Iterable[Query]) -> Iterator[ContinuousQuery]:
    several = [queries] if isinstance(queries, str | os.PathLike | ContinuousQuery) else queries
    for number, query in enumerate(several, start=1):
        if isinstance(query, ContinuousQuery):
            yield query
        elif isinstance(query, str) and not query.rstrip().endswith(_FILE):
            yield parse_query(query, name=f"query{number}")
        else:
            yield read_query(str(Path(query)))


def table(rows: DataFrame, layout: Layout) -> DataFrame:
    """Rows of `processor.STEPPED` as answers."""
    wanted = [ANSWERS, EVENTS, FAILED, *([] if layout.dead_letters == "count" else [LETTERS])]
    kept = rows.where(F.col("kind").isin(wanted))
    return kept.mapInArrow(Unpack(layout), from_arrow_schema(layout.schema()))


def counted() -> Iterator[Column]:
    """What shards have counted since the stream began. Each hears of all that comes, and does its part."""
    told = F.when(F.col("kind") == COUNTERS, F.col("payload").cast("string"))
    for name in ("admitted", "late", "frontier", "windows", "skipped"):
        yield F.max(F.get_json_object(told, f"$.{name}").cast("long")).alias(name)
    for name in ("answers", "unkeyed", "dead_letters"):
        yield F.sum(F.get_json_object(told, f"$.{name}").cast("long")).alias(name)
