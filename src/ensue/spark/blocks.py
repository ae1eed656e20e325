"""Blocks: statements of a stream in columns, over a table of their own terms.

Rows are dear, blocks are cheap. A block is what crosses the shuffle, and what is kept as state, as it is.
It knows the times of every statement that was read, so that a shard counts and moves on in time by all of
them, and the terms of those alone that matter to the shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ensue.dictionary import Dictionary
from ensue.maintain.kernel.checksums import checksums
from ensue.maintain.kernel.flatdictionary import FlatDictionary
from ensue.maintain.kernel.marks import mark
from ensue.model import DEFAULT_GRAPH
from ensue.query.arrivals import Arrivals, Batch, Terms
from ensue.windows.frontier import Times
from ensue.windows.runs import Runs

NO_GRAPH = -1
"""The number of the graph's name where a statement is in the default graph."""

_CODEC = "lz4_raw"
_ABOUT = Struct("<4q3?")
"""Before what is compressed: its size; how many runs, statements and terms there are; what is left out."""
_COLUMNS = ("s", "p", "o", "graph")
_NARROW = 1 << 16
"""Of fewer terms than this each number has two bytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Statements of one stream, in order of arrival.

    >>> import pyarrow as pa
    >>> lines = {"time": [5, 6], "s": ["<urn:a>", "<urn:b>"], "p": ["<urn:p>"] * 2, "o": ["<urn:b>"] * 2}
    >>> block = Block.of(pa.record_batch({**lines, "graph": pa.nulls(2, pa.string())}))
    >>> block.terms.to_pylist(), block.o.tolist(), Block.read(block.write()).times.each().tolist()
    (['<urn:a>', '<urn:b>', '<urn:p>'], [1, 1], [5, 6])
    """

    times: Runs
    """Of all statements that were read."""
    rows: Terms | None
    """Which of them are here, some more than once with what was made of them; None: all, once."""
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
        return cls(Runs.of(times), None, coded.dictionary, s, p, o, names)

    def __len__(self) -> int:
        """How many statements are here."""
        return len(self.s)

    @property
    def columns(self) -> tuple[Terms, Terms, Terms, Terms]:
        """The numbers of subjects, predicates, objects and graphs."""
        return self.s, self.p, self.o, self.graph

    @property
    def places(self) -> Terms:
        """For each statement that is here how many were read before it."""
        return np.arange(len(self.times), dtype=np.int32) if self.rows is None else self.rows

    @property
    def stamps(self) -> Times:
        """The times of the statements that are here."""
        return self.times.each() if self.rows is None else self.times.each()[self.rows]

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """The statements of some blocks, at least one, one after the other."""
        if len(blocks) == 1:
            return blocks[0]
        coded = pa.concat_arrays([block.terms for block in blocks]).dictionary_encode()
        numbers = np.split(coded.indices.to_numpy(), np.cumsum([len(block.terms) for block in blocks])[:-1])
        # The last is for NO_GRAPH, which is -1.
        tables = [np.append(known, np.int32(NO_GRAPH)) for known in numbers]
        s, p, o, graph = (
            np.concatenate([table[column] for table, column in zip(tables, columns, strict=True)])
            for columns in zip(*(block.columns for block in blocks), strict=True)
        )
        before = np.cumsum([0, *(len(block.times) for block in blocks)], dtype=np.int32)
        rows = np.concatenate([first + block.places for first, block in zip(before, blocks, strict=False)])
        times = Runs.joined([block.times for block in blocks])
        whole = all(block.rows is None for block in blocks)
        return cls(times, None if whole else rows, coded.dictionary, s, p, o, graph)

    def ordered(self, order: NDArray[Any]) -> Block:
        """The same as if they had been read in another order."""
        moved = np.empty(len(order), np.int32)
        moved[order] = np.arange(len(order), dtype=np.int32)
        rows = moved[self.places]
        by = np.argsort(rows)
        columns = (column[by] for column in self.columns)
        times = Runs.of(self.times.each()[order])
        return Block(times, None if self.rows is None else rows[by], self.terms, *columns)

    def taken(self, places: NDArray[np.int64]) -> Block:
        """The same as if only the statements at some places had been read, in that order."""
        times = Runs.of(self.times.each()[places])
        moved = np.full(len(self.times), -1, np.int32)
        moved[places] = np.arange(len(places), dtype=np.int32)
        rows = moved[self.places]
        by = np.flatnonzero(rows >= 0)
        by = by[np.argsort(rows[by], kind="stable")]
        columns = (column[by] for column in self.columns)
        return Block(times, None if self.rows is None else rows[by], self.terms, *columns).lean()

    def only(self, which: NDArray[np.int64]) -> Block:
        """The same with those alone, of the statements that are here, that have these numbers, in order."""
        if len(which) == len(self):
            return self
        rows = which.astype(np.int32) if self.rows is None else self.rows[which]
        columns = (column[which] for column in self.columns)
        return Block(self.times, rows, self.terms, *columns).lean()

    def lean(self) -> Block:
        """The same without terms that are not used: most of the bytes are terms."""
        used = np.zeros(len(self.terms) + 1, bool)  # The last is for NO_GRAPH, which is -1.
        for column in self.columns:
            mark(used, column)
        kept = np.flatnonzero(used[:-1])
        if len(kept) == len(self.terms):
            return self
        renumbered = np.full(len(used), NO_GRAPH, np.int32)
        renumbered[kept] = np.arange(len(kept), dtype=np.int32)
        terms = self.terms.take(pa.array(kept))
        return Block(self.times, self.rows, terms, *(renumbered[column] for column in self.columns))

    def write(self) -> bytes:
        """As bytes: compressed, and laid out so that little is left to compress."""
        cuts, text = text_of(self.terms)
        wide, times = _apart(self.times.times)
        named = bool((self.graph != NO_GRAPH).any())
        numbers = np.uint16 if len(self.terms) < _NARROW else np.int32
        parts = [
            times,
            self.times.counts,
            *([] if self.rows is None else [np.diff(self.rows, prepend=np.int32(0))]),
            # What is said of a subject often follows at once.
            np.diff(self.s, prepend=np.int32(0)),
            self.p.astype(numbers),
            self.o.astype(numbers),
            *([self.graph] if named else []),
            np.diff(cuts),
        ]
        plain = b"".join([*(part.tobytes() for part in parts), text])
        runs, here, terms = len(self.times.times), len(self), len(self.terms)
        about = (len(plain), runs, here, terms, self.rows is None, wide, named)
        return _ABOUT.pack(*about) + bytes(pa.compress(plain, _CODEC))

    @classmethod
    def read(cls, data: bytes) -> Block:
        """What `write` wrote."""
        size, runs, here, terms, whole, wide, named = _ABOUT.unpack_from(data)
        plain = pa.decompress(memoryview(data)[_ABOUT.size :], size, _CODEC)
        numbers = np.uint16 if terms < _NARROW else np.int32
        parts = _Parts(plain)
        times = Runs.told(_together(parts, runs, wide), parts.next(runs, np.int32))
        rows = None if whole else np.cumsum(parts.next(here, np.int32), dtype=np.int32)
        s = np.cumsum(parts.next(here, np.int32), dtype=np.int32)
        p, o = (parts.next(here, numbers).astype(np.int32) for _ in range(2))
        graph = parts.next(here, np.int32) if named else np.full(here, NO_GRAPH, np.int32)
        cuts = np.concatenate(([0], np.cumsum(parts.next(terms, np.int32)))).astype(np.int32)
        text = pa.StringArray.from_buffers(terms, pa.py_buffer(cuts), plain.slice(parts.at))
        return cls(times, rows, text, s, p, o, graph)

    def batch(self, dictionary: FlatDictionary) -> Batch:
        """The same in the integers of a dictionary."""
        cuts, text = text_of(self.terms)
        numbers = dictionary.encode_texts(np.frombuffer(text, np.uint8), cuts)
        known = np.append(numbers, np.int32(DEFAULT_GRAPH))
        arrivals = Arrivals(self.stamps, *(known[column] for column in self.columns))
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
        return cls(Runs.of(arrivals.times), None, terms, *coded)


