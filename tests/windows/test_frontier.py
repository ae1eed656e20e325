"""Watermarks, late statements, idle streams, and the buffer."""

from __future__ import annotations

from copy import deepcopy
from random import Random

import numpy as np
import pytest

from ensue.errors import InputError, UsageError
from ensue.model import FOREVER, NEVER
from ensue.windows.frontier import ArrivalTimes, Buffer, Counters, Disorder, Frontier, Gate, missed
from ensue.windows.spec import Landmark, TimeWindow

from .test_spec import every_window


class FakeClock:
    def __init__(self):
        self.time = 0

    def __call__(self):
        return self.time


def following(clock=None, **streams):
    frontier = Frontier(clock)
    for name, disorder in streams.items():
        frontier.add(name, disorder)
    return frontier


def test_the_frontier_is_the_least_watermark():
    r"""
    time       0    5    10   15   20
               |----|----|----|----|
    a, d = 0                  *          complete up to 14: more may come at 15
    b, d = 3                   \-- *     complete up to 16
    frontier                 ^
    """
    frontier = following(a=Disorder(0), b=Disorder(3))
    frontier.see("b", 20)
    assert frontier.time == NEVER
    frontier.see("a", 15)
    assert frontier.time == 14
    frontier.see("a", 30)
    assert frontier.time == 16
    frontier.heartbeat("b", 22)
    assert frontier.time == 22
    frontier.see("b", 1)
    assert frontier.time == 22


def test_statements_of_one_time_are_not_late_among_themselves():
    gate = Gate(following(s=Disorder(0)))
    assert all(gate.admits("s", 5, [TimeWindow(5, 5).grid]) for _ in range(3))
    assert gate.counters("s") == Counters(admitted=3)


def test_without_a_bound_only_heartbeats_move_time():
    frontier = following(s=Disorder(allowed_ms=None), t=Disorder(allowed_ms=None))
    frontier.see("s", 1000)
    assert frontier.time == NEVER
    frontier.advance(7)
    assert frontier.time == 7
    frontier.end("t")
    frontier.advance(9)
    assert frontier.time == 9


def test_an_idle_stream_no_longer_holds_the_others_back():
    """
    clock    0         10        20        30
    a        50    60            70                 time-out 10
    b        40                            45
    frontier 39        39->59    69        69 (b woke up: 45 is late)
    """
    clock = FakeClock()
    frontier = following(clock, a=Disorder(idle_after_ms=100), b=Disorder(idle_after_ms=10))
    gate = Gate(frontier)
    frontier.see("a", 50)
    frontier.see("b", 40)
    clock.time = 6
    frontier.see("a", 60)
    assert frontier.time == 39
    clock.time = 10
    assert frontier.time == 59
    clock.time = 20
    frontier.see("a", 70)
    assert frontier.time == 69
    clock.time = 30
    assert gate.admits("b", 45, [TimeWindow(10, 10).grid]) is False
    assert gate.counters("b") == Counters(dropped=1, missed_all=1)
    assert frontier.time == 69


def test_when_all_are_idle_time_goes_as_far_as_was_promised_and_not_to_the_end():
    clock = FakeClock()
    frontier = following(clock, a=Disorder(idle_after_ms=10), b=Disorder(idle_after_ms=10), c=None)
    frontier.see("a", 50)
    frontier.see("b", 40)
    frontier.end("c")
    assert frontier.time == 39
    clock.time = 10
    assert frontier.time == 49
    frontier.end("a")
    frontier.end("b")
    assert frontier.time == FOREVER


def test_an_ended_stream_takes_no_more():
    frontier = following(s=None)
    frontier.end("s")
    for call in (frontier.see, frontier.heartbeat):
        with pytest.raises(UsageError, match=r"has ended.*hint"):
            call("s", 1)


def test_wrong_calls_are_refused_with_a_hint():
    frontier = following(s=None)
    for call in (
        lambda: frontier.see("t", 1),
        lambda: frontier.add("s"),
        lambda: frontier.add("u", Disorder(idle_after_ms=1)),
        lambda: Disorder(allowed_ms=-1),
        lambda: Disorder(idle_after_ms=0),
        lambda: Disorder(late="ignore"),
    ):
        with pytest.raises(UsageError, match="hint: "):
            call()
    for time in (NEVER, FOREVER):
        with pytest.raises(InputError, match="hint: "):
            Gate(frontier).admits("s", time, [])


def test_what_a_late_statement_missed():
    """
           a   b              a = 7, b = 11
    |----|----|----|----|
    (---------]               closes at 10
         (---------]          closes at 15
              (---------]     closes at 20
    """
    sliding = TimeWindow(range_ms=10, step_ms=5).grid
    assert [missed([sliding], 7, frontier) for frontier in (9, 10, 14, 15)] == ["none", "some", "some", "all"]
    assert [missed([sliding], 11, frontier) for frontier in (14, 15, 20)] == ["none", "some", "all"]
    assert missed([TimeWindow(2, 10).grid], 5, 99) == "none", "in a gap there is nothing to miss"
    assert missed([Landmark(0, 5).grid], 3, 99) == "some", "a landmark never closes for good"
    assert missed([sliding, TimeWindow(100, 5).grid], 7, 20) == "some"


def least_watermark(seen, allowed):
    """The frontier by its definition, from everything seen so far."""
    marks = [max(times) - allowed[name] - 1 if times else NEVER for name, times in seen.items()]
    return min(marks)


