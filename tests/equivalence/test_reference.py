"""The oracle is the measure of all maintainers, so it is measured too: against plain Datalog."""

from __future__ import annotations

import pytest

from ensue.model import FOREVER
from ensue.rules.tree import Pattern, Premise, Rule, Var

from . import plain
from .cases import make_case
from .replay import Truth, expected

CASES = 200


@pytest.mark.parametrize("chunk", range(4))
def test_the_oracle_agrees_with_one_plain_closure_per_threshold(chunk):
    for seed in range(chunk * CASES // 4, (chunk + 1) * CASES // 4):
        case = make_case(seed)
        truth, names = Truth(case), plain.Names(case.nesting)
        for number, (step, answer) in enumerate(zip(case.steps, expected(case), strict=True)):
            for operation in step.operations:
                truth.apply(operation)
            truth.advance(step.threshold)
            assert _by_plain_closures(truth, names) == (
                dict.fromkeys(answer.background, FOREVER),
                dict(answer.stamps),
            ), f"case {seed}, step {number}"


def _by_plain_closures(truth, names):
    rules = truth.case.rules.rules
    ground = plain.close(rules, {*truth.case.axioms, *truth.background}, None, names)
    timed = {}
    for context in {copy.context for copy in truth.copies}:
        copies = [(copy.statement, copy.stamp) for copy in truth.copies if copy.context == context]
        stamps = plain.stamps(rules, copies, ground, names, truth.threshold)
        timed |= {(context, fact): stamp for fact, stamp in stamps.items()}
    return dict.fromkeys(ground, FOREVER), timed


def test_the_plain_closures_agree_with_a_case_worked_by_hand():
    """Two ways from a to c: over b, as old as 5, and direct, as old as 4; then only the latter."""
    a, b, c, p = "<urn:a>", "<urn:b>", "<urn:c>", "<urn:p>"
    x, y, z = Var("x"), Var("y"), Var("z")
    rule = Rule("t", (Premise(Pattern(x, p, y)), Premise(Pattern(y, p, z))), (Pattern(x, p, z),))
    copies = [((a, p, b), 5), ((b, p, c), 9), ((a, p, c), 4)]
    names = plain.Names(1)
    assert plain.stamps([rule], copies, [], names, 0)[a, p, c] == 5
    assert (a, p, c) not in plain.stamps([rule], copies, [], names, 5)
    assert plain.stamps([rule], copies[1:], [], names, 0) == {(b, p, c): 9, (a, p, c): 4}
