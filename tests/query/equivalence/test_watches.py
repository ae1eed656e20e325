"""Watches at random: queries of all kinds over random streams, with conditions among the rules.

Every strategy tells the same violations as `recompute`, at the same closes, and answers are as they are where
nobody watches.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from random import Random

import pytest
from query.equivalence.cases import make_case
from query.equivalence.replay import Engine, bag

from ensue.reasoner import Reasoner
from ensue.rules.tree import Mint, Pattern

SEED = int(os.environ.get("ENSUE_SEED", "1"))
CASES = 8
STRATEGIES = ("auto", "dred", "rete", "hybrid")


def with_conditions(case):
    """The case with a condition beside most rules."""
    random = Random(case.seed)
    made = []
    for number, rule in enumerate(case.rules.rules):
        makes_nodes = any(isinstance(each, Mint) for each in rule.conditions)
        if not makes_nodes and (number == 0 or random.random() < 0.5):
            first, name = rule.conclusions[0], f"<urn:ensue:violation:c{number}>"
            wrong = Pattern(first.s, name, first.o)
            made.append(replace(rule, name=f"c{number}", conclusions=(wrong,)))
    return replace(case, rules=replace(case.rules, rules=(*case.rules.rules, *made)))


def run(case, strategy, folder, **options):
    engine = Engine(case, strategy, "compiled", folder, partial(Reasoner, **options))
    engine.run()
    return [(r.query, r.open, r.close, bag(r)) for r in engine.results], list(engine.reasoner.violations())


def lines(told, *, stamped=True):
    """What was told, without what proofs may tell in more than one way."""
    return sorted(
        (each.window or "", each.close or 0, str(each.violation), str(each.until) if stamped else "")
        for each in told
    )


@pytest.mark.parametrize("chunk", range(4))
def test_every_strategy_tells_the_same(chunk, tmp_path):
    told = 0
    for seed in range(SEED + chunk, SEED + CASES, 4):
        case = with_conditions(make_case(seed))
        answers, wanted = run(case, "recompute", tmp_path, violations="all", prune=False)
        told += len(wanted)
        assert answers == run(case, "recompute", tmp_path, prune=False)[0], f"case {seed}"
        assert all(each.violation.statements for each in wanted), f"case {seed}"
        for strategy in STRATEGIES:
            got = run(case, strategy, tmp_path, violations="all")
            stamped = strategy != "dred"
            assert lines(got[1], stamped=stamped) == lines(wanted, stamped=stamped), (seed, strategy)
            assert got[0] == answers, (seed, strategy)
    print(f"{told} violations told, from seed {SEED} on")
    assert told
