from __future__ import annotations

import numpy as np
import pytest

from ensue.bench.feed import CONTEXT, DisagreementError, Stepper, background_of, encode
from ensue.bench.isin import Trees, isin_statements
from ensue.dictionary import Dictionary
from ensue.model import FOREVER
from ensue.rules.load import load_rules

from .naive import Forgetful, Naive


def stepper_of(*kinds, window=4, unchecked=()):
    dictionary, rules = Dictionary(), load_rules("transitive-isin")
    maintainers = {kind.__name__: kind(rules, dictionary) for kind in kinds}
    ids = encode(isin_statements(Trees(1, 3, 2), seed=1), dictionary)
    stepper = Stepper(maintainers, window, unchecked)
    stepper.load(ids[:2])
    return stepper, ids[2:], maintainers


def test_steps_keep_the_window_full_and_let_the_oldest_go():
    stepper, ids, maintainers = stepper_of(Naive)
    stepper.step(ids[:4])
    stepper.step(ids[4:7])
    stated = {tuple(row) for row in ids[3:7].tolist()}
    held = {(s, p, o) for _, s, p, o, _ in maintainers["Naive"].closure(CONTEXT)}
    gone = {tuple(row) for row in ids[:3].tolist()}
    assert stated <= held
    assert not gone & held


def test_a_step_counts_what_changed():
    stepper, ids, _ = stepper_of(Naive)
    first = stepper.step(ids[:4])["Naive"]
    second = stepper.step(ids[4:8])["Naive"]
    assert first.deleted == 0
    assert first.held == first.inserted
    assert second.held == first.held + second.inserted - second.deleted


def test_a_maintainer_that_disagrees_is_named():
    stepper, ids, _ = stepper_of(Naive, Forgetful)
    stepper.step(ids[:4])
    with pytest.raises(DisagreementError, match="Forgetful and Naive disagree"):
        stepper.step(ids[4:8])


def test_one_that_is_not_to_be_compared_is_not():
    stepper, ids, _ = stepper_of(Naive, Forgetful, unchecked=["Forgetful"])
    stepper.step(ids[:4])
    assert stepper.step(ids[4:8])["Forgetful"].deleted == 0


def test_background_never_expires():
    assert set(background_of(np.array([[1, 2, 3]], np.int32)).stamp) == {FOREVER}
