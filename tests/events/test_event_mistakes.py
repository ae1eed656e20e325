"""Mistakes that are planted in the engine are found by the drawings: none of them is there for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ensue.events import allen, consume, operator, repetition
from ensue.events.bound import Bound
from ensue.events.consume import Pairs
from ensue.events.memory import Memory
from ensue.events.tree import Allen, Strategy

from .test_timelines import CASES, composed


def seq_may_touch(patch: pytest.MonkeyPatch) -> None:
    right = allen.ends_between

    def ends_between(relation: Allen, start: Any, end: Any, span: int | None) -> Any:
        least, most = right(relation, start, end, span)
        return least, most + (relation is Allen.BEFORE)

    patch.setattr(allen, "ends_between", ends_between)
    wrong_relation(patch, Allen.BEFORE, lambda s, e, t, f: e <= t)


def wrong_relation(patch: pytest.MonkeyPatch, relation: Allen, wrong: Any) -> None:
    patch.setitem(allen._HOLDS, relation, wrong)


def wrong_strategy(patch: pytest.MonkeyPatch, mistaken: Strategy, taken: Strategy) -> None:
    right = consume.detected

    def detected(strategy: Strategy, pairs: Pairs, order: Any) -> Pairs:
        return right(taken if strategy is mistaken else strategy, pairs, order)

    patch.setattr(operator, "detected", detected)


def garbage_too_early(patch: pytest.MonkeyPatch) -> None:
    right = Memory.collect
    patch.setattr(Memory, "collect", lambda memory, now: right(memory, now + 1))


def nothing_between(patch: pytest.MonkeyPatch, module: Any) -> None:
    patch.setattr(module, "lies_between", lambda memory, given, after, before: np.zeros(len(after), np.bool_))


def nothing_used_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(operator, "USES_UP", ())


def cut_off_too_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(operator, "cut_off", lambda memory, key, new: np.full(len(memory), len(new) > 0))


MISTAKES = {
    "SEQ lets the second begin as the first ends": seq_may_touch,
    "DURING holds for what starts together": lambda p: wrong_relation(
        p, Allen.DURING, lambda s, e, t, f: (t <= s) & (e < f)
    ),
    "OVERLAPS holds for what meets": lambda p: wrong_relation(
        p, Allen.OVERLAPS, lambda s, e, t, f: (s <= t) & (t < e) & (e < f)
    ),
    "RECENT takes all": lambda p: wrong_strategy(p, Strategy.RECENT, Strategy.UNRESTRICTED),
    "RECENT takes the first": lambda p: wrong_strategy(p, Strategy.RECENT, Strategy.CHRONICLE),
    "CONTINUOUS takes one": lambda p: wrong_strategy(p, Strategy.CONTINUOUS, Strategy.CHRONICLE),
    "CHRONICLE takes the last": lambda p: wrong_strategy(p, Strategy.CHRONICLE, Strategy.RECENT),
    "nothing is used up": nothing_used_up,
    "garbage is collected a moment too early": garbage_too_early,
    "what is NOT to be is not looked for": lambda p: nothing_between(p, operator),
    "a row may leave some out": lambda p: nothing_between(p, repetition),
    "what is NOT to be cuts off what comes after it": cut_off_too_early,
    "WITHIN is not looked at": lambda p: p.setattr(Bound, "shorter", lambda bound, within: bound),
    "windows are not looked at": lambda p: p.setattr(
        Bound, "deadline", lambda bound, start: np.full(len(start), 2**62)
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MISTAKES[mistake](monkeypatch)
    noticed = (composed(case, at_once=way) != case.expected for way in (False, True) for case in CASES)
    assert any(noticed), f"nobody has noticed: {mistake}"
