"""The file operations that the protocols of a checkpoint, its output, shards' arrays and payloads consist of.

What a protocol promises after a crash rests on the order of these operations alone. So protocols do nothing
to files but through `Files`, and tests run them on a simulated one, which crashes between any two operations
(`tests/faults`). `SYSTEM` is the real one.
"""

# ruff: noqa: D102 (a method that a protocol describes is described there)

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from time import time
from typing import BinaryIO, Protocol

from ensue.private_folder import check_own


class File(Protocol):
    """An open file that is written to from where it is."""

    def write(self, data: bytes | memoryview) -> None:
        """Take some bytes: into the memory of this process, for a while."""

    def flush(self) -> None:
        """Hand all bytes to the system: they outlive this process."""

    def sync(self) -> None:
        """Have all bytes on the disk: they outlive the system."""

    def size(self) -> int:
        """How long the file is with all that was written."""

    def cut(self, length: int) -> None:
        """Remove what is behind a length, and go on there."""

    def close(self) -> None:
        """Hand all bytes to the system and give the file back."""


class Files(Protocol):
    """A file system, and what the system knows of processes that use it. Refusals are OSErrors."""

    def open_new(self, path: Path) -> File:
        """An empty file in the place of whatever is there."""

    def open_there(self, path: Path) -> File:
        """A file that is there, as it is."""

    def read(self, path: Path) -> bytes:
        """What is in a file."""

    def exists(self, path: Path) -> bool:
        """Whether something has this name."""

    def names(self, folder: Path) -> list[str]:
        """The names in a folder; none if it is not there."""

    def replace(self, path: Path, by: Path) -> None:
        """Give a file the name of another, which is gone: at once, for all who look."""

    def rename(self, path: Path, to: Path) -> None:
        """Give a folder another name; of several processes that try, one succeeds."""

    def sync_folder(self, folder: Path) -> None:
        """Have the names in a folder on the disk."""

    def make_folder(self, path: Path) -> None:
        """Make a private folder; it is an error if something is there."""

    def make_temporary(self, prefix: str, place: Path) -> Path:
        """Make a private folder with a name of its own."""

    def check_own(self, folder: Path) -> None:
        """Raise UnsafeFolderError if others may write to a folder."""

    def remove_tree(self, folder: Path) -> None:
        """Remove a folder with all that is in it, as far as that goes. What is mapped stays."""

    def touch(self, path: Path) -> None:
        """Let a file or folder be as old as now."""

    def age(self, path: Path) -> float:
        """How many seconds old it is."""

    def lock(self, folder: Path) -> int | None:
        """Lock a folder until `unlock` or the end of this process; None if another process has it."""

    def unlock(self, lock: int) -> None:
        """Give a lock back."""

    def process(self) -> int:
        """The number of this process."""

    def is_alive(self, process: int) -> bool:
        """Whether a process is there."""

    def boot(self) -> str:
        """Names the time since the machine was started."""


class _SystemFile:
    """A file of the system."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def size(self) -> int:
        return self._file.tell()

    def cut(self, length: int) -> None:
        self._file.truncate(length)
        self._file.seek(length)

    def close(self) -> None:
        self._file.close()


class SystemFiles:
    """The file system of this machine."""

    def open_new(self, path: Path) -> File:
        return _SystemFile(open(path, "wb"))

    def open_there(self, path: Path) -> File:
        file = open(path, "r+b")  # noqa: SIM115
        file.seek(0, os.SEEK_END)
        return _SystemFile(file)

    def read(self, path: Path) -> bytes:
        return path.read_bytes()

    def exists(self, path: Path) -> bool:
        return path.exists()

    def names(self, folder: Path) -> list[str]:
        try:
            return os.listdir(folder)
        except FileNotFoundError:
            return []

    def replace(self, path: Path, by: Path) -> None:
        os.replace(path, by)

    def rename(self, path: Path, to: Path) -> None:
        os.rename(path, to)

    def sync_folder(self, folder: Path) -> None:
        found = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(found)
        finally:
            os.close(found)

    def make_folder(self, path: Path) -> None:
        path.mkdir(mode=0o700)

    def make_temporary(self, prefix: str, place: Path) -> Path:
        return Path(mkdtemp(prefix=prefix, dir=place))

    def check_own(self, folder: Path) -> None:
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is not a folder")
        check_own(folder.resolve())

    def remove_tree(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    def touch(self, path: Path) -> None:
        os.utime(path)

    def age(self, path: Path) -> float:
        return time() - path.stat().st_mtime

    def lock(self, folder: Path) -> int | None:
        found = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # The system takes the lock back however the process ends.
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(found)
            return None
        except BaseException:
            os.close(found)
            raise
        return found

    def unlock(self, lock: int) -> None:
        os.close(lock)

    def process(self) -> int:
        return os.getpid()

    def is_alive(self, process: int) -> bool:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True

    def boot(self) -> str:
        with suppress(OSError):
            return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
        return "unknown"


SYSTEM = SystemFiles()
