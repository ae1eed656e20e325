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
