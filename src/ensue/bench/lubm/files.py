"""What `ensue generate lubm` writes: universities as documents, N-Triples, or a stream of departments."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator

from ensue.bench.generate import n_triples, writing
from ensue.bench.harness import progress
from ensue.bench.lubm.queries import DEPARTMENT_MS, NUMBERS, STREAM, continuous_query, ontology_file
from ensue.bench.lubm.rdf import Department
from ensue.bench.lubm.rdfxml import rdf_xml
from ensue.bench.lubm.university import departments
from ensue.bench.networks.lubm import network_text
from ensue.streamfile import Timed, write_stream

STREAM_FILE, ONTOLOGY_FILE, NETWORK_FILE = "departments.tsv", "univ-bench.ttl", "network.ru"


def generate(args: argparse.Namespace) -> int:
    """`ensue generate lubm`."""
    folder = args.output
    drawn = _drawn(range(args.index, args.index + args.univ), args.seed)
    with writing(folder):
        os.makedirs(folder, exist_ok=True)
        _write(folder, ONTOLOGY_FILE, ontology_file().read_text(encoding="utf-8"))
        if args.format == "timed":
            return _generate_stream(folder, drawn)
        written = write_documents(folder, drawn, args.format)
    print(f"{written:,} departments in {folder}, and what they mean in {ONTOLOGY_FILE}")
    return 0


def write_documents(folder: str, drawn: Iterable[Department], ending: str) -> int:
    """A file for each department, as RDF/XML (`owl`) or as N-Triples (`nt`); how many."""
    text: Callable[[Department], str] = rdf_xml if ending == "owl" else _lines
    written = 0
    for department in drawn:
        _write(folder, f"{department.document}.{ending}", text(department))
        written += 1
    return written


def timed(drawn: Iterable[Department]) -> Iterator[Timed]:
    """The departments as events, in order: all statements of one have the same time, and its graph."""
    for time, department in enumerate(drawn, start=1):
        graph = f"<{department.graph}>"
        for s, p, o in department.statements():
            yield time * DEPARTMENT_MS, s, p, o, graph


def _generate_stream(folder: str, drawn: Iterable[Department]) -> int:
    stream = os.path.join(folder, STREAM_FILE)
    written = write_stream(stream, timed(drawn))
    for number in NUMBERS:
        _write(folder, f"q{number}.rq", continuous_query(number))
    _write(folder, NETWORK_FILE, network_text())
    print(f"{written:,} statements on the stream; now try")
    print(
        f"ensue run {folder}/q*.rq --rules owl2rl --fixed-schema --background {folder}/{ONTOLOGY_FILE} "
        f"--stream {STREAM}={stream}"
    )
    print(
        f"ensue run {folder}/{NETWORK_FILE} --engine local --background {folder}/{ONTOLOGY_FILE} "
        f"--stream {STREAM}={stream}"
    )
    return 0


def _drawn(universities: Iterable[int], seed: int) -> Iterator[Department]:
    for university in universities:
        progress(f"university {university}")
        yield from departments(university, seed)


def _lines(department: Department) -> str:
    return "".join(f"{n_triples(statement)}\n" for statement in department.statements())


def _write(folder: str, name: str, text: str) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as out:
        out.write(text)
