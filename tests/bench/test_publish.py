from __future__ import annotations

import io
import json

import pytest

from ensue.bench.harness import Chart, Experiment, Result, Table, crossover
from ensue.bench.publish import publish
from ensue.errors import InputError, UsageError


def experiment(measure=None):
    rows = [{"n": 1, "ms": 2.5}, {"n": 10, "ms": None}]
    chart = Chart("c", "n", "ms", {"a": [(1, 2.5), (10, 3.0)]}, log_x=True)
    result = Result([Table("a table", rows)], [chart], ["a finding"])
    return Experiment("demo", "nothing", {"n": 10}, "no limit", measure or (lambda: result))


def test_the_text_says_where_what_and_how(capsys):
    out = io.StringIO()
    publish(experiment(), out=out)
    text = out.getvalue()
    for part in (
        "machine:",
        "cores",
        "python",
        "commit",
        "workload:   nothing",
        "n 10",
        "limit:",
        "a table",
        "* a finding",
    ):
        assert part in text


def test_json_holds_header_tables_and_notes(tmp_path):
    publish(experiment(), json_file=str(tmp_path / "r.json"), out=io.StringIO())
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["tables"] == [{"title": "a table", "rows": [{"n": 1, "ms": 2.5}, {"n": 10, "ms": None}]}]
    assert data["notes"] == ["a finding"]
    assert {"cpu", "cores", "memory", "os", "python", "numba", "commit"} <= data["machine"].keys()
    assert data["parameters"] == {"n": 10}


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_plots_are_drawn(tmp_path, ending):
    pytest.importorskip("matplotlib", reason="plots need the extra `bench`")
    publish(experiment(), plot=str(tmp_path / f"r.{ending}"), out=io.StringIO())
    begin = (tmp_path / f"r.{ending}").read_bytes()[:100]
    assert begin.startswith(b"\x89PNG") if ending == "png" else b"<?xml" in begin


def test_what_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    def measure():
        raise AssertionError("measured all the same")

    with pytest.raises(UsageError, match="cannot draw"):
        publish(experiment(measure), plot="picture.docx", out=io.StringIO())
    with pytest.raises(InputError, match="no such directory"):
        publish(experiment(measure), json_file=str(tmp_path / "no" / "r.json"), out=io.StringIO())


def test_crossover_from_the_first_point_on():
    assert crossover([1, 2], [1, 1], [2, 2]) == 1
