"""SPARQL 1.1 CSV and TSV results, for many evaluations: with the columns query, open and close in front.

With `--until` the fourth is `until`: when the answer will leave, `forever`, or nothing if that is unknown.
A query's header comes before its first answers, also where several queries go to one output.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from ensue.query.output_terms import plain
from ensue.query.output_writer import Sink, Writer
from ensue.query.tree import Form
from ensue.terms import literal

if TYPE_CHECKING:
    from ensue.query.output import Result

_LEADING = ("query", "open", "close")
_UNTIL = (*_LEADING, "until")
_FOREVER = "forever"


class _Rows(Writer):
    forms = frozenset({Form.SELECT})

    def __init__(self, out: Sink, *, until: bool = False) -> None:
        super().__init__(out, until=until)
        self._begun: set[str] = set()
        self._leading = _UNTIL if until else _LEADING

    def resume(self, queries: Iterable[str]) -> None:
        """Go on where an earlier run ended: these have their headers."""
        self._begun.update(queries)

    def _is_new(self, query: str) -> bool:
        new = query not in self._begun
        self._begun.add(query)
        return new

    def _times(self, result: Result, forever: str) -> Iterator[tuple[str, ...]]:
        """What stands in front of each row behind the name of the query."""
        window = (str(result.open), str(result.close))
        if not self._until:
            return repeat(window, len(result.answers.rows))
        if result.until is None:
            return repeat((*window, ""), len(result.answers.rows))
        return ((*window, forever if time is None else str(time)) for time in result.until)


class Csv(_Rows):
    """Plain values between commas; what a term is cannot be told from it."""

    def text(self, result: Result) -> str:
        """The rows of an evaluation."""
        text = io.StringIO()
        rows = csv.writer(text)  # lines end as RFC 4180 has it, and so SPARQL
        if self._is_new(result.query):
            rows.writerow((*self._leading, *result.answers.variables))
        for times, row in zip(self._times(result, _FOREVER), result.answers.rows, strict=True):
            rows.writerow((result.query, *times, *("" if term is None else plain(term) for term in row)))
        return text.getvalue()


class Tsv(_Rows):
    """Whole terms between tabs."""

    def text(self, result: Result) -> str:
        """The rows of an evaluation."""
        return "".join("\t".join(line) + "\n" for line in self._lines(result))

    def _lines(self, result: Result) -> Iterator[Sequence[str]]:
        if self._is_new(result.query):
            yield [f"?{name}" for name in (*self._leading, *result.answers.variables)]
        name = literal(result.query)
        for times, row in zip(self._times(result, literal(_FOREVER)), result.answers.rows, strict=True):
            yield (name, *times, *(term or "" for term in row))
