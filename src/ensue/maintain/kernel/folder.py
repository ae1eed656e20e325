"""Arrays in files that several processes of a host can take over from each other.

A folder is worked in by one process at a time, which `keep`s its arrays there: they are then memory-mapped,
and what is written into them is in the files. When it is done for now it `seal`s the folder, with plain data
beside the arrays; whoever opens the folder next finds them as they were. Who may open it is a matter of its
name, which is somebody else's to choose (`ensue.spark.shelf`).

Space is reserved before it is mapped: otherwise a full disk would not be an error but a signal that kills.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from ensue.maintain.kernel.layout import Array

_CONTENTS = "contents"
_SMALL = 1 << 15
"""Arrays of fewer bytes are written one after the other into one file: to map each would take longer."""
_POPULATE = getattr(mmap, "MAP_POPULATE", 0)


class FolderError(Exception):
    """A folder is not as it was sealed."""


class Folder:
    """A folder of arrays.

    >>> from tempfile import mkdtemp
    >>> folder = Folder(Path(mkdtemp()))
    >>> numbers = folder.keep("numbers", np.arange(3))
    >>> numbers[0] = 7
    >>> folder.keep("numbers", numbers) is numbers
    True
    >>> folder.seal({"now": 5})
    >>> again = Folder.opened(folder.path)
    >>> again.find("numbers").tolist(), again.plain
    ([7, 1, 2], {'now': 5})
    """

    def __init__(self, path: Path, prefix: str = "", of: Folder | None = None) -> None:
        """`of` is a folder that this one is a part of: the arrays whose names begin so."""
        self.path = path
        self.plain: dict[str, Any] = {}
        self._prefix = prefix
        self._large: dict[str, Array] = of._large if of else {}
        self._small: dict[str, Array] = of._small if of else {}

    @classmethod
    def opened(cls, path: Path) -> Folder:
        """A folder that was sealed. FolderError if it is not whole."""
        try:
            folder = cls(path)
            header, _, small = (path / _CONTENTS).read_bytes().partition(b"\n")
            contents = json.loads(header)
            at = 0
            for name, kind, shape in contents["small"]:
                folder._small[name] = _read(small, at, np.dtype(kind), tuple(shape))
                at += folder._small[name].nbytes
            if at != len(small):
                raise FolderError(f"{path.name}: {len(small):,} bytes of small arrays, not {at:,}")
            for name, kind, shape in contents["large"]:
                folder._large[name] = _mapped(path / name, np.dtype(kind), tuple(shape))
            folder.plain = contents["plain"]
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise FolderError(f"{path.name}: {problem}") from problem
        return folder

    def under(self, prefix: str) -> Folder:
        """The arrays whose names begin so, by the rest of their names."""
        return Folder(self.path, f"{self._prefix}{prefix}.", self)

    def holds(self, name: str, array: Array) -> bool:
        """Whether an array is in a file here."""
        return self._large.get(self._prefix + name) is array

    def keep(self, name: str, array: Array) -> Array:
        """The same array as it is kept here: itself, if it is so already, or if it is small."""
        if self.holds(name, array):
            return array
        name = self._prefix + name
        path = self.path / name
        if self._large.pop(name, None) is not None:
            path.unlink()  # Who has the old file mapped keeps it.
        if array.nbytes < _SMALL:
            self._small[name] = array
            return array
        self._small.pop(name, None)
        with path.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, array.nbytes)
        self._large[name] = _mapped(path, array.dtype, array.shape)
        self._large[name][...] = array
        return self._large[name]

    def find(self, name: str) -> Array:
        """An array that is kept here."""
        name = self._prefix + name
        found = self._large.get(name, self._small.get(name))
        if found is None:
            raise FolderError(f"{self.path.name}: there is no array {name}")
        return found

    def seal(self, plain: dict[str, Any]) -> None:
        """Write down what is here, and plain data with it."""
        self.plain = plain
        about = {"small": _listed(self._small), "large": _listed(self._large), "plain": plain}
        parts = [json.dumps(about).encode(), b"\n", *(array.tobytes() for array in self._small.values())]
        (self.path / _CONTENTS).write_bytes(b"".join(parts))


def _listed(arrays: dict[str, Array]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(name, array.dtype.str, array.shape) for name, array in arrays.items()]


def _read(data: bytes, at: int, kind: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """An array that was written among others: a copy, which can be written to."""
    return np.frombuffer(data, kind, math.prod(shape), at).reshape(shape).copy()


def _mapped(path: Path, kind: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    size = math.prod(shape) * kind.itemsize
    if path.stat().st_size != size:
        raise FolderError(f"{path.name} has {path.stat().st_size:,} bytes, not {size:,}")
    with path.open("r+b") as file:
        pages = mmap.mmap(file.fileno(), size, flags=mmap.MAP_SHARED | _POPULATE)
    return np.frombuffer(pages, kind).reshape(shape)
