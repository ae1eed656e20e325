r"""Decode: Arrow batches of timed lines into columns, and the lines that cannot be read into dead letters.

A line is what `ensue.streamfile` reads, `<milliseconds><TAB><statement> .`, and what comes out is what comes
out there, to the letter. Two paths, chosen line by line:

- *Fast*: a line in the plainest spelling, whose terms are canonical text as they stand. One regular
  expression finds such lines (`plainlines.py`), and then they only need to be cut at spaces, all at once.
- *Slow*: any other line goes to the reader of stream files, which validates, rewrites, or says what is wrong.

Blank nodes belong to the file that the line came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ensue.files import TermText, scope_of
from ensue.spark.plainlines import PLAIN_QUAD, PLAIN_TRIPLE, may_not_be_canonical
from ensue.streamfile import Fault, Timed, read_block, read_line, text_of

STATEMENTS = pa.schema(
    [("time", pa.int64()), ("s", pa.string()), ("p", pa.string()), ("o", pa.string()), ("graph", pa.string())]
)
"""A statement: its time in ms, its terms as canonical text, its graph (null: the default graph)."""

DEAD = pa.schema(
    [("file", pa.string()), ("offset", pa.int64()), ("reason", pa.string()), ("line", pa.string())]
)
"""A dead letter: where a line was (its file, and how many bytes before it), why it is dead, and its text."""

DECODED = pa.schema([*STATEMENTS, *DEAD])
"""Statements and dead letters in one table: a dead letter has a `reason`."""

DECODED_DDL = (
    "time long, s string, p string, o string, graph string, "
    "file string, offset long, reason string, line string"
)
"""DECODED as Spark writes it."""

_BY_THE_LINE = 16
"""So few lines are not worth parsing in one go."""

_NULL = Fault(1, "null instead of a line")

_Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a batch of lines says, in the order of its lines."""

    statements: pa.RecordBatch
    dead: pa.RecordBatch


def decode(batch: pa.RecordBatch, *, origin: str = "", scoped: bool = False) -> Decoded:
    r"""Statements and dead letters of a batch of lines.

    Lines are in a column `value` (text or bytes), or cut at the tab in columns `time` and `statement`.
    Columns `file` and `offset` say where a line is from; where there is no `file`, all are from `origin`.
    `scoped`: blank nodes are under the scopes of their documents already.

    >>> lines = ["5\t<urn:a> <urn:p> <urn:b> .", "6\t<urn:a> <urn:p> 'b' ."]
    >>> decoded = decode(pa.record_batch({"value": lines, "offset": [0, 29]}), origin="s.tsv")
    >>> decoded.statements.to_pylist()
    [{'time': 5, 's': '<urn:a>', 'p': '<urn:p>', 'o': '<urn:b>', 'graph': None}]
    >>> decoded.dead.column("offset").to_pylist()
    [29]
    """
    given = given_of(batch, origin, scoped=scoped)
    plain, others = plain_and_others(given)
    looked_at, dead = _closer_look(given, others)
    return Decoded(_in_order([*plain, looked_at]), dead)


def decode_all(batches: Iterable[pa.RecordBatch], *, origin: str = "") -> Iterator[pa.RecordBatch]:
    """The same for many batches, as DECODED: what Spark's `mapInArrow` takes."""
    for batch in batches:
        decoded = decode(batch, origin=origin)
        for part in (decoded.statements, decoded.dead):
            if part.num_rows:
                yield _widened(part)


