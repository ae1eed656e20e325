"""The one error hierarchy: what went wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the user's input something is: a file, a line and a column (both from 1).

    >>> str(Place("rules.txt", 3, 7))
    'rules.txt:3:7'
    >>> str(Place("rules.txt"))
    'rules.txt'
    """

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


class EnsueError(Exception):
    """Everything Ensue raises on purpose. The text is `place: what (hint: ...)`.

    >>> print(EnsueError("unknown regime 'rfds'", hint="did you mean 'rdfs-jena'?"))
    unknown regime 'rfds' (hint: did you mean 'rdfs-jena'?)
    """

    exit_code = 1

    def __init__(self, what: str, *, place: Place | None = None, hint: str | None = None) -> None:
        self.what = what
        self.place = place
        self.hint = hint
        where = f"{place}: " if place is not None else ""
        then = f" (hint: {hint})" if hint else ""
        super().__init__(f"{where}{what}{then}")


class InputError(EnsueError):
    """A file that is absent, unreadable, cut short, or not in the syntax it claims."""


class RuleError(EnsueError):
    """A rule that cannot be used."""


class RuleSyntaxError(RuleError):
    """A rule file that does not parse."""


class UnsafeRuleError(RuleError):
    """A rule whose conclusion or condition has a variable that no premise binds."""


class NotMonotoneError(RuleError):
    """A rule that says what a monotone rule cannot: DELETE, NOT EXISTS, aggregates."""


class QueryError(EnsueError):
    """A continuous query that cannot be used."""


class QuerySyntaxError(QueryError):
    """A continuous query that does not parse."""


class BufferFullError(EnsueError):
    """More statements wait for their time than the engine was told to hold."""


class BudgetError(EnsueError):
    """More was derived, or more memory taken, than the budget allows: `limit` is which, `derived` the number
    of facts that each rule derived, the most first.
    """

    limit: str = ""
    derived: Mapping[str, int] = {}
    of_background: bool = False
    """Whether it was the background alone."""


class BrokenError(EnsueError):
    """A reasoner that was left in the middle of a step, by the failure that the text tells."""


class UsageError(EnsueError):
    """The call itself is wrong: an option, an argument, or a use of the API."""

    exit_code = 2


class StrategyError(UsageError):
    """A strategy that does not take these rules, or this query."""


def did_you_mean(text: str, known: Iterable[str]) -> str | None:
    """A hint for a word that is almost one of the known ones.

    >>> did_you_mean("secnods", ["seconds", "minutes"])
    "did you mean 'seconds'?"
    """
    close = get_close_matches(text, list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else None


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that is no error but hardly meant so. The text is that of an error.

    >>> print(Warned("?x is in no pattern", Place("q.rq", 1, 8)))
    q.rq:1:8: ?x is in no pattern
    """

    what: str
    place: Place
    hint: str | None = None

    def __str__(self) -> str:
        then = f" (hint: {self.hint})" if self.hint else ""
        return f"{self.place}: {self.what}{then}"