@pytest.mark.parametrize("policy", ["admit", "drop", "error"])
@pytest.mark.parametrize("seed", range(30))
def test_late_counters_are_those_of_the_definition(seed, policy):
    random = Random(seed)
    allowed = {"a": random.randint(0, 8), "b": random.randint(0, 8)}
    specs = [TimeWindow(random.randint(1, 20), random.randint(1, 9), random.randint(0, 5)) for _ in range(2)]
    windows = [window for spec in specs for window in every_window(spec, -60, 160)]
    gate = Gate(following(**{name: Disorder(d, policy) for name, d in allowed.items()}))
    expected, seen = {name: Counters() for name in allowed}, {name: [] for name in allowed}
    for position in range(80):
        stream, time = random.choice("ab"), position + random.randint(-25, 3)
        counters, frontier = expected[stream], least_watermark(seen, allowed)
        holding = [window for window in windows if window.holds(time)]
        closed = [window for window in holding if window.close <= frontier]
        late, accept = time <= frontier, True
        if late:
            lost = (
                "missed_none" if not closed else "missed_some" if len(closed) < len(holding) else "missed_all"
            )
            setattr(counters, lost, getattr(counters, lost) + 1)
            accept = policy == "admit" and lost != "missed_all"
        where = f"seed {seed}, statement {position} at {time}, frontier {frontier}"
        if late and policy == "error":
            with pytest.raises(InputError, match=r"is late.*hint: "):
                gate.admits(stream, time, [spec.grid for spec in specs])
            continue
        seen[stream].append(time)
        counters.admitted += accept
        counters.dropped += not accept
        assert gate.admits(stream, time, [spec.grid for spec in specs]) is accept, where
        assert gate.counters(stream) == counters, where
    assert expected["a"].late + expected["b"].late > 0, f"seed {seed} tried nothing"


@pytest.mark.parametrize("seed", range(20))
def test_the_buffer_gives_out_in_order_of_time_and_arrival(seed):
    random, buffer, waiting, frontier = Random(seed), Buffer(), [], 0
    for arrival in range(300):
        time = frontier + random.randint(1, 20)
        # A dict cannot be compared: only (time, arrival) may be.
        buffer.put(np.array([time]), np.array([{"arrival": arrival}]))
        waiting.append((time, arrival))
        if random.random() < 0.2:
            frontier += random.randint(0, 15)
            due = sorted(entry for entry in waiting if entry[0] <= frontier)
            waiting = [entry for entry in waiting if entry[0] > frontier]
            given = [item["arrival"] for item in buffer.release(frontier)[1].tolist()]
            assert given == [arrival for _, arrival in due], f"seed {seed}"
            assert len(buffer) == len(waiting)
            assert buffer.earliest == min((entry[0] for entry in waiting), default=None)


def test_the_buffer_does_not_cost_its_length_for_each_statement(monkeypatch):
    sorts, argsort = [], np.argsort
    monkeypatch.setattr(np, "argsort", lambda *of, **how: sorts.append(of) or argsort(*of, **how))
    buffer, random, size = Buffer(), Random(1), 4096
    for _ in range(size):
        buffer.put(np.array([random.randint(0, 10**9)]), np.array([0]))
    assert len(buffer.release(10**9)[0]) == size
    assert len(sorts) == 1


@pytest.mark.parametrize("seed", range(20))
def test_a_batch_is_let_in_at_once_only_if_none_of_it_is_late(seed):
    random, frontier, outcomes, newest = Random(seed), Frontier(), set(), 0
    for stream in "ab":
        frontier.add(stream, Disorder(allowed_ms=3))
    gate = Gate(frontier)
    for _ in range(60):
        stream = random.choice("ab")
        times = [newest + random.randint(-2, 4) for _ in range(random.randint(0, 4))]
        at_once = deepcopy(gate)
        taken = at_once.admits_all(stream, np.array(times, np.int64))
        late = [gate.is_late(time) or not gate.admits(stream, time, []) for time in times]
        assert not (taken and any(late)), f"seed {seed}"
        if taken:
            assert vars(at_once._frontier)["_time"] == gate._frontier.time, f"seed {seed}"
            assert at_once.counters(stream) == gate.counters(stream), f"seed {seed}"
        outcomes.add(taken)
        newest = max([newest, *times])
    assert outcomes == {True, False}, f"seed {seed} tried nothing"


@pytest.mark.parametrize("seed", range(20))
def test_a_batch_in_runs_is_let_in_as_one_by_one(seed):
    random, together, lengths, newest = Random(seed), Gate(following(a=Disorder(3, "drop"))), set(), 0
    apart = deepcopy(together)
    for _ in range(60):
        times = [newest + random.randint(-3, 4) for _ in range(random.randint(0, 9))]
        newest = max([newest, *times])
        let_in = []
        for run in together.runs("a", np.array(times, np.int64)):
            some = times[run]
            lengths.add(len(some))
            if together.admits_all("a", np.array(some, np.int64)):
                let_in += some
            else:
                assert len(some) == 1, f"seed {seed}"
                let_in += [time for time in some if together.admits("a", time, [])]
        assert let_in == [time for time in times if apart.admits("a", time, [])], f"seed {seed}"
        assert together.counters("a") == apart.counters("a"), f"seed {seed}"
    assert together.counters("a").dropped, f"seed {seed} tried nothing"
    assert max(lengths) > 1, f"seed {seed} tried nothing"


def test_arrival_times_never_go_back():
    clock = FakeClock()
    times = ArrivalTimes(clock)
    found = []
    for clock.time in (100, 105, 90, 104, 106):
        found.append(times())
    assert found == [100, 105, 105, 105, 106]
