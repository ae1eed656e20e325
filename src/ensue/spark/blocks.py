"""Blocks: statements of a stream in columns, over a table of their own terms.

Rows are dear, blocks are cheap. A block is what crosses the shuffle, and what is kept as state, as it is.
It knows the times of every statement that was read, so that a shard counts and moves on in time by all of
them, and the terms of those alone that matter to the shard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ensue.dictionary import Dictionary
from ensue.model import DEFAULT_GRAPH
from ensue.query.arrivals import Arrivals, Batch, Terms
from ensue.windows.frontier import Mask, Times

NO_GRAPH = -1
"""The number of the graph's name where a statement is in the default graph."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
_COLUMNS = ("s", "p", "o", "graph")
_NUMBERS = pa.list_(pa.int32())
_SCHEMA = pa.schema(
    [
        ("first", pa.int64()),
        ("differences", pa.list_(pa.int32())),
        ("times", pa.list_(pa.int64())),
        ("rows", _NUMBERS),
        ("terms", pa.list_(pa.string())),
        *((name, _NUMBERS) for name in _COLUMNS),
    ]
)
"""One row. Times are written as differences, which are small and compress well, unless one does not fit."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Statements of one stream, in order of arrival.

    >>> import pyarrow as pa
    >>> lines = {"time": [5, 6], "s": ["<urn:a>", "<urn:b>"], "p": ["<urn:p>"] * 2, "o": ["<urn:b>"] * 2}
    >>> block = Block.of(pa.record_batch({**lines, "graph": pa.nulls(2, pa.string())}))
    >>> block.terms.to_pylist(), block.o.tolist(), Block.read(block.write()).times.tolist()
    (['<urn:a>', '<urn:b>', '<urn:p>'], [1, 1], [5, 6])
    """

    times: Times
    """Of all statements that were read."""
    rows: Terms | None
    """Which of them are here; None: all."""
    terms: pa.StringArray
    """Each term once; the other columns are numbers of these."""
    s: Terms
    p: Terms
    o: Terms
    graph: Terms

    @classmethod
    def of(cls, statements: pa.RecordBatch) -> Block:
        """The block of decoded statements."""
        times = statements.column("time").to_numpy()
        columns = [statements.column(name) for name in _COLUMNS]
        # A stream seldom names graphs, and nothing is cheaper than a column left out.
        named = columns if columns[3].null_count < len(times) else columns[:3]
        coded = pa.chunked_array(named).combine_chunks().dictionary_encode()
        numbers = pc.fill_null(coded.indices, NO_GRAPH).to_numpy(zero_copy_only=False)
        s, p, o, *graph = numbers.reshape(len(named), len(times))
        names = graph[0] if graph else np.full(len(times), NO_GRAPH, np.int32)
        return cls(times, None, coded.dictionary, s, p, o, names)

    def __len__(self) -> int:
        """How many statements are here."""
        return len(self.s)

    def where(self, mask: Mask) -> Block:
        """The same with those alone, of the statements that are here, that a mask marks."""
        if mask.all():
            return self
        rows = np.flatnonzero(mask).astype(np.int32) if self.rows is None else self.rows[mask]
        s, p, o, graph = (getattr(self, name)[mask] for name in _COLUMNS)
        # Terms that are not used any more are left out: most of the bytes are terms.
        used = np.zeros(len(self.terms) + 1, bool)  # The last is for NO_GRAPH, which is -1.
        for column in (s, p, o, graph):
            used[column] = True
        kept = np.flatnonzero(used[:-1])
        renumbered = np.full(len(used), NO_GRAPH, np.int32)
        renumbered[kept] = np.arange(len(kept), dtype=np.int32)
        terms = self.terms.take(pa.array(kept))
        return Block(self.times, rows, terms, *(renumbered[column] for column in (s, p, o, graph)))

    def write(self) -> bytes:
        """As bytes."""
        first, differences, times = _apart(self.times)
        values: dict[str, Any] = {
            "first": pa.array([first], pa.int64()),
            "differences": _one(differences, pa.int32()),
            "times": _one(times, pa.int64()),
            "rows": _one(self.rows, pa.int32()),
            "terms": pa.ListArray.from_arrays([0, len(self.terms)], self.terms),
            **{name: _one(getattr(self, name), pa.int32()) for name in _COLUMNS},
        }
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, _SCHEMA, options=_OPTIONS) as writer:
            writer.write_batch(pa.record_batch(values, schema=_SCHEMA))
        return bytes(sink.getvalue())

    @classmethod
    def read(cls, data: bytes) -> Block:
        """What `write` wrote."""
        with pa.ipc.open_stream(data) as reader:
            row = reader.read_next_batch()
        values = {name: row.column(name) for name in _SCHEMA.names}
        times = _together(row)
        rows = None if values["rows"].null_count else _numbers(values["rows"])
        columns = (_numbers(values[name]) for name in _COLUMNS)
        return cls(times, rows, values["terms"].flatten(), *columns)

    def batch(self, dictionary: Dictionary) -> Batch:
        """The same in the integers of a dictionary."""
        known = np.array([*dictionary.encode_all(self.terms.to_pylist()), DEFAULT_GRAPH], np.int32)
        times = self.times if self.rows is None else self.times[self.rows]
        arrivals = Arrivals(times, *(known[column] for column in (self.s, self.p, self.o, self.graph)))
        return Batch(self.times, arrivals, None if self.rows is None else self.rows.astype(np.int64))

    @classmethod
    def of_arrivals(cls, arrivals: Arrivals, dictionary: Dictionary) -> Block:
        """The block of statements in the integers of a dictionary."""
        columns = np.concatenate([arrivals.s, arrivals.p, arrivals.o, arrivals.graph])
        used, numbers = np.unique(columns, return_inverse=True)
        # The default graph has the least integer, and no term.
        named = int(len(used) > 0 and used[0] == DEFAULT_GRAPH)
        terms = pa.array(dictionary.decode_all(used[named:].tolist()), pa.string())
        coded = (numbers - named).astype(np.int32).reshape(4, len(arrivals))
        return cls(arrivals.times, None, terms, *coded)


def _apart(times: Times) -> tuple[int, NDArray[Any] | None, Times | None]:
    """The first time and the differences from one to the next, or all times."""
    # Where a difference wraps around, so does the sum that undoes it.
    differences = np.diff(times, prepend=times[:1])
    if len(times) and ((differences > -(2**31)) & (differences < 2**31)).all():
        return int(times[0]), differences.astype(np.int32), None
    return 0, None, times


def _together(row: pa.RecordBatch) -> Times:
    if row.column("differences").null_count:
        times: Times = row.column("times").flatten().to_numpy()
        return times
    first: int = row.column("first")[0].as_py()
    return first + np.cumsum(_numbers(row.column("differences")), dtype=np.int64)


def _one(values: NDArray[Any] | None, kind: pa.DataType) -> pa.ListArray:
    """One list."""
    if values is None:
        return pa.array([None], pa.list_(kind))
    return pa.ListArray.from_arrays([0, len(values)], pa.array(values, kind))


def _numbers(column: pa.ListArray) -> Terms:
    numbers: Terms = column.flatten().to_numpy()
    return numbers
