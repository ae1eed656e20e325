"""Whole continuous queries answer as the definition says, on every strategy and with both evaluators.

ENSUE_SEED sets the first seed (the cases follow from it), ENSUE_CASES how many there are. Each case runs on
every strategy with both evaluators.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product

import pytest
from query.equivalence.cases import make_case
from query.equivalence.distribution import features, summary
from query.equivalence.linear import linear
from query.equivalence.reference import expected
from query.equivalence.replay import EVALUATORS, STRATEGIES, compare
from query.equivalence.shrink import report
from random_cases import conclude, keep

from ensue.errors import StrategyError
from ensue.maintain import PARTICULAR
from ensue.maintain.rewrite import maintainer

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CHUNKS = 20
CASES_EACH = -(-int(os.environ.get("ENSUE_CASES", "1000")) // CHUNKS)

ALWAYS = tuple(name for name in STRATEGIES if name != "hybrid" and name not in PARTICULAR)
"""The strategies that every case runs on; the others get one in five."""

ALONE = "rules are folded in alone"
FOLDED = 6
"""One case in so many is made one of linear rules."""
SELDOM = 40
"""Everything that queries can have must be in one case of so many, at least."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_queries_answer_as_the_definition_says(chunk, tally, capsys):
    first = SEED + chunk * CASES_EACH
    measured = []
    for case in map(make_case, range(first, first + CASES_EACH)):
        lines = expected(case)
        had = features(case, lines)
        if case.seed % 5:
            _check(case, lines, ALWAYS)
        elif not _check(case, lines, STRATEGIES):
            had = replace(had, names=had.names | {ALONE})
        measured.append(had)
    keep(tally, chunk, measured)
    _conclude(tally, capsys)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_rules_folded_into_queries_answer_as_the_definition_says(chunk, monkeypatch):
    """Cases with linear rules: few others are left whole by a strategy that takes no joins."""
    monkeypatch.setattr(maintainer, "MOST_MEMBERS", 60)  # Larger unions take long, and show nothing new.
    first = SEED + chunk * CASES_EACH
    cases = [linear(make_case(seed)) for seed in range(first, first + CASES_EACH, FOLDED)]
    refused = [_check(case, expected(case), ("hybrid", *sorted(PARTICULAR))) for case in cases]
    assert not any("rewrite" in each for each in refused)
    assert any(not each for each in refused) or CASES_EACH < 10


def _check(case, lines, strategies):
    """The strategies that do not take the rules, or the queries; all others answer as they must."""
    refused = set()
    for strategy, evaluator in product(strategies, EVALUATORS):
        try:
            difference = compare(case, strategy, evaluator, lines)
        except StrategyError:
            refused.add(strategy)
            continue
        if difference is not None:
            pytest.fail(report(case, strategy, evaluator, difference), pytrace=False)
    assert refused <= PARTICULAR
    return refused


def _conclude(tally, capsys):
    """Whichever chunk finds that all have been measured speaks for the run, once."""
    measured = conclude(tally, CHUNKS, capsys, lambda cases: f"{summary(cases)}\n  first seed {SEED}")
    if measured is None:
        return
    evaluations = sum(case.evaluations for case in measured)
    assert sum(case.with_answers for case in measured) >= evaluations / 2
    assert sum(case.with_derived for case in measured) >= evaluations / 3
    seldom = [
        name for name in COMMON if SELDOM * sum(name in case.names for case in measured) < len(measured)
    ]
    assert not seldom
    assert 5 * SELDOM * sum(ALONE in case.names for case in measured) >= len(measured)


COMMON = (
    *("sliding windows", "tumbling windows", "windows with gaps", "count windows"),
    *("count windows looked at as time passes", "named windows", "windows in the default graph"),
    *("different ranges", "different steps", "EVERY unlike STEP", "FROM", "FROM NAMED", "background"),
    *("late statements admitted", "late statements dropped", "disorder within the bound"),
    *("bounds [)", "t0", "several queries", "queries that share a scope", "offsets", "registered in mid-run"),
    *("a constructed stream is read", "RSTREAM", "ISTREAM with a difference", "DSTREAM with a difference"),
    *("answers that came because something left", "answers that left by expiry", "derived facts"),
    *("SELECT queries", "CONSTRUCT queries", "ASK queries", "compiled evaluator", "oxigraph evaluator"),
)
