"""Events of a plant as they happen: `python -m ensue.bench.plant_live FILE RATE SECONDS` appends them.

Each statement has the time of the wall as its stamp, and each event is about a new node. Texts are made once,
and only the digits of stamps and nodes are written anew, by compiled code: so one process can write several
times what a pipeline takes, and leaves it the rest of the machine.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import sleep, time
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ensue.bench.plant import EACH, NODE, Plant
from ensue.maintain.kernel.compiling import compiled

_TICK_S = 0.02
_DIGITS = 13
"""Of a time in ms in our days."""
_EVENTS = 1 << 17
FIRST = 10**9
"""The number of the first event: all that come here in our days have as many digits."""
_NODE_AT = _DIGITS + 1 + len(NODE)
_NODE_DIGITS = len(str(FIRST))


class Lines:
    r"""The lines of some events over and over, each with a stamp that can be set, and ever-new nodes.

    >>> data, count = Lines(Plant(), events=1).stamped(1_700_000_000_000, 9)
    >>> bytes(data[:32]), count
    (b'1700000000000\t<http://example.or', 3)
    """

    def __init__(self, plant: Plant, events: int = _EVENTS) -> None:
        lines = [f"{'0' * _DIGITS}\t{line}".encode() for line in plant.lines(FIRST, FIRST + events)]
        self._data = np.frombuffer(b"".join(lines), np.uint8).copy()
        self._cuts: NDArray[np.int64] = np.cumsum([0, *map(len, lines)])
        self._next = 0
        self._first = FIRST
        """The number of the first event this time."""

    def __len__(self) -> int:
        """How many there are before they begin again."""
        return len(self._cuts) - 1

    def stamped(self, time: int, count: int) -> tuple[memoryview, int]:
        """The next so many lines with a time, and how many they are: fewer at the end, after which it
        begins again. They hold until they are stamped anew.
        """
        first, end = self._next, min(self._next + count, len(self))
        _stamp(self._data, self._cuts, first, end, np.frombuffer(b"%013d" % time, np.uint8), self._first)
        self._next = end % len(self)
        if not self._next:
            self._first += len(self) // EACH
        return self._data[self._cuts[first] : self._cuts[end]].data, end - first


@compiled
def _stamp(data, cuts, first, end, digits, number):  # type: ignore[no-untyped-def]
    for line in range(first, end):
        begin = cuts[line]
        for k in range(len(digits)):
            data[begin + k] = digits[k]
        rest = number + line // EACH
        for k in range(_NODE_DIGITS - 1, -1, -1):
            data[begin + _NODE_AT + k] = 48 + rest % 10
            rest //= 10


def write(
    out: IO[bytes],
    lines: Lines,
    rate: float,
    seconds: float,
    *,
    clock: Callable[[], float] = time,
    wait: Callable[[float], None] = sleep,
) -> int:
    """Write so many lines a second for some seconds, and say how many there were."""
    began, written = clock(), 0
    while (now := clock()) - began < seconds:
        due = int((now - began) * rate)
        # Not more at once: whoever has fallen behind would give ever more of it the same stamp.
        some = min(due, written + len(lines))
        while written < some:
            data, count = lines.stamped(int(now * 1000), some - written)
            out.write(data)
            written += count
        if written >= due:
            out.flush()
            wait(_TICK_S)
    return written


@dataclass(frozen=True, slots=True)
class Live:
    """A file, the process that writes to it, and where that says in the end how much there is."""

    file: Path
    writer: subprocess.Popen[bytes]
    count: Path

    @property
    def over(self) -> bool:
        """Whether nothing will be added any more."""
        return self.writer.poll() is not None

    @property
    def written(self) -> int | None:
        """How many lines there are, once all are; None before."""
        return int(self.count.read_text()) if self.writer.poll() == 0 else None


@contextmanager
def growing(file: Path, rate: float, seconds: float = inf) -> Iterator[Live]:
    """A file that another process writes to at a rate, for some seconds or as long as it is needed."""
    file.touch()
    count = file.with_suffix(".count")
    command = [sys.executable, "-m", "ensue.bench.plant_live", str(file), str(rate), str(seconds)]
    with count.open("wb") as said:
        writer = subprocess.Popen(command, stdout=said)
    try:
        yield Live(file, writer, count)
    finally:
        writer.terminate()
        writer.wait()


if __name__ == "__main__":
    with Path(sys.argv[1]).open("ab") as out:
        print(write(out, Lines(Plant()), float(sys.argv[2]), float(sys.argv[3])))
