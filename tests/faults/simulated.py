"""A simulated file system with processes: what is not synced may be lost, torn or reordered when power fails.

Each operation of a process is a step at which the schedule may do something: end the process or all of them,
fill the disk, run other processes in between. A dead process does nothing any more, however its code goes on.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any


class SimulatedPath:
    """What the protocols need of a path: pathlib's take most of the time of a schedule."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = str(text)

    def __truediv__(self, name: str) -> SimulatedPath:
        return SimulatedPath(f"{self.text}/{name}")

    def __str__(self) -> str:
        return self.text

    __fspath__ = __str__

    @property
    def name(self) -> str:
        return self.text.rpartition("/")[2]

    @property
    def parent(self) -> SimulatedPath:
        return SimulatedPath(self.text.rpartition("/")[0])

    def with_name(self, name: str) -> SimulatedPath:
        return self.parent / name

    def with_suffix(self, suffix: str) -> SimulatedPath:
        return SimulatedPath(f"{self.text.removesuffix('.part')}{suffix}")


class Killed(BaseException):
    """Ends the code of a process that is dead."""


@dataclass
class Process:
    """A process: its number, and whether it lives."""

    number: int
    dead: bool = False


@dataclass
class Node:
    """A file. What has been written lies in `data`, what outlives a power failure in `synced`."""

    data: Any = b""
    synced: Any = None
    changed: float = 0.0


@dataclass
class Directory:
    """The names in a folder: as they are, as they are on the disk, and what was done since."""

    entries: dict[str, Any] = field(default_factory=dict)
    durable: dict[str, Any] = field(default_factory=dict)
    pending: list[tuple[tuple[str, Any], ...]] = field(default_factory=list)
    changed: float = 0.0

    def do(self, *changes: tuple[str, Any]) -> None:
        """Change some names at once; None: the name goes."""
        _apply(self.entries, changes)
        self.pending.append(changes)


def _apply(entries: dict[str, Any], changes: tuple[tuple[str, Any], ...]) -> None:
    for name, node in changes:
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


