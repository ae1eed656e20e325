"""Starting is quick because nothing heavy is imported until it is needed."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys

import pytest

HEAVY = {"numba", "numpy", "rdflib", "pyoxigraph", "pyspark", "matplotlib", "pandas"}


def modules_loaded_by(code):
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules), file=sys.stderr)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in ran.stderr.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import ensue",
        "import ensue.cli",
        "import ensue.maintain",
        "import ensue.cli\ntry: ensue.cli.main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_nothing_heavy_is_loaded(code):
    assert modules_loaded_by(code) & HEAVY == set()


def test_spark_asks_for_a_processors_state_without_loading_shards(tmp_path):
    from ensue.spark.job_shard import PackedJob, ShardOf
    from ensue.spark.packed import Packed
    from ensue.spark.processor import ShardProcessor

    sent = tmp_path / "processor"
    sent.write_bytes(pickle.dumps(ShardProcessor(Packed.of({0: ShardOf(PackedJob(Packed.of("a job")))}))))
    received = f"import pickle\nfrom pathlib import Path\npickle.loads(Path({str(sent)!r}).read_bytes())"
    assert modules_loaded_by(received) & HEAVY <= {"numpy", "pyspark"}


def test_that_check_can_fail():
    assert "pyoxigraph" in modules_loaded_by("import ensue.files")


def test_import_takes_less_than_a_third_of_a_second():
    # Not the wall's clock but the interpreter's own account; it is a tenth of the bound when idle.
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import ensue"], capture_output=True, text=True, check=True
    )
    (cumulative,) = re.findall(r"\|\s*(\d+) \| ensue$", ran.stderr, flags=re.MULTILINE)
    print(f"import ensue: {int(cumulative) / 1000:.1f} ms")
    assert int(cumulative) < 300_000


def test_the_lock_names_every_direct_dependency(repository):
    import tomllib

    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"]]
    for extra in ("bench", "dev"):
        wanted += project["optional-dependencies"][extra]
    lock = (repository / "requirements.lock").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.+]+", line) for line in lock)
    locked = {line.partition("==")[0].lower().replace("_", "-") for line in lock}
    assert {re.split(r"[<>=]", name)[0].lower() for name in wanted} <= locked
