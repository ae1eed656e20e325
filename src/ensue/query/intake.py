"""Where statements wait for their time: each stream behind its gate, in order, until they are let in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from time import time_ns
from typing import NamedTuple, cast

from ensue.errors import BufferFullError
from ensue.model import FOREVER, NEVER
from ensue.query.terms_in import Term, term_text
from ensue.streamfile import Timed
from ensue.windows.frontier import ArrivalTimes, Buffer, Clock, Counters, Disorder, Frontier, Gate
from ensue.windows.spec import Grid

Statement = tuple[int | None, Term, Term, Term] | tuple[int | None, Term, Term, Term, Term | None]
"""Time in ms (None: now, by the clock), subject, predicate, object, and the graph name if there is one."""


class Retraction(NamedTuple):
    """Waits among the statements of a stream for its time."""

    statement: Timed
    every: bool


Released = tuple[str, list[Timed] | list[Retraction]]
"""A stream, and what of it is let in next: statements, or retractions that come after them."""


class Intake:
    """The streams as they come: how far time has got, what is late, and what waits."""

    def __init__(
        self, disorder: Disorder | Mapping[str, Disorder] | None, max_pending: int, clock: Clock | None
    ) -> None:
        self._disorder = disorder
        self._max_pending = max_pending
        self._frontier = Frontier(clock)
        self._gate = Gate(self._frontier)
        self._arrival_time = ArrivalTimes(clock or _wall)
        self._buffers: dict[str, Buffer[Timed | Retraction]] = {}
        self._ended: set[str] = set()

    @property
    def time(self) -> int:
        """How far time has come."""
        return self._frontier.time

    def follow(self, stream: str) -> None:
        """Wait for one more stream."""
        wanted = self._disorder
        self._frontier.add(stream, wanted.get(stream) if isinstance(wanted, Mapping) else wanted)
        self._buffers.setdefault(stream, Buffer())

    def forget(self, stream: str) -> None:
        """Wait for a stream no more."""
        self._frontier.remove(stream)
        del self._buffers[stream]

    def heartbeat(self, stream: str | None, time: int) -> None:
        """Nothing at or below `time` will follow on a stream (None: on any)."""
        if stream is None:
            self._frontier.advance(time)
        else:
            self._frontier.heartbeat(stream, time)

    def end(self, stream: str) -> None:
        """Nothing at all will follow on a stream."""
        self._frontier.end(stream)
        self._ended.add(stream)

    def put(
        self,
        stream: str,
        batch: Sequence[Timed],
        grids: Sequence[Grid],
        arrive: Callable[[str, int], None],
        before_late: Callable[[], None],
    ) -> None:
        """Let statements wait, if the gate lets them in; `grids` are the time windows over the stream.

        `arrive` is told the times of those that will be admitted (of many, the first and the last);
        `before_late` is called before a late one is let in, for windows that have closed to be read.
        """
        waiting, buffer = len(self), self._buffers[stream]
        if waiting + len(batch) > self._max_pending:
            what = f"{waiting:,} statements wait for their time"
            raise BufferFullError(what, hint="call advance(), or hold more: max_pending")
        times = [statement[0] for statement in batch]
        if self._gate.admits_all(stream, times):
            if times:
                arrive(stream, min(times))
                arrive(stream, max(times))
            buffer.put_all(times, batch)
            return
        for time, statement in zip(times, batch, strict=True):
            if self._gate.is_late(time):
                before_late()
            if self._gate.admits(stream, time, grids):
                arrive(stream, time)
                buffer.put(time, statement)

    def put_retraction(self, stream: str, statement: Timed, *, every: bool) -> None:
        """Let a retraction wait for its time."""
        self._buffers[stream].put(statement[0], Retraction(statement, every))

    def release(self, to: int) -> Iterator[Released]:
        """What has waited for a time up to `to`, stream by stream, each in order."""
        for stream, buffer in self._buffers.items():
            for _, group in groupby(buffer.release(to), key=type):
                yield stream, cast("list[Timed] | list[Retraction]", list(group))

    def over(self) -> list[str]:
        """The streams that have ended and of which nothing waits any more; each is told once."""
        found = [name for name in self._ended if not len(self._buffers[name])]
        self._ended.difference_update(found)
        return found

    def __len__(self) -> int:
        """How many statements wait."""
        return sum(map(len, self._buffers.values()))

    @property
    def earliest(self) -> int:
        """The least time that something waits for; FOREVER if nothing does."""
        times = (buffer.earliest for buffer in self._buffers.values())
        return min((time for time in times if time is not None), default=FOREVER)

    @property
    def newest(self) -> int:
        """The greatest time that something waits for; NEVER if nothing does."""
        times = (buffer.newest for buffer in self._buffers.values())
        return max((time for time in times if time is not None), default=NEVER)

    def counters(self, stream: str) -> Counters:
        """What became of a stream's statements."""
        return self._gate.counters(stream)

    def timed(self, statement: Statement) -> Timed:
        """A statement of a user's as canonical text, at its time or now."""
        time, s, p, o, *graph = statement
        name = None if not graph or graph[0] is None else term_text(graph[0])
        at = self._arrival_time() if time is None else time
        return at, term_text(s), term_text(p), term_text(o), name


def _wall() -> int:
    return time_ns() // 1_000_000
