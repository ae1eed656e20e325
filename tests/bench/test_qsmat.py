"""`ensue bench qsmat` in little: what it measures is what it says."""

from __future__ import annotations

import json

import pytest

from ensue.bench.bsbm.files import STREAM
from ensue.bench.bsbm.hierarchy import Shape
from ensue.bench.qsmat_lanes import ALTERNATIVES
from ensue.bench.qsmat_market import WINDOW_MS, Windows
from ensue.cli.main import main
from ensue.query.language import parse_query


@pytest.fixture(scope="module")
def windows():
    return Windows(Shape((2, 2)), 2000)


def test_windows_are_full_and_alike(windows):
    first, second = windows.batch(1), windows.batch(2)
    assert len(first) == 2000
    assert (first[0][0], first[-1][0]) == (1, WINDOW_MS)
    assert [row[1:] for row in first] == [row[1:] for row in second]
    assert second[0][0] == WINDOW_MS + 1
    streamed = {row[1:4] for row in first}
    assert not streamed & {row[:3] for row in windows.knowledge.stated}


@pytest.mark.parametrize(("kind", "levels"), [("leaf", {2}), ("root", {0}), ("any", {0, 1, 2})])
def test_queries_are_for_types_of_a_level(windows, kind, levels):
    asked = windows.instances(kind, 12, seed=1)
    assert {instance.level for instance in asked} == levels
    for instance in asked:
        [window] = parse_query(instance.text).streams
        assert (window.stream, window.spec.range_ms, window.spec.step_ms) == (STREAM, WINDOW_MS, WINDOW_MS)


def test_all_alternatives_agree_and_are_told_apart(tmp_path):
    found = tmp_path / "qsmat.json"
    sizes = {"types": 7, "window": 2000, "windows": 1000, "instances": 1, "rounds": 1, "json": found}
    words = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    assert main(["bench", "qsmat", *words]) == 0
    tables = {table["title"]: table["rows"] for table in json.loads(found.read_text())["tables"]}
    rows = {(row["asked for"], row["who"]): row for row in tables["leaf and root types"]}
    assert {who for _, who in rows} == set(ALTERNATIVES)
    assert rows["leaf", "pruned"]["derived"] == rows["leaf", "epsilon pruned"]["derived"] == 0
    assert rows["leaf", "pruned"]["rules left"] == "0"
    assert 0 < rows["root", "pruned"]["derived"] <= rows["root", "full"]["derived"]
    assert rows["root", "rewritten"]["derived"] == 0
    assert ("root", "raw window") not in rows
