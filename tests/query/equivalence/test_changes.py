"""A background that changes in mid-run: from then on the answers are those of one that was always so.

ENSUE_SEED sets the first seed. What the definition says closes every window from nothing, over the background
of its instant; so a case that passes answers as a reasoner does that was started anew.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from query.equivalence.cases import Change
from query.equivalence.changes import changing
from query.equivalence.linear import linear
from query.equivalence.reference import expected
from query.equivalence.replay import compare
from query.equivalence.shrink import report

from ensue.dictionary import Dictionary
from ensue.errors import StrategyError
from ensue.maintain.rewrite import maintainer

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CHUNKS, CASES_EACH, FOLDED = 8, 50, 20
RUNS = (
    *(("expiration", "compiled"), ("dred", "compiled"), ("rete", "compiled"), ("auto", "compiled")),
    *(("hybrid", "compiled"), ("recompute", "oxigraph"), ("expiration", "oxigraph")),
)


@pytest.mark.parametrize(
    "chunk", [0, 1, *(pytest.param(chunk, marks=pytest.mark.long) for chunk in range(2, CHUNKS))]
)
def test_queries_answer_as_if_the_background_had_always_been_so(chunk, monkeypatch):
    if chunk % 2:  # Terms that nobody uses any more give their numbers to others as soon as they can.
        monkeypatch.setattr(Dictionary, "wants_sweep", property(lambda _: True))
    seen = Counter()
    for seed in range(SEED + chunk * CASES_EACH, SEED + (chunk + 1) * CASES_EACH):
        case = changing(seed)
        lines = expected(case)
        if seed % 5 == 0:
            kept = expected(_unchanged(case))
            seen["other answers"] += [x.answers for x in lines] != [x.answers for x in kept]
            seen["looked at"] += 1
        check(case, *RUNS[seed % len(RUNS)], lines)
    print(f"seeds from {SEED + chunk * CASES_EACH}: {dict(seen)}")
    assert seen["other answers"] > 0


def test_rules_folded_into_queries_are_folded_anew(monkeypatch):
    monkeypatch.setattr(maintainer, "MOST_MEMBERS", 60)
    taken = 0
    for seed in range(SEED, SEED + FOLDED):
        case = linear(changing(seed))
        try:
            check(case, "rewrite", "compiled", expected(case))
            taken += 1
        except StrategyError:
            continue
    assert taken > FOLDED / 3


def check(case, strategy, evaluator, lines):
    difference = compare(case, strategy, evaluator, lines)
    if difference is not None:
        told = report(case, strategy, evaluator, difference)
        pytest.fail(f"{told}\n(the case is `changing({case.seed})`, with its changes)", pytrace=False)


def _unchanged(case):
    return replace(case, actions=tuple(each for each in case.actions if not isinstance(each, Change)))
