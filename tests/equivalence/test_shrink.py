"""A failing case is of use when it is small and can be read."""

from __future__ import annotations

from random_cases import shrink

from .cases import Retract, make_case
from .shrink import render, smaller


def _retracts(case):
    return any(isinstance(operation, Retract) for step in case.steps for operation in step.operations)


def test_a_case_shrinks_to_what_makes_it_fail():
    case = next(case for case in map(make_case, range(100)) if _retracts(case) and len(case.steps) > 4)
    small = shrink(case, _retracts, smaller)
    assert _retracts(small)
    assert len(small.steps) == 1
    assert len(small.steps[0].operations) == len(small.steps[0].operations[0].copies) == 1
    assert (small.rules.rules, small.background) == ((), ())


def test_a_case_can_be_read():
    small = shrink(make_case(1), lambda case: len(case.rules.rules) > 0 and len(case.steps) > 1, smaller)
    text = render(small)
    lines = text.splitlines()
    assert lines[0].startswith("[r")
    assert [line for line in lines if line.startswith("step")] == ["step 0", "step 1"]
    assert "advance to" in lines[-1]
