"""What the windows of a C-SPARQL query hold, found without the engine, and what pyoxigraph answers over that.

The text of the query is read by regular expressions, the files by pyoxigraph. A window holds what has a time
in (close - range, close]; windows close at multiples of their step. The query is due whenever a window
closes, from the first close that sees a statement to the last one at which a window still holds some.
"""

from __future__ import annotations

import gzip
import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyoxigraph as ox

_STREAM = re.compile(r"from\s+stream\s+<([^>]*)>\s*\[\s*range\s+(\d+)(m?s)\s+step\s+(\d+)(m?s)\s*\]", re.I)
_GRAPH = re.compile(r"from\s+<([^>]*)>", re.I)
_MS = {"s": 1000, "ms": 1}

Terms = tuple["str | None", ...]
"""A solution: canonical texts, as pyoxigraph writes them."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What a query answers when windows close, and what it took pyoxigraph."""

    close: int
    variables: tuple[str, ...]
    rows: list[Terms]
    """Of ASK: the empty row for yes."""
    asking: float
    """Seconds from the query to the text of the last solution."""
    loading: float
    """Seconds to take out what left the windows, and to put in what came."""


class Windows:
    """The windows of one query."""

    def __init__(self, text: str, streams: Mapping[str, Path], graphs: Mapping[str, Path]) -> None:
        self._specs = [
            (_Timed(streams[iri]), int(size) * _MS[unit.lower()], int(step) * _MS[step_unit.lower()])
            for iri, size, unit, step, step_unit in _STREAM.findall(text)
        ]
        self._sparql = _GRAPH.sub("", _STREAM.sub("", text))
        self._graphs = [graphs[iri] for iri in dict.fromkeys(_GRAPH.findall(_STREAM.sub("", text)))]

    def moments(self) -> Iterator[Moment]:
        """Every evaluation that is due, in order."""
        store = ox.Store()
        for path in self._graphs:
            store.extend(_turtle(path))
        still = set(store)
        held: set[ox.Quad] = set()
        for close in self._closes():
            started = time.process_time()
            now = {
                quad
                for stream, size, step in self._specs
                for quad in stream.within(size, close // step * step)
            }
            for quad in held - now - still:
                store.remove(quad)
            for quad in now - held:
                store.add(quad)
            held = now
            loaded = time.process_time()
            variables, rows = _answers(store, self._sparql)
            asked = time.process_time()
            yield Moment(close, variables, rows, asked - loaded, loaded - started)

    def _closes(self) -> list[int]:
        first = min(-(-stream.times[0] // step) * step for stream, _, step in self._specs)
        last = max(
            (stream.times[-1] + size - 1) // step * step + step - 1 for stream, size, step in self._specs
        )
        steps = {step for _, _, step in self._specs}
        return sorted({at for step in steps for at in range(-(-first // step) * step, last + 1, step)})


class _Timed:
    """A stream, in order of time."""

    def __init__(self, path: Path) -> None:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = sorted((line.partition("\t")[::2] for line in file), key=lambda line: int(line[0]))
        self.times = [int(at) for at, _ in lines]
        parsed = ox.parse("".join(line for _, line in lines), format=ox.RdfFormat.N_TRIPLES)
        self._quads = list(parsed)

    def within(self, size: int, close: int) -> list[ox.Quad]:
        """What has a time in (close - size, close]."""
        return self._quads[bisect_right(self.times, close - size) : bisect_right(self.times, close)]


def _turtle(path: Path) -> Iterator[ox.Quad]:
    with gzip.open(path, "rb") as file:
        yield from ox.parse(file.read(), format=ox.RdfFormat.TURTLE)


def _answers(store: ox.Store, sparql: str) -> tuple[tuple[str, ...], list[Terms]]:
    """The variables and the solutions."""
    found = store.query(sparql)
    if isinstance(found, ox.QueryBoolean):
        return (), [()] if found else []
    assert isinstance(found, ox.QuerySolutions)
    rows = [tuple([None if term is None else str(term) for term in row]) for row in found]
    return tuple(variable.value for variable in found.variables), rows


@cache
def oxigraph_term(text: str) -> str:
    """A term as pyoxigraph writes it once it was in a store: numbers in their simplest form.

    >>> oxigraph_term('"07.50"^^<http://www.w3.org/2001/XMLSchema#decimal>')
    '"7.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    """
    if not text.startswith('"'):
        return text
    found = ox.Store().query(f"SELECT ?x {{ VALUES ?x {{ {text} }} }}")
    assert isinstance(found, ox.QuerySolutions)
    return str(next(iter(found))["x"])
