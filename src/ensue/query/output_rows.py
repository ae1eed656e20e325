"""SPARQL 1.1 CSV and TSV results, for many evaluations: with the columns query, open and close in front.

A query's header comes before its first answers, also where several queries go to one output.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ensue.query.output_terms import plain
from ensue.query.output_writer import Sink, Writer
from ensue.query.tree import Form
from ensue.terms import literal

if TYPE_CHECKING:
    from ensue.query.output import Result

_LEADING = ("query", "open", "close")


class _Rows(Writer):
    forms = frozenset({Form.SELECT})

    def __init__(self, out: Sink) -> None:
        super().__init__(out)
        self._begun: set[str] = set()

    def resume(self, queries: Iterable[str]) -> None:
        """Go on where an earlier run ended: these have their headers."""
        self._begun.update(queries)

    def _is_new(self, query: str) -> bool:
        new = query not in self._begun
        self._begun.add(query)
        return new


class Csv(_Rows):
    """Plain values between commas; what a term is cannot be told from it."""

    def text(self, result: Result) -> str:
        """The rows of an evaluation."""
        text = io.StringIO()
        rows = csv.writer(text)  # lines end as RFC 4180 has it, and so SPARQL
        if self._is_new(result.query):
            rows.writerow((*_LEADING, *result.answers.variables))
        window = (result.query, result.open, result.close)
        for row in result.answers.rows:
            rows.writerow((*window, *("" if term is None else plain(term) for term in row)))
        return text.getvalue()


class Tsv(_Rows):
    """Whole terms between tabs."""

    def text(self, result: Result) -> str:
        """The rows of an evaluation."""
        return "".join("\t".join(line) + "\n" for line in self._lines(result))

    def _lines(self, result: Result) -> Iterator[Sequence[str]]:
        if self._is_new(result.query):
            yield [f"?{name}" for name in (*_LEADING, *result.answers.variables)]
        window = (literal(result.query), str(result.open), str(result.close))
        for row in result.answers.rows:
            yield (*window, *(term or "" for term in row))
