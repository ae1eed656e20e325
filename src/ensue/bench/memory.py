"""Memory per iteration (Stream Coror, 6.1.7), each strategy in a process of its own.

The process reads statements as N-Triples, so it holds nothing that a reader of a stream would not:
the background, an empty line, then the stream. It prints its resident memory after each iteration.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice

from ensue.bench.coror import Options
from ensue.bench.feed import background_of, copies_at, encode
from ensue.bench.generate import n_triples
from ensue.bench.harness import Chart, Result, Row, Table, progress
from ensue.bench.ontologies import load_ontology
from ensue.bench.ontology import Statement
from ensue.bench.ontology_stream import ontology_stream
from ensue.bench.resident import resident_bytes
from ensue.dictionary import Dictionary
from ensue.errors import EnsueError
from ensue.maintain import make
from ensue.rules.load import load_rules

WINDOW_STEPS = 10
DEVICES = {"device, bare": ["--bare"], "device, with a query": ["--pattern", "?x rdf:type ?c"]}
"""The two implementations that the paper measures: without and with the query layer."""


def memory(options: Options) -> Result:
    """Resident memory over the iterations: each strategy, and the small-device mode bare and with a query."""
    ontology, iterations = load_ontology("lubm", options.data), options.memory
    background = "".join(f"{n_triples(statement)}\n" for statement in ontology)
    stream = ontology_stream(ontology, iterations * options.rate, options.seed)
    text = "".join(f"{n_triples(statement)}\n" for statement in stream)
    series: dict[str, list[float]] = {}
    for name in options.strategies:
        progress(f"memory: {name}, {iterations} iterations of {options.rate} statements")
        series[name] = _readings(["ensue.bench.memory", name, str(options.rate)], f"{background}\n{text}")
    for name, query in DEVICES.items():
        progress(f"memory: {name}, {iterations} iterations of {options.rate} statements")
        series[name] = _device_readings(background, text, options.rate, query)
    title = "resident memory per iteration, LUBM (6.1.7)"
    chart = Chart(
        title, "iteration", "MB", {name: list(enumerate(sizes, 1)) for name, sizes in series.items()}
    )
    return Result([Table(title, [_row(name, sizes) for name, sizes in series.items()])], [chart])


def _device_readings(background: str, stream: str, rate: int, query: Sequence[str]) -> list[float]:
    with tempfile.NamedTemporaryFile("w", suffix=".nt", encoding="utf-8") as file:
        file.write(background)
        file.flush()
        options = ["--rules", "pdsv", "--background", file.name, "--window", f"{WINDOW_STEPS}s", *query]
        return _readings(["ensue.bench.device_memory", str(rate), *options], stream)


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
