"""What a user gives for streams, made into sources of the pipeline: paths, or streaming DataFrames.

| columns of a DataFrame | what a row is |
|---|---|
| `value` | a line `time TAB statement`, text or bytes: Spark's socket and text sources, Kafka |
| `time`, `statement` | a time and a statement in N-Triples or N-Quads |
| `time`, `s`, `p`, `o`, perhaps `graph` | the same with a column for each term, in N-Triples |
| as `format("ensue")` has them | lines, or with `rows=ranges` where lines are, which costs much less |

A time is a whole number of milliseconds or a timestamp. Other columns are left out, but for `file` and
`offset`, which say where a dead letter is from, and `stream`: rows that name another stream are not of this
one. A row with a time and no statement is a heartbeat: see `heartbeats.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    BinaryType,
    DataType,
    IntegralType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from ensue.errors import UsageError
from ensue.files import FilePath
from ensue.spark.pipeline import AnyPlan, Source
from ensue.spark.source import replayed

Stream = DataFrame | FilePath
"""A streaming DataFrame, or the path of a file or directory, which is read to its end."""

_TERMS = ("s", "p", "o")
_RANGES = frozenset({"file", "number", "begin", "end", "scoped", "ended"})
_WANTED = 'value; or time and statement; or time, s, p and o; or those of format("ensue") with rows=ranges'


def sources_of(spark: SparkSession, streams: Mapping[str, Stream], plan: AnyPlan) -> Iterator[Source]:
    """The sources of a plan's streams: one for all that are paths, one for each DataFrame."""
    paths = {iri: given for iri, given in streams.items() if not isinstance(given, DataFrame)}
    if paths:
        lines = replayed(spark, paths, maxLine=plan.max_line)
        yield Source(lines, {iri: plan.lane(iri) for iri in paths})
    for iri, given in streams.items():
        if isinstance(given, DataFrame):
            lane = plan.lane(iri)
            # Ranges may name the stream, lines never do.
            yield Source(rows_of(iri, given), {"": lane, iri: lane})


def rows_of(iri: str, frame: DataFrame) -> DataFrame:
    """A user's DataFrame as the pipeline takes it; an error if it cannot be a stream."""
    if not frame.isStreaming:
        hint = "read it with spark.readStream, or give the path of the file instead"
        raise UsageError(f"the DataFrame for <{iri}> is not a streaming one", hint=hint)
    if "stream" in frame.columns:
        named = F.coalesce(F.col("stream"), F.lit(""))
        frame = frame.where(named.isin("", iri))
    if frozenset(frame.columns) >= _RANGES:
        return frame
    place = [name for name in ("file", "offset") if name in frame.columns]
    return frame.select(*_line(iri, frame), *place)


def _line(iri: str, frame: DataFrame) -> list[Column]:
    """The columns that `decode` reads."""
    names = set(frame.columns)
    if "time" in names and "statement" in names:
        _check_texts(iri, frame, ["statement"])
        return _timed(_time(iri, frame), F.col("statement"), F.col("statement").isNull())
    if names >= {"time", *_TERMS}:
        terms = [name for name in (*_TERMS, "graph") if name in names]
        _check_texts(iri, frame, terms)
        return _timed(_time(iri, frame), _statement(terms), F.coalesce(*_TERMS).isNull())
    if "value" in names and "time" not in names:
        _check_texts(iri, frame, ["value"])
        return [F.col("value")]
    raise UsageError(f"the DataFrame for <{iri}> has the columns {', '.join(frame.columns)}", hint=_WANTED)


def _timed(time: Column, statement: Column, nothing: Column) -> list[Column]:
    """Time and statement: null for a heartbeat, and never null without a time, so that it is seen."""
    absent = F.when(time.isNull(), "null")
    return [time.alias("time"), F.when(nothing, absent).otherwise(statement).alias("statement")]


def _statement(terms: list[str]) -> Column:
    """A statement from its terms. One that is null leaves a word that is no term, so the row is dead."""
    written = [F.coalesce(F.col(name), F.lit("null" if name in _TERMS else "")) for name in terms]
    return F.concat_ws(" ", *written, F.lit("."))


def _time(iri: str, frame: DataFrame) -> Column:
    kind = frame.schema["time"].dataType
    if isinstance(kind, IntegralType):
        return F.col("time").cast("long")
    if isinstance(kind, TimestampType | TimestampNTZType):
        return F.unix_millis(F.col("time").cast("timestamp"))
    hint = "milliseconds since 1970 as a whole number, or a timestamp: cast it"
    raise UsageError(f"the column time for <{iri}> is {kind.simpleString()}", hint=hint)


def _check_texts(iri: str, frame: DataFrame, names: Iterable[str]) -> None:
    for name in names:
        kind: DataType = frame.schema[name].dataType
        if not isinstance(kind, StringType | BinaryType):
            hint = "text in N-Triples: cast it, or put it into quotes or angle brackets"
            raise UsageError(f"the column {name} for <{iri}> is {kind.simpleString()}", hint=hint)
