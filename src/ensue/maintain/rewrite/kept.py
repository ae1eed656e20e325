"""Who keeps the facts that patterns with rules folded in are matched against.

`Stated` keeps statements as they came, and nothing else; `Materialised` keeps what joining rules, and those
that feed them, make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain.base import LoggedMaintainer
from ensue.maintain.expiration import Expiration
from ensue.maintain.kernel.columns import Columns as Rows
from ensue.maintain.kernel.maintainer import columns_of
from ensue.model import Copies, Facts
from ensue.query.compiled.relation import numbered
from ensue.query.dataset import Columns, Integers
from ensue.rules.tree import RuleSet


@dataclass(frozen=True, slots=True)
class Step:
    """What was held before and after a step, some of it perhaps more than once: looked at if anybody asks."""

    before: Callable[[], Rows]
    now: Callable[[], Rows]


class Stated(LoggedMaintainer):
    """Statements as they came: nothing is derived.

    >>> some = Stated(Dictionary())
    >>> some.admit(Copies.of([(1, 5, 6, 7, 100), (1, 5, 6, 8, 200)]))
    >>> some.facts(1, threshold=100).o.tolist()
    [8]
    """

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__(RuleSet("none", ()), dictionary)
        self._all: Rows | None = None
        """Every copy in the log; None if it has changed since."""
        self._last = Rows.of([])

    def admit(self, copies: Copies) -> None:
        """Let copies in."""
        self._log.add(copies)
        self._all = None

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        self._all = None
        return len(self._take_back(copies, every=every))

    def step(self, threshold: int) -> Step:
        """Expire what has a stamp at or below a threshold."""
        self._log.expire(threshold)
        self._all = None
        before, self._last = self._last, self._live()
        now = self._last
        return Step(lambda: before, lambda: now)

    def facts(self, context: int, threshold: int) -> Columns:
        """What a context holds above a threshold, some of it perhaps more than once."""
        every = self._live()
        wanted = every.stamp > threshold
        wanted &= every.context == context
        chosen = every if wanted.all() else every.take(wanted)
        return Columns(chosen.s, chosen.p, chosen.o, chosen.stamp)

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use."""
        return [*self._columns_in_use(), self._last.s, self._last.p, self._last.o]

    def statistics(self) -> dict[str, int]:
        """Counters by name."""
        live = self._live()
        facts = numbered([live.context, live.s, live.p, live.o], len(live))
        size = sum(column.nbytes for column in live.to_read())
        return {
            "facts": len(np.unique(facts)),
            "derivations": 0,
            "probes": 0,
            "copies": len(live),
            "bytes": size,
        }

    def _live(self) -> Rows:
        if self._all is None:
            every = Rows.joined([columns_of(pane) for pane in self._log.panes()])
            live = every.stamp > self._log.threshold
            self._all = every if live.all() else every.take(live)
        return self._all


class Materialised(Expiration):
    """What rules make of statements, by the kernel, over a closed background."""

    def __init__(self, rules: RuleSet, dictionary: Dictionary, background: Columns) -> None:
        super().__init__(rules, dictionary)
        self._steps = 0
        rows = zip(background.s.tolist(), background.p.tolist(), background.o.tolist(), strict=True)
        self.load_background(Copies.background(rows))

    def step(self, threshold: int) -> Step:
        """Expire what has a stamp at or below a threshold."""
        change = self.advance(threshold)
        self._steps += 1
        number = self._steps

        def now() -> Rows:
            if number != self._steps:
                raise UsageError("a change was looked at too late", hint="look at it before the next step")
            return self._every()

        def before() -> Rows:
            held, came, left = now(), _rows(change.inserted), _rows(change.deleted)
            return Rows.joined([held.take(~among(held, came)), left])

        return Step(before, now)

    def admit(self, copies: Copies) -> None:
        """Let copies in."""
        self._steps += 1
        super().admit(copies)

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        self._steps += 1
        return super().retract(copies, every=every)

    def facts(self, context: int, threshold: int) -> Columns:
        """What a context holds above a threshold."""
        return Columns.of(self.closure(context, threshold))

    def _every(self) -> Rows:
        contexts = {context for pane in self._log.panes() for context in np.unique(pane.context).tolist()}
        return Rows.joined([_rows(self.closure(context)) for context in sorted(contexts)])


def _rows(facts: Facts) -> Rows:
    context, s, p, o = (np.asarray(c, np.int32) for c in (facts.context, facts.s, facts.p, facts.o))
    return Rows(context, s, p, o, np.asarray(facts.stamp, np.int64))


def among(rows: Rows, others: Rows) -> Integers:
    """A mask: which facts of contexts are among others."""
    both = Rows.joined([rows, others])
    numbers = numbered([both.context, both.s, both.p, both.o], len(both))
    return np.isin(numbers[: len(rows)], numbers[len(rows) :])


def once(rows: Rows) -> Rows:
    """Each fact of a context once, with its highest stamp.

    >>> once(Rows.of([(1, 5, 6, 7, 100), (1, 5, 6, 7, 200)])).stamp.tolist()
    [200]
    """
    if len(rows) < 2:
        return rows
    numbers = numbered([rows.context, rows.s, rows.p, rows.o], len(rows))
    order = np.lexsort([-rows.stamp, numbers])
    first = np.concatenate([[True], numbers[order][1:] != numbers[order][:-1]])
    return rows.take(order[first])
