"""The bytes of state that a micro-batch writes, as windows grow: what arrived counts, not what is held."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from ensue.bench.harness import Result, Row, Table, progress, ratio
from ensue.bench.pipeline_jobs import answer, plan
from ensue.bench.plant import Plant, query
from ensue.spark.scratch import scratch

RANGES_S = (10, 100)
STEP_S = 5
_RATE = 4_000
_STATEMENTS = 300 * _RATE
"""Three times the longer window."""
_BATCH_BYTES = 4 << 20


def measure(spark: Any, folder: Path, shards: int) -> Result:
    """The same stream under a short window and one ten times as long."""
    plant = Plant(rate=_RATE)
    file = plant.write(_STATEMENTS, folder)
    rows: list[Row] = []
    for seconds in RANGES_S:
        progress(f"state: a window of {seconds} s")
        with scratch() as checkpoint:
            asked = plan(query("bench", seconds, STEP_S), plant, shards)
            ran = answer(spark, asked, file, bytes_per_batch=_BATCH_BYTES, checkpoint=checkpoint)
            written = changes(checkpoint)
        # The window is full after two thirds at most, and the last micro-batch only ends the stream.
        full = written[2 * len(written) // 3 : -1]
        rows.append(
            {
                "range s": seconds,
                "statements in the window": seconds * _RATE,
                "facts held at most": ran.facts,
                "statements of a micro-batch": round(ran.batch),
                "bytes written": round(median(full)),
                "min-max": f"{min(full):,}-{max(full):,}",
                "bytes a statement": median(full) / ran.batch,
            }
        )
    short, long = (float(row["bytes written"] or 0) for row in rows)
    note = f"a window ten times as long: {ratio(long, short)} times the state written by a micro-batch"
    return Result([Table("state written by a micro-batch, all shards", rows)], notes=[note])


def changes(checkpoint: Path) -> list[int]:
    """The bytes of the state's change logs under a checkpoint, micro-batch by micro-batch."""
    sizes: dict[int, int] = {}
    for file in checkpoint.rglob("*.changelog"):
        number = int(file.name.split(".")[0].split("_")[0])
        sizes[number] = sizes.get(number, 0) + file.stat().st_size
    return [sizes[number] for number in sorted(sizes)]
