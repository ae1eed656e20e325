"""Long stretches without statements: constant work, and only what repeats its neighbours is passed over."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import lcm
from random import Random

import pytest

from ensue import Reasoner
from ensue.errors import UsageError
from ensue.query.language import parse_query
from ensue.query.tree import Relation
from ensue.windows.frontier import Disorder
from ensue.windows.report import Report
from ensue.windows.spec import evenly
from ensue.windows.stretch import count_instants

ISIN = "<http://example.org/isIn>"
YEARS = 946_684_800_000
PLAIN = "REGISTER QUERY q AS SELECT ?s FROM STREAM <urn:s> [RANGE 1s STEP 1s] WHERE { ?s <urn:p> ?o }"


def statement(time, name="a"):
    return time, f"<urn:{name}>", "<urn:p>", "<urn:b>"


def plain(results):
    return [(result.close, len(result.answers.rows), result.skipped) for result in results]


def test_thirty_years_between_two_statements_are_five_evaluations():
    reasoner = Reasoner()
    reasoner.register(PLAIN)
    reasoner.push("urn:s", [statement(1000), statement(YEARS)])
    found = list(reasoner.end())
    assert [(r.close, len(r.answers.rows)) for r in found] == [
        *((1000, 1), (2000, 0), (3000, 0)),
        *((YEARS - 1000, 0), (YEARS, 1)),
    ]
    assert found[3].json()["skipped"] == {"count": 946_684_795, "first": 4000, "last": YEARS - 2000}
    assert [r.skipped for r in found if r.close != YEARS - 1000] == [None] * 4
    assert (reasoner.counters()["windows"], reasoner.counters()["skipped"]) == (5, 946_684_795)


@pytest.mark.parametrize("to", [10**13, 2**63 - 2])
def test_time_that_is_told_to_be_far_ahead(to):
    reasoner = Reasoner()
    reasoner.register(PLAIN)
    reasoner.push("urn:s", [statement(1000)])
    found = list(reasoner.advance(to=to))
    assert [result.close for result in found] == [1000, 2000, 3000, to // 1000 * 1000]
    reasoner.heartbeat("urn:s", 2**63 - 1)
    assert list(reasoner.advance()) == []
    with pytest.raises(UsageError, match="has ended"):
        reasoner.push("urn:s", [statement(to)])


def test_the_end_of_time_is_the_end_of_the_streams():
    reasoner = Reasoner()
    reasoner.register(PLAIN)
    reasoner.push("urn:s", [statement(1000)])
    assert plain(reasoner.advance(to=2**63 - 1)) == [(1000, 1, None)]


def test_a_run_that_is_no_longer_than_the_bound_is_reported_one_by_one():
    for gap, skipped in ((7, []), (8, [(5, 1)])):
        reasoner = Reasoner(max_empty=6)
        reasoner.register(PLAIN)
        reasoner.push("urn:s", [statement(1000), statement(1000 + 1000 * gap)])
        found = [result for result in reasoner.end() if result.skipped]
        assert [(r.skipped.count - 4 + 5, len(skipped)) for r in found] == [(5, 1)] * len(skipped)


def test_a_bound_that_leaves_no_room_is_refused():
    with pytest.raises(UsageError, match="at least 3"):
        Reasoner(max_empty=2)


def test_user_bounds_are_those_of_the_stretch():
    reasoner = Reasoner(bounds="[)")
    reasoner.register(PLAIN)
    reasoner.push("urn:s", [statement(1000), statement(YEARS)])
    [found] = [result for result in reasoner.end() if result.skipped]
    assert (found.skipped.first % 1000, found.skipped.last) == (0, found.close - 1000)


@pytest.mark.parametrize("seed", range(30))
def test_how_many_closes_several_windows_have(seed):
    random = Random(seed)
    grids = [evenly(random.randint(-50, 50), random.randint(1, 12)) for _ in range(random.randint(1, 4))]
    after = random.randint(-100, 100)
    to = after + random.randint(0, 2 * lcm(*(grid.step for grid in grids)) % 5000)
    wanted = {time for time in range(after + 1, to + 1) for g in grids if (time - g.origin) % g.step == 0}
    assert count_instants(grids, after, to) == len(wanted)


# -- against the evaluation of every window ---------------------------------------------------------

PATTERNS = ("?s <urn:p> ?o", f"?s {ISIN} ?o", "OPTIONAL { ?s <urn:p> ?o }", f"?s {ISIN} <urn:berlin>")
HEADS = ("SELECT ?s ?o", "SELECT DISTINCT ?s", "ASK", "SELECT (COUNT(?s) AS ?n)", "SELECT (COUNT(*) AS ?n)")


def random_window(random, stream, fine):
    step = random.choice([1, 2, 3, 5]) * (1 if fine else 7)
    if random.random() < 0.15:
        return f"FROM STREAM <{stream}> [LANDMARK STEP {step}ms]"
    if random.random() < 0.1:
        return f"FROM STREAM <{stream}> [RANGE TRIPLES 3]"
    return f"FROM STREAM <{stream}> [RANGE {random.randint(1, 20)}ms STEP {step}ms]"


def random_query(random, name, streams):
    relation = random.choice(["", "ISTREAM", "DSTREAM", "RSTREAM"])
    over = random.sample(streams, random.choice([1, 1, 2]) if len(streams) > 1 else 1)
    windows = [random_window(random, stream, random.random() < 0.7) for stream in over]
    every = ""
    if "TRIPLES" in "".join(windows) or random.random() < 0.25:
        every = f"COMPUTE EVERY {random.randint(1, 9)}ms"
    head = random.choice(HEADS)
    parts = "PARTITION BY <urn:p>" if random.random() < 0.1 and len(windows) == 1 and not every else ""
    relation = "" if head == "ASK" or parts else relation
    return relation, name, windows, every, head, parts


def text_of(relation, name, windows, every, head, parts, pattern):
    over = " ".join(windows)
    return f"# {relation}\nREGISTER QUERY {name} {every} AS {head} {over} {parts} WHERE {{ {pattern} }}"


def random_texts(random):
    texts, streams = [], ["urn:s", "urn:t"]
    if random.random() < 0.5:
        step = random.choice([2, 10])
        pattern = random.choice(PATTERNS[:2])
        texts.append(
            f"REGISTER STREAM <urn:made> AS CONSTRUCT {{ ?s <urn:p> <urn:made> }} "
            f"FROM STREAM <urn:s> [RANGE 9ms STEP {step}ms] WHERE {{ {pattern} }}"
        )
        streams.append("urn:made")
    for number in range(random.randint(1, 3)):
        texts.append(text_of(*random_query(random, f"q{number}", streams), random.choice(PATTERNS)))
    return texts


def random_events(random):
    """What happens to a reasoner: pushes, heartbeats, updates, retractions, and looks at the results."""
    events, newest = [], {"urn:s": random.randint(0, 50), "urn:t": random.randint(0, 50)}
    heard = 0
    for _ in range(random.randint(3, 15)):
        stream = random.choice(["urn:s", "urn:t"])
        newest[stream] += random.choice([0, 1, 3, 20, 400, 900])
        kind = random.random()
        time = newest[stream] - random.choice([0, 0, 0, 2, 30])
        name = random.choice("abc")
        if kind < 0.6:
            predicate = random.choice(["<urn:p>", ISIN])
            events.append(("push", stream, [(time, f"<urn:{name}>", predicate, "<urn:b>")]))
        elif kind < 0.75:
            events.append(("beat", stream, newest[stream]))
        elif kind < 0.85:
            events.append(("retract", stream, [statement(time, name)]))
        elif kind < 0.93:
            heard = max(heard, *newest.values()) + random.choice([5, 300])
            events.append(("update", None, heard))
        events += [("advance", None, None)] * random.randint(0, 1)
    return events


def run(texts, events, max_empty, report, disorder):
    reasoner = Reasoner("transitive-isin", [], max_empty=max_empty, report=report, disorder=disorder)
    reasoner.update(add=[("<urn:b>", ISIN, "<urn:berlin>")], at=-(10**6))
    found, updated = [], 0
    for text in texts:
        named = [relation for relation in Relation if f"# {relation.name}" in text]
        reasoner.register(replace(parse_query(text), relation=named[0]) if named else text)
    read = set(reasoner.streams)
    for kind, stream, what in events:
        if stream is not None and stream not in read:
            continue
        if kind == "push":
            reasoner.push(stream, what)
        elif kind == "retract":
            reasoner.retract(stream, what)
        elif kind == "beat":
            reasoner.heartbeat(stream, what)
        elif kind == "update":
            updated += 1
            if what > reasoner.counters()["frontier"]:
                reasoner.update(add=[(f"<urn:new{updated}>", ISIN, "<urn:b>")], at=what)
        else:
            found += reasoner.advance()
    found += reasoner.end()
    return found, reasoner.counters()


def by_query(results):
    found = defaultdict(list)
    for result in results:
        found[result.query].append((result.open, result.close, result.answers, result.skipped))
    return found


def expanded(few, every):
    """Results with those put back that were passed over, from what every evaluation gave; and how many."""
    whole, count = [], 0
    for open_, close, answers, skipped in few:
        if skipped is not None:
            over = every[len(whole) : len(whole) + skipped.count]
            assert (over[0][1], over[-1][1]) == (skipped.first, skipped.last)
            assert all(sorted(each[2].rows) == sorted(answers.rows) for each in over)
            whole += [(*each[:2], sorted(each[2].rows)) for each in over]
            count += skipped.count
        whole.append((open_, close, sorted(answers.rows)))
    return whole, count


def cases(seed):
    random = Random(seed)
    report = random.choice([Report(), Report(), Report("change"), Report("content")])
    disorder = Disorder(random.choice([0, 0, 10]), random.choice(["admit", "drop"]))
    return random, random_texts(random), random_events(random), report, disorder


@pytest.mark.parametrize("seed", range(24))
def test_what_is_passed_over_repeats_its_neighbours(seed):
    check_seed(seed)


@pytest.mark.long
def test_what_is_passed_over_repeats_its_neighbours_at_length():
    for seed in range(1000, 1500):
        check_seed(seed)


def check_seed(seed):
    random, texts, events, report, disorder = cases(seed)
    print(seed, *texts, *events, report, disorder, sep="\n")
    try:
        every, counted = run(texts, events, None, report, disorder)
    except UsageError as problem:
        pytest.skip(str(problem))
    few, fewer = run(texts, events, random.choice([3, 5, 20, 100]), report, disorder)
    wanted, found = by_query(every), by_query(few)
    skipped = 0
    for name, results in wanted.items():
        whole, count = expanded(found[name], results)
        skipped += count
        assert whole == [(open_, close, sorted(a.rows)) for open_, close, a, _ in results]
    assert fewer["skipped"] == skipped
    if report.on == "close":
        assert fewer["windows"] + skipped == counted["windows"]
    assert fewer["answers"] <= counted["answers"]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_passed_over_does_not_depend_on_how_statements_are_fed(seed):
    random, texts, _, report, disorder = cases(seed)
    texts = [text for text in texts if "urn:t" not in text] or [PLAIN.replace("1s", "3ms")]
    time, arrivals = 0, []
    for _ in range(40):
        time += random.choice([0, 1, 1, 2, 5, 300])
        arrivals.append(statement(time - random.choice([0, 0, 1, 8, 30]), random.choice("abc")))
    few = random.choice([3, 8, 40])
    found = []
    for _ in range(4):
        events, left = [], list(arrivals)
        while left:
            cut = random.choice([1, 2, 7, 40])
            events += [("push", "urn:s", left[:cut]), *[("advance", None, None)] * random.randint(0, 1)]
            left = left[cut:]
        found.append([result.json() for result in run(texts, events, few, report, disorder)[0]])
    assert found[0] == found[1] == found[2] == found[3]
