"""Memory per iteration (Stream Coror, 6.1.7), each strategy in a process of its own.

The process reads statements as N-Triples, so it holds nothing that a reader of a stream would not:
the background, an empty line, then the stream. It prints its resident memory after each iteration.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from ensue.bench.coror import Options
from ensue.bench.feed import background_of, copies_at, encode
from ensue.bench.generate import n_triples
from ensue.bench.harness import Chart, Result, Row, Table, progress
from ensue.bench.machine import resident_bytes
from ensue.bench.ontologies import load_ontology
from ensue.bench.ontology import Statement
from ensue.bench.ontology_stream import ontology_stream
from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.maintain import make
from ensue.rules.load import load_rules

ITERATIONS = 100
WINDOW_STEPS = 10


def memory(options: Options, iterations: int = ITERATIONS) -> Result:
    """Resident memory over the iterations, for each strategy and for the small-device mode."""
    ontology = load_ontology("lubm", options.data)
    stream = ontology_stream(ontology, iterations * options.rate, options.seed)
    lines = [*map(n_triples, ontology), "", *map(n_triples, stream), ""]
    series: dict[str, list[tuple[float, float]]] = {}
    for name in options.strategies:
        progress(f"memory: {name}, {iterations} iterations of {options.rate} statements")
        command = ["ensue.bench.memory", name, str(options.rate)]
        series[name] = list(enumerate(_readings(command, "\n".join(lines)), start=1))
    rows = [_row(name, [size for _, size in points]) for name, points in series.items()]
    title = "resident memory per iteration, LUBM (6.1.7)"
    return Result([Table(title, rows)], [Chart(title, "iteration", "MB", series)])


def _row(name: str, sizes: Sequence[float]) -> Row:
    full = sizes[min(2 * WINDOW_STEPS, len(sizes) - 1)]
    return {
        "process": name,
        "MB after the first": sizes[0],
        "MB once the window is full": full,
        "MB at the end": sizes[-1],
        "MB at most": max(sizes),
        "growth per iteration, kB": 1000 * (sizes[-1] - full) / max(1, len(sizes) - 2 * WINDOW_STEPS),
    }


def _readings(command: list[str], text: str) -> list[float]:
    """The numbers that a module of Ensue, run on its own, prints one a line."""
    run = [sys.executable, "-m", *command]
    done = subprocess.run(run, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnsueError(f"'{' '.join(command)}' ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return [float(line) for line in done.stdout.split()]


def statements_of(lines: Iterator[str]) -> Iterator[Statement]:
    """The statements of N-Triples lines as `n_triples` writes them, up to an empty line.

    >>> list(statements_of(iter(['<urn:a> <urn:p> "x y" .', "", "later"])))
    [('<urn:a>', '<urn:p>', '"x y"')]
    """
    for line in lines:
        if not line.strip():
            return
        s, p, o = line.strip().removesuffix(" .").split(" ", 2)
        yield s, p, o


def main(strategy: str, rate: int) -> None:
    """Read a background and a stream from standard input and print megabytes, iteration by iteration."""
    dictionary = Dictionary()
    maintainer = make(strategy, load_rules("pdsv"), dictionary)
    maintainer.load_background(background_of(encode(statements_of(sys.stdin), dictionary)))
    stream = statements_of(sys.stdin)
    stamp = 1
    while batch := list(islice(stream, rate)):
        maintainer.admit(copies_at(encode(batch, dictionary), stamp))
        stamp += len(batch)
        maintainer.advance(stamp - 1 - WINDOW_STEPS * rate)
        if dictionary.wants_sweep:
            dictionary.sweep(maintainer.used_terms())
        print(f"{resident_bytes() / 1e6:.3f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
