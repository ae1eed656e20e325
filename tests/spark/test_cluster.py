"""A real cluster, a master and two workers, of which one is killed in the middle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CASES = 60


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from cluster import Cluster

    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    with Cluster(tmp_path, workers=2) as cluster:
        yield cluster


@pytest.mark.long
def test_a_worker_is_killed_and_nobody_can_tell(cluster, tmp_path):
    words = [sys.executable, ROOT / "tests" / "spark" / "on_cluster.py", cluster.url, tmp_path, str(CASES)]
    said = []
    with (
        open(tmp_path / "driver.log", "wb") as log,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ) as driver,
    ):
        for line in driver.stdout:
            said.append(line.strip())
            if said == ["micro-batch 0", "micro-batch 1"]:
                cluster.kill_worker(0)
        code = driver.wait()
    assert code == 0, (tmp_path / "driver.log").read_text()[-3000:]
    found = json.loads(said[-1])
    print(found)
    assert found["wrong"] == []
    assert found["runs"] == CASES
    assert len(said) > 4, "the worker was killed when all was done"
