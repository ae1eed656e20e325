"""IMaRS: facts carry stamps, so what expires is dropped without looking for its consequences.

Insertion is semi-naive evaluation in which a fact is new if it is unknown or its stamp rises;
expiry removes the panes at or below the threshold. Retraction, which stamps cannot foresee, is a
stamped DRed (`Kernel.retract`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ensue.dictionary import Dictionary
from ensue.maintain.base import check_threshold
from ensue.maintain.kernel.answers import watched_rule
from ensue.maintain.kernel.columns import Columns
from ensue.maintain.kernel.engine import Kernel
from ensue.maintain.kernel.folder import Folder
from ensue.maintain.kernel.layout import Array
from ensue.maintain.kernel.maintainer import KernelMaintainer, columns_of
from ensue.maintain.log import NoLog
from ensue.model import Change, Copies, Facts
from ensue.query.dataset import Pattern, Solutions
from ensue.rules.tree import RuleSet


class Expiration(KernelMaintainer):
    """Stamps on the columnar kernel: the default strategy.

    >>> from ensue.rules.tree import Pattern, Premise, Rule, Var
    >>> d, (x, y, z) = Dictionary(), map(Var, "xyz")
    >>> body = (Premise(Pattern(x, "<urn:in>", y)), Premise(Pattern(y, "<urn:in>", z)))
    >>> m = Expiration(RuleSet("R", (Rule("R", body, (Pattern(x, "<urn:in>", z),)),)), d)
    >>> a, b, c, within = map(d.encode, ("<urn:a>", "<urn:b>", "<urn:c>", "<urn:in>"))
    >>> m.admit(Copies.of([(1, a, within, b, 1000), (1, b, within, c, 2000)]))
    >>> len(m.advance(0).inserted), m.closure(1).stamps()[1, a, within, c]
    (3, 1000)
    >>> [d.decode(s) for _, s, _, _, _ in m.advance(1000).deleted]
    ['<urn:a>', '<urn:a>']
    """

    name = "expiration"
    stamped = True
    _keep_all = False
    _only_answers = False
    _table = True

    def __init__(self, rules: RuleSet, dictionary: Dictionary, *, indexes: tuple[int, ...] = ()) -> None:
        """`indexes` are join indexes (masks of `kernel.layout`) to keep from the start.

        The others are built when a rule first looks something up in them.
        """
        super().__init__(rules, dictionary)
        self._indexes = indexes

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        self.spare(only_answers=False)
        self._flush()
        taken = self._take_back(copies, every=every)
        if taken and self._keep_all:
            self._forget_kernel()
        elif taken:
            self._engine.retract(Columns.of(taken), self._stated)
        return len(taken)

    def advance(self, threshold: int) -> Change:
        """Expire, and say what changed since the last call."""
        check_threshold(threshold, self._log.threshold)
        self._log.expire(threshold)
        self._engine.threshold = threshold
        self._flush()
        self._engine.expire()
        if self._only_answers:
            self._engine.begin_step()
            return Change(Facts.of(()), Facts.of(()))
        return self._end_step()

    def closure(self, context: int | None, threshold: int | None = None) -> Facts:
        """What holds in a context (without what the background holds), fresher than `threshold`."""
        self.spare(only_answers=False)
        return self._held(context, threshold)

    def held(self, context: int | None) -> Facts:
        """What is there of a context now: all that holds, unless it is kept to what answers rest on."""
        return self._held(context, None)

    def spare(self, *, only_answers: bool) -> None:
        """Keep to what the answers of watched patterns rest on, as long as nothing else is asked for.

        Until it is, `advance` does not say what changed. What was left out is made up for from the log.
        """
        if only_answers != self._only_answers and not self._keep_all:
            self._only_answers = only_answers
            self._kernel = self._before = None

    def _held(self, context: int | None, threshold: int | None) -> Facts:
        self._flush()
        lowest = self._log.threshold
        return self._engine.closure(context, lowest if threshold is None else max(threshold, lowest))

    def watch(self, patterns: tuple[Pattern, ...]) -> None:
        """Keep the solutions of a basic graph pattern from now on (any time, best first).

        The terms that it names must be pinned in the dictionary. A pattern of no triples is not kept:
        it has one solution, always.
        """
        rule, _ = watched_rule(patterns)
        if rule.premises and rule not in self._program.rules:
            self._forget_kernel()
            self._program = replace(self._program, rules=(*self._program.rules, rule))

    def solutions(self, patterns: tuple[Pattern, ...], context: int, threshold: int) -> Solutions | None:
        """The solutions that a context, over the background, has above a threshold; None if not watched.

        >>> d = Dictionary()
        >>> m = Expiration(RuleSet("none", ()), d)
        >>> within = d.pin("<urn:in>")
        >>> chain = ("x", within, "y"), ("y", within, "z")
        >>> m.watch(chain)
        >>> a, b, c = map(d.encode, ("<urn:a>", "<urn:b>", "<urn:c>"))
        >>> m.admit(Copies.of([(1, a, within, b, 1000), (1, b, within, c, 2000)]))
        >>> found = m.solutions(chain, 1, threshold=0)
        >>> {name: d.decode(column[0]) for name, column in found.columns.items()}, found.stamps.tolist()
        ({'x': '<urn:a>', 'y': '<urn:b>', 'z': '<urn:c>'}, [1000])
        """
        self._flush()
        rule, names = watched_rule(patterns)
        table = self._engine.answers(rule)
        if table is None:
            return None
        columns, stamps = table.read(context, max(threshold, self._log.threshold))
        return Solutions(dict(zip(names, columns, strict=True)), stamps)

    def solutions_apart(
        self, patterns: tuple[Pattern, ...], threshold: int
    ) -> tuple[Array, Solutions] | None:
        """The solutions of every context above a threshold, and whose each is; None if not watched.

        Those that the background alone has come first, then those of one context after the other.
        """
        self._flush()
        rule, names = watched_rule(patterns)
        table = self._engine.answers(rule)
        if table is None:
            return None
        contexts, columns, stamps = table.read_apart(max(threshold, self._log.threshold))
        return contexts, Solutions(dict(zip(names, columns, strict=True)), stamps)

    def settle(self, *, only_answers: bool) -> bytes:
        """Keep no log from now on: somebody else has the copies. Before anything has come.

        `only_answers`: nothing will be read but the solutions of watched patterns, so what these do not
        rest on need not be there. The same is given by those that can `adopt` what the other has put away.
        """
        self._log = NoLog(self._log.threshold)
        self._only_answers = only_answers and not self._keep_all
        self._kernel = None
        return self._engine.fingerprint()

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let everything lie in a folder from now on; what there is to know besides. Settled, that is."""
        self._flush()
        return {"threshold": self._log.threshold, **self._engine.park(folder)}

    def adopt(self, folder: Folder, plain: dict[str, Any]) -> None:
        """Go on with what another has put away."""
        self._pending, self._before = [], None
        self._log = NoLog(plain["threshold"])
        self._engine.adopt(folder, plain)

    def _new_kernel(self) -> Kernel:
        kernel = Kernel(
            self._program,
            self._dictionary,
            columns_of(self._ground),
            keep_all=self._keep_all,
            masks=self._indexes,
            only_answers=self._only_answers,
            table=self._table,
        )
        kernel.threshold = self._log.threshold
        return kernel

    def _insert(self, kernel: Kernel, columns: Columns) -> None:
        kernel.put(columns)

    def _stated(self, rows: Array) -> Array:
        facts = self._engine.facts(rows)
        return np.array([self._log.stated((c, s, p, o)) for c, s, p, o, _ in facts], np.int64)


class KeepAll(Expiration):
    """The variant of the paper's section 6: every derivation is kept with a stamp of its own.

    Insertion need not look for what it renews; reading has to, and memory pays. For comparison.
    """

    name = "expiration-keep-all"
    _keep_all = True


class NoTable(Expiration):
    """Linear rules are joined with the background like all others, without a table. For comparison."""

    name = "expiration-no-table"
    _table = False
