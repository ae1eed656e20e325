"""The Spark session: every setting that Ensue relies on, in one place, with its reason."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from ensue.errors import EnsueError, UsageError
from ensue.spark.classes import ClassArchive, class_archive
from ensue.spark.java import Java, find_java, use_java
from ensue.spark.python import worker_python
from ensue.spark.scratch import lasting

ARROW_ROWS = 10_000
"""Rows of an Arrow batch: below a few thousand the calls cost more than the work, above nothing is gained."""

_STREAMING = "org.apache.spark.sql.execution.streaming"
_LOOPBACK = "127.0.0.1"
_MAKES_SECRETS = re.compile(r"local(\[[^]]*\])?")
"""Masters for which Spark itself makes a random secret. One that we made would stand in Java's command line,
for all users of the machine to read."""
_ATTEMPTS = 4
"""How often a task is tried, as on a cluster: unless told, Spark within one process tries once."""
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_LOGGING = Path(__file__).with_name("log4j2.properties")

_ALWAYS = {
    # Rows go to Python and back in Arrow batches. Where that fails it must not go on row by row, unseen.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_ROWS),
    # State larger than memory; each micro-batch writes what changed, not the whole state.
    "spark.sql.streaming.stateStore.providerClass": f"{_STREAMING}.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Times are milliseconds since 1970 in UTC, wherever the job runs.
    "spark.sql.session.timeZone": "UTC",
    # Errors only, from the first line on: `setLogLevel` would come after a screenful of warnings.
    _JAVA_OPTIONS: f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    # No port is opened and no bar is drawn unless asked for.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

_LOCAL_ONLY = {
    # Driver and workers are on this machine, which may have no name in any network.
    "spark.driver.host": _LOOPBACK,
    "spark.driver.bindAddress": _LOOPBACK,
    # On a local disk a rename is atomic, and going without Hadoop's FileContext halves the time of an empty
    # micro-batch. An object store has no such rename: there Spark's own choice stands.
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

_OWN = {
    # A JVM that only moves blocks about: for some minutes its second compiler would take a fifth of two
    # cores from the workers, and more threads that collect garbage would be in their way, too.
    _JAVA_OPTIONS: f"{_ALWAYS[_JAVA_OPTIONS]} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # Rows are few, and what they hold is looked at in Python: to generate and compile code for them, anew in
    # each micro-batch, takes a fifth of Java's time and saves none.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Of a session that nobody else has: whoever goes on with Spark may want the JVM at its fastest."""


def settings(
    app: str = "ensue",
    *,
    cores: int | None = None,
    shards: int = 1,
    memory: str | None = None,
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What `session` sets, as data.

    >>> settings(cores=2, shards=4)["spark.master"], settings(shards=4)["spark.sql.shuffle.partitions"]
    ('local[2,4]', '4')
    """
    for name, number in (("cores", cores), ("shards", shards)):
        if number is not None and number < 1:
            raise UsageError(f"{number} {name}", hint="at least one")
    given = dict(extra or {})
    found = {
        "spark.app.name": app,
        "spark.master": f"local[{cores or '*'},{_ATTEMPTS}]",
        # A shard is a partition of the stateful stage, and that is the only shuffle there is.
        "spark.sql.shuffle.partitions": str(shards),
        **_ALWAYS,
        **(_LOCAL_ONLY if is_local(given) else {}),
    }
    if _MAKES_SECRETS.fullmatch(given.get("spark.master", "local")) and is_local(given):
        # Other users of the machine reach its ports as well.
        found["spark.authenticate"] = "true"
    if memory is not None:
        # In local mode the driver's JVM is the only one.
        found["spark.driver.memory"] = memory
    return found | given


def session(
    app: str = "ensue",
    *,
    cores: int | None = None,
    shards: int = 1,
    memory: str | None = None,
    extra: Mapping[str, str] | None = None,
) -> SparkSession:
    """A Spark session as Ensue needs it: embedded in this process unless `extra` names a `spark.master`.

    `cores` is how many tasks run at once (default: as many as there are), `memory` what the JVM may take
    (say "2g"); `extra` has the last word on any setting. Where a session is running already, that one is
    given back, with those of the settings that can still be changed.
    """
    chosen, java = settings(app, cores=cores, shards=shards, memory=memory, extra=extra), find_java()
    return _started(_with_classes(chosen, _archive(chosen, java)), java)


def _archive(chosen: Mapping[str, str], java: Java) -> ClassArchive | None:
    """The archive of classes for the Java of this process: others are on machines of their own."""
    return class_archive(java, chosen[_JAVA_OPTIONS]) if is_local(chosen) else None


def _with_classes(
    chosen: Mapping[str, str], archive: ClassArchive | None, *, records: bool = False
) -> Mapping[str, str]:
    """Settings under which Java starts from an archive that is there, or records for one."""
    options = None if archive is None else archive.recording if records else archive.options
    return chosen if options is None else {**chosen, _JAVA_OPTIONS: f"{chosen[_JAVA_OPTIONS]} {options}"}


def _started(chosen: Mapping[str, str], java: Java) -> SparkSession:
    use_java(java)
    if is_local(chosen):
        # Workers are this very Python: what is imported here can be imported there.
        os.environ["PYSPARK_PYTHON"] = worker_python()
        os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        # Set before the JVM starts: it looks up its own host name, which fails without a network.
        os.environ["SPARK_LOCAL_IP"] = _LOOPBACK
        if SparkContext._active_spark_context is None:
            # What is spilled and shuffled: Spark's own folders can be read by others, and be open to a group.
            chosen = {"spark.local.dir": str(lasting()), **chosen}
    else:
        # The same path on every machine of the cluster, unless the user knows better.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    for name, value in chosen.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as problem:
        hint = "the lines above are from Java; is there memory enough, and is JAVA_HOME what it should be?"
        raise EnsueError(f"Spark did not start: {problem}", hint=hint) from problem


def is_local(chosen: Mapping[str, str]) -> bool:
    """Whether settings mean Spark within this process, not a cluster.

    >>> is_local({}), is_local({"spark.master": "local[2]"}), is_local({"spark.master": "spark://host:7077"})
    (True, True, False)
    """
    return chosen.get("spark.master", "local").startswith("local") and "spark.remote" not in chosen


@contextmanager
def embedded(
    *,
    cores: int | None,
    shards: int,
    memory: str | None,
    master: str | None = None,
    extra: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[SparkSession]:
    """A session of a command's own, which ends with it. What takes long then is said."""
    place = {} if master is None else {"spark.master": master}
    own = _OWN if is_local(place) else {}
    given = {**own, **place, **(extra or {})}
    chosen, java = settings(cores=cores, shards=shards, memory=memory, extra=given), find_java()
    archive = _archive(chosen, java)
    # What a Java was started with cannot be changed: only the first one of this process can record.
    records = archive is not None and SparkContext._gateway is None and archive.is_to_be_made()
    spark = _started(_with_classes(chosen, archive, records=records), java)
    # Spark's Python workers greet on Java's standard error, and would do so between the user's results.
    system = spark._jvm.java  # type: ignore[union-attr]
    system.lang.System.setErr(system.io.PrintStream(system.io.OutputStream.nullOutputStream()))
    try:
        yield spark
    finally:
        spark.stop()
    if archive is not None and records:
        say("keeping Java's classes, once: Spark will start sooner")
        archive.write(SparkContext._gateway)
