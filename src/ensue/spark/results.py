"""Results on their way out of a shard: the answers of an evaluation packed into one row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

import pyarrow as pa

from ensue.query.answers import Answers
from ensue.query.output import Result
from ensue.query.tree import Form

TRIPLE = ("subject", "predicate", "object")
"""The names of the columns of a constructed triple."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def pack(result: Result) -> bytes:
    """The answers of a result, and what is known of them."""
    answers = result.answers
    width = len(answers.rows[0]) if answers.rows else len(answers.variables)
    columns = list(zip(*answers.rows, strict=True)) if answers.rows else [()] * width
    arrays = [pa.array(column, pa.string()) for column in columns]
    until = [] if result.until is None else [pa.array(result.until, pa.int64())]
    about = {
        "form": answers.form,
        "variables": list(answers.variables),
        "rows": len(answers.rows),
        "exact": result.exact,
        "until": result.until is not None,
    }
    names = [str(number) for number in range(len(arrays) + len(until))]
    schema = pa.schema([(name, it.type) for name, it in zip(names, [*arrays, *until], strict=True)])
    schema = schema.with_metadata({"about": json.dumps(about)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS) as writer:
        if names:
            writer.write_batch(pa.record_batch([*arrays, *until], schema=schema))
    return bytes(sink.getvalue())


def unpack(query: str, open_: int, close: int, data: bytes) -> Result:
    """What `pack` packed.

    >>> answers = Answers(Form.SELECT, ("x", "y"), [("<urn:a>", None)])
    >>> unpack("q", 0, 10, pack(Result("q", 0, 10, answers, [20]))) == Result("q", 0, 10, answers, [20])
    True
    """
    about, columns = read(data)
    until = columns.pop().to_pylist() if about["until"] else None
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True)) if columns else []
    # What has no columns has rows all the same: the yes of ASK.
    rows = rows or [()] * about["rows"]
    answers = Answers(Form(about["form"]), tuple(about["variables"]), rows)
    return Result(query, open_, close, answers, until, exact=about["exact"])


def read(data: bytes) -> tuple[dict[str, Any], list[pa.Array]]:
    """What is known of packed answers, and their columns; the last is `until`, if it is there."""
    with pa.ipc.open_stream(data) as reader:
        about = json.loads(reader.schema.metadata[b"about"])
        batches = list(reader)
    return about, list(batches[0].columns) if batches else []


class Row(Protocol):
    """A row of answers: see `processor.STEPPED`."""

    shard: int
    query: str
    open: int
    close: int
    payload: bytes


def gathered(rows: Iterable[Row]) -> list[Result]:
    """The results of a micro-batch in order, what several shards gave of an evaluation together.

    Every shard evaluates the same, in the same order: the n-th evaluation of a query is the same in all.
    """
    parts: dict[tuple[str, int], list[Result]] = {}
    counts: Counter[tuple[int, str]] = Counter()
    for row in rows:
        number = counts[row.shard, row.query]
        counts[row.shard, row.query] += 1
        result = unpack(row.query, row.open, row.close, bytes(row.payload))
        parts.setdefault((row.query, number), []).append(result)
    return [_merged(each) for each in parts.values()]


def _merged(parts: list[Result]) -> Result:
    first = parts[0]
    if len(parts) == 1:
        return first
    rows = [row for part in parts for row in part.answers.rows]
    until = None if first.until is None else [each for part in parts for each in part.until or ()]
    answers = Answers(first.answers.form, first.answers.variables, rows)
    exact = all(part.exact for part in parts)
    return Result(first.query, first.open, first.close, answers, until, exact=exact)
