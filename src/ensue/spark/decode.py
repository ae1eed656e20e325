r"""Decode: Arrow batches of timed lines into blocks, and the lines that cannot be read into dead letters.

A line is what `ensue.streamfile` reads, `<milliseconds><TAB><statement> .`, and what comes out is what comes
out there, to the letter. Two paths, chosen line by line:

- *Fast*: a line in the plainest spelling, whose terms are canonical text as they stand. The kernel goes once
  over all lines, finds these, and numbers the terms of those that pass a sieve (`maintain/kernel/lines.py`).
- *Slow*: any other line goes to the reader of stream files, which validates, rewrites, or says what is wrong.

Blank nodes belong to the file that the line came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ensue.files import TermText, scope_of
from ensue.inputlimits import MAX_LINE, SHOWN, LongLine
from ensue.maintain.kernel.lines import scan
from ensue.maintain.kernel.sieve import EVERYTHING, Sieve
from ensue.model import by_column
from ensue.spark.blocks import NO_GRAPH, Block
from ensue.spark.unread import as_long_line, of_line
from ensue.streamfile import Fault, Timed, read_block, read_line, text_of
from ensue.windows.runs import Runs

STATEMENTS = pa.schema(
    [("time", pa.int64()), ("s", pa.string()), ("p", pa.string()), ("o", pa.string()), ("graph", pa.string())]
)
"""A statement: its time in ms, its terms as canonical text, its graph (null: the default graph)."""

DEAD = pa.schema(
    [("file", pa.string()), ("offset", pa.int64()), ("reason", pa.string()), ("line", pa.string())]
)
"""A dead letter: where a line was (its file, and how many bytes before it), why it is dead, and its text.

What of a document could not be read has no offset: its reason says where it was, as far as that is known.
"""

DECODED = pa.schema([*STATEMENTS, *DEAD])
"""Statements and dead letters in one table: a dead letter has a `reason`."""

DECODED_DDL = (
    "time long, s string, p string, o string, graph string, "
    "file string, offset long, reason string, line string"
)
"""DECODED as Spark writes it."""

_BY_THE_LINE = 16
"""So few lines are not worth parsing in one go."""

_LONGEST_STAND_IN = 8 * SHOWN

_NONE_DEAD = pa.RecordBatch.from_pylist([], schema=DEAD)

_NULL = Fault(1, "null instead of a line")

_Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a batch of lines says, in the order of its lines."""

    block: Block
    dead: pa.RecordBatch

    @property
    def statements(self) -> pa.RecordBatch:
        """The statements of the block, as STATEMENTS."""
        block = self.block
        graph = pa.array(block.graph, mask=block.graph == NO_GRAPH)
        terms = (block.terms.take(pa.array(column)) for column in (block.s, block.p, block.o))
        return pa.record_batch([block.stamps, *terms, block.terms.take(graph)], schema=STATEMENTS)


def decode(
    batch: pa.RecordBatch,
    *,
    origin: str = "",
    scoped: bool = False,
    sieve: Sieve = EVERYTHING,
    max_line: int | None = MAX_LINE,
) -> Decoded:
    r"""Statements and dead letters of a batch of lines.

    Lines are in a column `value` (text or bytes), or cut at the tab in columns `time` and `statement`.
    Columns `file` and `offset` say where a line is from; where there is no `file`, all are from `origin`.
    `scoped`: blank nodes are under the scopes of their documents already. Plain lines that do not pass the
    `sieve` are counted, with their times, and left out. A line of more than `max_line` bytes is a dead
    letter.

    >>> lines = ["5\t<urn:a> <urn:p> <urn:b> .", "6\t<urn:a> <urn:p> 'b' ."]
    >>> decoded = decode(pa.record_batch({"value": lines, "offset": [0, 29]}), origin="s.tsv")
    >>> decoded.statements.to_pylist()
    [{'time': 5, 's': '<urn:a>', 'p': '<urn:p>', 'o': '<urn:b>', 'graph': None}]
    >>> decoded.dead.column("offset").to_pylist()
    [29]
    """
    given = given_of(batch, origin, scoped=scoped)
    if max_line is not None:
        given = replace(given, lines=_shortened(given.lines, max_line))
    plain, others = plain_and_others(given, sieve)
    if not len(others):
        return Decoded(plain.block, _NONE_DEAD)
    looked_at, dead = _closer_look(given, others)
    return Decoded(_in_order(plain, looked_at), dead)


