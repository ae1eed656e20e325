"""Unfolded rules conclude what rules over lists mean: random ontologies and windows, against a reference.

ENSUE_SEED sets the first seed, ENSUE_LIST_CASES how many cases there are (`make soak`: 2000).
"""

from __future__ import annotations

import os

import pytest
from plan.list_cases import make_case
from plan.list_reference import closure
from random_cases import conclude, keep

from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.model import BACKGROUND, FOREVER, Copies
from ensue.plan.known import close
from ensue.plan.unfold import unfold

SEED = int(os.environ.get("ENSUE_SEED", "1")) + 40_000
CHUNKS = 4
CASES_EACH = -(-int(os.environ.get("ENSUE_LIST_CASES", "200")) // CHUNKS)
CONTEXT = 1


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_unfolded_rules_conclude_what_rules_over_lists_mean(chunk, tally, capsys):
    first = SEED + chunk * CASES_EACH
    keep(tally, chunk, [check(seed) for seed in range(first, first + CASES_EACH)])
    every = conclude(tally, CHUNKS, capsys, summary)
    if every is not None:
        seen = totals(every)
        assert seen["by lists"] > len(every)
        assert seen["in windows"] > len(every) / 4
        assert seen["left out"] > len(every) / 4
        assert seen["more rounds"] > len(every) / 20


def totals(every):
    return {name: sum(each[name] for each in every) for name in every[0]}


def summary(every):
    return f"unfolding: {len(every)} cases from seed {SEED}: {totals(every)}"


def check(seed):
    case = make_case(seed)
    still, facts = closure(case.rules, case.background, case.window)
    rounds = []

    def closed(plain):
        rounds.append(plain)
        return close(plain, case.background)

    found = unfold(case.rules, closed)
    for strategy in ("expiration", "recompute", "dred", "rete"):
        background, window = run(strategy, found.rules, case)
        assert background == set(still), (seed, strategy)
        assert set(window) == set(facts) - set(still), (seed, strategy)
        if strategy != "dred":
            assert window == {fact: facts[fact] for fact in window}, (seed, strategy)
    plain = tuple(rule for rule in case.rules.rules if not rule.lists)
    without = closure(type(case.rules)("plain", plain), case.background, case.window)[1]
    return {
        "by lists": len(facts) - len(without),
        "in windows": len(facts) - len(still) - len(case.window) > 0,
        "left out": sum(line.startswith("rule ") for line in found.report.details) if found.report else 0,
        "more rounds": len(rounds) > 2,
    }


def run(strategy, rules, case):
    """The closed background, and what holds in the window besides, with stamps."""
    dictionary = Dictionary()

    def numbers(statement):
        return tuple(map(dictionary.encode, statement))

    maintainer = make(strategy, rules, dictionary)
    maintainer.load_background(Copies.background(map(numbers, case.background)))
    maintainer.admit(Copies.of((CONTEXT, *numbers(each), stamp) for stamp, each in case.window))
    maintainer.advance(0)
    decode = dictionary.decode
    background, window = (
        {(decode(s), decode(p), decode(o)): stamp for _, s, p, o, stamp in maintainer.closure(context)}
        for context in (BACKGROUND, CONTEXT)
    )
    assert set(background.values()) <= {FOREVER}
    return set(background), window
