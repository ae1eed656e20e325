"""What a run has written to files, so that a restart writes nothing twice and leaves nothing out.

Spark may give the last micro-batch again after a restart. The ledger, in the checkpoint, says which was
written last and how long each file was after it; what is in a file beyond that was written by a run that
did not live to say so, and is cut off.

Of each micro-batch Spark first writes down that it is planned, then we that it is written, then Spark that
it is done. So whatever has crashed, the ledger is between Spark's two logs; otherwise somebody has changed
the checkpoint, and no run from it would give each result once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType

from ensue.errors import EnsueError, InputError, Place, UsageError
from ensue.spark.file_system import SYSTEM, Files

NAME = "ensue-written.json"
SPARK = "spark"
"""The folder in a checkpoint that is Spark's."""
_FRESH = "start with a new checkpoint, and another output file"


@dataclass(frozen=True, slots=True)
class Written:
    """After which micro-batch: how long each file is, and which queries have had results.

    `merged` answers were put together from parts of shards, so no shard has counted them.
    """

    batch: int = -1
    lengths: Mapping[str, int] = field(default_factory=dict)
    queries: tuple[str, ...] = ()
    merged: int = 0


class Ledger:
    """The ledger of a checkpoint; without one it is forgotten with the run.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder))
    ...     ledger.close(Written(0, {"out": 10}))
    ...     json.loads(Path(folder, NAME).read_text())
    {'batch': 0, 'lengths': {'out': 10}, 'queries': [], 'merged': 0}
    """

    def __init__(self, checkpoint: Path | None, files: Files = SYSTEM) -> None:
        self._path = None if checkpoint is None else checkpoint / NAME
        self.written = Written()
        self.files = files
        if checkpoint is not None and self._path is not None:
            self.written = _read(self._path, files)
            _check(self.written.batch, self._path, checkpoint / SPARK, files)

    def once(self, number: int, write: Callable[[], Written | None], outputs: Iterable[OnceFile]) -> bool:
        """Write a micro-batch, unless it is written already: whether it was.

        `write` writes it to `outputs`, and says what there is to note besides their lengths: None if the
        micro-batch is not to count, so that who goes on from here begins with it again.
        """
        if number <= self.written.batch:
            return False
        written = write()
        # First the results are on the disk, and then it is said that they are.
        lengths = {output.name: output.sync() for output in outputs}
        if written is not None:
            self.close(replace(written, batch=number, lengths=lengths))
        return True

    def close(self, written: Written) -> None:
        """A micro-batch is written."""
        self.written = written
        if self._path is not None:
            text = asdict(written)
            try:
                write_whole(self._path, json.dumps(text), self.files)
            except OSError as problem:
                raise refused(str(self._path), problem) from problem


@contextmanager
def alone(checkpoint: Path, files: Files = SYSTEM) -> Iterator[None]:
    """See that no other run has a checkpoint: both would write to it, and to the same files."""
    try:
        lock = files.lock(checkpoint)
    except OSError as problem:
        raise unreadable(str(checkpoint), problem) from problem
    if lock is None:
        hint = "wait until it ends, or stop it"
        raise UsageError(f"another run has the checkpoint {checkpoint}", hint=hint)
    try:
        yield
    finally:
        files.unlock(lock)


class OnceFile:
    """A file that grows by whole micro-batches: a sink for writers of results."""

    def __init__(self, path: str, ledger: Ledger) -> None:
        self._path = path
        self._files = ledger.files
        self._length = ledger.written.lengths.get(os.path.abspath(path))

    def __enter__(self) -> OnceFile:
        self._is_new = not self._length
        try:
            path = Path(self._path)
            self._out = self._files.open_there(path) if self._length else self._files.open_new(path)
        except FileNotFoundError as problem:
            if not self._length:
                raise refused(self._path, problem) from problem
            raise self._changed("is not there", self._length) from problem
        except OSError as problem:
            raise refused(self._path, problem) from problem
        if self._length:
            self._cut(self._length)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._out.close()
        except OSError as failed:
            # What could not be written before is tried again, and has been complained about.
            if kind is None:
                raise refused(self._path, failed) from failed

    def write(self, text: str) -> None:
        """Take some text."""
        try:
            self._out.write(text.encode())
        except OSError as problem:
            raise refused(self._path, problem) from problem

    def flush(self) -> None:
        """Let what was written be seen."""
        try:
            self._out.flush()
        except OSError as problem:
            raise refused(self._path, problem) from problem

    def sync(self) -> int:
        """See that what was written outlives the machine; say how long the file is."""
        try:
            self._out.sync()
            if self._is_new:  # Its name has to outlive the machine, too.
                self._files.sync_folder(Path(self.name).parent)
                self._is_new = False
        except OSError as problem:
            raise refused(self._path, problem) from problem
        return self._out.size()

    @property
    def name(self) -> str:
        """The file as the ledger knows it."""
        return os.path.abspath(self._path)

    def _cut(self, length: int) -> None:
        found = self._out.size()
        if found < length:
            self._out.close()
            raise self._changed(f"has {found} bytes", length)
        self._out.cut(length)

    def _changed(self, what: str, length: int) -> InputError:
        what = f"{what}, and the checkpoint says that {length} bytes were written"
        return InputError(what, place=Place(self._path), hint=f"was it changed? put it back, or {_FRESH}")


def write_whole(path: Path, text: str, files: Files = SYSTEM) -> None:
    """Put a text into a file so that nobody ever sees half of it, even after a crash."""
    beside = part_of(path)
    out = files.open_new(beside)
    try:
        out.write(text.encode())
        out.sync()
    finally:
        out.close()
    files.replace(beside, path)
    files.sync_folder(path.parent)


def part_of(path: Path) -> Path:
    """Where a file is written before it is whole."""
    return path.with_name(f"{path.name}.part")


def refused(path: str, problem: OSError) -> EnsueError:
    """A file that the system does not let us write."""
    hint = "is there space, and may you write there?"
    return EnsueError(f"cannot be written: {problem.strerror}", place=Place(path), hint=hint)


def unreadable(path: str, problem: OSError) -> InputError:
    """A file that the system does not let us read."""
    return InputError(
        f"cannot be read: {problem.strerror}", place=Place(path), hint="check the file's permissions"
    )


def _read(path: Path, files: Files) -> Written:
    try:
        if not files.exists(path):
            return Written()
        found = json.loads(files.read(path).decode())
        lengths = {str(file): int(length) for file, length in found["lengths"].items()}
        queries = tuple(map(str, found["queries"]))
        return Written(int(found["batch"]), lengths, queries, int(found.get("merged", 0)))
    except OSError as problem:
        raise unreadable(str(path), problem) from problem
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InputError(f"is damaged: {problem}", place=Place(str(path)), hint=_FRESH) from problem


def _check(written: int, path: Path, spark: Path, files: Files) -> None:
    planned, done = _last(spark / "offsets", files), _last(spark / "commits", files)
    if not done <= written <= planned:
        what = f"the last micro-batch written is {written}, but Spark has done {done} and planned {planned}"
        raise InputError(what, place=Place(str(path)), hint=f"was the checkpoint changed? {_FRESH}")


def _last(log: Path, files: Files) -> int:
    """The last micro-batch of one of Spark's logs, which have a file for each; -1 if there is none."""
    return max((int(name) for name in files.names(log) if name.isdecimal()), default=-1)
