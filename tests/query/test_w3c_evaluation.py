"""The W3C's SPARQL 1.1 query evaluation tests, on each evaluator.

A test that fails for a reason is in a list here, with the reason; if it passes one day, the run fails
until it is off the list.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache

import pytest
from w3c import SUITE, Case, cases, continuous, dataset, difference

from ensue.dictionary import Dictionary
from ensue.query.choose import choose_evaluator
from ensue.query.oxigraph import OxigraphEvaluator

TAGGED = "oxigraph's GROUP_CONCAT keeps the language of its texts if they all have the same"
ABSENT = "oxigraph's * and ? find no way of length zero from a term that is not in the data"
FAILS_ON_BOTH = {
    "aggregates/agg-groupconcat-04": TAGGED,
    "aggregates/agg-groupconcat-06": TAGGED,
    "functions/bnode01": "oxigraph's BNODE(text) is the same node for every solution",
    "property-path/zero_or_more_set_start": ABSENT,
    "property-path/zero_or_more_set_end": ABSENT,
    "property-path/zero_or_one_set_start": ABSENT,
    "property-path/zero_or_one_set_end": ABSENT,
}
FAILS_ON_OXIGRAPH: dict[str, str] = {}
FAILS_ON_COMPILED: dict[str, str] = {}

CASES = cases()


def listed(failing):
    """The cases as parameters; those in the list are expected to fail. None stands for an absent suite."""
    found = []
    for case in CASES or [None]:
        reason = failing.get(case.name) if case else None
        marks = [pytest.mark.xfail(reason=reason)] if reason else []
        found.append(pytest.param(case, id=case.name if case else "absent", marks=marks))
    return found


@pytest.fixture
def suite(shared_data):
    """The folder of the tests; skipped where there is none."""
    if not SUITE.is_dir():
        pytest.skip("the W3C's SPARQL 1.1 tests are not at w3c-sparql11 in the third-party material")
    return SUITE


@cache
def parsed(case: Case):
    return continuous(case)


@pytest.mark.parametrize("case", listed(FAILS_ON_BOTH | FAILS_ON_OXIGRAPH))
def test_oxigraph(case, suite):
    query = parsed(case)
    answers = OxigraphEvaluator(query).evaluate(dataset(case, query))
    assert difference(case, query, answers) is None


@pytest.mark.parametrize("case", listed(FAILS_ON_BOTH | FAILS_ON_COMPILED))
def test_evaluator_of_choice(case, suite):
    query = parsed(case)
    data = dataset(case, query)
    evaluator = choose_evaluator(query, data.dictionary).evaluator
    assert difference(case, query, evaluator.evaluate(data)) is None


@pytest.mark.parametrize("suffix", [".srx", ".srj", ".csv", ".tsv", ".ttl"])
def test_that_a_wrong_answer_is_noticed(suffix, suite):
    for case in CASES:
        if case.result.suffix == suffix and case.name not in FAILS_ON_BOTH:
            query = parsed(case)
            found = OxigraphEvaluator(query).evaluate(dataset(case, query))
            if found.rows:
                assert difference(case, query, replace(found, rows=found.rows[1:])) is not None


def test_that_all_cases_are_found(suite):
    assert len(CASES) == 235
    assert len({case.name for case in CASES}) == len(CASES)
    assert (FAILS_ON_BOTH | FAILS_ON_OXIGRAPH | FAILS_ON_COMPILED).keys() <= {case.name for case in CASES}


def test_that_most_are_compiled(suite, capsys):
    chosen = [choose_evaluator(parsed(case), Dictionary()).evaluator.name for case in CASES]
    compiled = chosen.count("compiled")
    with capsys.disabled():
        print(f"\nW3C query evaluation: {compiled} of {len(CASES)} tests are compiled", file=sys.stderr)
    assert compiled >= len(CASES) / 2
