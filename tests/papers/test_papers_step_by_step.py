"""The mended programs, run by a naive interpreter, against recomputation and every maintainer."""

from __future__ import annotations

from functools import cache

import pytest
from paper_cases import CASES, FIGURE_4, FIGURE_4_STEPS, WINDOW, is_in
from stepping import CONTEXT, Outcome, Reference, Stream, imars, random_steps, volz

from ensue.maintain import make
from ensue.model import Copies

STRATEGIES = ("recompute", "dred", "expiration", "rete")
PROGRAMS = {"volz": volz, "imars": imars}
UNSTAMPED = (volz, "dred")
SEEDS = range(12)

each_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
each_seed = pytest.mark.parametrize("seed", SEEDS)


def stream(case, seed, retracting=False):
    """The window and the steps of a seed, printed for whoever reads a failure."""
    reach = 3 + seed % 5
    steps = random_steps(case, seed, reach=reach, retracting=retracting)
    print(f"{case.name}, seed {seed}, window {reach}:", *steps, sep="\n")
    return reach, steps


@cache
def programmed(program, case, seed, retracting=False):
    """What a program makes of the stream of a seed: once, for all who are compared with it."""
    return list(program(case, *stream(case, seed, retracting)))


def recomputed(case, reach, steps):
    copies, plain = Stream(reach), Reference(case, reach)
    for step in steps:
        copies.take(step)
        yield plain.outcome(copies, step.close)


def maintained(strategy, case, reach, steps):
    plain = Reference(case, reach)
    maintainer = make(strategy, case.rules, plain.dictionary)
    maintainer.load_background(plain.background)

    def rows(facts):
        return {tuple(map(plain.dictionary.decode, (s, p, o))): stamp for _, s, p, o, stamp in facts}

    for step in steps:
        maintainer.admit(Copies.of((CONTEXT, *plain.encode(row), time) for row, time in step.arrivals))
        for row in step.retracted:
            maintainer.retract(Copies.of([(CONTEXT, *plain.encode(row), 0)]))
        change = maintainer.advance(step.close - reach)
        facts = rows(maintainer.closure(CONTEXT))
        yield Outcome(facts, set(rows(change.inserted)), set(rows(change.deleted)))


def agree(steps, made, expected, *, stamps):
    """Step by step the same facts (and, if both know them, stamps), P+ and P-."""
    for step, mine, right in zip(steps, made, expected, strict=True):
        where = f"at close {step.close}"
        assert mine.facts.keys() == right.facts.keys(), where
        assert not stamps or mine.facts == right.facts, where
        assert mine.inserted == right.inserted, where
        assert mine.deleted == right.deleted, where


@each_program
def test_figure_4(program):
    figure = (FIGURE_4, WINDOW, FIGURE_4_STEPS)
    agree(FIGURE_4_STEPS, program(*figure), recomputed(*figure), stamps=program not in UNSTAMPED)


@each_program
@each_case
@each_seed
def test_random_stream(program, case, seed):
    reach, steps = stream(case, seed)
    right = recomputed(case, reach, steps)
    agree(steps, programmed(program, case, seed), right, stamps=program not in UNSTAMPED)


@each_case
@each_seed
def test_random_stream_with_retractions(case, seed):
    """Table 2 alone: table 5 knows no retraction."""
    reach, steps = stream(case, seed, retracting=True)
    right = recomputed(case, reach, steps)
    agree(steps, programmed(volz, case, seed, retracting=True), right, stamps=False)


def test_random_streams_are_worth_running():
    """They hold renewals, copies that come too late, and nodes that a rule mints."""
    renewed = fallen = late = minted = 0
    for case in CASES:
        for seed in SEEDS:
            reach, steps = stream(case, seed)
            late += sum(t <= step.close - reach for step in steps for _, t in step.arrivals)
            before = {}
            for outcome in recomputed(case, reach, steps):
                renewed += sum(before.get(row, t) < t for row, t in outcome.facts.items())
                fallen += sum(before.get(row, t) > t for row, t in outcome.facts.items())
                minted += sum(row[2].startswith("_:mint") for row in outcome.inserted)
                before = outcome.facts
    print(f"{renewed} renewals, {fallen} falling stamps, {late} copies too late, {minted} nodes minted")
    assert renewed > 200
    assert fallen == 0, "without retraction a stamp never falls"
    assert late > 20
    assert minted > 5


@pytest.mark.parametrize("strategy", STRATEGIES)
class TestMaintainers:
    """Every maintainer agrees with both programs."""

    @each_program
    def test_figure_4(self, strategy, program):
        figure = (FIGURE_4, WINDOW, FIGURE_4_STEPS)
        stamps = not {program, strategy} & set(UNSTAMPED)
        agree(FIGURE_4_STEPS, maintained(strategy, *figure), program(*figure), stamps=stamps)

    @each_program
    @each_case
    def test_random_streams(self, strategy, program, case):
        for seed in SEEDS:
            reach, steps = stream(case, seed)
            stamps = not {program, strategy} & set(UNSTAMPED)
            mine = maintained(strategy, case, reach, steps)
            agree(steps, mine, programmed(program, case, seed), stamps=stamps)

    @each_case
    def test_random_streams_with_retractions(self, strategy, case):
        for seed in SEEDS:
            reach, steps = stream(case, seed, retracting=True)
            mine = maintained(strategy, case, reach, steps)
            agree(steps, mine, programmed(volz, case, seed, retracting=True), stamps=False)


#   second      1   2   3   4   ...   10  11  12  13  14
#   A isIn B    |----------------------|                    expires at 11
#   B isIn C        |----------------------|                expires at 12
#   C isIn D            |----------------------|            expires at 13
#   A isIn E                |----------------------|        expires at 14
#   E isIn D                |----------------------|        expires at 14
#   A isIn C        |------------------|                    from A B, B C: 11
#   B isIn D            |------------------|                from B C, C D: 12
#   A isIn D            |---|                               from A C, C D: 11, until it is renewed
#   A isIn D                |----------------------|        from A E, E D: 14
FIGURE_4_FACTS = {
    1: {"AB": 11},
    2: {"AB": 11, "BC": 12, "AC": 11},
    3: {"AB": 11, "BC": 12, "AC": 11, "CD": 13, "BD": 12, "AD": 11},
    4: {"AB": 11, "BC": 12, "AC": 11, "CD": 13, "BD": 12, "AD": 14, "AE": 14, "ED": 14},
    11: {"BC": 12, "CD": 13, "BD": 12, "AD": 14, "AE": 14, "ED": 14},
    12: {"CD": 13, "AD": 14, "AE": 14, "ED": 14},
    13: {"AD": 14, "AE": 14, "ED": 14},
    14: {},
}
"""What holds, and until when, from this second on."""


def test_figure_4_as_the_paper_tells_it():
    """A statement of second 1 is there through second 10 and goes as the 11th passes: (open, close]."""
    expected = {}
    for step, outcome in zip(FIGURE_4_STEPS, imars(FIGURE_4, WINDOW, FIGURE_4_STEPS), strict=True):
        expected = FIGURE_4_FACTS.get(step.close, expected)
        assert {row: t + WINDOW for row, t in outcome.facts.items()} == {
            is_in(pair): t for pair, t in expected.items()
        }, f"second {step.close}"
