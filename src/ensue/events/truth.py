"""When all that an engine remembers is written down: seldom, and what comes in between is in a log anyway.

To write it down at every step would cost what is remembered, however little has come. So it is done once as
many statements have come since the last time as there are rows to write: what is written then follows from
what came. Who goes on elsewhere takes what was written, and lets in once more what has come since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Since:
    """How many statements of each stream have come, in all and when all was last written down.

    >>> since = Since(["urn:s"])
    >>> since.comes("urn:s", 3), since.rest(5), since.times
    (True, None, 0)
    >>> since.comes("urn:s", 3), since.rest(5), since.times, since.written
    (True, None, 1, {'urn:s': 6})
    """

    def __init__(self, streams: Iterable[str]) -> None:
        self.came = dict.fromkeys(streams, 0)
        self.written = dict(self.came)
        self.times = 0
        """How often all was written down."""

    def comes(self, stream: str, count: int) -> bool:
        """So many statements come; whether they are new, and not among what was written down."""
        before = self.came[stream]
        self.came[stream] = before + count
        return before >= self.written[stream]

    def rest(self, rows: int) -> None:
        """There are so many rows to write: find out whether it is time."""
        since = sum(self.came.values()) - sum(self.written.values())
        if since and since >= rows:
            self.written = dict(self.came)
            self.times += 1

    def plain(self) -> dict[str, Any]:
        """As plain data, for who goes on from here."""
        return {"came": self.came, "written": self.written, "times": self.times}

    def resume(self, plain: Mapping[str, Any]) -> None:
        """Go on with what was written down then."""
        self.came, self.written, self.times = dict(plain["came"]), dict(plain["came"]), plain["times"]

    def adopt(self, plain: Mapping[str, Any]) -> None:
        """Go on where another was."""
        self.came, self.written, self.times = dict(plain["came"]), dict(plain["written"]), plain["times"]

    def start_again(self, before: Mapping[str, int]) -> None:
        """So many statements of each stream had come before those that come now."""
        self.came = {stream: before.get(stream, 0) for stream in self.came}
