"""What a window holds: drawn, and against every window tried one by one."""

from __future__ import annotations

from itertools import islice, pairwise
from random import Random

import pytest

from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER
from ensue.windows.spec import (
    CountWindow,
    Landmark,
    TimeWindow,
    Window,
    closes_after,
    first_close,
    last_close,
    shown,
    windows_holding,
)

from .drawing import drawn

PICTURES = {
    "sliding": (
        TimeWindow(range_ms=10, step_ms=5),
        """
          a   b    cd    e
        |----|----|----|----|----|
   (---------]
        (---------]
             (---------]
                  (---------]
        """,
    ),
    "tumbling": (
        TimeWindow(range_ms=5, step_ms=5),
        """
          a  b c   d     e
        |----|----|----|----|
        (----]
             (----]
                  (----]
                       (----]
        """,
    ),
    "tumbling, closed to the left": (
        TimeWindow(range_ms=5, step_ms=5, bounds="[)"),
        """
        a    b c  d      e
        |----|----|----|----|
        [----)
             [----)
                  [----)
                       [----)
        """,
    ),
    "hopping, with gaps: a, c and e are in no window": (
        TimeWindow(range_ms=3, step_ms=8),
        """
         a    b   c    d  e
        |----|----|----|----|----|
             (--]
                     (--]
                             (--]
        """,
    ),
    "closes aligned to t0 = 14, and windows before it": (
        TimeWindow(range_ms=6, step_ms=6, t0=14),
        """
         ab   c    d e
        |----|----|----|----|
    (-----]
          (-----]
                (-----]
        """,
    ),
    "landmark": (
        Landmark(t0=5, step_ms=5),
        """
          a  b c   d     e
        |----|----|----|----|
             (----]
             (---------]
             (--------------]
        """,
    ),
    "landmark, closed to the left": (
        Landmark(t0=5, step_ms=5, bounds="[)"),
        """
          a  b c   d   e
        |----|----|----|----|
             [----)
             [---------)
             [--------------)
        """,
    ),
    "count, sliding: the column is the sequence number": (
        CountWindow(size=4, step=2),
        """
         abcdef
        |----|----|
      (---]
        (---]
          (---]
        """,
    ),
    "count, tumbling": (
        CountWindow(size=3, step=3),
        """
         abcdefg
        |----|----|
        (--]
           (--]
              (--]
        """,
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_windows_are_as_drawn(name):
    spec, picture = PICTURES[name]
    statements, windows = drawn(picture)
    assert statements
    grid = spec.grid
    index = next(k for k in range(-5, 20) if shown(spec, grid.window(k))[1] == windows[0][1])
    for number, (opens, closes, inside) in enumerate(windows, index):
        window = grid.window(number)
        assert shown(spec, window) == (opens, closes)
        assert "".join(letter for letter in sorted(statements) if window.holds(statements[letter])) == inside
    for letter, time in statements.items():
        held = [opens for opens, _, inside in windows if letter in inside]
        found = [
            w
            for w in islice(windows_holding(spec, time), 9)
            if w in map(grid.window, range(index, index + len(windows)))
        ]
        assert [shown(spec, window).open for window in found] == held, letter


def random_spec(random):
    step, bounds = random.randint(1, 9), random.choice(["(]", "[)"])
    kind = random.random()
    if kind < 0.2:
        return Landmark(random.randint(-20, 20), step, bounds)
    if kind < 0.3:
        return CountWindow(random.randint(1, 15), step)
    return TimeWindow(random.randint(1, 20), step, random.randint(-20, 20), bounds)


def every_window(spec, low, high):
    """The windows that close between low and high, by the definition, one by one."""
    for close in range(low, high):
        if isinstance(spec, CountWindow):
            if close > 0 and close % spec.step == 0:
                yield Window(close - spec.size, close)
            continue
        shift = 1 if spec.bounds == "[)" else 0
        if (close + shift - spec.t0) % spec.step_ms:
            continue
        if isinstance(spec, TimeWindow):
            yield Window(close - spec.range_ms, close)
        elif close + shift > spec.t0:
            yield Window(spec.t0 - shift, close)


@pytest.mark.parametrize("seed", range(100))
def test_windows_are_those_of_the_definition(seed):
    spec = random_spec(Random(seed))
    windows = list(every_window(spec, -80, 80))
    for time in range(1 if isinstance(spec, CountWindow) else -40, 40):
        where = f"seed {seed}, {spec}, time {time}"
        holding = [window for window in windows if window.holds(time)]
        found = [window for window in islice(windows_holding(spec, time), 200) if window.close < 80]
        assert found == holding, where
        assert first_close(spec, time) == (holding[0].close if holding else None), where
        last = FOREVER if isinstance(spec, Landmark) else holding[-1].close if holding else None
        assert last_close(spec, time) == (last if holding else None), where
        after = [window.close for window in windows if window.close > time][:3]
        assert list(islice(closes_after(spec, time), 3)) == after, where
        closed = [window for window in windows if window.close <= time]
        if closed:
            assert spec.grid.window(spec.grid.latest(time)) == closed[-1], where


@pytest.mark.parametrize("bounds", ["(]", "[)"])
@pytest.mark.parametrize("time", [FOREVER - 1, FOREVER - 12, NEVER + 1, NEVER + 12])
def test_windows_saturate_at_the_ends_of_time(time, bounds):
    spec = TimeWindow(range_ms=10, step_ms=4, bounds=bounds)
    windows = list(windows_holding(spec, time))
    assert windows
    assert all(window.holds(time) and NEVER <= window.open < window.close <= FOREVER for window in windows)
    assert all(later.close > earlier.close for earlier, later in pairwise(windows))


def test_the_close_at_forever_is_the_last():
    """
    ... F-12 ... F-8 ... F-4 ... F    the closes near the end of time, for a step of 4 that fits
    """
    spec = TimeWindow(range_ms=10, step_ms=4, t0=FOREVER - 12)
    assert list(closes_after(spec, FOREVER - 9)) == [FOREVER - 8, FOREVER - 4, FOREVER]
    assert list(closes_after(spec, FOREVER)) == []
    assert spec.grid.latest(FOREVER) == spec.grid.top
    unaligned = TimeWindow(range_ms=10, step_ms=4, t0=FOREVER - 5)
    assert list(windows_holding(unaligned, FOREVER - 1)) == [
        Window(FOREVER - 11, FOREVER - 1),
        Window(FOREVER - 7, FOREVER),
    ]
    assert last_close(Landmark(0, 7), 3) == FOREVER


def test_a_landmark_in_the_future_has_no_window_before_it():
    spec = Landmark(t0=1000, step_ms=10)
    assert list(windows_holding(spec, 1000)) == []
    assert next(closes_after(spec, -5)) == 1010
    assert first_close(spec, 1001) == 1010


@pytest.mark.parametrize(
    "make",
    [
        lambda: TimeWindow(0, 5),
        lambda: TimeWindow(5, 0),
        lambda: TimeWindow(5, -1),
        lambda: TimeWindow(2**63, 5),
        lambda: TimeWindow(5, 5, t0=FOREVER),
        lambda: TimeWindow(5, 5, bounds="[]"),
        lambda: Landmark(0, 0),
        lambda: Landmark(NEVER, 1),
        lambda: CountWindow(0, 1),
        lambda: CountWindow(1, 0),
    ],
)
def test_a_window_that_cannot_be_is_refused_with_a_hint(make):
    with pytest.raises(UsageError, match="hint: "):
        make()
