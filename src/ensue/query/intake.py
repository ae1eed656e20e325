"""Where statements wait for their time: each stream behind its gate, in order, until they are let in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ensue.errors import BufferFullError
from ensue.model import FOREVER, NEVER
from ensue.query.arrivals import Arrivals, Batch
from ensue.query.timed_in import TimedStatement, timed_in
from ensue.streamfile import Timed
from ensue.windows.frontier import (
    ArrivalTimes,
    Buffer,
    Clock,
    Counters,
    Disorder,
    Frontier,
    Gate,
    Rows,
    Times,
    wall_clock,
)
from ensue.windows.leaps import Leaps
from ensue.windows.spec import Grid

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder


class Act(IntEnum):
    """What is to become of a statement when its time has come."""

    ADMIT = 0
    RETRACT_NEWEST = 1
    RETRACT_EVERY = 2


Released = tuple[str, Act, Arrivals]
"""A stream, and which of its statements are let in or taken back next."""


class Intake:
    """The streams as they come: how far time has got, what is late, and what waits."""

    def __init__(
        self, disorder: Disorder | Mapping[str, Disorder] | None, max_pending: int, clock: Clock | None
    ) -> None:
        self._disorder = disorder
        self._max_pending = max_pending
        self._frontier = Frontier(clock)
        self._gate = Gate(self._frontier)
        self._arrival_time = ArrivalTimes(clock or wall_clock)
        self._buffers: dict[str, Buffer] = {}
        self._of_no_use: dict[str, Buffer] = {}
        """The times of streams of which not all statements matter: those that do not pass time, too."""
        self._ended: set[str] = set()
        self.leaps = Leaps(self._frontier)
        """The moves of time that can pass many evaluations of a query."""
        self._coming: list[Arrivals] = []
        """What is let in part by part just now: windows may be read meanwhile, and terms given back."""

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
        self.leaps.moved()

    def end(self, stream: str) -> None:
        """Nothing at all will follow on a stream."""
        self._frontier.end(stream)
        self.leaps.moved()
        self._ended.add(stream)

    def expect(self, batches: Iterable[Batch]) -> None:
        """These will be put in one after the other: until all are, their terms are in use."""
        self._coming = [batch.arrivals for batch in batches]

    def put(
        self,
        stream: str,
        batch: Batch,
        grids: Sequence[Grid],
        arrive: Callable[[str, int], None],
        before_late: Callable[[], None],
    ) -> None:
        """Let statements wait, if the gate lets them in; `grids` are the time windows over the stream.

        Each is judged by how far time has come when it arrives, one after the other. `arrive` is told the
        times of those that will be admitted (of many, the first and the last); `before_late` is called before
        a late one is let in, for windows that have closed to be read.
        """
        times, count = batch.times.times, len(batch.times)
        if batch.rows is not None:
            self._of_no_use.setdefault(stream, Buffer())
        if self._gate.admits_all(stream, times, count):
            self._arrived(stream, times, batch.arrivals, arrive)
            return
        starts = batch.times.starts
        for run in self._gate.runs(stream, times):
            first, end = int(starts[run.start]), int(starts[run.stop])
            some, found = times[run], batch.between(first, end)
            if self._gate.admits_all(stream, some, end - first):
                self._arrived(stream, some, found, arrive)
                continue
            [time] = some.tolist()  # What can be late is by itself.
            if self._gate.is_late(time):
                before_late()
            if self._gate.admits(stream, time, grids, end - first):
                self._arrived(stream, some, found, arrive)
            else:
                self.leaps.moved()

    def reached(self, newest: Mapping[str, int], ended: Iterable[str], heartbeats: Mapping[str, int]) -> int:
        """How far time will have come when streams have brought these times, promised others, or ended."""
        frontier = self._frontier.copied()
        for stream, time in newest.items():
            frontier.see(stream, time)
        for stream, time in heartbeats.items():
            frontier.heartbeat(stream, time)
        for stream in ended:
            frontier.end(stream)
        return frontier.time

    def put_in_time(self, stream: str, arrivals: Arrivals, arrive: Callable[[str, int], None]) -> None:
        """Let statements wait that came before time had come so far."""
        self._gate.counters(stream).admitted += len(arrivals)
        self._frontier.see(stream, arrivals.newest)
        self._arrived(stream, arrivals.times, arrivals, arrive)

    def go_back(self, frontier: dict[str, Any]) -> None:
        """Time is where it was when the frontier had this state: for `put` to judge once more."""
        self._frontier.resume(frontier)

    def _arrived(
        self, stream: str, times: Times, arrivals: Arrivals, arrive: Callable[[str, int], None]
    ) -> None:
        """Statements of these times have been let in, of which some matter."""
        self.leaps.moved(stream, times)
        if len(times):
            arrive(stream, int(times.min()))
            arrive(stream, int(times.max()))
            self._buffers[stream].put(*_rows(arrivals, Act.ADMIT))
            if stream in self._of_no_use:
                self._of_no_use[stream].put(times, np.empty((len(times), 0), np.int32))

    def check_room(self, more: int) -> None:
        """Raise BufferFullError where so many more may not wait."""
        waiting = len(self)
        if waiting + more > self._max_pending:
            what = f"{waiting:,} statements wait for their time"
            raise BufferFullError(what, hint="call advance(), or hold more: max_pending")

    def put_retraction(self, stream: str, arrivals: Arrivals, *, every: bool) -> None:
        """Let retractions wait for their time."""
        act = Act.RETRACT_EVERY if every else Act.RETRACT_NEWEST
        self._buffers[stream].put(*_rows(arrivals, act))

    def retracts(self, stream: str) -> bool:
        """Whether a retraction waits for its time."""
        if stream not in self._buffers:
            return False
        _, rows = self._buffers[stream].waiting()
        return len(rows) > 0 and bool((rows[:, 4] != Act.ADMIT).any())

    def release(self, to: int) -> Iterator[Released]:
        """What has waited for a time up to `to`, stream by stream, each in order."""
        for stream, buffer in self._buffers.items():
            times, rows = buffer.release(to)
            if not len(times):
                continue
            acts = rows[:, 4]
            borders = [0, *(np.flatnonzero(acts[1:] != acts[:-1]) + 1).tolist(), len(acts)]
            for start, end in pairwise(borders):
                yield stream, Act(int(acts[start])), _arrivals(times[start:end], rows[start:end])

    def frontier(self) -> dict[str, Any]:
        """How far time and each stream have come, as plain data."""
        return self._frontier.state()

    def passed(self, to: int) -> Iterator[tuple[str, int]]:
        """The newest times up to this one of streams of which not all statements matter, each once."""
        for stream, buffer in self._of_no_use.items():
            times, _ = buffer.release(to)
            if len(times):
                yield stream, int(times[-1])

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
    def quiet_before(self) -> int:
        """The least time that something waits for, whether it matters or not; FOREVER if nothing does."""
        times = (buffer.earliest for buffer in self._of_no_use.values())
        return min([self.earliest, *(time for time in times if time is not None)])

    @property
    def newest(self) -> int:
        """The greatest time that something waits for; NEVER if nothing does."""
        times = (buffer.newest for buffer in self._buffers.values())
        return max((time for time in times if time is not None), default=NEVER)

    def state(self) -> dict[str, Any]:
        """How far the streams have come, as plain data, without what waits: for `resume`."""
        counters = {stream: asdict(self.counters(stream)) for stream in self._buffers}
        return {"frontier": self.frontier(), "counters": counters, "ended": sorted(self._ended)}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._frontier.resume(state["frontier"])
        self.leaps.clear()
        for stream, counted in state["counters"].items():
            self._gate.resume(stream, Counters(**counted))
        self._ended = set(state["ended"])

    def park(self, folder: Folder) -> None:
        """Let what waits lie in a folder, too."""
        for number, buffer in enumerate(self._buffers.values()):
            times, rows = buffer.waiting()
            folder.keep(f"times{number}", times)
            folder.keep(f"rows{number}", rows)
        for number, stream in enumerate(self._buffers):
            unused = self._of_no_use.get(stream, Buffer())
            folder.keep(f"unused{number}", unused.waiting()[0])

    def adopt(self, folder: Folder) -> None:
        """Let that wait which lies in a folder. Copied: it is not written to."""
        for number, buffer in enumerate(self._buffers.values()):
            buffer.release(FOREVER)
            buffer.put(folder.find(f"times{number}").copy(), folder.find(f"rows{number}").copy())
        self._of_no_use = {}
        for number, stream in enumerate(self._buffers):
            times = folder.find(f"unused{number}").copy()
            self._of_no_use[stream] = Buffer()
            self._of_no_use[stream].put(times, np.empty((len(times), 0), np.int32))

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers that what waits uses, or is about to."""
        waiting = [buffer.waiting() for buffer in self._buffers.values() if len(buffer)]
        coming = [column for each in self._coming for column in each.terms]
        return [*coming, *(column for times, rows in waiting for column in _arrivals(times, rows).terms)]

    def counters(self, stream: str) -> Counters:
        """What became of a stream's statements."""
        return self._gate.counters(stream)

    def timed(self, statements: Iterable[TimedStatement]) -> list[Timed]:
        """Statements of a user's as canonical text, each at its time or now."""
        return list(timed_in(statements, self._arrival_time))


def _rows(arrivals: Arrivals, act: Act) -> tuple[Times, Rows]:
    """Statements as the buffer holds them: their terms, and what is to become of them."""
    acts = np.full(len(arrivals), act, np.int32)
    return arrivals.times, np.column_stack((arrivals.s, arrivals.p, arrivals.o, arrivals.graph, acts))


def _arrivals(times: Times, rows: Rows) -> Arrivals:
    return Arrivals(times, *(rows[:, column] for column in range(4)))
