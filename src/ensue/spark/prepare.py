"""What happens to lines before the shuffle: decoded, counted, filtered, perhaps expanded, routed, and packed
into blocks.

All of it is stateless and by the column. What comes out are few rows: for each piece of input and each shard
a block, even if nothing of it concerns that shard, since every shard must hear how far time has come.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

from ensue.inputlimits import MAX_LINE
from ensue.maintain.kernel.sieve import EVERYTHING, Sieve, sieve_of
from ensue.model import FOREVER
from ensue.plan.epsilon import EpsilonTable
from ensue.plan.lookout import list_for_rules, schema_on_the_stream
from ensue.plan.matches import Matches
from ensue.plan.relevance import Relevance
from ensue.plan.routing import Routing
from ensue.plan.shapes import Shape
from ensue.spark.blocks import Block, Texts
from ensue.spark.decode import Decoded, decode
from ensue.spark.expand import Expander
from ensue.spark.heartbeats import apart
from ensue.spark.packed import Pack, Packed
from ensue.spark.pieces import BLOCK, DEAD, END, HEARTBEAT, first_place
from ensue.spark.replay import Chunk
from ensue.spark.replay_lines import Lines
from ensue.spark.source_rows import chunks_of
from ensue.spark.workers import settle

PREPARED = "shard int, stream string, place long, kind string, payload binary"
"""The columns of what crosses the shuffle, as Spark writes them."""

_SCHEMA = pa.schema(
    [
        ("shard", pa.int32()),
        ("stream", pa.string()),
        ("place", pa.int64()),
        ("kind", pa.string()),
        ("payload", pa.binary()),
    ]
)

_Row = tuple[int, str, int, str, bytes]
_ENOUGH, _FAR_ENOUGH = 1 << 16, 1 << 20
"""So many statements are worth a block of their own, and the times of so many that were read."""


@dataclass(frozen=True, slots=True, eq=False)
class Expanding:
    """What is made of statements, and what none of them must be."""

    table: EpsilonTable
    assumed: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Lane:
    """The way of a stream's statements to the shards of a job."""

    stream: str
    keys: tuple[int, ...]
    """The keys of the shards."""
    relevance: Relevance | None = None
    routing: Routing | None = None
    refused: tuple[Shape, ...] = ()
    """What the stream may not bring: see `ensue.plan.unfold`."""
    expanding: Expanding | None = None
    assumed: tuple[Shape, ...] = ()
    """What else it is assumed not to bring."""
    max_line: int = MAX_LINE
    """Bytes of a line: a longer one is a dead letter."""


Lanes = Mapping[str, Lane]
"""By the names that rows have for streams; rows without a name are on the lane of ""."""


@dataclass(frozen=True, slots=True)
class Prepare:
    """Does it, in a worker: give it to `mapInArrow`."""

    lanes: Packed[Lanes]

    @classmethod
    def of(cls, lanes: Lanes, pack: Pack = Packed.of) -> Prepare:
        """For these lanes."""
        return cls(pack(lanes))

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of ranges or of lines in, rows for shards out."""
        # One by one: a block is large enough to be sent off.
        for row in _Work(self.lanes).all(batches):
            yield pa.record_batch([[value] for value in row], schema=_SCHEMA)
        settle()


def decoded_chunk(chunk: Chunk, sieve: Sieve = EVERYTHING, max_line: int = MAX_LINE) -> Decoded:
    """What the lines of a chunk say, of those that pass the sieve."""
    lines = Lines.of(chunk.lines)
    # A document counts statements.
    before = np.arange(len(lines.text)) if chunk.scoped else lines.cuts[:-1]
    given = pa.record_batch({"value": lines.text, "offset": pa.array(chunk.offset + before)})
    # A document has canonical statements, not lines of a file.
    longest = None if chunk.scoped else max_line
    return decode(given, origin=chunk.file, scoped=chunk.scoped, sieve=sieve, max_line=longest)


class _Work:
    """One task's work."""

    def __init__(self, lanes: Packed[Lanes]) -> None:
        self._lanes = lanes
        self._ways: dict[str, _Way] = {}
        context = TaskContext.get()
        self._place = first_place(context.partitionId() if context is not None else 0)

    def all(self, batches: Iterable[pa.RecordBatch]) -> Iterator[_Row]:
        """Rows of either kind."""
        for batch in batches:
            yield from self._ranges(batch) if "begin" in batch.schema.names else self._lines(batch)
        for way in self._ways.values():
            yield from way.rest()

    def _ranges(self, batch: pa.RecordBatch) -> Iterator[_Row]:
        """Rows of which each says where many lines of a file are."""
        longest = max(lane.max_line for lane in self._lanes.value().values())
        for chunk in chunks_of(batch, longest):
            way = self._way(chunk.stream)
            if chunk.ended:
                yield from way.end(chunk.place)
                continue
            yield from way.rows(decoded_chunk(chunk, way.sieve, way.max_line), chunk.place)

    def _lines(self, batch: pa.RecordBatch) -> Iterator[_Row]:
        """Rows of which each is a line or a statement."""
        place, self._place = self._place, self._place + batch.num_rows
        way = self._way("")
        statements, promised = apart(batch)
        yield from way.rows(
            decode(statements, origin=way.stream, sieve=way.sieve, max_line=way.max_line), place
        )
        if promised is not None:
            yield from way.end(place) if promised == FOREVER else way.heartbeat(promised, place)

    def _way(self, name: str) -> _Way:
        if name not in self._ways:
            self._ways[name] = _Way(sorter(self._lanes, name))
        return self._ways[name]


