"""LUBM under the complete OWL 2 RL: the reference answers row by row, by everybody who takes the rules."""

from __future__ import annotations

import pytest

from ensue.bench.lubm.lanes import run_local
from ensue.bench.lubm.queries import NUMBERS
from ensue.bench.lubm.workload import (
    MINIMAL,
    by_department,
    complete_rules,
    job,
    minimal_rules,
    ontology,
    tumbling,
)
from ensue.errors import StrategyError
from ensue.rules.tree import RuleSet

from lubm_answers import plain, reference


@pytest.fixture(scope="module")
def university():
    return by_department(1)


@pytest.fixture(scope="module")
def wanted(shared_data):
    found = reference(shared_data / "lubm" / "answers")
    counts = [bag.total() for bag in found.values()]
    assert counts == [4, 0, 6, 34, 719, 7790, 67, 7790, 208, 4, 224, 15, 1, 5916]
    return found


def answers(university, rules, window, numbers=NUMBERS, **how):
    return plain(run_local(job(rules, tumbling(window), numbers, **how), university).bags)


@pytest.mark.parametrize(
    ("strategy", "apart"),
    [
        ("expiration", True),
        ("expiration", False),
        pytest.param("recompute", True, marks=pytest.mark.long),
        pytest.param("recompute", False, marks=pytest.mark.long),
        pytest.param("hybrid", True, marks=pytest.mark.long),
        pytest.param("hybrid", False, marks=pytest.mark.long),
        pytest.param("dred", False, marks=pytest.mark.long),
        pytest.param("rete", False, marks=pytest.mark.long),
    ],
)
def test_one_window_has_the_reference_answers(university, wanted, strategy, apart):
    found = answers(university, complete_rules(), len(university), by_department=apart, strategy=strategy)
    assert found == wanted


@pytest.mark.long
def test_rules_that_join_are_not_folded_into_queries(university):
    with pytest.raises(StrategyError):
        answers(university[:1], complete_rules(), 1, [6], strategy="rewrite")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_handful_of_rules_suffices_and_no_answer_is_lost_in_windows_of_some_departments(
    university, wanted, number
):
    [found] = answers(university, minimal_rules(number), 4, [number]).values()
    assert found == wanted[f"q{number}"]


def test_eight_rules_suffice_for_all():
    for number, names in MINIMAL.items():
        assert {rule.name for rule in minimal_rules(number).rules} == set(names)
    assert len({name for names in MINIMAL.values() for name in names}) == 8


def test_few_of_them_can_be_left_out(university):
    def answered(number, names):
        rules = RuleSet("some", tuple(rule for rule in complete_rules().rules if rule.name in names))
        return answers(university[:1], rules, 1, [number])

    idle = {
        (number, name)
        for number, names in MINIMAL.items()
        for name in names
        if answered(number, set(names) - {name}) == answered(number, names)
    }
    # People have addresses, which only people have.
    assert idle == {(5, "cax-sco"), (12, "cax-sco")}


def test_the_ontology_is_the_background():
    assert len(ontology().stated) == 293
