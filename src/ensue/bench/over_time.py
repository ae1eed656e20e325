"""Runs that are looked at as they go: each a process of its own, so that its memory is nobody else's.

Memory is what is resident. The proportional part of it (PSS) would change with who else on the machine has
the same libraries loaded: it is for sums over processes, not for one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from time import perf_counter, process_time
from typing import NamedTuple

from ensue.bench.harness import Row
from ensue.bench.resident import resident_bytes
from ensue.errors import EnsueError

READINGS = 100
"""How often memory is looked at."""
_MB = 1_000_000


class Reading(NamedTuple):
    """Where a run was at some moment."""

    events: int
    seconds: float
    cpu_seconds: float
    megabytes: float
    answers: int


class Meter:
    """Prints where a run is, every so often; the first time before anything has come."""

    def __init__(self, events: int, batch: int) -> None:
        self._events, self._batch = events, batch
        self._every = max(batch, events // READINGS)
        self._started, self._cpu = perf_counter(), process_time()
        self._print(0, 0)

    def read(self, done: int, answers: int) -> None:
        """So many events are done, a batch after the last call."""
        if done % self._every < self._batch and done < self._events:
            self._print(done, answers)

    def end(self, answers: int) -> None:
        """All are done."""
        self._print(self._events, answers)

    def _print(self, done: int, answers: int) -> None:
        seconds, cpu = perf_counter() - self._started, process_time() - self._cpu
        reading = Reading(done, seconds, cpu, round(resident_bytes() / _MB, 3), answers)
        print(json.dumps(reading), flush=True)


def readings(module: str, name: str, *arguments: object) -> list[Reading]:
    """What a module prints that is run by itself, with these arguments: see `Meter`."""
    run = [sys.executable, "-m", module, json.dumps([name, *arguments])]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnsueError(f"{name} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return [Reading(*json.loads(line)) for line in done.stdout.splitlines()]


def row(kind: str, every: list[Reading]) -> Row:
    """How fast a run was, and how much its memory changed once a tenth of the events had come.

    >>> sizes = [50.0, *[100.0] * 10, 104.0, 102.0]
    >>> found = row("a", [Reading(n, 1 + n, 1 + n, size, n) for n, size in enumerate(sizes)])
    >>> found["MB before"], found["MB after a tenth"], found["% more at most"], found["% between"]
    (50.0, 100.0, 4.0, 4.0)
    """
    tenth, later, last = every[len(every) // 10], every[len(every) // 10 :], every[-1]
    least, most = (of(each.megabytes for each in later) for of in (min, max))
    return {
        "kind": kind,
        "events": last.events,
        "events/s": round(last.events / last.seconds),
        "events/s of CPU": round(last.events / last.cpu_seconds),
        "answers": last.answers,
        "MB before": every[0].megabytes,
        "MB after a tenth": tenth.megabytes,
        "MB at the end": last.megabytes,
        "MB at least since": least,
        "MB at most since": most,
        "% more at most": _percent(most, tenth.megabytes),
        "% between": _percent(most, least),
        "slowest tenth, events/s of CPU": round(min(_rates(every))),
    }


def _percent(most: float, least: float) -> float:
    return round(100 * (most / least - 1), 1) if least else 0.0


def _rates(every: list[Reading]) -> list[float]:
    """Events a second of CPU in each tenth."""
    cuts = [every[k * (len(every) - 1) // 10] for k in range(11)]
    return [(b.events - a.events) / max(b.cpu_seconds - a.cpu_seconds, 1e-9) for a, b in pairwise(cuts)]


def curve(every: list[Reading]) -> list[tuple[float, float]]:
    """Memory over events."""
    return [(float(each.events), each.megabytes) for each in every]
