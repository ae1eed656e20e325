"""Stamps far in the future: held until they are confirmed, and rejected where they are contradicted."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ensue import Reasoner
from ensue.errors import UsageError
from ensue.model import NEVER
from ensue.networks.network import Network
from ensue.networks.run import NetworkRun
from ensue.windows.frontier import Disorder
from ensue.windows.jump_guard import judged

DAY = 86_400_000
FAR = 4_102_444_800_000
QUERY = "REGISTER QUERY q AS SELECT ?s ?o FROM STREAM <urn:s> [RANGE 10s STEP 10s] { ?s <urn:p> ?o }"


def statement(time, name="a"):
    return time, f"<urn:{name}>", "<urn:p>", f"<urn:o{time}>"


def fed(times, max_jump=DAY, **options):
    reasoner = Reasoner(max_jump=max_jump, **options)
    reasoner.register(QUERY)
    for time in times:
        reasoner.push("urn:s", [statement(time)])
    return reasoner


def rows(results):
    return {row[1] for result in results for row in result.answers.rows}


def answered(times):
    return {f"<urn:o{time}>" for time in times}


@pytest.mark.parametrize("place", range(5))
def test_one_stamp_far_ahead_makes_nothing_late(place):
    times = [1000, 4000, 12_000, 25_000]
    reasoner = fed([*times[:place], FAR, *times[place:]])
    if place < 4:
        assert [letter.text.split("\t")[0] for letter in reasoner.dead_letters()] == [str(FAR)]
        assert list(reasoner.dead_letters()) == []
    assert rows(reasoner.end()) == answered(times) | (answered([FAR]) if place == 4 else set())
    counted = reasoner.counters()
    assert (counted["late"], counted["rejected"], counted["waiting"]) == (0, int(place < 4), 0)


def test_without_a_bound_it_does():
    reasoner = fed([1000, FAR, 2000], max_jump=None)
    list(reasoner.end())
    assert reasoner.counters()["late"] == 1


@pytest.mark.parametrize("end", ["statement", "end", "heartbeat", "to"])
def test_a_pause_of_years_passes_when_it_is_confirmed(end):
    reasoner = fed([1000, 4000, FAR])
    assert reasoner.counters()["frontier"] == 3999
    found = rows(reasoner.advance())
    if end == "statement":
        reasoner.push("urn:s", [statement(FAR + 1)])
    elif end == "heartbeat":
        reasoner.heartbeat("urn:s", FAR)
    found |= rows(reasoner.advance(to=FAR) if end == "to" else reasoner.advance())
    assert reasoner.counters()["frontier"] == {"statement": FAR, "end": 3999}.get(end, FAR)
    found |= rows(reasoner.end())
    assert found == answered([1000, 4000, FAR, *[FAR + 1] * (end == "statement")])
    assert list(reasoner.dead_letters()) == []


def test_statements_of_one_observation_do_not_confirm_each_other():
    reasoner = fed([1000, 2000])
    reasoner.push("urn:s", [statement(FAR, name) for name in "abc"])
    reasoner.push("urn:s", [statement(3000)])
    assert len(list(reasoner.dead_letters())) == reasoner.counters()["rejected"] == 3
    assert rows(reasoner.end()) == answered([1000, 2000, 3000])


def test_one_broken_clock_among_many():
    times = [time for second in range(50) for time in (second * 1000, FAR + second)]
    reasoner = fed(times)
    found = rows(reasoner.end())
    assert found == answered(times[::2]) | answered(times[-1:])
    assert reasoner.counters()["rejected"] == 49


def test_a_stamp_far_in_the_past_at_the_beginning_costs_nothing():
    reasoner = fed([FAR, 0, FAR + 1000], disorder=Disorder(10))
    assert rows(reasoner.end()) == answered([FAR, 0, FAR + 1000])


def test_a_stream_that_is_idle_is_believed_what_the_others_confirm():
    now = [0]
    reasoner = Reasoner(disorder=Disorder(idle_after_ms=100), clock=lambda: now[0])
    for stream in "st":
        reasoner.register(QUERY.replace("urn:s", f"urn:{stream}").replace("QUERY q", f"QUERY q{stream}"))
    for time in (1000, 2000):
        for stream in "st":
            reasoner.push(f"urn:{stream}", [statement(time)])
    reasoner.push("urn:s", [statement(2000 + 3 * DAY)])
    for days in (1, 2, 3):
        reasoner.push("urn:t", [statement(2000 + days * DAY, "t"), statement(2001 + days * DAY, "t")])
    assert reasoner.counters()["waiting"] > 0
    now[0] = 150
    reasoner.push("urn:t", [statement(12_000 + 3 * DAY)])
    found = rows(reasoner.advance())
    assert f"<urn:o{2000 + 3 * DAY}>" in found
    assert reasoner.counters()["rejected"] == reasoner.counters()["late"] == 0


@pytest.mark.parametrize("seed", range(40))
def test_what_is_judged_does_not_depend_on_how_it_is_cut(seed):
    random = Random(seed)
    time, times = 0, []
    for _ in range(60):
        time += random.choice([0, 1, 5, 40])
        times.append(time + random.choice([0] * 6 + [-3, 150, 150, 900]))
        time += random.choice([0] * 20 + [500])
    whole = judged(np.array(times), NEVER, 100)
    newest, held, passed, rejected, at = NEVER, [], [], [], 0
    while at < len(times):
        size = random.choice([1, 2, 9])
        came = [*held, *range(at, min(len(times), at + size))]
        some = judged(np.array(times)[came], newest, 100)
        passed += [came[place] for place in some.passed]
        rejected += [came[place] for place in some.rejected]
        held, newest, at = [came[place] for place in some.held], some.newest, at + size
    assert [passed, rejected, held] == [part.tolist() for part in whole[:3]]
    assert sorted(passed + rejected + held) == list(range(len(times)))


def test_rule_networks_have_the_guard_too():
    run = NetworkRun(Network("SELECT ?x WHERE { ?x <urn:p> ?y }"), ["urn:s"])
    run.push("urn:s", [statement(time, f"a{time}") for time in (1, 2, FAR, 3)])
    assert [letter.file for letter in run.dead_letters()] == ["urn:s"]
    assert [result.close for result in run.end()] == [1, 2, 3]
    assert (run.metrics()["rejected"], run.metrics()["late"]) == (1, 0)


def test_a_jump_of_nothing_is_refused():
    with pytest.raises(UsageError, match="max_jump is 0"):
        Reasoner(max_jump=0)