class Sorter:
    """A lane at work: what of a block goes to which shard. It remembers nothing of the blocks."""

    def __init__(self, lane: Lane) -> None:
        self.stream, self.keys, self.max_line = lane.stream, lane.keys, lane.max_line
        relevant = () if lane.relevance is None else lane.relevance.patterns
        self._expand = None
        if lane.expanding is not None:
            self._expand = Expander(lane.expanding.table)
            relevant = lane.expanding.table.needed or ()
        self._router = lane.routing.router(len(lane.keys), relevant) if lane.routing is not None else None
        plans = [plan for plan in (lane.relevance, lane.routing, lane.expanding) if plan is not None]
        assumed = [*lane.assumed, *(shape for plan in plans for shape in plan.assumed)]
        self._assumed, self._refused = Matches(assumed), Matches(lane.refused)
        # What should not come is looked for among what is kept, which is less.
        kept = None if lane.relevance is None else [*lane.relevance.patterns, *assumed, *lane.refused]
        self._kept = None if kept is None else Matches(kept)
        self.sieve = EVERYTHING if kept is None else sieve_of(kept)

    def parts(self, block: Block) -> Iterator[Block]:
        """What each shard gets of a block."""
        if self._kept is None and self._router is None and self._expand is None:
            yield from (block for _ in self.keys)
            return
        terms, columns = Texts(block.terms), (block.s, block.p, block.o)
        kept = np.arange(len(block))
        if self._kept is not None:
            kept = np.flatnonzero(self._kept(terms, *columns))
            if len(kept) < len(block):  # The sieve has mostly held back the others.
                columns = (block.s[kept], block.p[kept], block.o[kept])
        if (wrong := self._refused(terms, *columns)).any():
            raise list_for_rules(f"the stream <{self.stream}>", *_first(block, kept[wrong]))
        if (wrong := self._assumed(terms, *columns)).any():
            raise schema_on_the_stream(self.stream, *_first(block, kept[wrong]))
        if self._expand is not None:
            block = self._expand(block.only(kept))
            kept, terms, columns = np.arange(len(block)), Texts(block.terms), (block.s, block.p, block.o)
        if self._router is None:
            part = block.only(kept)
            yield from (part for _ in self.keys)
            return
        shards = self._router.route(terms, *columns, terms.checksums, block.graph[kept])
        for shard in range(len(self.keys)):
            yield block.only(kept[np.flatnonzero(shards & 1 << shard)])


def _first(block: Block, rows: NDArray[np.int64]) -> tuple[str, str, str]:
    """The statement in the first of some rows."""
    s, p, o = (block.terms[int(column[rows[0]])].as_py() for column in (block.s, block.p, block.o))
    return s, p, o


@cache
def sorter(lanes: Packed[Lanes], name: str) -> Sorter:
    """That of a lane, made once a worker: where queries need many shapes it takes as long as a small task."""
    return Sorter(lanes.value()[name])


class _Way:
    """A lane in one task: the blocks that wait to be sorted."""

    def __init__(self, sorter: Sorter) -> None:
        self._sorter = sorter
        self.max_line = sorter.max_line
        self.stream, self.sieve, self.max_line = sorter.stream, sorter.sieve, sorter.max_line
        self._keys = sorter.keys
        self._waiting: list[Block] = []
        self._place = 0

    def end(self, place: int) -> Iterator[_Row]:
        """The stream has ended: every shard must know, after it has all."""
        yield from self.rest()
        yield from ((key, self.stream, place, END, b"") for key in self._keys)

    def heartbeat(self, time: int, place: int) -> Iterator[_Row]:
        """Nothing at or below a time will follow: every shard must know."""
        return ((key, self.stream, place, HEARTBEAT, b"%d" % time) for key in self._keys)

    def rows(self, decoded: Decoded, place: int) -> Iterator[_Row]:
        """What each shard gets of some decoded lines and of what is waiting, unless that is little: then it
        waits. A task is given what lies together in a stream, in order.
        """
        if decoded.dead.num_rows:
            letters = json.dumps(decoded.dead.to_pylist()).encode()
            yield self._keys[0], self.stream, place, DEAD, letters
        if not self._waiting:
            self._place = place
        self._waiting.append(decoded.block)
        here = sum(len(block) for block in self._waiting)
        read = sum(len(block.times) for block in self._waiting)
        if here >= _ENOUGH or read >= _FAR_ENOUGH:
            yield from self.rest()

    def rest(self) -> Iterator[_Row]:
        """What each shard gets of what is waiting."""
        waiting, self._waiting = self._waiting, []
        # Where no statement is left, the times still count.
        if any(len(block.times) for block in waiting):
            block = Block.joined(waiting)
            for key, part in zip(self._keys, self._sorter.parts(block), strict=True):
                yield key, self.stream, self._place, BLOCK, part.write()