def decode_all(batches: Iterable[pa.RecordBatch], *, origin: str = "") -> Iterator[pa.RecordBatch]:
    """The same for many batches, as DECODED: what Spark's `mapInArrow` takes."""
    for batch in batches:
        decoded = decode(batch, origin=origin)
        for part in (decoded.statements, decoded.dead):
            if part.num_rows:
                yield _widened(part)


@dataclass(frozen=True, slots=True)
class Given:
    """Lines and where they are from: each from its file, or all from one."""

    lines: pa.StringArray
    files: pa.StringArray | str
    offsets: pa.Int64Array
    scoped: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Statements, and the lines that these, and those that were left out, are from."""

    rows: _Rows
    block: Block


def given_of(batch: pa.RecordBatch, origin: str, *, scoped: bool = False) -> Given:
    """The lines of a batch as `decode` takes it."""
    names, size = batch.schema.names, batch.num_rows
    value = batch.column("value") if "value" in names else _rejoined(batch)
    # What claims to be text need not be UTF-8: it is seen as text unchecked, and whoever reads it checks it.
    lines = value.cast(pa.binary()).view(pa.string())
    files = pc.fill_null(batch.column("file"), origin) if "file" in names else origin
    offsets = batch.column("offset").cast(pa.int64()) if "offset" in names else pa.nulls(size, pa.int64())
    return Given(lines, files, offsets, scoped)


def _shortened(lines: pa.StringArray, max_line: int) -> pa.StringArray:
    """The same with others in place of those that are too long."""
    lengths = pc.binary_length(lines)
    if (pc.max(lengths).as_py() or 0) <= max_line:
        return lines
    long = pc.fill_null(pc.greater(lengths, max_line), False)
    raws = lines.filter(long).view(pa.binary()).to_pylist()
    texts = [_stand_in(raw, max_line) for raw in raws]
    return pc.replace_with_mask(lines.view(pa.binary()), long, pa.array(texts, pa.binary())).view(pa.string())


def _stand_in(raw: bytes, max_line: int) -> bytes:
    line = LongLine(raw[:SHOWN], len(raw), raw.endswith(b"\n"))
    # What stands for a line already may be longer than such a limit, but not much.
    stands = len(raw) <= _LONGEST_STAND_IN and of_line(raw) is not None
    return raw if stands or line.length - line.ended <= max_line else as_long_line(line, max_line)


def _rejoined(batch: pa.RecordBatch) -> pa.BinaryArray:
    """Lines from times and statements; where there is no time, the statement is the whole line."""
    times = batch.column("time").cast(pa.string()).cast(pa.binary())
    statements = batch.column("statement").cast(pa.binary())
    return pc.binary_join_element_wise(times, statements, b"\t", null_handling="skip")


def plain_and_others(given: Given, sieve: Sieve = EVERYTHING) -> tuple[Part, _Rows]:
    """The fast path: the statements of all plain lines, and the rows of the others."""
    data, cuts = _bytes(given.lines)
    found = scan(data, cuts, sieve)
    terms = pa.StringArray.from_buffers(
        len(found.offsets) - 1, pa.py_buffer(found.offsets), pa.py_buffer(found.text)
    )
    rows, times = np.flatnonzero(found.plain), found.times
    if len(rows) < len(times):
        times = times[rows]
    kept = None if len(found.rows) == len(rows) else found.rows
    block = Block(Runs.of(times), kept, terms, *found.numbers)
    if found.blank and not given.scoped:
        block = _scoped(block, _take(given.files, rows[block.places]))
    return Part(rows, block), np.flatnonzero(~found.plain)


def _bytes(lines: pa.StringArray) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Lines as bytes and where they are cut; a null is an empty line."""
    if lines.null_count:
        lines = pc.fill_null(lines, "")
    _, cuts, data = lines.buffers()
    if not len(lines):
        return np.empty(0, np.uint8), np.zeros(1, np.int32)
    ends = np.frombuffer(cuts, np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), ends


