"""Answers held against those over a window that is closed from scratch (`--check N`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ensue.errors import EnsueError, UsageError
from ensue.plan.asked import template
from ensue.query.algebra import nodes
from ensue.query.answers import Answers, Row
from ensue.query.tree import ContinuousQuery

_OPEN = (
    *("Builtin_BNODE", "Builtin_UUID", "Builtin_STRUUID", "Builtin_RAND", "Builtin_NOW"),
    *("Slice", "Aggregate_Sample", "Aggregate_GroupConcat"),
)
"""Where these are in a query, it may give other answers the next time."""

_SHOWN = 3
"""So many wrong answers are named."""


class CheckError(EnsueError):
    """Answers are not those over the window closed from scratch."""


@dataclass(frozen=True, slots=True)
class Check:
    """Compares every so many evaluations of a query."""

    every: int

    def __post_init__(self) -> None:
        if self.every < 1:
            raise UsageError(f"check {self.every}", hint="every Nth window is checked: 1 or more")

    def is_due(self, evaluations: int) -> bool:
        """Whether the last of so many evaluations is to be compared."""
        return evaluations % self.every == 0

    def compare(self, query: ContinuousQuery, window: str, given: Answers, wanted: Answers) -> None:
        """Raise CheckError if answers are not as they should be.

        >>> from ensue.query.language import parse_query
        >>> from ensue.query.tree import Form
        >>> query = parse_query("SELECT ?x FROM STREAM <urn:s> [RANGE 1s] { ?x ?p ?o }", name="q")
        >>> one, none = (Answers(Form.SELECT, ("x",), rows) for rows in ([("<urn:a>",)], []))
        >>> Check(1).compare(query, "(0, 1000]", none, one)
        Traceback (most recent call last):
        ensue.query.check.CheckError: query q, window (0, 1000]: 1 of 1 answers are missing: ...
        """
        if _is_any_as_good(query):
            # Which answers it gives is open, but not how many.
            if len(wanted.rows) != len(given.rows):
                raise _error(query, window, f"there are {len(given.rows)} answers, not {len(wanted.rows)}")
            return
        found, right = Counter(given.rows), Counter(wanted.rows)
        for which, rows, all_rows in (
            ("are missing", right - found, right),
            ("should not be there", found - right, found),
        ):
            if rows:
                what = f"{rows.total()} of {all_rows.total()} answers {which}"
                raise _error(query, window, f"{what}: {_texts(rows)}")


def _is_any_as_good(query: ContinuousQuery) -> bool:
    """Whether a query may give other answers when it is evaluated again."""
    made = (variable.name for triple in template(query) for variable in triple.variables())
    return any(name.startswith("_:") for name in made) or any(
        node.name in _OPEN for node in nodes(query.algebra)
    )


def _texts(rows: Counter[Row]) -> str:
    shown = [" ".join(term or "(no value)" for term in row) or "yes" for row in sorted(rows, key=str)]
    return "; ".join(shown[:_SHOWN]) + ("; ..." if len(shown) > _SHOWN else "")


def _error(query: ContinuousQuery, window: str, what: str) -> CheckError:
    hint = "this is a bug in Ensue: please report it; until then, run with --strategy recompute"
    return CheckError(f"query {query.name}, window {window}: {what}", hint=hint)
