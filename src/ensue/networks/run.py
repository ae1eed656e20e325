"""A network over streams: statements wait until their time has come, and arrive in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from operator import itemgetter
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from pyoxigraph import NamedNode

from ensue.badlines import BadLine
from ensue.errors import BufferFullError, UsageError, did_you_mean
from ensue.files import Statement
from ensue.model import FOREVER, NEVER
from ensue.query.output import Result
from ensue.query.terms_in import ByName, Name, by_name, name_text
from ensue.query.timed_in import Time, TimedStatement, time_in, timed_in
from ensue.streamfile import Timed, timed_line
from ensue.windows.frontier import MAX_PENDING, Clock, Disorder, Frontier, Gate, Times, wall_clock
from ensue.windows.jump_guard import MAX_JUMP, REASON, JumpGuard, Places, check_jump
from ensue.windows.runs import Runs

Waiting = tuple[int, int, Timed]
"""A time, the number of a stream, and a statement."""


_LETTERS = 1000
"""So many of the statements that were rejected are kept until somebody asks for them."""


class Elements(Protocol):
    """Who takes elements in order: a `Network`, or `Networks`."""

    def start(self, time: int) -> list[Result]:
        """What is selected before the first, if it has not been."""

    def arrive(self, time: int, statements: Iterable[Statement]) -> list[Result]:
        """What is selected as statements of one time arrive."""

    def counters(self) -> dict[str, int]:
        """What was done so far, and what is held."""


N = TypeVar("N", bound=Elements)


class NetworkRun(Generic[N]):
    """Feeds a network from streams, as `Reasoner` is fed.

    Statements of one stream may come out of order as far as its disorder allows; what has one time arrives
    in the order of the streams, then of arrival. A late statement arrives when it comes, or never, as the
    disorder says.

    >>> from ensue.networks.network import Network
    >>> run = NetworkRun(Network("SELECT ?x ?y WHERE { ?x <urn:p> ?y }"), ["urn:s"], disorder=Disorder(10))
    >>> run.push("urn:s", [(12, "<urn:b>", "<urn:p>", "<urn:c>"), (5, "<urn:a>", "<urn:p>", "<urn:b>")])
    >>> [(result.close, result.answers.rows) for result in run.end()]
    [(5, [('<urn:a>', '<urn:b>')]), (12, [('<urn:b>', '<urn:c>')])]
    """

    def __init__(
        self,
        network: N,
        streams: Name | Iterable[Name],
        *,
        disorder: Disorder | ByName[Disorder] | None = None,
        clock: Clock | None = None,
        max_pending: int = MAX_PENDING,
        max_jump: int | None = MAX_JUMP,
    ) -> None:
        """`disorder`, `max_pending` and `max_jump` as for a `Reasoner`."""
        check_jump(max_jump)
        self.network = network
        self._frontier = Frontier(clock)
        self._gate = Gate(self._frontier)
        names = [streams] if isinstance(streams, str | NamedNode) else streams
        self._streams = {name_text(stream): at for at, stream in enumerate(names)}
        by_stream = by_name(disorder) if isinstance(disorder, Mapping) else {}
        for stream in self._streams:
            allowed = by_stream.get(stream) if isinstance(disorder, Mapping) else disorder
            self._frontier.add(stream, allowed)
        self._max_pending = max_pending
        self._waiting: list[Waiting] = []
        self._coming: deque[Waiting] = deque()
        """Those whose time has come."""
        self._guard = JumpGuard[list[Timed]](max_jump, _joined, _taken, _times, _last, clock or wall_clock)
        self._rejected: deque[BadLine] = deque(maxlen=_LETTERS)
        self._ready: deque[Result] = deque()
        self._due = False
        """Whether results were asked for that nobody has begun to take."""
        self.answers = 0

    def push(self, stream: Name, statements: Iterable[TimedStatement]) -> None:
        """Let statements, as `Reasoner.push` takes them, wait for their time; `advance` lets them arrive."""
        self.feed(name_text(stream), list(timed_in(statements, None)))

    def feed(self, stream: str, batch: Iterable[Timed]) -> None:
        """Like `push`, for terms that are canonical text already, as `read_stream` gives them."""
        self._check(stream)
        self._check_taken()
        self._catch_up()
        passed, rejected = self._guard.let_in(stream, list(batch))
        for statement in rejected or ():
            self._rejected.append(BadLine(stream, None, None, None, timed_line(statement), REASON))
        self._let_in(stream, passed)
        if len(self._waiting) > self._max_pending:
            what = f"more than {self._max_pending:,} statements wait for their time"
            raise BufferFullError(what, hint="advance more often, or allow less disorder")

    def _let_in(self, stream: str, statements: list[Timed] | None) -> None:
        if statements:
            times = Runs.one_by_one(_times(statements))
            self._take(stream, times, lambda first, end: statements[first:end])

    def dead_letters(self) -> Iterator[BadLine]:
        """The statements that were rejected since the last call, the newest ones of very many."""
        while self._rejected:
            yield self._rejected.popleft()

    def _take(self, stream: str, times: Runs, between: Callable[[int, int], list[Timed]]) -> None:
        """Let statements wait, each judged by how far time has come when it arrives.

        `between` gives those that are here from one place up to before another. What waits and has had its
        time when a late one arrives is released first.
        """
        number, starts = self._streams[stream], times.starts
        for run in self._gate.runs(stream, times.times):
            first, end = int(starts[run.start]), int(starts[run.stop])
            some = times.times[run]
            if not self._gate.admits_all(stream, some, end - first):
                [time] = some.tolist()
                if self._gate.is_late(time):
                    self._read_due()
                if not self._gate.admits(stream, time, (), end - first):
                    continue
            self._waiting += [(statement[0], number, statement) for statement in between(first, end)]

    def heartbeat(self, stream: Name, time: Time) -> None:
        """Nothing at or below `time` will follow on a stream."""
        name, promised = name_text(stream), time_in(time, promise=True)
        self._check(name)
        self._let_in(name, self._guard.heartbeat(name, promised))
        self._frontier.heartbeat(name, promised)

    def advance(self, to: Time | None = None) -> Iterator[Result]:
        """What is selected as all arrives whose time has come: by what came, or because it is `to` now.

        Rules fire as results are taken; what is not taken comes first the next time.
        """
        if to is not None:
            promised = time_in(to, "to", promise=True)
            for stream in self._streams:
                self._let_in(stream, self._guard.heartbeat(stream, promised))
            self._frontier.advance(promised)
        self._due = True
        return self._results()

    def end(self, stream: Name | None = None) -> Iterator[Result]:
        """Nothing will follow on a stream (None: on any)."""
        for name in [name_text(stream)] if stream is not None else list(self._streams):
            self._check(name)
            self._let_in(name, self._guard.end(name))
            self._frontier.end(name)
        self._due = True
        return self._results()

    def _results(self) -> Iterator[Result]:
        self._due = False
        yield from self._release()

    def _catch_up(self) -> None:
        """Do what `advance` or `end` has promised, if nobody has begun to take it: the results wait."""
        if self._due:
            self._due = False
            self._read_due()

    def _read_due(self) -> None:
        """Let arrive what has had its time: results wait to be taken."""
        self._ready.extend(list(self._release()))

    def _check_taken(self) -> None:
        if len(self._ready) > self._max_pending:
            what = f"{len(self._ready):,} results wait to be taken"
            raise BufferFullError(what, hint="iterate over what advance() gives, or hold more: max_pending")

    def _release(self) -> Iterator[Result]:
        for stream in list(self._guard.held):
            self._let_in(stream, self._guard.heartbeat(stream, self._frontier.time))
        yield from self.take_ready()
        frontier = self._frontier.time
        self._waiting.sort(key=itemgetter(0, 1))
        due = [each for each in self._waiting if each[0] <= frontier]
        del self._waiting[: len(due)]
        self._coming.extend(due)
        while self._coming:
            time = self._coming[0][0]
            same = []
            while self._coming and self._coming[0][0] == time:
                same.append(self._coming.popleft()[2][1:])
            yield from self._taken(self.network.arrive(time, same))
        if frontier == FOREVER:  # perhaps nothing has come at all
            yield from self._taken(self.network.start(0))

    def _taken(self, results: Iterable[Result]) -> Iterator[Result]:
        """Results as they are taken, after those that wait. What is not taken waits."""
        self._ready.extend(map(self._counted, results))
        yield from self.take_ready()

    def take_ready(self) -> Iterator[Result]:
        """The results that wait to be taken."""
        while self._ready:
            yield self._ready.popleft()

    def _counted(self, result: Result) -> Result:
        self.answers += len(result.answers.rows)
        return result

    def _check(self, stream: str) -> None:
        if stream not in self._streams:
            hint = did_you_mean(stream, self._streams) or f"streams: {', '.join(self._streams) or 'none'}"
            raise UsageError(f"there is no stream <{stream}>", hint=hint)

    def metrics(self) -> dict[str, Any]:
        """Counters, for machines."""
        self._catch_up()
        streams = {name: asdict(self._gate.counters(name)) for name in self._streams}
        return {
            "streams": streams,
            "admitted": sum(each["admitted"] for each in streams.values()),
            "late": sum(self._gate.counters(name).late for name in self._streams),
            "waiting": len(self._waiting) + self._guard.waiting,
            "rejected": self._guard.rejected,
            "answers": self.answers,
            **self.network.counters(),
        }


def _times(statements: list[Timed]) -> Times:
    return np.array([statement[0] for statement in statements], np.int64)


def _last(statements: list[Timed]) -> int:
    return max((statement[0] for statement in statements), default=NEVER)


def _joined(parts: list[list[Timed]]) -> list[Timed]:
    return [statement for part in parts for statement in part]


def _taken(statements: list[Timed], places: Places) -> list[Timed]:
    return [statements[place] for place in places.tolist()]
