"""A rule network on Spark is killed with -9 again and again: its results are those of one process.

Beside it, LUBM statement by statement through the input handler of INSTANS's figure 7.
"""

from __future__ import annotations

import csv
import json
import os
from collections import defaultdict
from functools import partial
from importlib import import_module
from random import Random, SystemRandom

import pytest
from marks import needs_proc

from ensue.bench.lubm.queries import NUMBERS
from ensue.cli import main

SEED = int(os.environ.get("ENSUE_SEED", SystemRandom().randrange(1 << 30)))
KILLS = [("all", "state"), ("task", "state"), ("java", "results"), ("driver", "ledger"), ("all", "results")]


@pytest.fixture(scope="module")
def killing(repository):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository / "tools")
        yield import_module("kill_soak")


@pytest.mark.long
@needs_proc
@pytest.mark.parametrize("shards", [1, 2])
def test_whatever_is_killed_every_result_comes_once(killing, tmp_path, shards):
    print(f"seed {SEED}")
    workload = killing.make_network_workload(tmp_path / "in", SEED, shards=shards)
    calm, place = killing.Place(tmp_path / "calm"), killing.Place(tmp_path / "killed")
    calm.folder.mkdir()
    files = ["--output", str(calm.output), "--dead-letters", str(calm.letters)]
    assert main(["run", *workload.local_words, *files, "--engine", "local"]) == 0
    assert killing.endure(partial(killing.Child, workload, place), KILLS, Random(SEED)) == len(KILLS)
    expected, found = (each.output.read_text().splitlines() for each in (calm, place))
    assert killing.difference(expected, found) is None
    assert len(expected) > 300
    assert "network-" in calm.output.read_text()
    assert len(place.letters.read_text().splitlines()) == len(calm.letters.read_text().splitlines()) > 10


@pytest.mark.long
def test_lubm_by_departments_has_the_reference_answers(shared_data, tmp_path):
    assert main(["generate", "lubm", "--univ", "1", "--format", "timed", "-o", str(tmp_path)]) == 0
    words = [
        "--background",
        str(tmp_path / "univ-bench.ttl"),
        "--stream",
        f"urn:lubm={tmp_path / 'departments.tsv'}",
    ]
    out = tmp_path / "out.jsonl"
    words += ["--output", str(out), "--batch-bytes", "3000000", "--metrics", str(tmp_path / "metrics.json")]
    assert main(["run", str(tmp_path / "network.ru"), *words]) == 0
    found = defaultdict(list)
    for line in map(json.loads, out.read_text().splitlines()):
        for row in line["bindings"]:
            found[line["query"]].append(tuple(row[name]["value"] for name in line["vars"]))
    for number in NUMBERS:
        lines = (shared_data / f"lubm/answers/answers_query{number}.csv").read_text().splitlines()
        assert sorted(found[f"q{number}"]) == sorted(set(map(tuple, csv.reader(lines[1:])))), (
            f"query {number}"
        )
    print((tmp_path / "metrics.json").read_text())
