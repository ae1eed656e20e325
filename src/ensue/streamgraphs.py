"""Streams as RDF documents: each named graph is an element, and the default graph says when it was.

    @prefix prov: <http://www.w3.org/ns/prov#> .
    <urn:e1> { <urn:a> <urn:isIn> <urn:b> }
    <urn:e1> prov:generatedAtTime "2024-01-01T00:00:10Z"^^xsd:dateTime .

TriG (`.trig`), N-Quads (`.nq`), JSON-LD (`.jsonld`, `.json`), and JSON-LD with one document a line
(`.jsonl`, `.ndjson`), each also with `.gz`. An `.nq` file whose first line does not begin with a node but
with a time is a file of timed lines (`streamfile.py`).

- The time is an xsd:dateTime or xsd:dateTimeStamp (in UTC where it has no zone; what is finer than a
  millisecond is cut off), or an xsd:integer or xsd:long, which are milliseconds. It can stand before or
  after the graph. Statements come out in the order of the file, so one that waits for its time holds back
  those behind it: where times come first, nothing is held but the names and times of graphs.
- Other statements of the default graph about a graph are metadata, and no part of the stream.
- What has no place in the stream is reported, never dropped silently: a graph without a time, with two
  times or an ill-formed one (what came before the second time was seen stays given), and a statement of
  the default graph that is about no graph of the document.
- Blank nodes belong to their document: the file, or the line where each line is a document. So do times.
- A fault in syntax ends a document, but in N-Quads only the line. Nothing is fetched from the network: a
  JSON-LD document brings its @context along.
"""

from __future__ import annotations

import io
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, cast

import pyoxigraph as ox

from ensue.badlines import BadLine, OnBad, put_aside
from ensue.errors import InputError
from ensue.files import (
    SYNTAXES,
    Source,
    Statement,
    TermText,
    Timed,
    Watched,
    base_of,
    extension_of,
    limit_error,
    statement_of,
    syntax_error,
    syntax_of,
)
from ensue.inputlimits import MAX_LINE, SHOWN, LongLine, NestingError
from ensue.streamtimes import time_of

GENERATED_AT = "<http://www.w3.org/ns/prov#generatedAtTime>"

_JSON_LINES = ("jsonl", "ndjson")
_WHOLE = (ox.RdfFormat.TRIG, ox.RdfFormat.JSON_LD)
_BATCH = 10_000
_TIME_HINT = 'say <graph> prov:generatedAtTime "2024-01-01T00:00:10Z"^^xsd:dateTime in the default graph'


def is_document(name: str) -> bool:
    """Whether a stream file is an RDF document with times on its graphs: by its name, or how it begins.

    >>> is_document("s.trig.gz"), is_document("s.tsv")
    (True, False)
    """
    extension = extension_of(name)
    if extension in _JSON_LINES:
        return True
    syntax = SYNTAXES.get(extension)
    return syntax in _WHOLE or (syntax == ox.RdfFormat.N_QUADS and _begins_with_a_node(name))


def _begins_with_a_node(name: str) -> bool:
    with Source(name) as source:
        pieces = (line.head if isinstance(line, LongLine) else line for line in source.lines())
        lines = (line.strip() for line in pieces)
        first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return first.startswith((b"<", b"_"))


def read_document(name: str, on_bad: OnBad | None, max_line: int = MAX_LINE) -> Iterator[list[Timed]]:
    """The statements of the document's graphs with their times, in batches and in the order of the file."""
    return _batched(row for document in _documents(name, on_bad, max_line) for row in document)


def _documents(name: str, on_bad: OnBad | None, max_line: int) -> Iterator[Iterator[Timed]]:
    with Source(name) as source:
        if extension_of(name) in _JSON_LINES:
            for number, line in enumerate(source.lines(max_line), start=1):
                if not isinstance(line, LongLine) and len(line) > max_line + 1:
                    line = LongLine(line[:SHOWN], len(line), line.endswith(b"\n"))
                if isinstance(line, LongLine):
                    put_aside(BadLine(name, number, 1, None, line.shown, line.reason(max_line)), on_bad)
                elif line.strip():
                    scope = TermText(f"{name}#{number}", keep_labels=False)
                    document = _Document(name, ox.RdfFormat.JSON_LD, scope, on_bad, number)
                    yield _Elements(document).timed(document.statements(line))
        else:
            syntax = syntax_of(name)
            scope = TermText(name, keep_labels=syntax == ox.RdfFormat.N_QUADS)
            document = _Document(name, syntax, scope, on_bad)
            yield _Elements(document).timed(document.statements(source))


