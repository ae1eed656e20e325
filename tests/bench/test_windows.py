"""The experiments on whole reasoners, in little: what they compare and check, not their speed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ensue.bench import sharing, soak, windows
from ensue.bench.driver import STAGES, Clocks, Lane
from ensue.bench.feed import DisagreementError
from ensue.bench.resident import resident_bytes
from ensue.bench.sensors import EACH, STEP_MS, Sensors, kind, query
from ensue.bench.soak import MemoryGrowthError, Sample
from ensue.cli.main import main
from ensue.errors import EnsueError, UsageError
from ensue.query.oxigraph import OxigraphEvaluator
from ensue.reasoner import Reasoner

TINY = windows.Options(seconds=2, window=300, answers=5, steps=3, sensors=20, factors=(0.5, 1.0))
FEW = sharing.Options(
    queries=4, longest=6, observations=20, answers=6, steps=2, sensors=20, check_observations=5, check_steps=2
)


@pytest.mark.parametrize("evaluator", ["compiled", "oxigraph"])
@pytest.mark.parametrize("seed", [1, 2])
def test_answers_are_those_that_the_workload_was_made_to_have(evaluator, seed):
    workload, each, seconds = Sensors(rare=7, sensors=20, seed=seed), 20, 3
    lane = Lane(
        workload,
        [query("any", seconds * STEP_MS), query("one", seconds * STEP_MS, of=1)],
        evaluator=evaluator,
    )
    met = 0
    for number in range(1, 9):
        found = {r.query: set(r.answers.rows) for r in lane.run(number, workload.second(number, each))}
        first = max(0, number - seconds) * each
        assert found["any"] == workload.answers(first, number * each)
        assert found["one"] == workload.answers(first, number * each, of=1)
        assert found["one"] == {row[:2] for row in found["any"] if row[2] == kind(1)}
        met += len(found["one"])
    assert len(found["any"]) in (8, 9)
    assert met > 0


def test_most_answers_need_the_rules():
    workload, texts = Sensors(rare=4, sensors=20), [query("any", STEP_MS)]
    batch = workload.second(1, 100)
    stated = Lane(workload, texts, rules="transitive-isin").run(1, batch)[0].answers.rows
    derived = Lane(workload, texts).run(1, batch)[0].answers.rows
    assert (len(stated), len(derived)) == (5, 25)


def test_observations_are_new_in_order_and_end_with_their_step():
    workload = Sensors()
    first, second = workload.second(1, 50), workload.second(2, 50)
    assert len(first) == EACH * 50
    assert {row[1] for row in first}.isdisjoint(row[1] for row in second)
    times = [row[0] for row in first + second]
    assert times == sorted(times)
    assert first[0][0] == 1
    assert first[-1][0] <= STEP_MS < second[0][0]


def test_windows_compares_evaluators_and_sizes():
    result = windows.measure(TINY)
    stages, scaling = result.tables
    assert [row["evaluator"] for row in stages.rows] == ["compiled", "oxigraph", "pass-through"]
    assert stages.rows[1]["loading"] > 0 == stages.rows[0]["loading"]
    assert all(row["query"] < row["whole step"] for row in stages.rows)
    assert [row["statements"] for row in scaling.rows] == [150, 300]
    assert [row["answers"] for row in scaling.rows] == [5, 5]
    assert scaling.rows[1]["derivations x"] == pytest.approx(1, abs=0.02)
    assert "answers: 5 to 5 a window, the same in both; 5 new ones came" in result.notes


def test_windows_finds_evaluators_that_disagree(monkeypatch):
    honest = OxigraphEvaluator._solutions

    def forgetful(self, found, respell):
        answers = honest(self, found, respell)
        return replace(answers, rows=answers.rows[1:])

    monkeypatch.setattr(OxigraphEvaluator, "_solutions", forgetful)
    with pytest.raises(DisagreementError, match="oxigraph and compiled disagree"):
        windows.measure(TINY)


def test_windows_refuses_a_range_below_a_step():
    with pytest.raises(UsageError, match="shorter than its step"):
        windows.measure(replace(TINY, factors=(0.1,)))


def test_clocks_leave_no_trace_and_count_no_second_twice():
    before = {method: owner.__dict__[method] for stage in STAGES.values() for owner, method in stage}
    workload = Sensors(rare=5, sensors=20)
    with Clocks().running() as clocks:
        step = Lane(workload, [query("any", STEP_MS)]).step(1, workload.second(1, 50), clocks)
    after = {method: owner.__dict__[method] for stage in STAGES.values() for owner, method in stage}
    assert before == after
    assert step.stages["query"] > 0
    assert step.stages["maintain"] > 0
    assert sum(step.stages.values()) < step.seconds


def test_sharing_compares_all_with_the_largest_alone():
    result = sharing.measure(FEW)
    (table,) = result.tables
    assert [row["queries"] for row in table.rows] == [1, 4, 4]
    assert table.rows[0]["answers"] == 6
    assert table.rows[1]["answers"] > 6
    assert table.rows[0]["times the largest alone"] == 1
    assert "the same in 4 engines" in result.notes[-1]


def test_sharing_finds_an_engine_that_answers_otherwise(monkeypatch):
    honest = Lane.run

    def forgetful(self, number, batch):
        alone = len(self.reasoner.queries) == 1
        return honest(self, number, batch[:-EACH] if alone and number % 2 else batch)

    monkeypatch.setattr(Lane, "run", forgetful)
    with pytest.raises(DisagreementError):
        sharing.check(replace(FEW, answers=30))


@pytest.mark.parametrize("changes", [{"queries": 1}, {"longest": 1}])
def test_sharing_refuses_nothing_to_share(changes):
    with pytest.raises(UsageError, match="nothing to share"):
        sharing.measure(replace(FEW, **changes))


@pytest.mark.parametrize(
    "words",
    [
        ["windows", "--seconds", "1", "--window", "60", "--steps", "1", "--factors", "1"],
        [
            "sharing",
            "--queries",
            "2",
            "--longest",
            "2",
            "--observations",
            "9",
            "--steps",
            "1",
            "--sensors",
            "9",
        ],
    ],
)
def test_the_commands_write_what_they_found(words, tmp_path):
    assert (
        main(["bench", *words, "--sensors", "9", "--answers", "3", "--json", str(tmp_path / "r.json")]) == 0
    )
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["experiment"] == words[0]
    assert found["tables"][0]["rows"]


def test_a_replay_with_ever_new_terms_is_flat(capsys):
    assert soak.main(["--statements", "200000"]) == 0
    out = capsys.readouterr().out
    assert "201,000 statements" in out
    assert "times that of the middle third" in out


def test_a_replay_that_keeps_terms_is_not_flat(monkeypatch, capsys):
    share = resident_bytes() // 40  # of what the tests before this one left in the process
    monkeypatch.setattr(Reasoner, "_sweep", lambda self: self._kept.append("x" * share))
    monkeypatch.setattr(Reasoner, "_kept", [], raising=False)
    assert soak.main(["--statements", "60000"]) == 1
    assert "something is kept" in capsys.readouterr().out


def test_a_replay_with_wrong_answers_stops(monkeypatch):
    monkeypatch.setattr(Lane, "run", lambda self, number, batch: [])
    with pytest.raises(EnsueError, match="step 1: 0 answers in 10 s, not 5"):
        soak.replay(5_000, say=lambda line: None)


@pytest.mark.parametrize(
    ("sizes", "times"), [([5, 5, 5, 10, 10, 10, 10, 10, 10], 1.0), ([1] * 6 + [1, 2, 1], 2.0)]
)
def test_growth_compares_the_last_third_with_the_middle(sizes, times):
    assert soak.growth([Sample(k, size) for k, size in enumerate(sizes)]) == times


def test_too_few_samples_tell_nothing():
    with pytest.raises(MemoryGrowthError, match="too short"):
        soak.growth([Sample(1, 1)])
