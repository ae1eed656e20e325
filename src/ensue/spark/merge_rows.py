"""The merge as a step of Spark: rows of evaluations in, of all shards; a row for each evaluation out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa

from ensue.spark.packed import Pack, Packed
from ensue.spark.plan import Plan
from ensue.spark.processor import ANSWERS
from ensue.spark.results import Merging, Row, pack

_SCHEMA = pa.schema(
    [
        ("shard", pa.int32()),
        ("kind", pa.string()),
        ("query", pa.string()),
        ("open", pa.int64()),
        ("close", pa.int64()),
        ("payload", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True)
class MergeRows:
    """Does it, in a worker, to all rows of a query in a micro-batch: give it to `mapInArrow`."""

    merging: Packed[Merging]
    shards: int

    @classmethod
    def of(cls, plan: Plan, pack: Pack = Packed.of) -> MergeRows:
        """For the shards of a plan."""
        return cls(pack(plan.merging()), len(plan.keys))

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Answers are merged, what is told besides them goes on as it is."""
        rows = [Row(**row) for batch in batches for row in batch.to_pylist()]
        # A shuffle promises no order; a shard evaluates a query close after close.
        parts = sorted(
            (row for row in rows if row.kind == ANSWERS), key=attrgetter("query", "close", "shard")
        )
        done: list[tuple[Any, ...]] = [row for row in rows if row.kind != ANSWERS]
        for result in self.merging.value().gathered(parts, self.shards):
            done.append((0, ANSWERS, result.query, result.open, result.close, pack(result)))
        if done:
            columns = zip(*done, strict=True)
            yield pa.record_batch([pa.array(each) for each in columns], schema=_SCHEMA)
