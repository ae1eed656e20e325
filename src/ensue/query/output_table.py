"""Results as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from ensue.query.output_writer import Writer
from ensue.query.tree import Form

if TYPE_CHECKING:
    from ensue.query.output import Result

_COLUMNS = ("subject", "predicate", "object")


class Table(Writer):
    """A line that says which evaluation, and a table of its answers."""

    def text(self, result: Result) -> str:
        """The table of an evaluation."""
        answers = result.answers
        head = f"{visible(result.query)} ({result.open}, {result.close}]"
        if answers.form is Form.ASK:
            return f"{head}: {'yes' if answers.truth else 'no'}\n\n"
        if not answers.rows:
            return f"{head}: no answers\n\n"
        count = len(answers.rows)
        noun = "answer" if answers.form is Form.SELECT else "triple"
        names = [f"?{name}" for name in answers.variables] if answers.form is Form.SELECT else [*_COLUMNS]
        cells = [[visible(term or "") for term in row] for row in answers.rows]
        if result.until is not None:
            names.append("until")
            for row, time in zip(cells, result.until, strict=True):
                row.append("forever" if time is None else str(time))
        lines = aligned([names, *cells])
        return "\n".join([f"{head}: {count} {noun}{'s' if count > 1 else ''}", *lines]) + "\n\n"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines in which the cells stand in columns; the first row is the head.

    >>> aligned([["?a", "?b"], ["x", "long"], ["字", ""]])
    ['  ?a  ?b', '  --  ----', '  x   long', '  字']
    """
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    ruled = [rows[0], ["-" * wide for wide in widths], *rows[1:]]
    return [_line(row, widths) for row in ruled]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True))
    return ("  " + "  ".join(cells)).rstrip()


def width(text: str) -> int:
    """How many places a text takes in a terminal: wide letters take two, accents none.

    >>> width("ab"), width("日本"), width("e\u0301")
    (2, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def visible(text: str) -> str:
    r"""The text with what a terminal would obey instead of show, such as a change of direction, as \u....

    >>> visible("a\u202eb\x1b[1m")
    'a\\u202eb\\x1b[1m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
