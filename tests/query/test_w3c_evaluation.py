"""The W3C's SPARQL 1.1 query evaluation tests, on each evaluator.

A test that fails for a reason is in the package's list of exceptions, with the reason; if it passes one day,
the run fails until it is off the list.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from ensue.conformance import queries
from ensue.conformance.expected import difference
from ensue.conformance.manifests import QueryCase
from ensue.conformance.outcome import exceptions
from ensue.conformance.queries import dataset, read, replay
from ensue.dictionary import Dictionary
from ensue.query.choose import choose_evaluator
from ensue.query.oxigraph import OxigraphEvaluator

_SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SUITE = Path(os.environ.get("ENSUE_DATA", _SHARED)) / "w3c-sparql11"
FAILS = exceptions("w3c-query")
CASES = read(SUITE) if SUITE.is_dir() else []


def listed():
    """The cases as parameters; those in the list are expected to fail. None stands for an absent suite."""
    found = []
    for case in CASES or [None]:
        reason = FAILS.get(case.name) if case else None
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        found.append(pytest.param(case, id=case.name if case else "absent", marks=marks))
    return found


@pytest.fixture
def suite(shared_data):
    """The folder of the tests; skipped where there is none."""
    if not SUITE.is_dir():
        pytest.skip("the W3C's SPARQL 1.1 tests are not at w3c-sparql11 in the third-party material")
    return SUITE


@cache
def parsed(case: QueryCase):
    return queries.parsed(case)


@pytest.mark.parametrize("case", listed())
def test_oxigraph(case, suite):
    query = parsed(case)
    answers = OxigraphEvaluator(query).evaluate(dataset(case, query))
    assert difference(case.result, query, answers) is None


@pytest.mark.parametrize("case", listed())
def test_evaluator_of_choice(case, suite):
    query = parsed(case)
    data = dataset(case, query)
    evaluator = choose_evaluator(query, data.dictionary).evaluator
    assert difference(case.result, query, evaluator.evaluate(data)) is None


def of_folders(*names):
    return [case for case in CASES if case.name.startswith(tuple(f"{name}/" for name in names))]


@pytest.mark.parametrize(
    "case", of_folders("bind", "exists", "grouping", "negation"), ids=lambda case: case.name
)
def test_over_a_stream(case, suite):
    assert difference(case.result, parsed(case), replay(case)) is None


@pytest.mark.long
def test_all_over_streams(suite):
    failed = [case.name for case in CASES if difference(case.result, parsed(case), replay(case)) is not None]
    assert sorted(failed) == sorted(FAILS)


@pytest.mark.parametrize("suffix", [".srx", ".srj", ".csv", ".tsv", ".ttl"])
def test_that_a_wrong_answer_is_noticed(suffix, suite):
    for case in CASES:
        if case.result.suffix == suffix and case.name not in FAILS:
            query = parsed(case)
            found = OxigraphEvaluator(query).evaluate(dataset(case, query))
            if found.rows:
                assert difference(case.result, query, replace(found, rows=found.rows[1:])) is not None


def test_that_all_cases_are_found(suite):
    assert len(CASES) == 235
    assert len({case.name for case in CASES}) == len(CASES)
    assert FAILS.keys() <= {case.name for case in CASES}


def test_that_most_are_compiled(suite, capsys):
    chosen = [choose_evaluator(parsed(case), Dictionary()).evaluator.name for case in CASES]
    compiled = chosen.count("compiled")
    with capsys.disabled():
        print(f"\nW3C query evaluation: {compiled} of {len(CASES)} tests are compiled", file=sys.stderr)
    assert compiled >= len(CASES) / 2
