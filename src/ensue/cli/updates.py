"""`--reload`, `--reload-graph` and `--knowledge`: a background that changes while a job runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from ensue.cli.pairs import pairs
from ensue.errors import UsageError
from ensue.files import Statement, read_statements
from ensue.knowledge import Update
from ensue.model import FOREVER, NEVER
from ensue.streamfile import read_stream


def add_update_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how the background changes."""
    add = parser.add_argument
    add(
        "--reload",
        metavar="MS=FILE",
        action="append",
        default=[],
        help="from then on this is all of the background",
    )
    add(
        "--reload-graph",
        metavar="MS=IRI=FILE",
        action="append",
        default=[],
        help="from then on this is the graph of FROM's IRI",
    )
    add(
        "--knowledge",
        metavar="PATH",
        action="append",
        default=[],
        help="timed lines: each is background from its time on",
    )


def updates_of(args: argparse.Namespace) -> list[Update]:
    """The updates that a command line describes, one for each time."""
    files, graphs, added = _files(args.reload), _graphs(args.reload_graph), _knowledge(args.knowledge)
    return [
        Update(
            time,
            added=tuple(added.get(time, ())),
            reloaded=_statements(files[time]) if time in files else None,
            graphs={iri: _statements([file]) for iri, file in graphs.get(time, {}).items()},
        )
        for time in sorted({*files, *graphs, *added})
    ]


def _files(words: Iterable[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for time, file in _timed(words, "--reload", "MS=FILE"):
        found.setdefault(time, []).append(file)
    return found


def _graphs(words: Iterable[str]) -> dict[int, dict[str, str]]:
    """The files of graphs, by time and IRI.

    >>> _graphs(["5000=urn:stations=new.ttl"])
    {5000: {'urn:stations': 'new.ttl'}}
    """
    found: dict[int, list[str]] = {}
    for time, word in _timed(words, "--reload-graph", "MS=IRI=FILE"):
        found.setdefault(time, []).append(word)
    return {time: pairs(each, "--reload-graph") for time, each in found.items()}


def _knowledge(paths: Iterable[str]) -> dict[int, list[Statement]]:
    found: dict[int, list[Statement]] = {}
    for path in paths:
        for batch in read_stream(path):
            for time, s, p, o, graph in batch:
                found.setdefault(time, []).append((s, p, o, graph))
    return found


def _timed(words: Iterable[str], option: str, form: str) -> Iterator[tuple[int, str]]:
    for word in words:
        time, _, rest = word.partition("=")
        digits = time.removeprefix("-")
        if not (digits.isdecimal() and digits.isascii() and rest) or not NEVER < int(time) < FOREVER:
            raise UsageError(f"{option} {word}", hint=f"write {option} {form}, with a time in milliseconds")
        yield int(time), rest


def _statements(files: Iterable[str]) -> tuple[Statement, ...]:
    return tuple(statement for file in files for statement in read_statements(file))
