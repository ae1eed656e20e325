"""For tests of queries and rules: a source, a sink and a clock that do as they are told.

>>> source = FakeSource('''
...     1000 ex:train ex:isIn ex:station .
...     4000 ex:station ex:isIn ex:berlin .
... ''', ex="http://example.org/")
>>> query = "SELECT ?x FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?x <http://example.org/isIn> ?y }"
>>> sink = run_queries([query], {"urn:s": source}, rules="transitive-isin")
>>> sink.closes, len(sink.rows(close=5000))
([5000, 10000], 3)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyoxigraph as ox

from ensue.errors import InputError, Place
from ensue.files import TermText, statement_of
from ensue.query.answers import Row
from ensue.query.output import Result
from ensue.reasoner import Reasoner
from ensue.streamfile import Timed


class FakeClock:
    """A clock that stands still until it is told to go on.

    >>> clock = FakeClock(1000)
    >>> clock.tick(500)
    >>> clock()
    1500
    """

    def __init__(self, now: int = 0) -> None:
        self.now = now

    def __call__(self) -> int:
        """What time it is, in ms."""
        return self.now

    def tick(self, ms: int) -> None:
        """Let time pass."""
        self.now += ms


class FakeSource:
    """A stream from lines of milliseconds and a statement in Turtle; prefixes are given by name.

    >>> list(FakeSource("5 :a :p 1 .", **{"": "urn:"}))
    [(5, '<urn:a>', '<urn:p>', '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', None)]
    """

    def __init__(self, text: str, **prefixes: str) -> None:
        self._head = "".join(f"@prefix {name}: <{iri}> . " for name, iri in prefixes.items())
        self._terms = TermText("fake", keep_labels=True)
        self.statements = [timed for timed in map(self._read, enumerate(text.split("\n"), 1)) if timed]

    def __iter__(self) -> Iterator[Timed]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def _read(self, numbered: tuple[int, str]) -> Timed | None:
        number, line = numbered
        time, _, statement = line.strip().partition(" ")
        if not time:
            return None
        try:
            [quad] = ox.parse(self._head + statement, format=ox.RdfFormat.TURTLE)
            return int(time), *statement_of(quad, self._terms)
        except (SyntaxError, ValueError) as problem:
            place = Place("fake source", number)
            hint = "a line is <milliseconds> <statement in Turtle> ."
            raise InputError(f"cannot be read: {problem}", place=place, hint=hint) from problem


class FakeSink:
    """Keeps every result, to be looked at."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self.results = list(results)

    def write(self, result: Result) -> None:
        """Take one."""
        self.results.append(result)

    @property
    def closes(self) -> list[int]:
        """When windows closed, in the order of the results."""
        return [result.close for result in self.results]

    def rows(self, query: str | None = None, close: int | None = None) -> list[Row]:
        """The answers, in order of their text: of all results, or those of a query or a close."""
        chosen = (
            result
            for result in self.results
            if query in (None, result.query) and close in (None, result.close)
        )
        return sorted((row for result in chosen for row in result.answers.rows), key=_by_text)


def _by_text(row: Row) -> tuple[str, ...]:
    return tuple(term or "" for term in row)


def run_queries(queries: Iterable[str], sources: Mapping[str, Iterable[Timed]], **options: Any) -> FakeSink:
    """Answer queries over finite streams, to the end; `options` are those of `Reasoner`."""
    reasoner, sink = Reasoner(**options), FakeSink()
    for query in queries:
        reasoner.register(query)
    for stream, source in sources.items():
        reasoner.feed(stream, list(source))
        sink.results += reasoner.advance()
    sink.results += reasoner.end()
    return sink
