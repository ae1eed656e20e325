"""The log of copies: the truth that every maintainer's facts are a cache of. Standard library only.

Copies are kept in panes, one a batch, and a pane goes when its newest copy has expired. Looking a
statement up is needed for retraction alone, so the index for it is made when first asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from ensue.errors import UsageError
from ensue.model import NEVER, Copies, Fact

Span = Callable[[Copies], tuple[int, int]]
"""The least and the greatest stamp of a batch that is not empty."""


def _span(copies: Copies) -> tuple[int, int]:
    return min(copies.stamp), max(copies.stamp)


@dataclass(slots=True)
class _Pane:
    """A batch, and the least and the greatest stamp in it."""

    copies: Copies
    oldest: int
    newest: int

    def count(self, threshold: int) -> int:
        """How many of its copies are live; most panes need not be looked at."""
        if self.oldest > threshold:
            return len(self.copies)
        return sum(stamp > threshold for stamp in self.copies.stamp)


class CopyLog:
    """Copies within retention. A copy that was retracted has the stamp NEVER.

    >>> log = CopyLog()
    >>> log.add(Copies.of([(1, 5, 6, 7, 100), (1, 5, 6, 7, 200)]))
    >>> log.stated((1, 5, 6, 7)), log.take_newest((1, 5, 6, 7), graph=0), log.stated((1, 5, 6, 7))
    (200, 200, 100)
    >>> log.expire(100)
    >>> log.stated((1, 5, 6, 7)) == NEVER, len(log)
    (True, 0)
    """

    def __init__(self) -> None:
        self.threshold = NEVER
        self._panes: deque[_Pane] = deque()
        self._index: dict[Fact, list[tuple[Copies, int]]] | None = None
        self._held = 0
        self._indexed = 0

    def __len__(self) -> int:
        """How many copies are live."""
        return self.count(self.threshold)

    def count(self, threshold: int) -> int:
        """How many copies have a stamp above a threshold that is not below that of the log."""
        return sum(pane.count(threshold) for pane in self._panes)

    def __iter__(self) -> Iterator[tuple[int, int, int, int, int, int]]:
        """The live copies, in order of arrival: (context, s, p, o, graph, stamp)."""
        rows = chain.from_iterable(self.panes())
        return (row for row in rows if row[5] > self.threshold)

    def panes(self) -> Iterator[Copies]:
        """The batches as they came; expired and retracted copies in them are at or below threshold."""
        return (pane.copies for pane in self._panes)

    def add(self, copies: Copies, span: Span = _span) -> None:
        """Append a batch. The log owns it from now on. `span` finds the least and the greatest stamp."""
        if len(copies):
            self._panes.append(_Pane(copies, *span(copies)))
            self._held += len(copies)
            if self._index is not None:
                self._enter(copies)

    def expire(self, threshold: int) -> None:
        """Forget what has a stamp at or below `threshold`."""
        self.threshold = threshold
        # Panes come nearly in order; one that does not goes when those before it have gone.
        while self._panes and self._panes[0].newest <= threshold:
            self._held -= len(self._panes.popleft().copies)

    def live(self) -> Copies:
        """The live copies as one batch."""
        copies = Copies()
        for context, s, p, o, graph, stamp in self:
            copies.append(context, s, p, o, stamp, graph)
        return copies

    def stated(self, fact: Fact) -> int:
        """The stamp of the newest live copy of a fact in any graph, NEVER if there is none."""
        return max((pane.stamp[row] for pane, row in self._copies(fact)), default=NEVER)

    def take_newest(self, fact: Fact, graph: int) -> int:
        """Take back the newest live copy of a statement: its stamp, or NEVER if there is none."""
        copies = [
            (pane.stamp[row], pane, row) for pane, row in self._copies(fact) if pane.graph[row] == graph
        ]
        if not copies:
            return NEVER
        stamp, pane, row = max(copies, key=lambda copy: copy[0])
        pane.stamp[row] = NEVER
        for each in self._panes:
            if each.copies is pane:
                each.oldest = NEVER
        return stamp

    def _copies(self, fact: Fact) -> list[tuple[Copies, int]]:
        if self._index is None or self._indexed > 2 * self._held + 1000:
            self._index, self._indexed = {}, 0
            for pane in self.panes():
                self._enter(pane)
        live = [(pane, row) for pane, row in self._index.get(fact, ()) if pane.stamp[row] > self.threshold]
        if live:
            self._index[fact] = live
        else:
            self._index.pop(fact, None)
        return live

    def _enter(self, pane: Copies) -> None:
        index = self._index
        assert index is not None
        for row, (context, s, p, o, _graph, stamp) in enumerate(pane):
            if stamp > self.threshold:
                index.setdefault((context, s, p, o), []).append((pane, row))
                self._indexed += 1


class NoLog(CopyLog):
    """For a maintainer whose copies are kept by somebody else: it knows the threshold alone.

    >>> log = NoLog(100)
    >>> log.add(Copies.of([(1, 5, 6, 7, 200)]))
    >>> len(log), log.threshold
    (0, 100)
    """

    def __init__(self, threshold: int = NEVER) -> None:
        super().__init__()
        self.threshold = threshold

    def add(self, copies: Copies, span: Span = _span) -> None:
        """Nothing is kept."""

    def _copies(self, fact: Fact) -> list[tuple[Copies, int]]:
        raise UsageError("copies are not logged here", hint="retract where they are")
