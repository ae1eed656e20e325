"""DRed: overdelete, rederive, insert, on the plain facts of one window (seed: Volz et al.).

Facts have no stamps here, so what a statement that leaves the window entailed has to be searched
for and, where another derivation is left, found again. On the kernel that is retraction with one
stamp for all; what is stated, and until when, stands in a column beside the rows.
"""

from __future__ import annotations

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain.base import check_threshold
from ensue.maintain.kernel.columns import Columns
from ensue.maintain.kernel.engine import Kernel
from ensue.maintain.kernel.layout import Array
from ensue.maintain.kernel.maintainer import KernelMaintainer, columns_of
from ensue.maintain.kernel.stated import state, unstated
from ensue.model import NEVER, Change, Copies, Facts
from ensue.rules.tree import RuleSet

_HOLDS = 1
"""The one stamp that every fact outside the background has."""


class Dred(KernelMaintainer):
    """The paper's baseline, and the way to maintain windows that no scalar stamp describes."""

    name = "dred"
    stamped = False

    def __init__(self, rules: RuleSet, dictionary: Dictionary) -> None:
        super().__init__(rules, dictionary)
        self._stated = np.full(0, NEVER, np.int64)
        """Until when the fact of each row is stated; NEVER for one that is only derived."""

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        self._flush()
        taken = self._take_back(copies, every=every)
        if taken:
            c = Columns.of(taken)
            kernel = self._engine
            rows = unstated(kernel.book, self._stated, c.context, c.s, c.p, c.o, max(c.stamp))
            facts = kernel.facts(rows)
            self._stated[rows] = [self._log.stated((c, s, p, o)) for c, s, p, o, _ in facts]
            self._delete(rows[self._stated[rows] == NEVER])
        return len(taken)

    def advance(self, threshold: int) -> Change:
        """Expire, and say what changed since the last call."""
        check_threshold(threshold, self._log.threshold)
        kernel = self._engine
        for columns in self._pending:
            # What is stated again does not leave.
            self._state(kernel, columns.take(columns.stamp > threshold))
        c = self._leaving(threshold)
        self._delete(unstated(kernel.book, self._stated, c.context, c.s, c.p, c.o, threshold))
        self._log.expire(threshold)
        self._flush()
        return self._end_step()

    def closure(self, context: int | None, threshold: int | None = None) -> Facts:
        """What holds in a context, without what the background holds, at the present threshold."""
        if threshold is not None and threshold != self._log.threshold:
            raise UsageError("dred reads at its threshold alone", hint="use expiration, rete or recompute")
        self._flush()
        return self._engine.closure(context, NEVER)

    def _new_kernel(self) -> Kernel:
        self._stated = np.full(0, NEVER, np.int64)
        return Kernel(self._program, self._dictionary, columns_of(self._ground), panes=False)

    def _insert(self, kernel: Kernel, columns: Columns) -> None:
        holds = np.full(len(columns), _HOLDS, np.int64)
        kernel.put(Columns(columns.context, columns.s, columns.p, columns.o, holds))
        self._state(kernel, columns)

    def _state(self, kernel: Kernel, c: Columns) -> None:
        rows = len(kernel.store.rows)
        if len(self._stated) < rows:
            self._stated = np.append(self._stated, np.full(rows - len(self._stated), NEVER, np.int64))
        state(kernel.book, self._stated, c.context, c.s, c.p, c.o, c.stamp)

    def _leaving(self, threshold: int) -> Columns:
        """The copies that expire when the threshold rises to this."""
        last = self._log.threshold
        panes = [columns_of(pane) for pane in self._log.panes()]
        return Columns.joined([c.take((c.stamp > last) & (c.stamp <= threshold)) for c in panes])

    def _delete(self, rows: Array) -> None:
        """Delete facts that are stated no more, and whatever then has no derivation left."""
        kernel = self._engine
        kept: list[Columns] = []

        def still_stated(suspects: Array) -> Array:
            facts = kernel.facts(suspects)
            until = self._stated[suspects]
            self._stated[suspects] = NEVER
            kept.append(Columns(facts.context, facts.s, facts.p, facts.o, until))
            return np.where(until == NEVER, NEVER, _HOLDS)

        if len(rows):
            facts = kernel.facts(rows)
            kernel.retract(Columns(facts.context, facts.s, facts.p, facts.o, facts.stamp), still_stated)
            # A fact that is put again is in another row: what is known of it moves there.
            self._state(kernel, kept[0])