def _batched(rows: Iterable[Timed]) -> Iterator[list[Timed]]:
    batch: list[Timed] = []
    try:
        for row in rows:
            batch.append(row)
            if len(batch) == _BATCH:
                yield batch
                batch = []
    except InputError:
        # What was read before the fault is as good as ever.
        if batch:
            yield batch
        raise
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Document:
    file: str
    syntax: ox.RdfFormat
    text: TermText
    on_bad: OnBad | None
    line: int | None = None
    """Where it is one line of the file, which."""

    def statements(self, content: Source | bytes) -> Iterator[Statement]:
        """All statements, those of the default graph too."""
        by_line = self.syntax == ox.RdfFormat.N_QUADS
        base = None if by_line else base_of(self.file)
        source = Watched(io.BytesIO(content) if isinstance(content, bytes) else content, self.syntax)
        quads = ox.parse(cast("IO[bytes]", source), format=self.syntax, base_iri=base)
        while True:
            try:
                quad = next(quads)
            except StopIteration:
                return
            except (MemoryError, NestingError) as problem:
                error = limit_error(problem, self.file, source.line)
                line = error.place.line if error.place is not None and self.line is None else self.line
                put_aside(BadLine(self.file, line, None, None, "", error.what, error.hint), self.on_bad)
                return
            except SyntaxError as problem:
                self._broken(problem)
                if by_line:
                    continue
                return
            yield statement_of(quad, self.text)

    def bad(self, text: str, reason: str, hint: str) -> None:
        """Report what has no place in the stream."""
        put_aside(BadLine(self.file, self.line, None, None, text, reason, hint), self.on_bad)

    def _broken(self, problem: SyntaxError) -> None:
        error = syntax_error(problem, self.file, self.syntax)
        line = problem.lineno if self.line is None else self.line
        put_aside(BadLine(self.file, line, problem.offset, None, "", error.what, error.hint), self.on_bad)


class _Elements:
    """Gives the statements of graphs their times; holds back those whose time is still to come."""

    def __init__(self, document: _Document) -> None:
        self._document = document
        self._times: dict[str, int | None] = {}  # None: a graph that was reported, and is given no more
        self._graphs: set[str] = set()
        self._held: deque[Statement] = deque()
        self._about: dict[str, list[Statement]] = {}  # by subject, while no graph has its name

    def timed(self, statements: Iterable[Statement]) -> Iterator[Timed]:
        """The statements of graphs, with their times."""
        for statement in statements:
            graph = statement[3]
            if graph is None:
                self._note(statement)
            else:
                if graph not in self._graphs:
                    self._graphs.add(graph)
                    self._about.pop(graph, None)
                self._held.append(statement)
            yield from self._release()
        self._report_graphs_without_time()
        yield from self._release()
        self._report_what_is_about_no_graph()

    def _release(self) -> Iterator[Timed]:
        held, times = self._held, self._times
        while held and held[0][3] in times:
            s, p, o, graph = held.popleft()
            time = times[cast("str", graph)]
            if time is not None:
                yield time, s, p, o, graph

    def _note(self, statement: Statement) -> None:
        subject, predicate, value, _ = statement
        if subject not in self._graphs:
            self._about.setdefault(subject, []).append(statement)
        if predicate == GENERATED_AT:
            self._note_time(subject, value)

    def _note_time(self, graph: str, value: str) -> None:
        time = time_of(value)
        before = self._times.setdefault(graph, time)
        if time is None:
            self._give_up(graph, f"{value} is no time of graph {graph}", _TIME_HINT)
        elif before is not None and before != time:
            reason = f"graph {graph} has two times, {before} and {time} (in milliseconds)"
            self._give_up(graph, reason, "an element of a stream has one time: make two graphs of it")

    def _report_graphs_without_time(self) -> None:
        sizes = Counter(cast("str", statement[3]) for statement in self._held)
        for graph, size in sizes.items():
            if graph not in self._times:
                what = "statement is" if size == 1 else "statements are"
                self._give_up(graph, f"graph {graph} has no time: its {size} {what} left out", _TIME_HINT)

    def _report_what_is_about_no_graph(self) -> None:
        hint = "statements of a stream stand in named graphs; those outside say when a graph was"
        for s, p, o, _ in (statement for group in self._about.values() for statement in group):
            self._document.bad(
                f"{s} {p} {o} .", f"{s} is no graph of this document that holds anything", hint
            )

    def _give_up(self, graph: str, reason: str, hint: str) -> None:
        self._times[graph] = None
        self._document.bad(graph, reason, hint)
