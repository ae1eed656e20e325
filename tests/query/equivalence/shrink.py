"""A case that fails made small, and told so that a person can work through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from query.equivalence.cases import Case, Push
from query.equivalence.replay import Difference, compare, render
from random_cases import shrink


def smaller(case: Case) -> Iterator[Case]:
    """The case with one thing left out: the large things first. The end stays."""
    for number, action in enumerate(case.actions[:-1]):
        rest = case.actions[number + 1 :]
        yield replace(case, actions=case.actions[:number] + rest)
        if isinstance(action, Push):
            for k in range(len(action.rows) if len(action.rows) > 1 else 0):
                push = Push(action.stream, action.rows[:k] + action.rows[k + 1 :])
                yield replace(case, actions=(*case.actions[:number], push, *rest))
    for number in range(len(case.rules.rules)):
        rules = case.rules.rules[:number] + case.rules.rules[number + 1 :]
        yield replace(case, rules=replace(case.rules, rules=rules))
    for number in range(len(case.background)):
        yield replace(case, background=case.background[:number] + case.background[number + 1 :])


def still_fails(strategy: str, evaluator: str) -> Callable[[Case], bool]:
    """Whether a smaller case shows a difference; one that makes no sense any more shows none."""

    def fails(case: Case) -> bool:
        try:
            difference = compare(case, strategy, evaluator)
        except (AssertionError, LookupError, ValueError):  # e.g. nobody reads what is pushed
            return False
        return difference is not None and difference.query != ""

    return fails


def report(case: Case, strategy: str, evaluator: str, difference: Difference) -> str:
    """What to print of a case that fails."""
    small = case
    if difference.query:
        small = shrink(case, still_fails(strategy, evaluator), smaller)
        difference = compare(small, strategy, evaluator) or difference
    again = f"PYTHONPATH=src:tests python -m query.equivalence.replay {case.seed}"
    again += f" --strategy {strategy} --evaluator {evaluator}"
    return f"case {case.seed}, made small:\n{render(small)}\n\n{difference}\n\nagain: {again}"
