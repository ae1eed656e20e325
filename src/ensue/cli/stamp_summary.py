"""What the stamps of a stream look like: its span, its largest gap, its disorder, and doubtful units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ensue.model import FOREVER, NEVER

_SECONDS = (500_000_000, 5_000_000_000)
"""As seconds these are the years 1985 to 2128; as milliseconds the first two months of 1970."""
_MICROSECONDS = 100_000_000_000_000
"""From here on milliseconds are after the year 5138."""
_UNITS = (("year", 31_557_600_000), ("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000))


class StampSummary:
    """Statistics of a stream's stamps in order of arrival, in constant memory.

    >>> found = StampSummary()
    >>> found.add([1000, 4000, 3500, 946684800000])
    >>> str(found).split(", ")[1:]
    ['times 1000 to 946684800000', 'largest gap 946684796000 ms (30.0 years)', 'disorder 500 ms']
    >>> seconds = StampSummary()
    >>> seconds.add([1700000000, 1700000060])
    >>> list(seconds.doubts(None))
    ['seconds instead of milliseconds? all times are between 1985 and 2128 as seconds']
    """

    def __init__(self) -> None:
        self.count = 0
        self.first, self.newest = FOREVER, NEVER
        self.gap = self.disorder = 0
        self._seconds = self._microseconds = 0

    def add(self, times: Sequence[int]) -> None:
        """Take in the stamps of some statements, in order of arrival."""
        for time in times:
            if time > self.newest:
                if self.count:
                    self.gap = max(self.gap, time - self.newest)
                self.newest = time
            else:
                self.disorder = max(self.disorder, self.newest - time)
            self.first = min(self.first, time)
            self.count += 1
            self._seconds += _SECONDS[0] <= time < _SECONDS[1]
            self._microseconds += time >= _MICROSECONDS

    def __str__(self) -> str:
        if not self.count:
            return "0 statements"
        return (
            f"{self.count:,} statements, times {self.first} to {self.newest}, "
            f"largest gap {self.gap} ms{_roughly(self.gap)}, disorder {self.disorder} ms"
        )

    def doubts(self, max_jump: int | None) -> Iterator[str]:
        """What may be wrong with the stamps, for the user to read."""
        if self._seconds:
            who = "all times are" if self._seconds == self.count else f"{self._seconds:,} times are"
            yield f"seconds instead of milliseconds? {who} between 1985 and 2128 as seconds"
        if self._microseconds:
            yield f"microseconds instead of milliseconds? {self._microseconds:,} times are after 5138"
        if max_jump is not None and self.gap > max_jump:
            yield (
                f"the largest gap is above --max-jump {max_jump}: what comes behind it is held until "
                "something confirms its time, and is a dead letter otherwise"
            )


def _roughly(ms: int) -> str:
    """A long time in the largest unit that it has one of, in parentheses."""
    for name, size in _UNITS:
        if ms >= size:
            return f" ({ms / size:,.1f} {name}s)"
    return ""
