"""Count windows: the stamp of a statement is its sequence number on its stream.

Numbers start at 1 and are given at admission, in order of (time, arrival), to every statement of the
stream: before any filter for relevance, and to duplicates too. After statement n the window of the
last `size` is what has a stamp above `n - size`: a threshold, as for time. So one query with one count
window runs on `Schedule("count")` as a time window does on time, the end of the stream included.
"""

from __future__ import annotations

from collections.abc import Iterable

from ensue.windows.spec import CountWindow, Window


class Numbering:
    """Hands out sequence numbers, each stream counting for itself.

    >>> numbering = Numbering()
    >>> numbering.take("s", 3), numbering.take("s", 2), numbering.count("s")
    (range(1, 4), range(4, 6), 5)
    """

    def __init__(self, counts: dict[str, int] | None = None) -> None:
        self._counts = dict(counts or {})

    def take(self, stream: str, how_many: int = 1) -> range:
        """The numbers of the next statements of a stream, which are being admitted in this order."""
        start = self._counts.get(stream, 0) + 1
        self._counts[stream] = start + how_many - 1
        return range(start, start + how_many)

    def count(self, stream: str) -> int:
        """How many statements of a stream have a number."""
        return self._counts.get(stream, 0)

    def snapshot(self) -> dict[str, int]:
        """The counts, to go on from: `Numbering(counts)`."""
        return dict(self._counts)


def latest_window(spec: CountWindow, admitted: int) -> Window:
    """The latest window that has closed once `admitted` statements are in; its open is the threshold.

    >>> latest_window(CountWindow(size=3, step=2), 7)
    Window(open=3, close=6)
    """
    return spec.grid.window(spec.grid.latest(admitted))


def cuts(specs: Iterable[CountWindow], numbers: range) -> list[int]:
    """Where the admission of these numbers must stop, because a window closes after that one.

    >>> cuts([CountWindow(4, 2), CountWindow(3, 3)], range(2, 8))
    [2, 3, 4, 6]
    """
    found: set[int] = set()
    for spec in specs:
        start = -(-numbers.start // spec.step) * spec.step
        found.update(range(start, numbers.stop, spec.step))
    return sorted(found)
