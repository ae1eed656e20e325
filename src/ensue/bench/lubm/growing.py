"""Departments as contexts against one graph that grows: throughput and memory over time (INSTANS, 10-14).

Each is a process of its own, so that its memory is nobody else's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ensue.bench.harness import Chart, Result, Row, Table, progress, ratio
from ensue.bench.lubm.lanes import Local, run_local
from ensue.bench.lubm.queries import NUMBERS
from ensue.bench.lubm.workload import complete_rules, growing, job, stream_file, tumbling
from ensue.bench.resident import resident_bytes
from ensue.errors import EnsueError
from ensue.streamfile import read_stream

CONTEXTS, GRAPH = "contexts", "growing graph"
_MB = 1_000_000
Reading = tuple[float, int, float]
"""Seconds, statements, and megabytes."""


def measure(univ: int, window: int, folder: Path, queries: Sequence[Sequence[int]]) -> Result:
    """Both, for some sets of queries."""
    file = stream_file(univ, folder)
    rows: list[Row] = []
    rates: dict[str, list[tuple[float, float]]] = {}
    memory: dict[str, list[tuple[float, float]]] = {}
    notes: list[str] = []
    for numbers in queries:
        what = "all queries" if len(numbers) > 1 else f"query {numbers[0]}"
        found = {}
        for kind in (CONTEXTS, GRAPH):
            progress(f"{what}, {kind}, {univ} universities in process")
            found[kind] = _readings(kind, window, file, numbers)
            rates[f"{what}, {kind}"] = _over_time(found[kind])
            memory[f"{what}, {kind}"] = [(seconds, mb) for seconds, _, mb in found[kind]]
            rows.append(_row(what, kind, found[kind]))
        apart, together = (found[kind][-1][0] for kind in (CONTEXTS, GRAPH))
        notes.append(f"{what}: one growing graph takes {ratio(together, apart)} times as long as contexts")
    title = f"departments as contexts against one growing graph, {univ} universities, in process"
    charts = [
        Chart("throughput", "statements", "statements/s", rates),
        Chart("resident memory", "seconds", "MB", memory),
    ]
    return Result([Table(title, rows)], charts, notes)


def _row(what: str, kind: str, readings: Sequence[Reading]) -> Row:
    seconds, statements, _ = readings[-1]
    rates = [rate for _, rate in _over_time(readings)]
    third = max(1, len(rates) // 3)
    return {
        "queries": what,
        "departments": kind,
        "statements/s": round(statements / seconds),
        "in the first third": round(sum(rates[:third]) / third),
        "in the last third": round(sum(rates[-third:]) / third),
        "MB at first": readings[0][2],
        "MB at the end": readings[-1][2],
        "MB at most": max(mb for _, _, mb in readings),
    }


def _over_time(readings: Sequence[Reading]) -> list[tuple[float, float]]:
    """Statements a second between two readings, by the statements so far."""
    pairs = zip([(0.0, 0, 0.0), *readings], readings, strict=False)
    return [(float(n), (n - before) / max(t - since, 1e-9)) for (since, before, _), (t, n, _) in pairs]


def _readings(kind: str, window: int, file: Path, numbers: Sequence[int]) -> list[Reading]:
    run = [sys.executable, "-m", __name__, json.dumps([kind, window, str(file), list(numbers)])]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnsueError(f"{kind} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def main(kind: str, window: int, file: str, numbers: Sequence[int]) -> None:
    """Answer queries over a stream, and print a reading after each mebibyte."""
    apart = kind == CONTEXTS
    of = tumbling(window) if apart else growing(window)

    def seen(ran: Local) -> None:
        print(json.dumps([ran.seconds, ran.statements, resident_bytes() / _MB]), flush=True)

    run_local(
        job(complete_rules(), of, numbers or NUMBERS, by_department=apart),
        read_stream(file),
        keep=False,
        seen=seen,
    )


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
