"""What a query gave, and writers that put it into a text: one per format.

A writer gets the results of any number of queries, one evaluation at a time, and lets each be seen at
once. What the system says to writing (a full disk, a reader that went away) is the caller's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ensue.errors import UsageError, did_you_mean
from ensue.query.answers import Answers
from ensue.query.output_graphs import NTriples, TriG
from ensue.query.output_rows import Csv, Tsv
from ensue.query.output_table import Table
from ensue.query.output_terms import json_term, statement
from ensue.query.output_writer import Sink, Writer
from ensue.query.partial import Partial
from ensue.query.tree import Form
from ensue.windows.stretch import Stretch


@dataclass(frozen=True, slots=True)
class Result:
    """One evaluation of a query: the window (open, close] that it saw, and the answers given for it.

    >>> Result("q", 0, 1000, Answers(Form.SELECT, ("x",), [("<urn:a>",)])).json()["bindings"]
    [{'x': {'type': 'uri', 'value': 'urn:a'}}]
    """

    query: str
    open: int
    close: int
    answers: Answers
    until: Sequence[int | None] | None = None
    """For each answer the time up to which it holds if nothing more arrives; None: for ever, or unknown."""
    exact: bool = True
    """Whether the answers are all there are, and right."""
    of_event: bool = False
    """Whether it is about an event, or of a rule network: no other shard has a part in it."""
    graph: str | None = None
    """The name of the graph of an event that is an element of its stream, or the key of a network among
    several; "" for none; otherwise None.
    """
    skipped: Stretch | None = None
    """The evaluations just before this one that were passed over: they would have seen the same."""
    partial: Partial | None = None
    """What was left out of the derivation, where the budget did not allow all; None: nothing was."""
    part: bool = False
    """Whether this is what one shard has to give, for `merge.py`: solutions, and no answers yet."""

    def json(self) -> dict[str, Any]:
        """The result as `--output jsonl` has it. What would say nothing is left out."""
        found: dict[str, Any] = {"query": self.query, "open": self.open, "close": self.close}
        match self.answers.form:
            case Form.SELECT:
                found |= {"vars": list(self.answers.variables), "bindings": self._bindings()}
            case Form.ASK:
                found["boolean"] = self.answers.truth
            case _:
                found["triples"] = [statement(row) for row in self.answers.rows]
        if self.until is not None:
            found["until"] = list(self.until)
        if not self.exact:
            found["exact"] = False
        if self.skipped is not None:
            found["skipped"] = asdict(self.skipped)
        if self.partial is not None:
            found["partial"] = self.partial.json()
        return found

    @property
    def complete(self) -> bool:
        """Whether nothing was left out of the derivation."""
        return self.partial is None

    def _bindings(self) -> list[dict[str, Any]]:
        names = self.answers.variables
        return [
            {name: json_term(term) for name, term in zip(names, row, strict=True) if term is not None}
            for row in self.answers.rows
        ]


# JSON lets these stand as they are, but some readers of lines would end one there.
_LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


class JsonLines(Writer):
    """One line of JSON per evaluation."""

    def text(self, result: Result) -> str:
        """The line."""
        return json.dumps(result.json(), ensure_ascii=False).translate(_LINE_ENDS) + "\n"


WRITERS: dict[str, type[Writer]] = {
    "jsonl": JsonLines,
    "table": Table,
    "csv": Csv,
    "tsv": Tsv,
    "nt": NTriples,
    "trig": TriG,
}
"""The formats by name."""


def writer(kind: str, out: Sink, *, until: bool = False) -> Writer:
    """The writer of a format; `until`: it has to say when answers will leave.

    >>> import sys
    >>> answers = Answers(Form.ASK, (), [()])
    >>> writer("jsonl", sys.stdout).write(Result("q", 0, 1000, answers))
    {"query": "q", "open": 0, "close": 1000, "boolean": true}
    """
    if kind not in WRITERS:
        hint = did_you_mean(kind, WRITERS) or f"one of {', '.join(WRITERS)}"
        raise UsageError(f"unknown output format '{kind}'", hint=hint)
    made = WRITERS[kind](out, until=until)
    if until and not made.holds_until:
        known = ", ".join(name for name, each in WRITERS.items() if each.holds_until)
        raise UsageError(f"{kind} has no place for when an answer will leave", hint=f"one of {known}")
    return made
