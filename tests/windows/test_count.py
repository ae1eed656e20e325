"""Count windows: numbers given at admission, windows as thresholds over them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ensue.windows.count import Numbering, cuts, latest_window
from ensue.windows.frontier import Buffer
from ensue.windows.schedule import On, Query, Schedule
from ensue.windows.spec import CountWindow


def test_numbers_go_by_time_and_arrival_and_count_duplicates():
    """
    arrival   c@5  a@3  a@3  b@5         two copies of a are two statements
    number     3    1    2    4
    """
    buffer, numbering = Buffer(), Numbering()
    for time, statement in [(5, "c"), (3, "a"), (3, "a"), (5, "b")]:
        buffer.put(np.array([time]), np.array([statement]))
    _, released = buffer.release(5)
    numbered = [(numbering.take("s")[0], statement) for statement in released.tolist()]
    assert numbered == [(1, "a"), (2, "a"), (3, "c"), (4, "b")]


def test_each_stream_counts_for_itself_and_goes_on_from_a_snapshot():
    numbering = Numbering()
    assert (numbering.take("a", 3), numbering.take("b")) == (range(1, 4), range(1, 2))
    later = Numbering(numbering.snapshot())
    assert (later.take("a"), later.count("b"), numbering.count("a")) == (range(4, 5), 1, 3)


@pytest.mark.parametrize("seed", range(40))
def test_count_windows_hold_the_last_statements(seed):
    random = Random(seed)
    specs = [CountWindow(random.randint(1, 9), random.randint(1, 6)) for _ in range(2)]
    statements = [random.choice("abc") for _ in range(40)]
    admitted, stops = [], []
    numbering = Numbering()
    while len(admitted) < len(statements):
        numbers = numbering.take("s", min(random.randint(1, 7), len(statements) - len(admitted)))
        stops += cuts(specs, numbers)
        admitted += statements[numbers.start - 1 : numbers.stop - 1]
        for spec in specs:
            closed = len(admitted) // spec.step * spec.step
            window = latest_window(spec, len(admitted))
            held = [statement for n, statement in enumerate(statements, 1) if window.holds(n)]
            assert held == admitted[:closed][-spec.size :], f"seed {seed}, {spec}, {len(admitted)} admitted"
    expected = [n for n in range(1, 41) if any(n % spec.step == 0 for spec in specs)]
    assert stops == expected, f"seed {seed}"


def test_a_schedule_over_sequence_numbers():
    """
    number    1 2 3 4 5
              |-|-|-|-|-|-|
            (---]                 size 4, step 2 (the first window is not full)
            (-------]
                (-------]         the end: 5 is still held,
                    (-------]     until it is not
    """
    schedule = Schedule("count")
    schedule.add(Query("q", (On("s", CountWindow(size=4, step=2)),)))
    fired = []
    for number in range(1, 6):
        schedule.arrive("s", number)
        schedule.admit("s", np.array([number], np.int64))
        if schedule.next_stop(number) is not None:
            fired += schedule.reach(number).reports
    schedule.end("s")
    while (stop := schedule.next_stop()) is not None:
        fired += schedule.reach(stop).reports
    assert [evaluation.windows[0] for evaluation in fired] == [(-2, 2), (0, 4), (2, 6), (4, 8)]
