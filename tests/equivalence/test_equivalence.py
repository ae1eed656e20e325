"""Every maintainer agrees with a plain recomputation of the window, after every step of every case.

ENSUE_SEED sets the first seed (the cases follow from it), ENSUE_CASES how many there are.
"""

from __future__ import annotations

import os

import pytest
from random_cases import conclude, keep, shrink

from ensue.maintain import PARTICULAR, STRATEGIES
from ensue.plan.known import Closed
from ensue.plan.split import split

from .cases import make_case
from .distribution import features, summary
from .linear import linear, mixed
from .replay import compare, expected
from .shrink import render, smaller

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CHUNKS = 20
CASES_EACH = -(-int(os.environ.get("ENSUE_CASES", "2000")) // CHUNKS)

EVERY = {"expiration-keep-all": 4, "expiration-no-table": 10, "hybrid": 10}
"""Variants of `expiration` get some cases only: one is the slowest by far, and two share nearly all code."""
FOLDED = 8
"""One case in so many is made one of rules that can be folded into patterns."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_maintainers_agree_with_recomputation(chunk, tally, capsys):
    first = SEED + chunk * CASES_EACH
    cases = [make_case(seed) for seed in range(first, first + CASES_EACH)]
    answers = [expected(case) for case in cases]
    measured = [features(case, answer) for case, answer in zip(cases, answers, strict=True)]
    keep(tally, chunk, measured)
    for case, answer in zip(cases, answers, strict=True):
        for strategy in STRATEGIES.keys() - PARTICULAR:
            _check(case, strategy, answer)
    _conclude(tally, capsys)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_rules_folded_into_patterns_agree_with_recomputation(chunk):
    """Half of the cases have linear rules alone, and half have one that joins besides."""
    first = SEED + chunk * CASES_EACH
    derived = parted = 0
    for case in map(make_case, range(first, first + CASES_EACH, FOLDED)):
        joins = case.seed // FOLDED % 2
        some = mixed(case) if joins else linear(case)
        answer = expected(some)
        derived += _derives(some, answer)
        for strategy in ("hybrid",) if joins else ("hybrid", "rewrite", "rewrite-union"):
            _compare(some, strategy, answer)
        parts = split(some.rules.rules, Closed.of(some.background))
        parted += bool(parts.folded and parts.materialised)
    assert derived >= CASES_EACH / FOLDED / 2, "cases in which nothing is derived show nothing"
    assert parted >= CASES_EACH / FOLDED / 10


def _derives(case, answer):
    operations = (operation for step in case.steps for operation in step.operations)
    said = {copy.statement for each in operations for copy in getattr(each, "copies", ())}
    return any(fact not in said for step in answer for _, fact in step.stamps)


def _check(case, strategy, answer):
    if case.seed % EVERY.get(strategy, 1) == 0:
        _compare(case, strategy, answer)


def _compare(case, strategy, answer):
    difference = compare(case, strategy, answer)
    if difference is not None:
        pytest.fail(_report(case, strategy, difference), pytrace=False)


def _conclude(tally, capsys):
    """Whichever chunk finds that all have been measured speaks for the run, once."""
    measured = conclude(tally, CHUNKS, capsys, lambda cases: f"{summary(cases)}\n  first seed {SEED}")
    if measured is None:
        return
    assert len(measured) == CHUNKS * CASES_EACH
    assert sum(case.deep or case.recursive for case in measured) >= len(measured) / 2
    assert sum(case.competing_derivations for case in measured) >= len(measured) / 5


def _report(case, strategy, difference):
    small = shrink(case, lambda candidate: compare(candidate, strategy) is not None, smaller)
    return "\n".join(
        [
            f"case {case.seed}: {difference}",
            "",
            "made small:",
            render(small),
            str(compare(small, strategy)),
            "",
            f"again: PYTHONPATH=src:tests python -m equivalence.replay {case.seed} --strategy {strategy}",
        ]
    )
