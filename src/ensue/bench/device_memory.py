"""The small-device mode, iteration by iteration, with its memory after each.

A process of its own (`python -m ensue.bench.device_memory RATE OPTION...`) that loads what a device
loads and no more. It reads a stream as N-Triples; every RATE statements make a step of one second.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Sequence

from ensue.bench.resident import resident_bytes
from ensue.device.job import Job
from ensue.device.options import read_options
from ensue.ntriples import parse_line

SECOND = 1000


def megabytes(lines: Iterable[str], rate: int, options: Sequence[str]) -> Iterator[float]:
    """The resident memory after each step of a device with these options."""
    job = Job(read_options(options), _discard, _discard)
    job.prepare()
    gc.freeze()  # as the device itself does
    for k, text in enumerate(lines):
        line = parse_line(text, "<stdin>", k + 1)
        assert line is not None, "a stream without empty lines"
        job.push(k // rate * SECOND + 1, line)
        if (k + 1) % rate == 0:
            job.tick((k + 1) // rate * SECOND)
            yield resident_bytes() / 1e6


def _discard(_: str) -> None:
    pass


if __name__ == "__main__":
    for size in megabytes(sys.stdin, int(sys.argv[1]), sys.argv[2:]):
        print(f"{size:.3f}", flush=True)
