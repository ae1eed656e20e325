"""The engine against enumeration, on random queries and streams."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from . import random_events

SEED = int(os.environ.get("ENSUE_SEED", "1"))
QUERIES = 125
STREAMS = 8
PARTS = 5


def compare(seed: int, folder: Path) -> int:
    """Compare one query over several streams; how many occurrences there were."""
    random = Random(seed)
    asked, occurrences = random_events.make_query(random), 0
    for _ in range(STREAMS):
        case = random_events.make_case(asked, random)
        rows = random_events.arrival(case, random)
        found = random_events.engine_answers(case, rows, random, random_events.write_background(case, folder))
        wanted = random_events.expected(case, rows, found)
        assert found == wanted, f"seed {seed}: {case}\n rows {rows}"
        occurrences += sum(map(len, wanted.values()))
    return occurrences


@pytest.mark.parametrize("part", range(PARTS))
def test_the_engine_finds_what_enumeration_finds(part: int, tmp_path: Path) -> None:
    seeds = range(SEED + part * QUERIES // PARTS, SEED + (part + 1) * QUERIES // PARTS)
    found = sum(compare(seed, tmp_path) for seed in seeds)
    assert found > STREAMS * len(seeds)  # Otherwise there is little to compare.


MANY_SHARED = (
    "{ ?x ?p ?y } SEQ { ?x ?p ?y }",
    "{ ?x ?p ?y } SEQ [RECENT] { ?x ?p ?y }",
    "{ ?x ?p ?y } SEQ [CUMULATIVE] NOT { ?y ?p ?x } SEQ { ?x ?p ?y }",
    "{ ?x ?p ?y }{2,3} SEQ { ?x ?p ?y }",
    "{ ?x ?p ?y . ?y ?p ?x } DURING { ?x ?p ?y . ?x ?p ?x }",
)
"""Keys of more than two columns do not tell all rows apart by themselves."""


@pytest.mark.parametrize("where", MANY_SHARED)
def test_many_variables_can_be_shared(where: str, tmp_path: Path) -> None:
    asked, occurrences = random_events.asked(where, ("x", "p", "y"), 20, 5), 0
    for seed in range(6):
        random = Random(seed)
        case = random_events.make_case(asked, random)
        rows = random_events.arrival(case, random)
        found = random_events.engine_answers(
            case, rows, random, random_events.write_background(case, tmp_path)
        )
        wanted = random_events.expected(case, rows, found)
        assert found == wanted, f"seed {seed}: {case}"
        occurrences += sum(map(len, wanted.values()))
    assert occurrences
