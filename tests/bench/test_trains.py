"""Figure 2 of the IMaRS paper over a generated railway, against a computation that shares no code with it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from ensue.bench.trains import EX, GRAPH, QUERY, STREAM, Railway
from ensue.cli import main
from ensue.reasoner import Reasoner

RAILWAY = Railway(seconds=40)
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def within(rows, name):
    """Everything that a thing is in, and how many steps away the nearest way leads."""
    found, reached = {}, {name}
    for steps in range(1, 20):
        reached = {o for s, p, o in rows if s in reached and p == f"<{EX}isIn>"} - found.keys()
        found |= dict.fromkeys(reached, steps)
    return found


def expected(close):
    """The answers of one window, how many steps of isIn each needs, and how many the FILTER removes."""
    window = {(s, p, o) for time, s, p, o, _ in RAILWAY.stream() if close - 10_000 < time <= close}
    rows = window | set(RAILWAY.background())
    answers, removed = {}, 0
    for user in {s for s, p, o in rows if p == TYPE and o == f"<{EX}Commuter>"}:
        texts = [o for s, p, o in rows if s == user and p == f"<{EX}remainingTravelTime>"]
        minutes = [int(re.match(r'"PT(\d+)M"', text)[1]) for text in texts]
        for place, steps in within(rows, user).items():
            kinds = [o for s, p, o in rows if s == place and p == TYPE]
            if any(m >= 30 for m in minutes):
                answers |= {(user, kind, place): steps for kind in kinds}
            removed += len(kinds) * bool(minutes) * all(m < 30 for m in minutes)
    return answers, removed


@pytest.fixture(scope="module")
def stations(tmp_path_factory):
    path = tmp_path_factory.mktemp("railway") / "stations.nt"
    path.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in RAILWAY.background()))
    return path


@pytest.mark.parametrize("strategy", ["recompute", "dred", "expiration", "rete"])
@pytest.mark.parametrize("evaluator", ["compiled", "oxigraph"])
def test_each_window_is_what_an_independent_computation_says(stations, strategy, evaluator):
    reasoner = Reasoner("transitive-isin", strategy=strategy, evaluator=evaluator, graphs={GRAPH: stations})
    reasoner.register(QUERY)
    reasoner.feed(STREAM, list(RAILWAY.stream()))
    results = list(reasoner.end())
    assert len(results) >= 45
    for result in results:
        assert Counter(result.answers.rows) == Counter(expected(result.close)[0].keys())


def test_the_railway_is_worth_the_question():
    found = [expected(close) for close in range(1000, 50_000, 1000)]
    with_answers = [answers for answers, _ in found if answers]
    assert len(with_answers) > 0.8 * len(found)
    assert sum(steps == 2 for answers in with_answers for steps in answers.values()) > 50
    assert sum(steps >= 3 for answers in with_answers for steps in answers.values()) > 50
    assert sum(removed > 0 for _, removed in found) > 0.5 * len(found)


def test_the_command_that_generate_prints_runs(tmp_path, capsys):
    assert main(["generate", "trains", "--seconds", "15", "-o", str(tmp_path / "t")]) == 0
    words = capsys.readouterr().out.splitlines()[-1].split()
    assert main([*words[1:], "--engine", "local", "--output", "jsonl", "--quiet"]) == 0
    assert '"query": "LongRides"' in capsys.readouterr().out
