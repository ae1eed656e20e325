"""Every maintainer agrees with a plain recomputation of the window, after every step of every case.

ENSUE_SEED sets the first seed (the cases follow from it), ENSUE_CASES how many there are.
"""

from __future__ import annotations

import os

import pytest
from random_cases import conclude, keep, shrink

from ensue.maintain import STRATEGIES

from .cases import make_case
from .distribution import features, summary
from .replay import compare, expected
from .shrink import render, smaller

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CHUNKS = 20
CASES_EACH = -(-int(os.environ.get("ENSUE_CASES", "2000")) // CHUNKS)

EVERY = {"expiration-keep-all": 4, "expiration-no-table": 4}
"""The variant that exists for comparison is the slowest by far: it gets one case in four."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_maintainers_agree_with_recomputation(chunk, tally, capsys):
    first = SEED + chunk * CASES_EACH
    cases = [make_case(seed) for seed in range(first, first + CASES_EACH)]
    answers = [expected(case) for case in cases]
    measured = [features(case, answer) for case, answer in zip(cases, answers, strict=True)]
    keep(tally, chunk, measured)
    for case, answer in zip(cases, answers, strict=True):
        for strategy in STRATEGIES:
            due = case.seed % EVERY.get(strategy, 1) == 0
            difference = compare(case, strategy, answer) if due else None
            if difference is not None:
                pytest.fail(_report(case, strategy, difference), pytrace=False)
    _conclude(tally, capsys)


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
