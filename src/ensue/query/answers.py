"""What an evaluation of a query gives: a bag of rows of terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress

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
    before: Sequence[Row] | None = field(default=None, repr=False)
    """In a shard's part, where answers are compared with those of the evaluation before: the rows of that
    one; None if it was the first."""

    def where(self, variable: str, wanted: Callable[[str], bool]) -> Answers:
        """The rows in which a variable has a wanted value.

        >>> Answers(Form.SELECT, ("x",), [("<urn:a>",), (None,)]).where("x", lambda term: True).rows
        [('<urn:a>',)]
        """
        at = self.variables.index(variable)
        kept = [(term := row[at]) is not None and wanted(term) for row in self.rows]
        stamps = None if self.stamps is None else list(compress(self.stamps, kept))
        return Answers(self.form, self.variables, list(compress(self.rows, kept)), stamps)

    @property
    def truth(self) -> bool:
        """The answer to ASK."""
        return len(self.rows) > 0
