"""What `ensue generate` does: workloads into timed stream files, or down a socket at a rate."""

from __future__ import annotations

import argparse
import os
import random
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from ensue.bench.firings import count_firings, firings_table
from ensue.bench.harness import progress
from ensue.bench.isin import Trees, at_rate, isin_statements, split_background
from ensue.bench.ontologies import read_file
from ensue.bench.ontology import Statement, read_ontology
from ensue.bench.ontology_stream import StreamWriter
from ensue.bench.publish import render_table
from ensue.bench.trains import GRAPH, QUERY, STREAM, Railway
from ensue.errors import EnsueError, InputError, Place, UsageError
from ensue.maintain import make
from ensue.paths import STANDARD
from ensue.rules.load import load_rules
from ensue.streamfile import write_stream


def write_isin(args: argparse.Namespace) -> int:
    """`ensue generate isin`."""
    if bool(args.background) != bool(args.background_file):
        raise UsageError("--background and --background-file go together")
    trees = Trees(args.trees, args.depth, args.fanout)
    ground, stream = split_background(
        isin_statements(trees, args.seed), round(args.background * trees.statements), args.seed
    )
    if args.background_file:
        _write_background(args.background_file, ground)
    _write_timed(args.output, stream, args.rate)
    say = _say_beside(args.output)
    say(f"{len(stream):,} statements on the stream, {len(ground):,} in the background")
    say(f"closed under transitivity: {trees.closed:,}")
    return 0


def write_ontology_stream(args: argparse.Namespace) -> int:
    """`ensue generate ontology-stream`."""
    ontology = read_file(args.ontology)
    rules = load_rules(args.rules)
    writer = StreamWriter(read_ontology(ontology), random.Random(args.seed))
    stream = writer.write(args.statements)
    if len(stream) < args.statements:
        hint = "it needs a class, or a property, of its own"
        raise InputError("this ontology gives nothing to say", place=Place(args.ontology), hint=hint)
    if args.output:
        _write_timed(args.output, stream, args.rate)
    sample = stream[: args.sample]
    firings = count_firings(rules, ontology, sample, lambda r, d: make(args.strategy, r, d))
    say = _say_beside(args.output)
    say(f"{len(stream):,} statements; rules of {rules.name} on the first {len(sample):,} of them")
    say(f"{writer.stretched:,} links leave a domain or a range aside, where no property fitted")
    say(render_table(firings_table(firings)))
    if args.socket:
        send(stream, args.socket, args.rate)
    return 0


def write_trains(args: argparse.Namespace, options: dict[str, int]) -> int:
    """`ensue generate trains`: the stream, the stations, and the query of figure 2."""
    railway, folder = Railway(**options), args.output
    with writing(folder):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "query.rq"), "w", encoding="utf-8") as out:
            out.write(QUERY)
    _write_background(os.path.join(folder, "stations.nt"), railway.background())
    written = write_stream(os.path.join(folder, "positions.tsv"), railway.stream())
    print(f"{written:,} statements on the stream, {len(railway.background()):,} in the background; now try")
    print(
        f"ensue run {folder}/query.rq --rules transitive-isin --graph {GRAPH}={folder}/stations.nt "
        f"--stream {STREAM}={folder}/positions.tsv"
    )
    return 0


def send(
    statements: Iterable[Statement],
    address: tuple[str, int],
    rate: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Connect and send N-Triples, `rate` statements a second."""
    where = f"{address[0]}:{address[1]}"
    try:
        with socket.create_connection(address) as connection:
            begin = clock()
            for k, statement in enumerate(statements):
                wait = begin + k / rate - clock()
                if wait > 0:
                    sleep(wait)
                connection.sendall(f"{n_triples(statement)}\n".encode())
    except OSError as problem:
        hint = "is something listening there, and did it stay?"
        raise EnsueError(
            f"cannot send: {problem.strerror or problem}", place=Place(where), hint=hint
        ) from problem
    progress(f"sent to {where}")


def n_triples(statement: Statement) -> str:
    """One line of N-Triples, without its end.

    >>> n_triples(("<urn:a>", "<urn:p>", '"x"'))
    '<urn:a> <urn:p> "x" .'
    """
    return f"{' '.join(statement)} ."


def _say_beside(output: str | None) -> Callable[[str], None]:
    """Where the summary goes: standard output, unless the stream itself goes there."""
    return progress if output == STANDARD else partial(print, flush=True)


def _write_timed(path: str, statements: list[Statement], rate: float) -> None:
    written = write_stream(path, ((ms, s, p, o, None) for ms, (s, p, o) in at_rate(statements, rate)))
    progress(f"wrote {written:,} statements to {path}")


def _write_background(path: str, statements: list[Statement]) -> None:
    with writing(path), open(path, "w", encoding="utf-8") as out:
        out.writelines(f"{n_triples(statement)}\n" for statement in statements)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """While a file is written: what goes wrong is told in terms of it."""
    try:
        yield
    except OSError as problem:
        hint = "is there space, and may you write there?"
        raise EnsueError(f"cannot be written: {problem.strerror}", place=Place(path), hint=hint) from problem
