"""What an evaluation of a query gives: a bag of rows of terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ensue.query.tree import Form

Row = tuple[str | None, ...]
"""Terms as canonical N-Triples text; None is a variable without a value."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one evaluation, in the order that the query asks for.

    SELECT: one row a solution, one column a variable. CONSTRUCT and DESCRIBE: one row a triple, each
    triple once. ASK: the empty row for yes, no row for no; so all forms differ as bags do.

    >>> Answers(Form.ASK, (), [()]).truth
    True
    """

    form: Form
    variables: tuple[str, ...]
    rows: Sequence[Row]
    stamps: Sequence[int] | None = None
    """For each row the stamp up to which its freshest derivation holds; None where an answer can also
    come or go because something else left or came (MINUS, OPTIONAL, aggregates), and where nobody
    keeps track."""

    @property
    def truth(self) -> bool:
        """The answer to ASK."""
        return len(self.rows) > 0