class Disk:
    """What all processes of a machine share."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.root = Directory()
        self.now = 0.0
        self.boots = 0
        self.full = 0
        self.survival = 1.0
        """How many more operations find no space."""
        self.locks: dict[int, tuple[Directory, Process]] = {}
        self.processes: dict[int, Process] = {}
        self.steps = 0
        self.at_step: Callable[[Process], None] = lambda process: None

    def start(self) -> Process:
        """A new process."""
        process = Process(len(self.processes) + 1000 * self.boots + 1)
        self.processes[process.number] = process
        return process

    def kill(self, process: Process) -> None:
        """End a process: its locks are free, what it had not handed over is lost."""
        process.dead = True
        self.locks = {key: lock for key, lock in self.locks.items() if lock[1] is not process}

    def lose_power(self) -> None:
        """End all processes, and lose any part of what was not synced."""
        for process in self.processes.values():
            process.dead = True
        self.processes.clear()
        self.locks.clear()
        self.boots += 1
        self.survival = self.random.choice((0.2, 0.5, 0.9))
        self._lose(self.root)

    def _lose(self, folder: Directory) -> None:
        for changes in folder.pending:
            if self.random.random() < self.survival:
                _apply(folder.durable, changes)
        folder.pending.clear()
        folder.entries = dict(folder.durable)
        for node in folder.entries.values():
            if isinstance(node, Directory):
                self._lose(node)
            elif node.data is not node.synced:
                node.data = node.synced = self._torn(node)

    def _torn(self, node: Node) -> Any:
        data, old = node.data, b"" if node.synced is None else node.synced
        if not isinstance(data, bytes) or not isinstance(
            old, bytes
        ):  # Mapped: pages reach the disk as they like.
            kept = [value if self.random.random() < 0.5 else 0 for value in data]
            return data if kept == data else kept
        # What was not written anew is not touched.
        same = next((at for at, pair in enumerate(zip(data, old, strict=False)) if pair[0] != pair[1]), None)
        same = min(len(data), len(old)) if same is None else same
        if self.random.random() < self.survival:
            return data
        kind = self.random.randrange(3)
        if kind == 0:
            return old
        if kind == 1:
            return data[: self.random.randint(same, len(data))]
        return data[:same] + bytes(len(data) - same)


class SimulatedFile:
    """An open file: what was written stays with its process until it is flushed."""

    def __init__(self, files: SimulatedFiles, node: Node, length: int) -> None:
        self._files, self._node = files, node
        self._buffer: list[bytes] = []
        self._length = length

    def write(self, data: bytes) -> None:
        if self._files.process_.dead:
            raise Killed
        self._buffer.append(bytes(data))
        self._length += len(data)

    def flush(self) -> None:
        if self._buffer:
            self._files.step(writes=True)
            self._node.data = self._node.data + b"".join(self._buffer)
            self._buffer.clear()
        elif self._files.process_.dead:
            raise Killed

    def sync(self) -> None:
        self.flush()
        self._files.step()
        self._node.synced = self._node.data

    def size(self) -> int:
        return self._length

    def cut(self, length: int) -> None:
        self._files.step()
        self._node.data = self._node.data[:length]
        self._length = length

    def close(self) -> None:
        self.flush()


class SimulatedFiles:
    """The disk as one process sees it."""

    def __init__(self, disk: Disk, process: Process) -> None:
        self.disk, self.process_ = disk, process

    def step(self, *, writes: bool = False) -> None:
        """Before each operation: what the schedule wants happens first."""
        if self.process_.dead:
            raise Killed
        disk = self.disk
        disk.steps += 1
        disk.now += 0.001
        disk.at_step(self.process_)
        if self.process_.dead:
            raise Killed
        if writes and disk.full > 0:
            disk.full -= 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _at(self, parts: list[str], path: SimulatedPath) -> Any:
        found: Any = self.disk.root
        for part in parts:
            found = found.entries.get(part) if isinstance(found, Directory) else None
        if found is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path.text)
        return found

    def _folder(self, path: SimulatedPath) -> Directory:
        found: Directory = self._at(path.text.split("/")[1:], path)
        return found

    def _node(self, path: SimulatedPath) -> Any:
        return self._at(path.text.split("/")[1:], path)

    def _place(self, path: SimulatedPath) -> tuple[Directory, str]:
        """The folder of a file, and its name there."""
        *above, name = path.text.split("/")[1:]
        return self._at(above, path), name

    def open_new(self, path: SimulatedPath) -> SimulatedFile:
        self.step(writes=True)
        folder, name = self._place(path)
        node = folder.entries.get(name)
        if node is None:
            node = Node()
            folder.do((name, node))
        else:
            node.data = b""
        return SimulatedFile(self, node, 0)

    def open_there(self, path: SimulatedPath) -> SimulatedFile:
        self.step()
        node = self._node(path)
        return SimulatedFile(self, node, len(node.data))

    def read(self, path: SimulatedPath) -> bytes:
        self.step()
        data: bytes = self._node(path).data
        return data

    def exists(self, path: SimulatedPath) -> bool:
        try:
            return self._node(path) is not None
        except FileNotFoundError:
            return False

    def names(self, folder: SimulatedPath) -> list[str]:
        self.step()
        try:
            return sorted(self._folder(folder).entries)
        except FileNotFoundError:
            return []

    def replace(self, path: SimulatedPath, by: SimulatedPath) -> None:
        self.step()
        (folder, name), (other, new) = self._place(path), self._place(by)
        node = folder.entries.get(name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path.text)
        assert folder is other
        folder.do((name, None), (new, node))

    rename = replace

    def sync_folder(self, folder: SimulatedPath) -> None:
        self.step()
        found = self._folder(folder)
        found.durable = dict(found.entries)
        found.pending.clear()

    def make_folder(self, path: SimulatedPath) -> None:
        self.step(writes=True)
        folder, name = self._place(path)
        if name in folder.entries:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path.text)
        folder.do((name, Directory(changed=self.disk.now)))

    def make_temporary(self, prefix: str, place: SimulatedPath) -> SimulatedPath:
        path = place / f"{prefix}{self.disk.steps}.{self.process_.number}"
        self.make_folder(path)
        return path

    def check_own(self, folder: SimulatedPath) -> None:
        self._folder(folder)

    def remove_tree(self, folder: SimulatedPath) -> None:
        """Name by name: others may come in between."""
        try:
            found = self._folder(folder)
            parent, last = self._place(folder)
        except FileNotFoundError:
            return
        for name in list(found.entries):
            self.step()
            if isinstance(found.entries.get(name), Directory):
                self.remove_tree(folder / name)
            found.do((name, None))
        self.step()
        if parent.entries.get(last) is found and not found.entries:
            parent.do((last, None))

    def touch(self, path: SimulatedPath) -> None:
        self.step()
        self._node(path).changed = self.disk.now

    def age(self, path: SimulatedPath) -> float:
        return self.disk.now - self._node(path).changed

    def lock(self, folder: SimulatedPath) -> int | None:
        self.step()
        found = self._folder(folder)
        if any(other is found for other, _ in self.disk.locks.values()):
            return None
        key = self.disk.steps
        self.disk.locks[key] = (found, self.process_)
        return key

    def unlock(self, lock: int) -> None:
        self.step()
        self.disk.locks.pop(lock, None)

    def process(self) -> int:
        return self.process_.number

    def is_alive(self, process: int) -> bool:
        return process in self.disk.processes and not self.disk.processes[process].dead

    def boot(self) -> str:
        return f"boot{self.disk.boots}"

    # Beyond `Files`: what is mapped, and what is durable at once.

    def map_new(self, path: SimulatedPath, values: list[int]) -> list[int]:
        """A file of numbers, mapped: who writes into the list writes into the file."""
        self.step(writes=True)
        mapped = list(values)
        folder, name = self._place(path)
        folder.do((name, Node(mapped)))
        return mapped

    def mapped(self, path: SimulatedPath) -> list[int]:
        """A file of numbers that is there."""
        self.step()
        data: list[int] = self._node(path).data
        return data

    def put_whole(self, path: SimulatedPath, data: Any, *, synced: bool) -> None:
        """As Spark writes its own files: under another name at first."""
        self.step(writes=True)
        folder, name = self._place(path)
        node = Node(data, data if synced else None)
        folder.do((name, node))
        if synced:
            folder.durable[name] = node
