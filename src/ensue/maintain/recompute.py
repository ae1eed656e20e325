"""From scratch at each step: the paper's naive approach, and the meaning of all the others.

It runs on the same kernel as `expiration`, so that comparing the two compares the ideas and not
the code under them. The independent reference that tests hold all of them against is `oracle.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ensue.dictionary import Dictionary
from ensue.maintain.base import LoggedMaintainer, check_stream_copies, check_threshold
from ensue.maintain.kernel.engine import Kernel
from ensue.maintain.kernel.maintainer import columns_of, span_of
from ensue.maintain.kernel.stated import absent
from ensue.maintain.snapshot import Snapshot
from ensue.model import BACKGROUND, NEVER, Change, Copies, Facts
from ensue.rules.tree import RuleSet


class Recompute(LoggedMaintainer):
    """Closes the log anew whenever it has changed."""

    name = "recompute"
    stamped = True

    def __init__(self, rules: RuleSet, dictionary: Dictionary) -> None:
        super().__init__(rules, dictionary)
        self._blank: Kernel | None = None
        """The background closed, and nothing else: the log is put into a copy of it."""
        self._closed: Kernel | None = None
        """The log closed; None if it has changed since."""
        self._last: Kernel | None = None
        """What held after the last step; None if there was none."""

    def load_background(self, copies: Copies) -> None:
        """Add statements that never expire."""
        self._add_ground(copies)
        self._blank = self._closed = None

    def admit(self, copies: Copies) -> None:
        """Let copies in."""
        check_stream_copies(copies)
        self._log.add(copies, span_of)
        self._closed = None

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        self._closed = None
        return len(self._take_back(copies, every=every))

    def advance(self, threshold: int) -> Change:
        """Expire, and say what changed since the last call."""
        check_threshold(threshold, self._log.threshold)
        held = len(self._log)
        self._log.expire(threshold)
        if len(self._log) < held:
            self._closed = None
        now = self._kernel
        before, self._last = self._last or self._new_kernel(), now
        inserted = now.facts(absent(now.book, before.book, now.book))
        return Change(inserted, before.facts(absent(before.book, now.book, now.book)))

    def closure(self, context: int | None, threshold: int | None = None) -> Facts:
        """What holds in a context (without what the background holds), fresher than `threshold`."""
        kernel = self._over_background if context == BACKGROUND else self._kernel
        return kernel.closure(context, NEVER if threshold is None else threshold)

    def closure_of(self, copies: Copies, context: int | None) -> Facts:
        """What would hold in a context (without what the background holds) if these were all copies.

        None: in every context, as for `closure`. The log is not looked at, and stays as it is.
        """
        check_stream_copies(copies)
        kernel = self._new_kernel()
        kernel.put(columns_of(copies))
        return kernel.closure(context, NEVER)

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use."""
        kernels = (self._over_background, self._closed, self._last)
        return [*self._columns_in_use(), *(kernel.used_terms() for kernel in kernels if kernel is not None)]

    def restore(self, snapshot: Snapshot) -> None:
        """Forget everything and go on from a snapshot."""
        self._restore_log(snapshot)
        self._blank = self._closed = None
        self._last = self._kernel

    def statistics(self) -> dict[str, int]:
        """Counters by name; those of the last computation alone."""
        return self._kernel.statistics() | {"copies": len(self._log)}

    @property
    def _kernel(self) -> Kernel:
        if self._closed is None:
            self._closed = self._new_kernel()
            self._closed.threshold = self._log.threshold
            for pane in self._log.panes():
                self._closed.put(columns_of(pane))
        return self._closed

    def _new_kernel(self) -> Kernel:
        """A kernel over the background without anything else."""
        return self._over_background.copy()

    @property
    def _over_background(self) -> Kernel:
        """The same, but nobody may put anything into it."""
        if self._blank is None:
            ground = columns_of(self._ground)
            self._blank = Kernel(self._program, self._dictionary, ground, retracts=False)
        return self._blank
