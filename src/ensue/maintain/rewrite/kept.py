"""Who keeps the facts that patterns with rules folded in are matched against.

`Stated` keeps statements as they came, and nothing else; `Materialised` keeps what joining rules, and those
that feed them, make of them. Both have the log of copies.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ensue.dictionary import Dictionary
from ensue.maintain.base import LoggedMaintainer
from ensue.maintain.expiration import Expiration
from ensue.maintain.kernel.columns import Columns as Rows
from ensue.maintain.kernel.maintainer import columns_of, span_of
from ensue.maintain.log import CopyLog
from ensue.model import Copies
from ensue.query.compiled.relation import numbered
from ensue.query.dataset import Columns, Integers
from ensue.rules.tree import RuleSet


class Stated(LoggedMaintainer):
    """Statements as they came: nothing is derived.

    >>> some = Stated(Dictionary())
    >>> some.admit(Copies.of([(1, 5, 6, 7, 100), (1, 5, 6, 8, 200)]))
    >>> some.facts(1, threshold=100).o.tolist()
    [8]
    """

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__(RuleSet("none", ()), dictionary)
        self._rows: Rows | None = None
        """The live copies; None if they have changed since."""

    def admit(self, copies: Copies) -> None:
        """Let copies in."""
        self._log.add(copies, span_of)
        self._rows = None

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        self._rows = None
        return len(self._take_back(copies, every=every))

    def expire(self, threshold: int) -> None:
        """Forget what has a stamp at or below a threshold."""
        self._log.expire(threshold)
        self._rows = None

    def rows(self) -> Rows:
        """The live copies of all contexts."""
        if self._rows is None:
            self._rows = _live(self._log)
        return self._rows

    def facts(self, context: int, threshold: int) -> Columns:
        """What a context holds above a threshold, some of it perhaps more than once."""
        every = self.rows()
        wanted = (every.stamp > threshold) & (every.context == context)
        chosen = every if wanted.all() else every.take(wanted)
        return Columns(chosen.s, chosen.p, chosen.o, chosen.stamp)

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use."""
        return self._columns_in_use()

    def statistics(self) -> dict[str, int]:
        """Counters by name."""
        live = self.rows()
        facts = len(np.unique(_numbers(live)))
        size = sum(column.nbytes for column in live.to_read())
        return {"facts": facts, "derivations": 0, "probes": 0, "copies": len(live), "bytes": size}


class Materialised(Expiration):
    """What rules make of statements, by the kernel, over a closed background."""

    def __init__(self, rules: RuleSet, dictionary: Dictionary, background: Columns) -> None:
        super().__init__(rules, dictionary)
        self.load_background(Copies.lasting(background.s, background.p, background.o))

    def expire(self, threshold: int) -> None:
        """Forget what has a stamp at or below a threshold."""
        self.advance(threshold)

    def rows(self) -> Rows:
        """The live copies of all contexts."""
        return _live(self._log)

    def facts(self, context: int, threshold: int) -> Columns:
        """What a context holds above a threshold."""
        return Columns.of(self.closure(context, threshold))


def _live(log: CopyLog) -> Rows:
    every = Rows.joined([columns_of(pane) for pane in log.panes()])
    live = every.stamp > log.threshold
    return every if live.all() else every.take(live)


def among(rows: Rows, others: Rows) -> Integers:
    """A mask: which facts of contexts are among others.

    >>> among(Rows.of([(1, 5, 6, 7, 100), (2, 5, 6, 7, 100)]), Rows.of([(2, 5, 6, 7, 200)])).tolist()
    [False, True]
    """
    numbers = _numbers(Rows.joined([rows, others]))
    return np.isin(numbers[: len(rows)], numbers[len(rows) :])


def _numbers(rows: Rows) -> Integers:
    return numbered([rows.context, rows.s, rows.p, rows.o], len(rows))
