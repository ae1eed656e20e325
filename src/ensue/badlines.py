"""What of a stream could not be read: put aside and counted, or raised as an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Protocol

from ensue.errors import InputError, Place
from ensue.files import hint_for

_LINE_HINT = "a line is <milliseconds><TAB><statement> ."


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line, or another part of a stream file, that could not be read.

    `offset` counts the unzipped bytes before the line. What is not known of the place is None: the
    parsers of TriG and JSON-LD say where a fault in syntax is, but not where a statement was. Who gives
    no hint for what is not a line has it in the reason.
    """

    file: str
    line: int | None
    column: int | None
    offset: int | None
    text: str
    reason: str
    hint: str | None = None

    def error(self) -> InputError:
        """The same as an error to raise."""
        place = Place(self.file, self.line, self.column)
        hint = self.hint
        if hint is None and (self.line, self.offset) != (None, None):
            hint = hint_for(self.reason) or _LINE_HINT
        return InputError(self.reason, place=place, hint=hint)


OnBad = Callable[[BadLine], None]


def put_aside(bad: BadLine, on_bad: OnBad | None) -> None:
    """Hand a bad line over, or raise it where nobody takes it."""
    if on_bad is None:
        raise bad.error()
    on_bad(bad)


class TakesText(Protocol):
    """An open text file, or anything else that takes text."""

    def write(self, text: str, /) -> object:
        """Take some text."""


class DeadLetters:
    """Where bad lines go instead of stopping the stream: counted, and written as JSON lines.

    >>> import io
    >>> letters = DeadLetters(out := io.StringIO())
    >>> letters(BadLine("a.tsv", 3, 1, 40, "??", "no time"))
    >>> letters.count, json.loads(out.getvalue())["line"]
    (1, 3)
    """

    def __init__(self, out: TakesText | None = None) -> None:
        self.count = 0
        self._out = out

    def __call__(self, bad: BadLine) -> None:
        """Take one."""
        self.count += 1
        if self._out is not None:
            self._out.write(json.dumps(asdict(bad), ensure_ascii=False) + "\n")
