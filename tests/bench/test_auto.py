"""`ensue bench auto` in little: all who can do a workload give the same answers, and somebody is chosen."""

from __future__ import annotations

import json

from ensue.bench.auto import ALTERNATIVES
from ensue.cli.main import main


def test_the_chosen_strategy_is_measured_beside_all_others(tmp_path):
    found = tmp_path / "auto.json"
    sizes = {"window": 300, "changes": 1, "rounds": 1, "json": found}
    words = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    assert main(["bench", "auto", *words]) == 0
    [table] = json.loads(found.read_text())["tables"]
    by_workload: dict[str, dict] = {}
    for row in table["rows"]:
        by_workload.setdefault(row["workload"], {})[row["who"]] = row
    assert len(by_workload) == 6
    # What is transitive joins: nobody folds that into a query.
    assert by_workload["isIn, transitive"].keys() == ALTERNATIVES.keys() - {"rewrite"}
    assert by_workload["LUBM 6"].keys() == ALTERNATIVES.keys()
    assert by_workload["LUBM 6"]["auto"]["chosen"] == "rewrite"
    assert by_workload["isIn, transitive"]["auto"]["chosen"] == "expiration"
