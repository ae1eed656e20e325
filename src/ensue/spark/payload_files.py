"""Files of what tasks are sent, by digest: written once by the driver, mapped by workers (`packed.py`).

They lie in a private folder that goes with the job. Workers of the driver's host find them there; to those of
a cluster Spark brings them as it brings any file that is added to its context. A driver that is killed leaves
its folder behind, and the next one removes it: whether its owner lives is told by a lock, which the system
takes back however a process ends.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from ensue.errors import EnsueError, Place
from ensue.private_folder import UnsafeFolderError
from ensue.spark.file_system import SYSTEM, Files
from ensue.spark.packed import SMALL, Packed, digest_of, file_name, serialized
from ensue.spark.scratch import place as scratch_place

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

    def __init__(
        self, spark: SparkSession | None = None, place: Path | None = None, files: Files = SYSTEM
    ) -> None:
        """`spark`: whose workers may be on other hosts; `place` is where the folder is to be."""
        place = scratch_place() if place is None else place
        remove_abandoned(place, files)
        self._files = files
        self.folder, self._lock = _locked_folder(place, files)
        self._spark = spark
        self._process = files.process()

    def __enter__(self) -> PayloadFiles:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove all files. Workers that have them mapped keep them."""
        if self._files.process() == self._process:  # One that was forked off must not take its parent's.
            self._files.remove_tree(self.folder)
            self._files.unlock(self._lock)

    def pack(self, value: T, /) -> Packed[T]:
        """Pack a value: into a file, unless its bytes are few."""
        parts = serialized(value)
        digest, size = digest_of(parts), sum(memoryview(part).nbytes for part in parts)
        if size <= SMALL:
            return Packed(digest, size, b"".join(parts))
        path = self.folder / file_name(digest)
        if not self._files.exists(path):
            self._write(path, parts)
            if self._spark is not None:
                _bring(self._spark, path)
        return Packed(digest, size, None, str(path))

    def _write(self, path: Path, parts: Iterable[bytes | memoryview]) -> None:
        part = path.with_suffix(".part")
        try:
            file = self._files.open_new(part)
            try:
                for each in parts:
                    file.write(each)
            finally:
                file.close()
            self._files.replace(part, path)
        except OSError as problem:
            raise _refused(path, problem) from problem


def _refused(path: Path, problem: OSError) -> EnsueError:
    hint = "the background is written there for Spark's workers: let TMPDIR name a folder with space"
    return EnsueError(f"cannot be written: {problem.strerror}", place=Place(str(path)), hint=hint)


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


def remove_abandoned(place: Path, files: Files = SYSTEM) -> None:
    """Remove our folders whose owners have ended without doing so."""
    for name in files.names(place):
        if not name.startswith(_PREFIX):
            continue
        try:
            files.check_own(place / name)
            lock = files.lock(place / name)
        except (OSError, UnsafeFolderError):
            continue
        if lock is not None:  # Otherwise its owner lives.
            files.remove_tree(place / name)
            files.unlock(lock)


def _locked_folder(place: Path, files: Files) -> tuple[Path, int]:
    """A new folder that nobody else can look into, and the lock that says that its owner lives."""
    while True:
        try:
            path = files.make_temporary(_PREFIX, place)
        except OSError as problem:
            raise _refused(place, problem) from problem
        try:
            lock = files.lock(path)
        except FileNotFoundError:
            continue  # Another process took it for abandoned before it was locked.
        if lock is not None:
            if files.exists(path):
                return path, lock
            files.unlock(lock)