def _take(values: pa.Array | str, rows: _Rows) -> pa.Array:
    if isinstance(values, str):
        return pa.repeat(values, len(rows))
    # All is the common case, and costs nothing.
    return values if len(rows) == len(values) else values.take(pa.array(rows))


def _scoped(block: Block, files: pa.StringArray) -> Block:
    """The same with blank nodes under the scopes of their files: one of each for each file that has it."""
    coded, size = files.dictionary_encode(), len(block.terms)
    scopes = pa.array(["", *map(scope_of, coded.dictionary.to_pylist())], pa.string())
    # By the number of the term, and that of the file for a blank node.
    blank = np.append(pc.starts_with(block.terms, "_:").to_numpy(zero_copy_only=False), False)
    whose = size * (1 + coded.indices.to_numpy().astype(np.int64))
    both = [np.where(blank[column], column + whose, column) for column in block.columns]
    used, numbers = np.unique(np.concatenate(both), return_inverse=True)
    named = int(used[0] == NO_GRAPH)
    terms, prefixes = (
        block.terms.take(pa.array(used[named:] % size)),
        scopes.take(pa.array(used[named:] // size)),
    )
    labels = pc.if_else(pc.equal(prefixes, ""), terms, pc.utf8_slice_codeunits(terms, 2))
    columns = (numbers - named).astype(np.int32).reshape(4, len(block))
    return Block(block.times, block.rows, pc.binary_join_element_wise(prefixes, labels, ""), *columns)


def _closer_look(given: Given, rows: _Rows) -> tuple[Part, pa.RecordBatch]:
    """The slow path."""
    raws = _take(given.lines, rows).view(pa.binary()).to_pylist()
    files, offsets = (_take(column, rows).to_pylist() for column in (given.files, given.offsets))
    found = list(_read_by_file(files, raws, given.scoped))
    good = [(row, *it) for row, it in zip(rows, found, strict=True) if isinstance(it, tuple)]
    dead = [
        _letter(file, offset, raw or b"", it)
        for file, offset, raw, it in zip(files, offsets, raws, found, strict=True)
        if isinstance(it, Fault)
    ]
    kept, *columns = by_column(good, 1 + len(STATEMENTS))
    statements = pa.record_batch(columns, schema=STATEMENTS)
    letters = pa.record_batch(by_column(dead, len(DEAD)), schema=DEAD)
    return Part(np.array(kept, np.int64), Block.of(statements)), letters


def _letter(file: str, offset: int | None, raw: bytes, fault: Fault) -> tuple[str, int | None, str, str]:
    """A dead letter. What could not be read says why itself; of a document it has no offset."""
    unread = of_line(raw)
    if unread is None:
        return file, offset, fault.reason, text_of(raw if fault.shown is None else raw[: fault.shown])
    reason, text, placed = unread
    return file, offset if placed else None, reason, text


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


def _in_order(one: Part, two: Part) -> Block:
    """The statements of both in the order of their lines."""
    order = np.argsort(np.concatenate([one.rows, two.rows]))
    return Block.joined([one.block, two.block]).ordered(order)


def _widened(part: pa.RecordBatch) -> pa.RecordBatch:
    names, size = part.schema.names, part.num_rows
    columns = [
        part.column(field.name) if field.name in names else pa.nulls(size, field.type) for field in DECODED
    ]
    return pa.record_batch(columns, schema=DECODED)
