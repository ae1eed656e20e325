"""What happened on the streams of a case: worked out from the list of what was done, by the definition.

Every statement that arrives is told the frontier at its arrival. From that alone follows what windows
hold, and how a stream is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from query.equivalence.cases import Action, Advance, Case, End, Push, Register, Statement
from windows.reference import HIGH, LOW
from windows.test_spec import every_window

from ensue.model import FOREVER, NEVER
from ensue.query.language import parse_query
from ensue.query.tree import ContinuousQuery, Kind, StreamWindow
from ensue.windows.spec import TimeWindow, Window


@lru_cache(1000)
def parsed(text: str) -> ContinuousQuery:
    """A query."""
    return parse_query(text)


@dataclass(frozen=True)
class Arrival:
    """A statement that was let in. It is late if its time is not beyond the frontier at its arrival."""

    time: int
    statement: Statement
    frontier: int
    order: int

    @property
    def admitted(self) -> tuple[int, int]:
        """The place of the statement when its stream is counted."""
        return max(self.time, self.frontier), self.order

    def is_in(self, window: Window) -> bool:
        """Whether a time window holds it: not if the window had closed before."""
        return window.holds(self.time) and self.frontier < window.close


@dataclass(frozen=True)
class Registered:
    """A query, and what had happened when it came."""

    query: ContinuousQuery
    windows: tuple[StreamWindow, ...]
    since: int
    """What closed at or before this was over."""
    counted: dict[str, int]
    """The same in sequence numbers, by stream."""


@dataclass
class History:
    """What happened on the streams, worked out action by action."""

    case: Case
    arrivals: dict[str, list[Arrival]] = field(default_factory=dict)
    queries: list[Registered] = field(default_factory=list)
    ended_at: dict[str, int] = field(default_factory=dict)
    """How far time had come when a stream ended."""
    frontier: int = NEVER
    _marks: dict[str, int] = field(default_factory=dict)
    _ran_to: int = NEVER
    _ran_with: int = 0
    """How many statements had arrived when results were last taken."""
    _orders: int = 0

    def __post_init__(self) -> None:
        texts = [action.text for action in self.case.actions if isinstance(action, Register)]
        self.made = {q.name for q in map(parsed, texts) if q.kind is Kind.STREAM}
        for action in self.case.actions:
            self._apply(action)

    def _apply(self, action: Action) -> None:
        match action:
            case Register(text):
                self._register(parsed(text))
            case Push(stream, rows):
                for time, statement in rows:
                    self._arrive(stream, time, statement)
            case Advance(to):
                for stream, mark in self._marks.items():
                    self._promise(stream, max(mark, NEVER if to is None else to))
                self._run()
            case End(stream):
                for name in list(self._marks) if stream is None else [stream]:
                    self.ended_at.setdefault(name, self.frontier)
                for name in list(self._marks) if stream is None else [stream]:
                    self._promise(name, FOREVER)
                self._run()

    def _register(self, query: ContinuousQuery) -> None:
        windows = tuple(_with_options(on, self.case) for on in query.streams)
        counted = {on.stream: self._counted_so_far(on.stream) for on in windows}
        self.queries.append(Registered(query, windows, self._ran_to, counted))
        for on in windows:
            if on.stream not in self.made:
                self._marks.setdefault(on.stream, NEVER)
                self.arrivals.setdefault(on.stream, [])

    def _arrive(self, stream: str, time: int, statement: Statement) -> None:
        late = time <= self.frontier
        if late:
            self._run()
        if not late or self._is_wanted(stream, time):
            self._orders += 1
            self.arrivals[stream].append(Arrival(time, statement, self.frontier, self._orders))
        self._promise(stream, time - self.case.allowed[stream] - 1)

    def _run(self) -> None:
        """Everything up to the frontier is let in."""
        self._ran_to, self._ran_with = self.frontier, self._orders

    def _counted_so_far(self, stream: str) -> int:
        arrived = self.arrivals.get(stream, ())
        return sum(x.time <= self._ran_to and x.order <= self._ran_with for x in arrived)

    def _is_wanted(self, stream: str, time: int) -> bool:
        """Whether a late statement did not miss all its windows: one in no window has missed none."""
        holding = [
            window
            for each in self.queries
            for on in each.windows
            if on.stream == stream and isinstance(on.spec, TimeWindow)
            for window in every_window(on.spec, LOW, HIGH)
            if window.holds(time)
        ]
        closed = [window for window in holding if window.close <= self.frontier]
        return not closed or len(closed) < len(holding)

    def _promise(self, stream: str, mark: int) -> None:
        self._marks[stream] = max(self._marks[stream], mark)
        self.frontier = max(self.frontier, min(self._marks.values()))

    def admitted(self, stream: str, at: int) -> list[Arrival]:
        """A stream's statements once time has come to `at`, as they are counted."""
        here = (x for x in self.arrivals.get(stream, ()) if x.time <= at and x.frontier < at)
        return sorted(here, key=lambda arrival: arrival.admitted)

    def counted(self, stream: str) -> list[Arrival]:
        """All of a stream's statements, as they are counted."""
        return sorted(self.arrivals[stream], key=lambda arrival: arrival.admitted)


def _with_options(on: StreamWindow, case: Case) -> StreamWindow:
    spec = on.spec
    if isinstance(spec, TimeWindow):
        spec = TimeWindow(spec.range_ms, spec.step_ms, case.t0, case.bounds)
    return StreamWindow(on.stream, spec, on.name)
