"""The evaluations of a query over a whole stream, by the definition: every millisecond is tried."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

import numpy as np

from ensue.windows.frontier import Buffer, Disorder, Frontier, Gate
from ensue.windows.report import Report
from ensue.windows.schedule import Evaluation, On, Query, Schedule
from ensue.windows.spec import Landmark, TimeWindow, Window

from .test_spec import every_window

LOW, HIGH = -60, 200
STREAMS = ("a", "b")


def random_query(random: Random, name: str, on: str = "close") -> Query:
    windows = []
    for _ in range(random.choice([1, 1, 2])):
        step, bounds, t0 = random.randint(1, 12), random.choice(["(]", "[)"]), random.randint(-9, 30)
        spec = TimeWindow(random.randint(1, 20), step, t0, bounds)
        windows.append(
            On(random.choice(STREAMS), Landmark(t0, step, bounds) if random.random() < 0.15 else spec)
        )
    every = random.choice([None, random.randint(1, 15), windows[0].spec.step_ms])
    nth = random.choice([1, 1, 1, 3]) if every is not None or len(windows) == 1 else 1
    return Query(name, tuple(windows), every, Report(on, nth))


def random_stream(random: Random, disorder: int) -> list[tuple[str, int]]:
    """Arrivals (stream, time), none more than `disorder` older than the newest of its stream."""
    arrivals, newest = [], dict.fromkeys(STREAMS, random.randint(-20, 20))
    for _ in range(random.choice([0, 1, 5, 40])):
        stream = random.choice(STREAMS)
        newest[stream] += random.choice([0, 0, 1, 2, 9])
        arrivals.append((stream, newest[stream] - random.randint(0, disorder)))
    return arrivals


def instants(query: Query) -> list[int]:
    """Every time at which a query is evaluated, were there statements."""
    first = query.windows[0].spec
    origin = first.t0 - (first.bounds == "[)")
    if query.every_ms is not None:
        return [e for e in range(LOW, HIGH) if (e - origin) % (query.every_ms * query.report.nth) == 0]
    closes = {w.close for on in query.windows for w in every_window(on.spec, LOW, HIGH)}
    period = first.step_ms * query.report.nth
    return sorted(e for e in closes if query.report.nth == 1 or (e - origin) % period == 0)


def latest(on: On, at: int) -> Window:
    """The latest window closed by a time; an empty one where a landmark has none yet."""
    closed = list(every_window(on.spec, LOW - 60, at + 1))
    start = on.spec.t0 - (on.spec.bounds == "[)")
    return closed[-1] if closed else Window(start, start)


def evaluations(query: Query, arrivals: list[tuple[str, int]]) -> list[Evaluation]:
    """All evaluations of a query over a finite stream, in order, where none is late."""
    times = {on.stream: [time for stream, time in arrivals if stream == on.stream] for on in query.windows}
    if not any(times.values()):
        return []
    newest = max(max(each) for each in times.values() if each)
    begun = min(
        next(w.close for w in every_window(on.spec, min(times[on.stream]), HIGH + 60))
        for on in query.windows
        if times[on.stream]
    )
    found, last, landmarks_done = [], LOW, set()
    for at in (e for e in instants(query) if e >= begun):
        windows = tuple(latest(on, at) for on in query.windows)
        fires = at <= newest
        for on, window in zip(query.windows, windows, strict=True):
            holds = any(window.holds(time) for time in times[on.stream])
            if isinstance(on.spec, TimeWindow):
                fires |= holds
            elif holds and window.holds(max(times[on.stream])) and on not in landmarks_done:
                landmarks_done.add(on)
                fires = True
        found.append(Evaluation(query.name, at, windows))
        last = at if fires else last
    return [evaluation for evaluation in found if evaluation.at <= last]


@dataclass
class Copy:
    stream: str
    time: int
    number: int


class Engine:
    """The loop that an engine runs, with a log for a maintainer: it checks each read as it goes."""

    def __init__(self, queries: list[Query], allowed_ms: int) -> None:
        self.frontier, self.schedule, self.buffer = Frontier(), Schedule(), Buffer()
        self.gate, self.log, self.evaluations, self.contents = Gate(self.frontier), [], [], []
        self.queries = {query.name: query for query in queries}
        self.read = {}
        for stream in STREAMS:
            self.frontier.add(stream, Disorder(allowed_ms))
        for query in queries:
            self.schedule.add(query)

    def push(self, stream: str, time: int, number: int) -> None:
        grids = [on.spec.grid for q in self.queries.values() for on in q.windows if on.stream == stream]
        if self.gate.is_late(time):
            self.run()  # Or a window that has closed, but was not read yet, would still get it.
        if self.gate.admits(stream, time, grids):
            self.schedule.arrive(stream, time)
            self.buffer.put(np.array([time]), np.array([(STREAMS.index(stream), number)]))

    def run(self) -> None:
        """Go from stop to stop, as far as the frontier has come."""
        while (time := self.schedule.next_stop(self.frontier.time)) is not None:
            self.release(time)
            stop = self.schedule.reach(time)
            for read in stop.reads:
                on = self.queries[read.query].windows[read.position]
                assert read.window.close == time
                # A threshold is all a maintainer has: nothing beyond the close may be in the log.
                held = {c.number for c in self.log if c.stream == on.stream and c.time > read.window.open}
                self.read[read.query, read.position] = (read.window, held)
            for evaluation in stop.reports:
                assert evaluation.at == time
                self.evaluations.append(evaluation)
                self.contents.append([self.content(evaluation, p) for p in range(len(evaluation.windows))])

        self.release(self.frontier.time)
        self.schedule.reach(self.frontier.time)

    def content(self, evaluation: Evaluation, position: int) -> set[int]:
        window, held = self.read.get((evaluation.query, position), (None, set()))
        assert window == evaluation.windows[position] or not held, "a window was seen that was not read"
        return held if window == evaluation.windows[position] else set()

    def release(self, to: int) -> None:
        times, rows = self.buffer.release(to)
        for time, (stream, number) in zip(times.tolist(), rows.tolist(), strict=True):
            self.log.append(Copy(STREAMS[stream], time, number))
            self.schedule.admit(STREAMS[stream], np.array([time]))

    def hand_over(self) -> None:
        """Let another schedule go on, from plain data."""
        state, tallies = json.loads(json.dumps([self.schedule.state(), self.schedule.tallies()]))
        self.schedule = Schedule()
        for query in self.queries.values():
            self.schedule.add(query)
        self.schedule.adopt(tallies)
        self.schedule.resume(state)

    def end(self) -> None:
        for stream in STREAMS:
            self.frontier.end(stream)
            self.schedule.end(stream)
        self.run()


def replay(
    random: Random,
    engine: Engine,
    arrivals: list[tuple[str, int]],
    chance: float = 0.4,
    hand_over: bool = False,
) -> None:
    """Push a stream, running the engine now and then, and end it."""
    for number, (stream, time) in enumerate(arrivals):
        engine.push(stream, time, number)
        if random.random() < chance:
            engine.run()
            if hand_over:
                engine.hand_over()
    engine.end()
