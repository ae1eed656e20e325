"""What tasks are sent: a digest, and the bytes along with it only if they are few.

Spark sends a function with each of its tasks. Above 1 MiB it makes a broadcast variable of the function,
which the driver's worker of a stateful operator never loads, and below that the bytes are sent and copied
anew in each micro-batch. So what can grow with the background is in a file (`payload_files.py`), which each
worker process maps once; numpy arrays are not copied out of it. Files are trusted by their digest and owner.
"""

from __future__ import annotations

import mmap
import os
import pickle
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from ensue.errors import EnsueError

T = TypeVar("T")

SMALL = 1 << 14
"""Of so many bytes at most a value travels along: a file would cost more."""
_ALIGNED = 64
_UNPACKED: dict[str, Any] = {}
"""Workers live through many micro-batches, and this lives with them."""
_FILES: dict[str, int] = {}
"""The files that were checked, by digest: open for as long as the process lives."""


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    """A pickled value, known by the digest of its bytes. Two are equal that are the same value.

    >>> one, other = Packed.of(("a", 1)), Packed.of(("a", 1))
    >>> one == other, one.value() is other.value()
    (True, True)
    """

    digest: str
    size: int
    data: bytes | None = field(compare=False, repr=False)
    """None: the bytes are in a file."""
    path: str | None = field(default=None, compare=False)
    """Where the file is on the driver's host; on other hosts it is among Spark's files."""

    @classmethod
    def of(cls, value: T) -> Packed[T]:
        """Pack a value, with its bytes."""
        data = b"".join(serialized(value))
        return cls(digest_of([data]), len(data), data)

    def value(self) -> T:
        """What was packed: the same object each time. Nobody writes into its arrays."""
        if self.digest not in _UNPACKED:
            _UNPACKED[self.digest] = self.fresh()
        return cast("T", _UNPACKED[self.digest])

    def fresh(self) -> T:
        """The same as an object of its own, into whose arrays its owner may write."""
        # Trusted: the digest came by the way that the code itself came.
        if self.data is not None:
            return cast("T", _loaded(memoryview(bytearray(self.data))))
        file = _file(self.digest, self.size, self.path)
        return cast("T", _loaded(memoryview(mmap.mmap(file, self.size, access=mmap.ACCESS_COPY))))


class Pack(Protocol):
    """Packs values: `Packed.of`, or one that puts large ones into files."""

    def __call__(self, value: T, /) -> Packed[T]:
        """Pack a value."""


def file_name(digest: str) -> str:
    """How the file of a digest is called."""
    return f"ensue-{digest}"


def digest_of(parts: Sequence[bytes | memoryview]) -> str:
    """The digest of bytes that lie one after the other."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(part)
    return found.hexdigest()


def serialized(value: Any) -> list[bytes | memoryview]:
    """A value in bytes: sizes, the pickle, and the large arrays in it, each where it can be mapped."""
    arrays: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    bodies = [memoryview(pickled), *(array.raw() for array in arrays)]
    sizes = np.array([len(bodies), *(body.nbytes for body in bodies)], np.int64)
    parts: list[bytes | memoryview] = []
    for body in (memoryview(sizes.tobytes()), *bodies):
        parts += [body, bytes(-body.nbytes % _ALIGNED)]
    return parts


def _loaded(data: memoryview) -> Any:
    pickled, *arrays = _bodies(data)
    return pickle.loads(pickled, buffers=arrays)


def _bodies(data: memoryview) -> Iterator[memoryview]:
    count = int(np.frombuffer(data, np.int64, 1)[0])
    sizes = np.frombuffer(data, np.int64, 1 + count).tolist()
    sizes[0] = 8 * (1 + count)
    padded = (size + -size % _ALIGNED for size in sizes)
    starts = accumulate(padded, initial=0)
    for start, size in list(zip(starts, sizes, strict=False))[1:]:
        yield data[start : start + size]


def _file(digest: str, size: int, path: str | None) -> int:
    """The file of a digest, open and checked."""
    if digest not in _FILES:
        for place in _places(digest, path):
            if (found := _checked(place, digest, size)) is not None:
                _FILES[digest] = found
                break
        else:
            hint = "the driver's folder for temporary files must stay as it is while a job runs"
            raise EnsueError(f"what the driver wrote for its tasks is not on this host: {digest}", hint=hint)
    return _FILES[digest]


def _places(digest: str, path: str | None) -> Iterator[Path]:
    if path is not None:
        yield Path(path)
    from pyspark import SparkFiles

    if SparkFiles._is_running_on_worker:
        yield Path(SparkFiles.get(file_name(digest)))


def _checked(path: Path, digest: str, size: int) -> int | None:
    """A file, open, if it is whole and nobody else can write to it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    about = os.fstat(file)
    ours = stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid() and _is_private(about, path.parent)
    if ours and about.st_size == size:
        with mmap.mmap(file, size, access=mmap.ACCESS_READ) as pages, memoryview(pages) as data:
            if digest_of([data]) == digest:
                return file
    os.close(file)
    return None


def _is_private(about: os.stat_result, folder: Path) -> bool:
    """Whether nobody else can write to a file: by its own mode, or as nobody else gets into its folder."""
    if not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return True
    above = folder.lstat()
    return above.st_uid == os.getuid() and not above.st_mode & 0o077
