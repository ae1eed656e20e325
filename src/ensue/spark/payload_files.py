"""Files of what tasks are sent, by digest: written once by the driver, mapped by workers (`packed.py`).

They lie in a private folder that goes with the job. Workers of the driver's host find them there; to those of
a cluster Spark brings them as it brings any file that is added to its context. A driver that is killed leaves
its folder behind, and the next one removes it: whether its owner lives is told by a lock, which the system
takes back however a process ends.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from ensue.errors import EnsueError
from ensue.spark.packed import SMALL, Packed, digest_of, file_name, serialized

T = TypeVar("T")

_PREFIX = "ensue-payloads-"


class PayloadFiles:
    """The files of a job, in a folder of their own.

    >>> with PayloadFiles() as files:
    ...     few, many = files.pack("few"), files.pack("many" * 100_000)
    ...     few.path, len(many.value()), len(list(files.folder.iterdir()))
    (None, 400000, 1)
    >>> files.folder.exists()
    False
    """

    def __init__(self, spark: SparkSession | None = None, place: Path | None = None) -> None:
        """`spark`: whose workers may be on other hosts; `place` is where the folder is to be."""
        place = Path(gettempdir()) if place is None else place
        remove_abandoned(place)
        self.folder, self._lock = _locked_folder(place)
        self._spark = spark
        self._process = os.getpid()

    def __enter__(self) -> PayloadFiles:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove all files. Workers that have them mapped keep them."""
        if os.getpid() == self._process:  # A process that was forked off must not take its parent's.
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)

    def pack(self, value: T, /) -> Packed[T]:
        """Pack a value: into a file, unless its bytes are few."""
        parts = serialized(value)
        digest, size = digest_of(parts), sum(memoryview(part).nbytes for part in parts)
        if size <= SMALL:
            return Packed(digest, size, b"".join(parts))
        path = self.folder / file_name(digest)
        if not path.exists():
            self._write(path, parts)
            if self._spark is not None:
                _bring(self._spark, path)
        return Packed(digest, size, None, str(path))

    def _write(self, path: Path, parts: Iterable[bytes | memoryview]) -> None:
        part = path.with_suffix(".part")
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.writelines(parts)
            part.rename(path)
        except OSError as problem:
            hint = "the background is written there for Spark's workers: let TMPDIR name a folder with space"
            raise EnsueError(f"cannot write {path}: {problem.strerror}", hint=hint) from problem


def _bring(spark: SparkSession, path: Path) -> None:
    """Let Spark bring a file to wherever tasks of a session run, if that can be another host."""
    if _is_remote(spark):
        spark.addArtifacts(str(path), file=True)
    elif not _is_here(spark):
        spark.sparkContext.addFile(str(path))


def _is_remote(spark: Any) -> bool:
    """Whether a session is one of Spark Connect: its driver is in another process."""
    return not isinstance(spark, SparkSession)


def _is_here(spark: SparkSession) -> bool:
    """Whether all tasks of a session run on this host."""
    return not _is_remote(spark) and str(spark.sparkContext.master).startswith("local")


@contextmanager
def files_of_job(spark: SparkSession) -> Iterator[PayloadFiles]:
    """Files that go with a job, unless its tasks run elsewhere.

    A cluster brings all files that were ever added to its context to each worker that joins.
    """
    if _is_here(spark):
        with PayloadFiles() as files:
            yield files
    else:
        yield lasting(spark)


_LASTING: dict[str, PayloadFiles] = {}


def lasting(spark: SparkSession) -> PayloadFiles:
    """Files that stay until this process ends: DataFrames may be started at any time.

    They are by application: what was added to the context of one is unknown to the next.
    """
    application = "remote" if _is_remote(spark) else str(spark.sparkContext.applicationId)
    if application not in _LASTING:
        _LASTING[application] = PayloadFiles(spark)
        atexit.register(_LASTING[application].close)
    return _LASTING[application]


def remove_abandoned(place: Path) -> None:
    """Remove our folders whose owners have ended without doing so."""
    for path in place.glob(f"{_PREFIX}*"):
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if os.fstat(folder).st_uid == os.getuid():
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue  # Its owner lives.
        finally:
            os.close(folder)


def _locked_folder(place: Path) -> tuple[Path, int]:
    """A new folder that nobody else can look into, and the lock that says that its owner lives."""
    while True:
        path = Path(mkdtemp(prefix=_PREFIX, dir=place))
        folder = -1
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists():
                return path, folder
        except OSError:
            pass  # Another process took it for abandoned before it was locked.
        if folder >= 0:
            os.close(folder)