@dataclass(frozen=True, slots=True)
class Given:
    """Lines and where they are from."""

    lines: pa.StringArray
    files: pa.StringArray
    offsets: pa.Int64Array
    scoped: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Statements, and which of the lines each is from."""

    rows: _Rows
    statements: pa.RecordBatch


def given_of(batch: pa.RecordBatch, origin: str, *, scoped: bool = False) -> Given:
    """The lines of a batch as `decode` takes it."""
    names, size = batch.schema.names, batch.num_rows
    value = batch.column("value") if "value" in names else _rejoined(batch)
    # What claims to be text need not be UTF-8: it is seen as text unchecked, and the expressions check it.
    lines = value.cast(pa.binary()).view(pa.string())
    files = pc.fill_null(batch.column("file"), origin) if "file" in names else pa.repeat(origin, size)
    offsets = batch.column("offset").cast(pa.int64()) if "offset" in names else pa.nulls(size, pa.int64())
    return Given(lines, files, offsets, scoped)


def _rejoined(batch: pa.RecordBatch) -> pa.BinaryArray:
    """Lines from times and statements; where there is no time, the statement is the whole line."""
    times = batch.column("time").cast(pa.string()).cast(pa.binary())
    statements = batch.column("statement").cast(pa.binary())
    return pc.binary_join_element_wise(times, statements, b"\t", null_handling="skip")


def plain_and_others(given: Given) -> tuple[list[Part], _Rows]:
    """The fast path: the statements of all plain lines, and the rows of the others."""
    rest = np.arange(len(given.lines))
    parts: list[Part] = []
    for pattern, width in ((PLAIN_TRIPLE, 3), (PLAIN_QUAD, 4)):
        # An expression is compiled anew for every batch, which takes half a millisecond.
        if not parts or len(rest):
            part, rest = _plain(given, rest, pattern, width)
            parts.append(part)
    return parts, rest


def _plain(given: Given, rows: _Rows, pattern: str, width: int) -> tuple[Part, _Rows]:
    """The statements of those rows that are plain lines of so many terms, and the rows that are not."""
    lines = _take(given.lines, rows)
    fits = pc.fill_null(pc.match_substring_regex(lines, pattern), False)
    statements = _cut(lines.filter(fits), width)
    sure = pc.invert(may_not_be_canonical(statements.column("o")))
    accepted = fits.to_numpy(zero_copy_only=False).copy()
    accepted[accepted] = sure.to_numpy(zero_copy_only=False)
    if not pc.all(sure).as_py():
        statements = statements.filter(sure)
    plain = rows[accepted]
    if not given.scoped:
        statements = _scoped(statements, _take(given.files, plain))
    return Part(plain, statements), rows[~accepted]


def _take(values: pa.Array, rows: _Rows) -> pa.Array:
    # All is the common case, and costs nothing.
    return values if len(rows) == len(values) else values.take(pa.array(rows))


def _cut(lines: pa.StringArray, width: int) -> pa.RecordBatch:
    """Plain lines of so many terms, cut into columns. Only the object has spaces of its own."""
    start, p, end = _pieces(pc.split_pattern(lines, " ", max_splits=2), 3)
    time, s = _pieces(pc.split_pattern(start, "\t", max_splits=1), 2)
    o, *graph, _dot = _pieces(pc.split_pattern(end, " ", max_splits=width - 2, reverse=True), width - 1)
    name = graph[0] if graph else pa.nulls(len(lines), pa.string())
    return pa.record_batch([time.cast(pa.int64()), s, p, o, name], schema=STATEMENTS)


def _pieces(lists: pa.ListArray, count: int) -> list[pa.StringArray]:
    """Columns from lists that all have so many pieces."""
    pieces = lists.values
    return [pieces.take(pa.array(np.arange(first, len(pieces), count))) for first in range(count)]


def _scoped(statements: pa.RecordBatch, files: pa.StringArray) -> pa.RecordBatch:
    """The same with blank nodes under the scopes of their files."""
    columns = {name: statements.column(name) for name in STATEMENTS.names}
    for name in ("s", "o", "graph"):
        blank = pc.starts_with(columns[name], "_:")
        if pc.any(blank).as_py():
            labels = pc.utf8_slice_codeunits(columns[name], 2)
            scoped = pc.binary_join_element_wise(_scopes(files), labels, "")
            columns[name] = pc.if_else(blank, scoped, columns[name])
    return pa.record_batch(columns, schema=STATEMENTS)


def _scopes(files: pa.StringArray) -> pa.StringArray:
    coded = files.dictionary_encode()
    return pa.array(map(scope_of, coded.dictionary.to_pylist()), pa.string()).take(coded.indices)


def _closer_look(given: Given, rows: _Rows) -> tuple[Part, pa.RecordBatch]:
    """The slow path."""
    raws = _take(given.lines, rows).view(pa.binary()).to_pylist()
    files, offsets = (_take(column, rows).to_pylist() for column in (given.files, given.offsets))
    found = list(_read_by_file(files, raws, given.scoped))
    good = [(row, *it) for row, it in zip(rows, found, strict=True) if isinstance(it, tuple)]
    dead = [
        (file, offset, it.reason, text_of(raw or b""))
        for file, offset, raw, it in zip(files, offsets, raws, found, strict=True)
        if isinstance(it, Fault)
    ]
    kept, *columns = _columns(good, 1 + len(STATEMENTS))
    part = Part(np.array(kept, np.int64), pa.record_batch(columns, schema=STATEMENTS))
    return part, pa.record_batch(_columns(dead, len(DEAD)), schema=DEAD)


def _columns(rows: list[tuple[Any, ...]], width: int) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True)) or [()] * width


def _read_by_file(files: list[str], raws: list[bytes | None], scoped: bool) -> Iterator[Timed | Fault | None]:
    for file, run in groupby(zip(files, raws, strict=True), lambda pair: pair[0]):
        yield from _read([raw for _, raw in run], TermText(None if scoped else file, keep_labels=True))


def _read(raws: list[bytes | None], text: TermText) -> Iterator[Timed | Fault | None]:
    """What each line says: many parsed in one go, or else in halves, so that one bad line costs little."""
    if len(raws) <= _BY_THE_LINE:
        yield from (_NULL if raw is None else read_line(raw, text) for raw in raws)
    elif found := _read_in_one_go(raws, text):
        yield from found
    else:
        half = len(raws) // 2
        yield from _read(raws[:half], text)
        yield from _read(raws[half:], text)


def _read_in_one_go(raws: list[bytes | None], text: TermText) -> list[Timed] | None:
    block = [raw.rstrip(b"\r\n") + b"\n" for raw in raws if raw is not None]
    if any(b"\n" in line[:-1] for line in block):
        return None
    found = read_block(block, text)
    return found if found and len(found) == len(raws) else None


def _in_order(parts: list[Part]) -> pa.RecordBatch:
    some = [part for part in parts if len(part.rows)] or parts[:1]
    if len(some) == 1:
        return some[0].statements
    order = np.argsort(np.concatenate([part.rows for part in some]))
    return pa.concat_batches([part.statements for part in some]).take(pa.array(order))


def _widened(part: pa.RecordBatch) -> pa.RecordBatch:
    names, size = part.schema.names, part.num_rows
    columns = [
        part.column(field.name) if field.name in names else pa.nulls(size, field.type) for field in DECODED
    ]
    return pa.record_batch(columns, schema=DECODED)
