"""What all writers of results share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from ensue.errors import UsageError
from ensue.query.tree import Form

if TYPE_CHECKING:
    from ensue.query.output import Result


class Sink(Protocol):
    """Where text goes: an open text file, or anything else that takes text."""

    def write(self, text: str, /) -> object:
        """Take some text."""

    def flush(self) -> object:
        """Pass on what was taken."""


class Writer(ABC):
    """Writes results in one format."""

    forms: frozenset[Form] = frozenset(Form)
    """The forms of queries whose answers the format can hold."""
    holds_until = True
    """Whether there is a place for when an answer will leave."""

    def __init__(self, out: Sink, *, until: bool = False) -> None:
        """`until`: there is one in each result, also where it is unknown."""
        self._out = out
        self._until = until

    def write(self, result: Result) -> None:
        """Write one evaluation. Raises UsageError where the format cannot hold such answers."""
        form = result.answers.form
        if form not in self.forms:
            wanted = " or ".join(sorted(self.forms))
            what = f"this output is for {wanted}, but the query '{result.query}' is a {form}"
            raise UsageError(what, hint="jsonl and table take every query")
        self._out.write(self.text(result))
        self._out.flush()

    def resume(self, queries: Iterable[str]) -> None:  # noqa: B027 - most formats have nothing to do
        """Go on where an earlier run ended that had written results of these queries."""

    @abstractmethod
    def text(self, result: Result) -> str:
        """An evaluation in this format."""

    def close(self) -> None:
        """End the output; what it goes to stays open."""
        self._out.flush()
