"""The suites, each read and run once for all tests of a process."""

from __future__ import annotations

import pytest

from ensue.conformance import entailment, semantics


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One process for all tests of the suites: they are run once there."""
    for item in items:
        if "tests/conformance" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("conformance"))


def folder(shared_data, name):
    path = shared_data / name
    if not path.is_dir():
        pytest.skip(f"there is no {name} in the third-party material")
    return path


@pytest.fixture(scope="session")
def entailment_cases(shared_data):
    """The W3C's entailment tests by name."""
    return {case.name: case for case in entailment.read(folder(shared_data, "w3c-sparql11"))}


@pytest.fixture(scope="session")
def semantics_cases(shared_data):
    """The W3C's tests of RDF semantics by name."""
    return {case.name: case for case in semantics.read(folder(shared_data, "rdf-mt"))}


@pytest.fixture(scope="session")
def judged(entailment_cases):
    """What came of each entailment test."""
    return {outcome.name: outcome for outcome in entailment.run(entailment_cases.values())}
