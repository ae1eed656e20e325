"""Which evaluations happen, in which order, over which windows, with what in them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER
from ensue.windows.report import Report, Tally
from ensue.windows.schedule import On, Query, Schedule
from ensue.windows.spec import CountWindow, Landmark, TimeWindow, Window

from .drawing import drawn
from .reference import STREAMS, Engine, evaluations, random_query, random_stream, replay


def fire_all(queries, statements, to=None):
    """(query, at, windows) of a whole stream `s`, or as far as the frontier comes."""
    schedule, fired = Schedule(), []
    for query in queries:
        schedule.add(query)
    for time in sorted(statements):
        schedule.arrive("s", time)
    if to is None:
        schedule.end("s")
    waiting = sorted(statements)
    while (stop := schedule.next_stop(FOREVER if to is None else to)) is not None:
        schedule.admit("s", np.array([time for time in waiting if time <= stop], np.int64))
        waiting = [time for time in waiting if time > stop]
        fired += schedule.reach(stop).reports
    return [(e.query, e.at, e.windows) for e in fired]


def over(spec, name="q", **options):
    return Query(name, (On("s", spec),), **options)


PICTURES = {
    "sliding: from the first close at or after a, until d is held no more": (
        over(TimeWindow(10, 5)),
        """
          a     b        d
        |----|----|----|----|----|
   (---------]
        (---------]
             (---------]
                  (---------]
                       (---------]
        """,
    ),
    "tumbling: the empty window in the middle fires": (
        over(TimeWindow(5, 5)),
        """
          a  b       c
        |----|----|----|----|
        (----]
             (----]
                  (----]
        """,
    ),
    "tumbling, with nothing between: the watermark passes every close": (
        over(TimeWindow(5, 5)),
        """
             a           b
        |----|----|----|----|
        (----]
             (----]
                  (----]
                       (----]
        """,
    ),
    "gaps: the last statement is in no window, so none fires for it": (
        over(TimeWindow(3, 8)),
        """
               a     b    c
        |----|----|----|----|----|----|
             (--]
                     (--]
        """,
    ),
    "landmark: the end fires once": (
        over(Landmark(t0=5, step_ms=5)),
        """
          a    b    c
        |----|----|----|----|
             (----]
             (---------]
        """,
    ),
    "every third close": (
        over(TimeWindow(5, 5), report=Report(nth=3)),
        """
          a      b          c
        |----|----|----|----|----|----|
                  (----]
        """,
    ),
    "with content only": (
        over(TimeWindow(5, 5), report=Report("content")),
        """
          a                 b
        |----|----|----|----|
        (----]
                       (----]
        """,
    ),
    "on change: a comes, a leaves, nothing, b comes": (
        over(TimeWindow(5, 5), report=Report("change")),
        """
          a                 b
        |----|----|----|----|
        (----]
             (----]
                       (----]
        """,
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_windows_fire_as_drawn(name):
    query, picture = PICTURES[name]
    statements, windows = drawn(picture)
    fired = fire_all([query], statements.values())
    assert [window for _, _, (window,) in fired] == [(opens, closes) for opens, closes, _ in windows]


def test_every_and_step_that_differ():
    """
    time      0   2   4   6   8  10  12  14  16  18
                a                     b
    STEP 4    |-------|-------|-------|-------|----
    EVERY 6   |-----------|-----------|-----------|
    seen              4               12      16        the closes of the windows
    """
    schedule = Schedule()
    schedule.add(Query("q", (On("s", TimeWindow(2, 4)),), every_ms=6))
    for time in (1, 12):
        schedule.arrive("s", time)
    stops = []
    while (time := schedule.next_stop(18)) is not None:
        stop = schedule.reach(time)
        stops.append((time, [r.window.close for r in stop.reads], [e.windows[0].close for e in stop.reports]))
    assert stops == [(4, [4], []), (6, [], [4]), (12, [12], [12]), (16, [16], []), (18, [], [16])]


def test_every_shorter_than_step_sees_a_window_again():
    fired = fire_all([Query("q", (On("s", TimeWindow(6, 6)),), every_ms=2)], [5], to=10)
    assert [(at, windows[0]) for _, at, windows in fired] == [(6, (0, 6)), (8, (0, 6)), (10, (0, 6))]


def test_queries_that_close_together_fire_together_in_order_of_registration():
    queries = [over(TimeWindow(9, 6), "slow"), over(TimeWindow(9, 3), "fast"), over(TimeWindow(9, 4), "odd")]
    order = [(name, at) for name, at, _ in fire_all(queries, [1], to=6)]
    assert order == [("fast", 3), ("odd", 4), ("slow", 6), ("fast", 6)]


def test_a_stream_with_nothing_in_it_fires_nothing():
    queries = [
        over(TimeWindow(5, 5), "t"),
        over(Landmark(0, 5), "l"),
        over(CountWindow(2, 1), "c", every_ms=5),
    ]
    assert fire_all(queries, []) == []
    assert fire_all(queries, [], to=10**12) == []


def test_windows_begin_with_the_stream_and_not_with_the_epoch():
    fired = fire_all([over(TimeWindow(1000, 1000))], [1_700_000_000_001])
    assert [at for _, at, _ in fired] == [1_700_000_001_000]


@pytest.mark.parametrize("time", [FOREVER - 1, NEVER + 1])
def test_the_ends_of_time_fire_and_stop(time):
    for spec in (TimeWindow(10, 4), TimeWindow(10, 4, bounds="[)"), Landmark(time, 8, "[)")):
        fired = fire_all([over(spec)], [time], to=None if time > 0 else NEVER + 20)
        assert fired
        assert fired[0][2][0].holds(time)


def test_a_count_window_on_the_time_axis_is_seen_as_it_is():
    """
    time      0    5    10   15
              |----|----|----|
                aab   cdd f         EVERY 5, the last 3 in steps of 2
    seen           2    6    6      numbers closed by then
    """
    query = over(CountWindow(size=3, step=2), every_ms=5)
    fired = fire_all([query], [2, 2, 3, 6, 7, 7, 12])
    assert [(at, windows[0]) for _, at, windows in fired] == [(5, (-1, 2)), (10, (3, 6)), (15, (3, 6))]


@pytest.mark.parametrize("seed", range(150))
def test_the_evaluations_are_those_of_the_definition(seed):
    random = Random(seed)
    disorder = random.choice([0, 0, 5])
    arrivals = random_stream(random, disorder)
    queries = [random_query(random, f"q{number}") for number in range(random.randint(1, 4))]
    engine = Engine(queries, disorder)
    replay(random, engine, arrivals)
    rank = {query.name: number for number, query in enumerate(queries)}
    expected = sorted(
        (e for q in queries for e in evaluations(q, arrivals)), key=lambda e: (e.at, rank[e.query])
    )
    assert engine.evaluations == expected, f"seed {seed}: {queries} over {arrivals}"
    for evaluation, contents in zip(engine.evaluations, engine.contents, strict=True):
        for on, window, held in zip(
            engine.queries[evaluation.query].windows, evaluation.windows, contents, strict=True
        ):
            true = {
                n for n, (stream, time) in enumerate(arrivals) if stream == on.stream and window.holds(time)
            }
            assert held == true, f"seed {seed}: {evaluation}"


@pytest.mark.parametrize("on", ["change", "content"])
@pytest.mark.parametrize("seed", range(60))
def test_reports_are_those_whose_content_says_so(seed, on):
    """Late statements included: the bound is broken on purpose."""
    picky = random_query(Random(seed), "q", on)
    plain = Query("q", picky.windows, picky.every_ms, Report("close", picky.report.nth))
    arrivals = random_stream(Random(seed + 1), disorder=12)
    engines = [Engine([query], allowed_ms=3) for query in (plain, picky)]
    for engine in engines:
        replay(Random(seed), engine, arrivals)
    expected, before = [], [set() for _ in plain.windows]
    for evaluation, contents in zip(engines[0].evaluations, engines[0].contents, strict=True):
        if any(contents) if on == "content" else contents != before:
            expected.append(evaluation)
        before = contents
    assert engines[1].evaluations == expected, f"seed {seed}: {picky} over {arrivals}"


@pytest.mark.parametrize("seed", range(60))
def test_nothing_depends_on_how_often_the_engine_runs(seed):
    """With late statements too: what a window missed, it missed in every batching."""
    queries = [random_query(Random(seed), "p"), random_query(Random(seed + 1000), "q")]
    arrivals = random_stream(Random(seed), disorder=15)
    runs = []
    for chance in (1.0, 0.3, 0.0):
        engine = Engine(queries, allowed_ms=4)
        replay(Random(seed), engine, arrivals, chance)
        counters = [engine.gate.counters(stream) for stream in STREAMS]
        runs.append((engine.evaluations, engine.contents, counters))
    assert runs[0] == runs[1] == runs[2], f"seed {seed}: {queries} over {arrivals}"


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.parametrize("on", ["close", "content", "change"])
def test_a_schedule_that_is_handed_over_goes_on_as_if_it_were_not(seed, on):
    query, arrivals = random_query(Random(seed), "q", on), random_stream(Random(seed), disorder=5)
    found = []
    for hand_over in (False, True):
        engine = Engine([query], allowed_ms=4)
        replay(Random(seed), engine, arrivals, 0.6, hand_over)
        found.append(engine.evaluations)
    assert found[0] == found[1], f"seed {seed}: {query} over {arrivals}"


@pytest.mark.parametrize("seed", range(20))
def test_copies_are_counted_together_as_they_are_one_by_one(seed):
    random, together, apart = Random(seed), Tally(7), Tally(7)
    for _ in range(20):
        times = np.array([random.randint(0, 30) for _ in range(random.randint(0, 6))], np.int64)
        frontier = random.choice((NEVER, random.randint(0, 30)))
        together.admit(times, frontier)
        for time in times:
            apart.admit(np.array([time]), frontier)
        assert together.state() == apart.state(), f"seed {seed}"
        window = Window(random.randint(0, 15), random.randint(15, 30))
        assert together.glimpse(window) == apart.glimpse(window), f"seed {seed}"


def test_a_tally_stays_as_short_as_its_window():
    schedule = Schedule()
    schedule.add(over(TimeWindow(100, 10), report=Report("change")))
    for time in range(20_000):
        schedule.arrive("s", time)
        schedule.admit("s", np.array([time], np.int64))
        if schedule.next_stop(time) is not None:
            schedule.reach(time)
    assert len(schedule._streams["s"].tally) < 2_000


def register_midway(engine, query, arrivals, cut):
    """Replay, forget all that may go after arrival `cut`, and register there: (exact from, held, now)."""
    for number, (stream, time) in enumerate(arrivals):
        engine.push(stream, time, number)
        engine.run()
        if number == cut:
            held, now = min(map(engine.schedule.keep_after, STREAMS)), engine.schedule._now
            engine.log = [copy for copy in engine.log if copy.time > held]
            engine.queries[query.name] = query
            said = engine.schedule.add(query, [held] * len(query.windows)), held, now
    engine.end()
    return said


def closed_before(query, windows, arrivals, now):
    """Whether a window with something in its past was over at `now`."""
    pairs = zip(query.windows, windows, strict=True)
    return any(any(s == on.stream and t <= window.close <= now for s, t in arrivals) for on, window in pairs)


@pytest.mark.parametrize("seed", range(80))
def test_a_query_registered_at_run_time_is_exact_from_where_it_says(seed):
    random = Random(seed)
    arrivals = sorted([*random_stream(random, 0), ("a", 0), ("b", 60)], key=lambda arrival: arrival[1])
    engine = Engine([Query("old", (On("a", TimeWindow(8, 4)), On("b", TimeWindow(6, 4))))], 0)
    cut, query = random.randrange(len(arrivals)), random_query(random, "new")
    exact_from, held, now = register_midway(engine, query, arrivals, cut)
    found = [(e, c) for e, c in zip(engine.evaluations, engine.contents, strict=True) if e.query == "new"]
    for evaluation, contents in found:
        where = f"seed {seed}: {query}, {evaluation}, held after {held}, over {arrivals}"
        true = [
            {n for n, (stream, time) in enumerate(arrivals) if stream == on.stream and window.holds(time)}
            for on, window in zip(query.windows, evaluation.windows, strict=True)
        ]
        assert evaluation.exact == (exact_from is not None and evaluation.at >= exact_from), where
        assert contents == true if evaluation.exact else any(w.open < held for w in evaluation.windows), where
    wanted = [
        (e.at, e.windows)
        for e in evaluations(query, arrivals)
        if e.at > now and not closed_before(query, e.windows, arrivals, now)
    ]
    assert [(e.at, e.windows) for e, _ in found] == wanted, f"seed {seed}: {query} over {arrivals} at {now}"


def test_where_a_new_query_becomes_exact():
    """
    time       0    5    10   15   20   25   30
               |----|----|----|----|----|----|
    held                 (               what is above 10
    now                       ^15
    range 10        (---------]          over
    range 10             (---------]     20: opens where all is held
    range 12           (-----------]     20: not exact
    range 12                (-----------]   25: exact
    """
    schedule = Schedule()
    schedule.add(over(TimeWindow(5, 5), "old"))
    for time in range(1, 16):
        schedule.arrive("s", time)
        schedule.admit("s", np.array([time], np.int64))
        if schedule.next_stop(time) is not None:
            schedule.reach(time)
    assert schedule.add(over(TimeWindow(10, 5), "ten"), missing=[10]) == 20
    assert schedule.add(over(TimeWindow(12, 5), "twelve"), missing=[10]) == 25
    assert schedule.add(over(TimeWindow(12, 5), "all is held"), missing=[0]) == 20
    assert schedule.add(over(Landmark(0, 5), "landmark"), missing=[10]) is None
    assert schedule.add(over(Landmark(10, 5), "young landmark"), missing=[10]) == 20
    assert schedule.add(over(CountWindow(3, 1), "count", every_ms=5), missing=[10]) is None
    assert schedule.add(Query("other", (On("t", TimeWindow(12, 5)),)), missing=[10]) == NEVER
    schedule.arrive("s", 21)
    stop = schedule.reach(20)
    exact = {evaluation.query: evaluation.exact for evaluation in stop.reports}
    assert exact == {
        "old": True,
        "ten": True,
        "twelve": False,
        "all is held": True,
        "landmark": False,
        "young landmark": True,
        "count": False,
    }


def test_a_close_that_admission_has_passed_is_not_read():
    schedule = Schedule()
    schedule.add(over(TimeWindow(10, 10), "slow"))
    schedule.arrive("s", 1)
    schedule.arrive("s", 7)
    schedule.admit("s", np.array([1, 7], np.int64))
    assert schedule.add(over(TimeWindow(2, 2), "fast")) == 8
    assert schedule.next_stop() == 8


def test_a_removed_query_fires_no_more():
    schedule = Schedule()
    for name in ("stays", "goes"):
        schedule.add(over(TimeWindow(5, 5), name))
    schedule.arrive("s", 1)
    assert [e.query for e in schedule.reach(5).reports] == ["stays", "goes"]
    schedule.remove("goes")
    assert [e.query for e in schedule.reach(10).reports] == ["stays"]
    with pytest.raises(UsageError, match="hint: registered: stays"):
        schedule.remove("goes")


def test_what_is_kept_is_what_a_window_can_still_hold():
    schedule = Schedule()
    schedule.add(over(TimeWindow(10, 5)))
    schedule.add(over(TimeWindow(3, 5), "short"))
    schedule.arrive("s", 12)
    schedule.reach(15)
    assert (schedule.keep_after("s"), schedule.keep_after("nobody reads it")) == (10, 15)
    schedule.remove("q")
    assert schedule.keep_after("s") == 15, "the next window opens at 17, but 16 may not be called expired yet"
    schedule.add(over(CountWindow(2, 1), "count", every_ms=5))
    assert schedule.keep_after("s") == NEVER


def test_wrong_calls_are_refused_with_a_hint():
    schedule = Schedule()
    schedule.add(over(TimeWindow(5, 5)))
    schedule.arrive("s", 1)
    schedule.end("s")
    two = (On("s", TimeWindow(5, 5)), On("s", TimeWindow(5, 3)))
    for call in (
        lambda: schedule.add(over(TimeWindow(5, 5))),
        lambda: schedule.arrive("s", 2),
        lambda: schedule.reach(6),
        lambda: schedule.add(Query("none", ())),
        lambda: schedule.add(over(TimeWindow(5, 5), "never", every_ms=0)),
        lambda: schedule.add(over(CountWindow(5, 5), "count")),
        lambda: schedule.add(Query("nth", two, report=Report(nth=2))),
        lambda: Schedule("count").add(over(TimeWindow(5, 5))),
        lambda: Schedule("count").add(over(CountWindow(5, 5), every_ms=5)),
        lambda: Schedule("count").add(Query("two", (On("s", CountWindow(1, 1)), On("t", CountWindow(1, 1))))),
        lambda: Report("sometimes"),
        lambda: Report(nth=0),
    ):
        with pytest.raises(UsageError, match="hint: "):
            call()
