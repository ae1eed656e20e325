"""A shard as Spark runs it: keyed state for a store, rows in and rows out.

When a job starts, Spark asks the processor which state it has, in a Python process of its own that does
nothing else. To load all that shards need takes longer than that: so they are packed until rows come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from ensue.spark.packed import Packed
from ensue.spark.pieces import Piece, packed, unpacked
from ensue.spark.workers import settle

if TYPE_CHECKING:
    import pandas as pd

    from ensue.spark.shard import Outcome

STEPPED = "shard int, kind string, query string, open long, close long, payload binary"
"""The columns of what comes out of the shards, as Spark writes them."""

ANSWERS, LETTERS, COUNTERS, FAILED, HELD = "answers", "dead", "counters", "failed", "held"
"""What a row is: the answers of an evaluation, dead letters, counters of a shard after a step, or, in place
of counters, why there is no step after it; and what networks hold in the end.

Or the answers of many events: see `results.EVENTS`.
"""

# Types and not their names, for which Spark would ask Java each time.
_NAMED = StructType([StructField("name", StringType())])
_BYTES = StructType([StructField("data", BinaryType())])
_HEAD, _STEP, _QUERY = "head", "step ", "query "


class AnyShard(Protocol):
    """A shard of whatever kind, as it is sent to workers; it is known by its key, and that of so many."""

    def step(self, key: int, of: int, pieces: Sequence[Piece], store: KeyedState) -> Outcome:
        """Take in what a micro-batch brings, and give what is due."""

    def clear(self, key: int, of: int) -> None:
        """Remove what is cached of it on this host: the job is over."""


class KeyedState:
    """The store of a shard in Spark's keyed state.

    One map is all there is: to find another would take Spark ten milliseconds in each micro-batch.
    """

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._map = handle.getMapState("shard", _NAMED, _BYTES)

    def head(self) -> bytes | None:
        """The state; None before the first step."""
        return self._get(_HEAD)

    def put_head(self, head: bytes) -> None:
        """Replace the state."""
        self._map.updateValue((_HEAD,), (head,))

    def log(self) -> Iterable[tuple[int, list[Piece]]]:
        """The pieces of each step of the log, in any order."""
        for (name,), (pieces,) in self._map.iterator():
            if name.startswith(_STEP):
                yield int(name.removeprefix(_STEP)), list(unpacked(bytes(pieces)))

    def entry(self, step: int) -> list[Piece]:
        """The pieces of one step of the log."""
        found = self._get(f"{_STEP}{step}")
        assert found is not None, f"step {step} is not in the log"
        return list(unpacked(found))

    def add(self, step: int, pieces: Sequence[Piece]) -> None:
        """Add a step to the log."""
        self._map.updateValue((f"{_STEP}{step}",), (packed(pieces),))

    def drop(self, step: int) -> None:
        """Take a step out of the log."""
        self._map.removeKey((f"{_STEP}{step}",))

    def memory(self, query: str) -> bytes | None:
        """What a query remembers; None if that is nothing."""
        return self._get(_QUERY + query)

    def put_memory(self, query: str, memory: bytes) -> None:
        """Replace what a query remembers."""
        self._map.updateValue((_QUERY + query,), (memory,))

    def _get(self, name: str) -> bytes | None:
        found = self._map.getValue((name,))
        return None if found is None else bytes(found[0])


class ShardProcessor(StatefulProcessor):
    """Takes the blocks of a micro-batch in, and gives what is due."""

    def __init__(self, shards: Packed[dict[int, AnyShard]]) -> None:
        """`shards` are by their keys."""
        self._shards = shards

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Find the state."""
        self._store = KeyedState(handle)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """One step of the shard of this key."""
        from ensue.spark.step_rows import step_rows

        shards = self._shards.value()
        pieces = [piece for frame in rows for piece in _pieces(frame)]
        yield step_rows(shards[key[0]].step(key[0], len(shards), pieces, self._store), key[0])
        settle()

    def close(self) -> None:
        """Nothing is held that has to be given back."""


def _pieces(frame: pd.DataFrame) -> Iterator[Piece]:
    columns = (frame[name] for name in ("stream", "place", "kind", "payload"))
    for stream, place, kind, payload in zip(*columns, strict=True):
        yield Piece(stream, int(place), kind, bytes(payload))
