"""Workers are this Python, and have PySpark as it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest

from ensue.spark.python import worker_python

ARCHIVES = Path(pyspark.__file__).parent / "python" / "lib"
TOLD = "import json, os, sys; print(json.dumps([sys.executable, sys.argv[1:], os.environ['PYTHONPATH']]))"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "it's a cache"))


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ([ARCHIVES / "pyspark.zip", "/a b", ARCHIVES / "py4j-0-src.zip", "/c/*.jar"], ["/a b", "/c/*.jar"]),
        (["/another/spark/python/lib/pyspark.zip"], ["/another/spark/python/lib/pyspark.zip"]),
        ([ARCHIVES / "pyspark.zip"], []),
        ([], []),
    ],
)
def test_only_the_archives_of_what_is_installed_are_off_the_path(path, kept):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
    words = [worker_python(), "-c", TOLD, "a b", "*", "it's"]
    said = json.loads(subprocess.check_output(words, env=environment))
    assert said == [sys.executable, ["a b", "*", "it's"], os.pathsep.join(kept)]


def test_a_worker_has_pyspark_from_where_the_driver_has_it(spark):
    def where(batches):
        import pyspark

        for _ in batches:
            yield pa.record_batch({"path": [pyspark.__file__]})

    assert (ARCHIVES / "pyspark.zip").exists()
    [worker] = spark.range(1, numPartitions=1).mapInArrow(where, "path string").collect()
    assert worker.path == pyspark.__file__
