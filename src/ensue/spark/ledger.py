"""What a run has written to files, so that a restart writes nothing twice and leaves nothing out.

Spark may give the last micro-batch again after a restart. The ledger, in the checkpoint, says which was
written last and how long each file was after it; what is in a file beyond that was written by a run that
did not live to say so, and is cut off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from ensue.errors import EnsueError, InputError, Place

NAME = "ensue-written.json"


@dataclass(frozen=True, slots=True)
class Written:
    """After which micro-batch: how long each file is, and which queries have had results."""

    batch: int = -1
    lengths: Mapping[str, int] = field(default_factory=dict)
    queries: tuple[str, ...] = ()


class Ledger:
    """The ledger of a checkpoint; without one it is forgotten with the run.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ledger(Path(folder)).close(Written(3, {"out": 10}))
    ...     Ledger(Path(folder)).written
    Written(batch=3, lengths={'out': 10}, queries=())
    """

    def __init__(self, checkpoint: Path | None) -> None:
        self._path = None if checkpoint is None else checkpoint / NAME
        self.written = _read(self._path) if self._path is not None else Written()

    def close(self, written: Written) -> None:
        """A micro-batch is written."""
        self.written = written
        if self._path is not None:
            text = {"batch": written.batch, "lengths": dict(written.lengths), "queries": written.queries}
            write_whole(self._path, json.dumps(text))


class OnceFile:
    """A file that grows by whole micro-batches: a sink for writers of results."""

    def __init__(self, path: str, ledger: Ledger) -> None:
        self._path = path
        self._length = ledger.written.lengths.get(os.path.abspath(path))

    def __enter__(self) -> OnceFile:
        try:
            self._out = open(self._path, "wb" if self._length is None else "r+b")
        except OSError as problem:
            raise self._refused(problem) from problem
        if self._length is not None:
            self._cut(self._length)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._out.close()

    def write(self, text: str) -> None:
        """Take some text."""
        try:
            self._out.write(text.encode())
        except OSError as problem:
            raise self._refused(problem) from problem

    def flush(self) -> None:
        """Let what was written be seen."""
        try:
            self._out.flush()
        except OSError as problem:
            raise self._refused(problem) from problem

    def sync(self) -> int:
        """See that what was written outlives the machine; say how long the file is."""
        self.flush()
        try:
            os.fsync(self._out.fileno())
        except OSError as problem:
            raise self._refused(problem) from problem
        return self._out.tell()

    @property
    def name(self) -> str:
        """The file as the ledger knows it."""
        return os.path.abspath(self._path)

    def _cut(self, length: int) -> None:
        found = self._out.seek(0, os.SEEK_END)
        if found < length:
            what = f"has {found} bytes, and the checkpoint says that {length} were written"
            hint = "was it changed? write to another file, with a new checkpoint"
            raise InputError(what, place=Place(self._path), hint=hint)
        self._out.truncate(length)
        self._out.seek(length)

    def _refused(self, problem: OSError) -> EnsueError:
        hint = "is there space, and may you write there?"
        return EnsueError(f"cannot be written: {problem.strerror}", place=Place(self._path), hint=hint)


def write_whole(path: Path, text: str) -> None:
    """Put a text into a file so that nobody ever sees half of it, even after a crash."""
    beside = path.with_name(f"{path.name}.part")
    with open(beside, "w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    os.replace(beside, path)


def _read(path: Path) -> Written:
    if not path.exists():
        return Written()
    try:
        found = json.loads(path.read_text("utf-8"))
        return Written(found["batch"], found["lengths"], tuple(found["queries"]))
    except (ValueError, KeyError) as problem:
        hint = "start with a new checkpoint"
        raise InputError(f"is damaged: {problem}", place=Place(str(path)), hint=hint) from problem
