"""A run of networks that goes step by step, and that another can go on with where it was.

What is needed to go on is the truth: `state`, which is small and plain, what has become of the networks step
by step (`Networks.take`), and what waits for its time. Between two steps nothing is on any agenda.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensue.networks.networks import Networks
from ensue.networks.run import NetworkRun, Waiting
from ensue.query.output import Result
from ensue.streamfile import Timed
from ensue.windows.frontier import Counters
from ensue.windows.runs import Runs


class Came(NamedTuple):
    """What came of a stream at once, in order: the times of all, and the statements that are here."""

    times: Runs
    places: NDArray[np.int32]
    """For each of the statements how many came before it."""
    statements: list[Timed]

    def between(self, first: int, end: int) -> list[Timed]:
        """The statements that are here of those from one place up to before another."""
        start, stop = np.searchsorted(self.places, [first, end]).tolist()
        return self.statements[start:stop]


class NetworkSteps(NetworkRun[Networks]):
    """A run, its steps, and what it takes to go on from between two of them."""

    since: Sequence[Waiting] = ()
    """What waits since the last step."""

    def step(
        self,
        came: Iterable[tuple[str, Came]],
        ended: Iterable[str] = (),
        heartbeats: Mapping[str, int] | None = None,
    ) -> Iterator[Result]:
        """Take in what came at once, as a micro-batch brings it, and give what is selected, time after time.

        Each statement is judged in its place among those of its stream; heartbeats and ends come behind all.
        """
        known = {id(each): each for each in self._waiting}
        for stream, part in came:
            self._take(stream, part.times, part.between)
        for stream, time in (heartbeats or {}).items():
            self._frontier.heartbeat(stream, time)
        for stream in ended:
            self._frontier.end(stream)
        new = (each for each in self._waiting if id(each) not in known)
        self.since = [each for each in new if each[0] > self.frontier]
        return self._release()

    @property
    def frontier(self) -> int:
        """How far time has come."""
        return self._frontier.time

    @property
    def waiting(self) -> list[Waiting]:
        """What waits for its time."""
        return self._waiting

    @property
    def streams(self) -> list[str]:
        """The streams in order: by their places here they are numbered."""
        return list(self._streams)

    def state(self) -> dict[str, Any]:
        """Everything but what networks hold and what waits, as plain data."""
        counters = {stream: asdict(self._gate.counters(stream)) for stream in self._streams}
        return {
            "frontier": self._frontier.state(),
            "streams": counters,
            "answers": self.answers,
            "counted": self.network.counted(),
        }

    def resume(self, state: Mapping[str, Any], waiting: Iterable[Waiting]) -> None:
        """Go on where another was; what has been released by then waits no more."""
        self._frontier.resume(state["frontier"])
        for stream, counted in state["streams"].items():
            self._gate.resume(stream, Counters(**counted))
        self.answers = state["answers"]
        self.network.count_on(state["counted"])
        self._waiting = [each for each in (*self._waiting, *waiting) if each[0] > self.frontier]
