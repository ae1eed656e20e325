"""What the maintainers share that keep a kernel up to date with the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np

from ensue.dictionary import Dictionary
from ensue.maintain.base import LoggedMaintainer, check_stream_copies
from ensue.maintain.kernel.columns import Columns
from ensue.maintain.kernel.engine import Kernel
from ensue.maintain.snapshot import Snapshot
from ensue.model import BACKGROUND, NEVER, Change, Copies, Fact, Facts
from ensue.rules.tree import RuleSet

_BATCH = 10_000
"""Copies that are put into the kernel at once, if they came in smaller batches."""


def columns_of(copies: Copies) -> Columns:
    """The kernel's view of a batch, without copying it."""
    context, s, p, o = (np.frombuffer(c, np.int32) for c in (copies.context, copies.s, copies.p, copies.o))
    return Columns(context, s, p, o, np.frombuffer(copies.stamp, np.int64))


def span_of(copies: Copies) -> tuple[int, int]:
    """The least and the greatest stamp of a batch, for the log: 40 ns a copy less than without numpy.

    >>> span_of(Copies.of([(1, 5, 6, 7, 200), (1, 5, 6, 8, 100)]))
    (100, 200)
    """
    stamps = np.frombuffer(copies.stamp, np.int64)
    return int(stamps.min()), int(stamps.max())


def _newest_first(columns: Columns, threshold: int) -> Columns:
    """What is above the threshold, in falling order: a fact then rarely rises twice within a batch."""
    stamp = columns.stamp
    if (stamp[1:] >= stamp[:-1]).all():
        live = columns.take(slice(int(np.searchsorted(stamp, threshold, "right")), None))
        return live.take(slice(None, None, -1))
    order = np.argsort(-stamp, kind="stable")
    return columns.take(order[stamp[order] > threshold])


def _in_batches(pending: list[Columns]) -> Iterator[Columns]:
    """Small batches, as several streams bring them at once, as one: a call costs more than some rows."""
    waiting: list[Columns] = []
    for columns in pending:
        waiting.append(columns)
        if sum(map(len, waiting)) >= _BATCH:
            yield Columns.joined(waiting)
            waiting = []
    if waiting:
        yield Columns.joined(waiting)


class KernelMaintainer(LoggedMaintainer, ABC):
    """A kernel that is filled from the log when there is none, and follows it from then on."""

    def __init__(self, rules: RuleSet, dictionary: Dictionary) -> None:
        super().__init__(rules, dictionary)
        self._kernel: Kernel | None = None
        self._pending: list[Columns] = []
        self._before: set[Fact] | None = None
        """What held after the last `advance`, where the kernel itself cannot tell any more."""

    def load_background(self, copies: Copies) -> None:
        """Add statements that never expire. After the stream began, everything is closed anew."""
        self._forget_kernel()
        self._add_ground(copies)

    def admit(self, copies: Copies) -> None:
        """Let copies in: now into the log, into the kernel when somebody looks."""
        check_stream_copies(copies)
        self._log.add(copies, span_of)
        if len(copies):
            self._pending.append(columns_of(copies))

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use."""
        self._flush()
        return [*self._columns_in_use(), self._engine.used_terms()]

    def restore(self, snapshot: Snapshot) -> None:
        """Forget everything and go on from a snapshot."""
        self._restore_log(snapshot)
        self._kernel, self._before = None, None
        self._engine.begin_step()

    def statistics(self) -> dict[str, int]:
        """Counters by name."""
        self._flush()
        return self._engine.statistics() | {"copies": len(self._log)}

    @property
    def _engine(self) -> Kernel:
        """The kernel; a new one is filled from the log, which is the truth."""
        if self._kernel is None:
            self._kernel = self._new_kernel()
            self._pending = [columns_of(pane) for pane in self._log.panes()]
            self._flush()
        return self._kernel

    @abstractmethod
    def _new_kernel(self) -> Kernel:
        """An empty kernel over the background."""

    @abstractmethod
    def _insert(self, kernel: Kernel, columns: Columns) -> None:
        """Put copies that have not expired into the kernel."""

    def _flush(self) -> None:
        """Bring the kernel up to date with the log."""
        kernel = self._engine
        pending, self._pending = self._pending, []
        for columns in _in_batches(pending):
            self._insert(kernel, _newest_first(columns, self._log.threshold))

    def _forget_kernel(self) -> None:
        """Close anew from the log when next asked, and remember what held before."""
        if self._kernel is not None and self._before is None:
            change = self._kernel.change()
            held = self._kernel.all_facts()
            self._before = (held - change.inserted.stamps().keys()) | change.deleted.stamps().keys()
        self._kernel = None

    def _end_step(self) -> Change:
        """What changed since the last call; comings and goings are counted afresh."""
        kernel = self._engine
        change = kernel.change() if self._before is None else self._change_from(self._before)
        self._before = None
        kernel.begin_step()
        return change

    def _change_from(self, before: set[Fact]) -> Change:
        kernel = self._engine
        now = kernel.all_facts()
        ground = kernel.closure(BACKGROUND, NEVER).stamps()
        left = {fact for fact in before - now if (BACKGROUND, *fact[1:]) not in ground}
        return Change(Facts.of((*f, NEVER) for f in now - before), Facts.of((*f, NEVER) for f in left))
