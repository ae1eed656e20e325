"""A reasoner in miniature: sums over a window of numbers, kept in mapped memory, and what it remembers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ensue.maintain.kernel.folder import FolderError
from ensue.model import FOREVER
from ensue.query.log import Logged, Mark

from .simulated import SimulatedFiles

WINDOW = 4
_RING = 8


@dataclass
class Block:
    """Statements: times and numbers."""

    items: list[list[int]]

    @classmethod
    def read(cls, payload: bytes) -> Block:
        return cls(json.loads(payload))

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        return cls([item for block in blocks for item in block.items])

    def batch(self, terms: object) -> Block:
        return self

    @property
    def times(self) -> Block:
        return self

    @property
    def newest(self) -> int:
        return max(time for time, _ in self.items)


class Adder:
    """What `shard.step` needs of a `Resumable`."""

    keeps_copies = False
    basis = "miniature"
    terms = None

    def __init__(self) -> None:
        self.time = self.total = self.before = self.steps = 0
        self.ring = [0] * _RING

    def step(self, batches: Mapping[str, Block], ended: Iterable[str], beats: Mapping[str, int]) -> list[str]:
        found = []
        for time, number in batches["s"].items:
            self._put(time, number)
            window = sum(self.ring[at % _RING] for at in range(max(1, time - WINDOW + 1), time + 1))
            self.time, self.total = time, self.total + number
            found.append(f"{time} {window} {self.total} {self.before}\n")
            self.before = window
        self.steps += 1
        return found

    def _put(self, time: int, number: int) -> None:
        for passed in range(self.time + 1, time):
            self.ring[passed % _RING] = 0
        self.ring[time % _RING] = number
        self.time = time

    def mark(self) -> Mark:
        return Mark(self.time, {})

    def horizons(self) -> dict[str, tuple[int, int]]:
        return {"s": (self.time - WINDOW, FOREVER)}

    def take_made(self) -> dict[str, Any]:
        return {}

    def state(self) -> dict[str, Any]:
        return {"intake": {"frontier": {"time": self.time}}, "total": self.total, "steps": self.steps}

    def memories(self) -> dict[str, Any]:
        return {"q": ([self.steps], lambda: {"before": self.before})}

    def counters(self) -> dict[str, int]:
        return {}

    held = counters

    def park(self, folder: Folder) -> dict[str, Any]:
        self.ring = folder.keep("ring", self.ring)
        return {}

    def adopt(self, state: Mapping[str, Any], memories: Mapping[str, Any], folder: Folder, plain: object) -> None:
        self.ring = folder.find("ring")
        self._go_on(state, memories)

    def resume(self, state: Mapping[str, Any], memories: Mapping[str, Any], log: Sequence[Logged]) -> None:
        for logged in log:
            for time, number in logged.batches["s"].items:  # type: ignore[attr-defined]
                self._put(time, number)
        for passed in range(self.time + 1, state["intake"]["frontier"]["time"] + 1):
            self.ring[passed % _RING] = 0
        self._go_on(state, memories)

    def _go_on(self, state: Mapping[str, Any], memories: Mapping[str, Any]) -> None:
        self.time, self.total = state["intake"]["frontier"]["time"], state["total"]
        self.steps, self.before = state["steps"], memories.get("q", {"before": 0})["before"]


class Folder:
    """What `Shelf` and `Cache` need of a kernel's `Folder`."""

    def __init__(self, path: Path, files: SimulatedFiles) -> None:
        self.path, self._files = path, files
        self.plain: dict[str, Any] = {}
        self._arrays: dict[str, list[int]] = {}

    def keep(self, name: str, values: list[int]) -> list[int]:
        if self._arrays.get(name) is not values:
            self._arrays[name] = self._files.map_new(self.path / name, values)
        return self._arrays[name]

    def find(self, name: str) -> list[int]:
        return self._arrays[name]

    def seal(self, plain: dict[str, Any]) -> None:
        self.plain = plain
        out = self._files.open_new(self.path / "contents")
        out.write(json.dumps([sorted(self._arrays), plain]).encode())
        out.close()


class Folders:
    """Folders of one process."""

    def __init__(self, files: SimulatedFiles) -> None:
        self._files = files

    def __call__(self, path: Path) -> Folder:
        return Folder(path, self._files)

    def opened(self, path: Path) -> Folder:
        folder = self(path)
        try:
            names, folder.plain = json.loads(self._files.read(path / "contents"))
            for name in names:
                folder._arrays[name] = self._files.mapped(path / name)
        except (OSError, ValueError, TypeError) as problem:
            raise FolderError(str(problem)) from problem
        return folder


class Store:
    """The truth of a shard as Spark keeps it: all of a step is written or nothing."""

    def __init__(self, head: bytes | None, log: dict[int, Any], memory: dict[str, bytes]) -> None:
        self._head, self._log, self._memory = head, log, memory

    def data(self) -> tuple[Any, ...]:
        return self._head, self._log, self._memory

    def head(self) -> bytes | None:
        return self._head

    def put_head(self, head: bytes) -> None:
        self._head = head

    def log(self) -> Iterable[tuple[int, Any]]:
        return list(self._log.items())

    def add(self, step: int, pieces: Sequence[Any]) -> None:
        self._log[step] = list(pieces)

    def drop(self, step: int) -> None:
        del self._log[step]

    def memory(self, query: str) -> bytes | None:
        return self._memory.get(query)

    def put_memory(self, query: str, memory: bytes) -> None:
        self._memory[query] = memory
