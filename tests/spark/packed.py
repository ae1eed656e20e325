"""Many small jobs in one Spark job: each has lanes, shards and streams of its own. A start takes seconds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from ensue.query.output import Result
from ensue.spark.pipeline import Source, stepped
from ensue.spark.plan import Plan
from ensue.spark.processor import ANSWERS, COUNTERS
from ensue.spark.results import EVENTS
from ensue.spark.source import register


@dataclass
class Packed:
    """A plan among others, and what came of it."""

    name: str
    plan: Plan
    streams: dict[str, Path]
    results: list[Result] = field(default_factory=list)
    counters: dict = field(default_factory=dict)
    batches: set[int] = field(default_factory=set)


def run_packed(
    spark, packed: list[Packed], folder: Path, micro_batches: int, on_batch=lambda number: None
) -> None:
    """Run all of them over their streams, in about so many micro-batches, and fill in what comes of each."""
    keys, lanes, paths, owner = count(), {}, {}, {}
    for each in packed:
        each.plan = replace(each.plan, keys=tuple(next(keys) for _ in each.plan.keys))
        owner |= dict.fromkeys(each.plan.keys, each)
        for stream, path in each.streams.items():
            lanes[f"{each.name}|{stream}"] = each.plan.lane(stream)
            paths[f"{each.name}|{stream}"] = str(path)
    size = sum(Path(path).stat().st_size for path in paths.values())

    def take(frame, number):
        rows = frame.collect()
        for each in packed:
            own = [row for row in rows if row.kind in (ANSWERS, EVENTS) and row.shard in each.plan.keys]
            each.results += each.plan.merging().gathered(own, len(each.plan.keys))
        for row in rows:
            if row.kind == COUNTERS:
                owner[row.shard].counters[row.shard] = json.loads(row.payload)
                owner[row.shard].batches.add(number)
        on_batch(number)

    register(spark)
    options = {"streams": json.dumps(paths), "rows": "ranges", "finite": "true", "parts": "2"}
    options["bytesPerBatch"] = str(max(1, size // micro_batches))
    lines = spark.readStream.format("ensue").options(**options).load()
    steps = stepped([Source(lines, lanes)], [each.plan for each in packed])
    writer = steps.writeStream.foreachBatch(take).trigger(availableNow=True)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
