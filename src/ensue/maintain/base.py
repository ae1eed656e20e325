"""What maintainers share that keep the truth in a log of copies. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain.log import CopyLog
from ensue.maintain.program import compile_rules
from ensue.maintain.snapshot import Snapshot
from ensue.model import BACKGROUND, NEVER, Copies
from ensue.rules.tree import RuleSet


class LoggedMaintainer:
    """The log, the background as stated, and snapshots of both."""

    def __init__(self, rules: RuleSet, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._program = compile_rules(rules, dictionary)
        self._log = CopyLog()
        self._ground = Copies()

    def copies(self) -> Iterable[tuple[int, int, int, int, int, int]]:
        """The copies that have not expired: (context, s, p, o, graph, stamp)."""
        return iter(self._log)

    def snapshot(self) -> Snapshot:
        """The truth (the log of copies and the threshold), in terms, not in integers."""
        return Snapshot.take(self._dictionary, self._log.live(), self._ground, self._log.threshold)

    def _restore_log(self, snapshot: Snapshot) -> None:
        copies, self._ground = snapshot.read(self._dictionary)
        self._log = CopyLog()
        self._log.add(copies)
        self._log.expire(snapshot.threshold)

    def _add_ground(self, copies: Copies) -> None:
        add_background(self._ground, copies)

    def _take_back(self, copies: Copies, *, every: bool) -> list[tuple[int, int, int, int, int]]:
        """Take the newest (or every) copy of each statement out of the log, and list them.

        Rows of (context, s, p, o, stamp); a statement without a live copy has none.
        """
        taken = []
        for context, s, p, o, graph, _stamp in copies:
            while (stamp := self._log.take_newest((context, s, p, o), graph)) != NEVER:
                taken.append((context, s, p, o, stamp))
                if not every:
                    break
        return taken

    def _columns_in_use(self) -> list[Iterable[int]]:
        batches = [self._ground, *self._log.panes()]
        return [column for b in batches for column in (b.s, b.p, b.o, b.graph)]


def add_background(ground: Copies, copies: Copies) -> None:
    """Put background to what there is of it."""
    if copies.context.count(BACKGROUND) < len(copies):
        raise UsageError("background is context 0", hint="stream copies go to `admit`")
    ground.extend(copies)


def check_stream_copies(copies: Copies) -> None:
    """Refuse background among the stream's copies: it would never expire."""
    if BACKGROUND in copies.context:
        raise UsageError("a stream's copies need a context of their own", hint="use a context from 1 on")


def check_threshold(threshold: int, last: int) -> None:
    """Refuse a threshold that falls: what has expired is gone."""
    if threshold < last:
        raise UsageError(f"the threshold cannot fall from {last} to {threshold}")
