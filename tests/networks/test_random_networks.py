"""Matching from what changes, held against looking everywhere, on random networks."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from ensue.networks.loops import Limit, UnsettledError
from ensue.networks.matcher import DeltaMatcher
from ensue.networks.naive import NaiveMatcher
from ensue.networks.network import Network
from ensue.networks.parse import parse
from ensue.networks.tree import NetworkFile

from . import made

SEQUENCES = 6
"""How many times what arrives is drawn for one network."""


def history(file: NetworkFile, arriving, matcher) -> list[object]:
    """All that a network selects and holds, element by element, until it is stopped."""
    network = Network(file, matcher=matcher, limit=Limit(rounds=8, firings=300))
    found: list[object] = []
    for time, element in enumerate(arriving):
        try:
            results = network.arrive(time, element)
        except UnsettledError as problem:
            return [*found, str(problem)]
        found += [(result.query, result.close, result.answers.rows) for result in results]
        found.append(sorted(network))
    return found


def compare(seeds: range) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        random = Random(seed)
        text = made.network(random)
        file = parse(text)
        for _ in range(SEQUENCES):
            arriving = made.elements(random)
            found = history(file, arriving, DeltaMatcher)
            assert found == history(file, arriving, NaiveMatcher), f"seed {seed}:\n{text}\n{arriving}"
            seen["cases"] += 1
            seen["selected"] += any(isinstance(each, tuple) for each in found)
            seen["unsettled"] += isinstance(found[-1], str)
            seen["made"] += "_:network-" in str(found)
    return seen


def test_what_is_found_from_changes_is_what_is_there():
    seen = compare(range(60))
    assert seen["cases"] == 360
    assert min(seen["selected"], seen["made"]) > 10, seen


@pytest.mark.long
def test_what_is_found_from_changes_is_what_is_there_on_many_networks():
    compare(range(60, 660))