class Texts(Sequence[str]):
    """The terms of a block as texts, made when asked for: of most nobody asks."""

    def __init__(self, terms: pa.StringArray) -> None:
        self._terms = terms

    def __len__(self) -> int:
        """How many there are."""
        return len(self._terms)

    def __getitem__(self, number: Any) -> Any:
        """The text of a term."""
        return self._terms[number].as_py()

    def checksums(self, numbers: Terms) -> NDArray[np.uint32]:
        """The checksums of the texts of these terms, which say who owns them."""
        cuts, text = text_of(self._terms)
        return checksums(np.frombuffer(text, np.uint8), cuts, numbers)


@dataclass
class _Parts:
    """Arrays one after the other, and how far they have been read."""

    data: pa.Buffer
    at: int = 0

    def next(self, count: int, kind: Any) -> NDArray[Any]:
        """The next so many numbers."""
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found


def text_of(terms: pa.StringArray) -> tuple[Terms, memoryview]:
    """Where terms begin and end, and their bytes."""
    if not len(terms):
        return np.zeros(1, np.int32), memoryview(b"")
    _, cuts, text = terms.buffers()
    found = np.frombuffer(cuts, np.int32)[terms.offset : terms.offset + len(terms) + 1]
    return found - found[0], memoryview(text)[found[0] : found[-1]]


def _apart(times: Times) -> tuple[bool, NDArray[Any]]:
    """Times as differences from one to the next, of which all but the first are small; else as they are."""
    # Where a difference wraps around, so does the sum that undoes it.
    differences = np.diff(times, prepend=np.int64(0))
    if ((differences[1:] > -(2**31)) & (differences[1:] < 2**31)).all():
        return False, np.concatenate([differences[:1].view(np.int32), differences[1:].astype(np.int32)])
    return True, times


def _together(parts: _Parts, count: int, wide: bool) -> Times:
    if wide or not count:
        return parts.next(count, np.int64)
    first, rest = parts.next(1, np.int64), parts.next(count - 1, np.int32)
    return np.cumsum(np.concatenate([first, rest]), dtype=np.int64)
