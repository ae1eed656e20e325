"""Reasoners in miniature.

For queries: sums over a count window of numbers, in mapped memory, and what it remembers; as of the kernel's
arrays, nothing is right any more if two write into the same memory. For networks: values that come and go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ensue.maintain.kernel.folder import FolderError
from ensue.model import FOREVER
from ensue.query.log import Logged, Mark
from ensue.spark.pieces import Piece

from .simulated import SimulatedFiles, SimulatedPath

WINDOW = 3
_SLOTS = 5
_COUNT = _SLOTS
"""Where in the ring it says how many numbers have come."""


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

    def taken(self, places: object) -> Block:
        raise AssertionError("the guard against jumps in time is off")

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
        self.ring = [0] * (_SLOTS + 1)

    def step(self, batches: Mapping[str, Block], ended: Iterable[str], beats: Mapping[str, int]) -> list[str]:
        """Take numbers in: for each a result."""
        found, ring = [], self.ring
        for time, number in batches["s"].items:
            self._put(number)
            count = ring[_COUNT]
            window = sum(ring[at % _SLOTS] for at in range(max(1, count - WINDOW + 1), count + 1))
            self.time, self.total = time, self.total + number
            found.append(f"{time} {window} {self.total} {self.before}\n")
            self.before = window
        self.steps += 1
        return found

    def _put(self, number: int) -> None:
        self.ring[_COUNT] += 1
        self.ring[self.ring[_COUNT] % _SLOTS] = number

    def mark(self) -> Mark:
        return Mark(self.time, {"s": self.ring[_COUNT]})

    def horizons(self) -> dict[str, tuple[int, int]]:
        return {"s": (FOREVER, self.ring[_COUNT] - WINDOW)}

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

    def adopt(
        self, state: Mapping[str, Any], memories: Mapping[str, Any], folder: Folder, plain: object
    ) -> None:
        self.ring = folder.find("ring")
        self._go_on(state, memories)

    def resume(self, state: Mapping[str, Any], memories: Mapping[str, Any], log: Sequence[Logged]) -> None:
        if log:
            self.ring[_COUNT] = log[0].mark.numbers["s"]
        for logged in log:
            for _, number in logged.batches["s"].items:  # type: ignore[attr-defined]
                self._put(number)
        self._go_on(state, memories)

    def _go_on(self, state: Mapping[str, Any], memories: Mapping[str, Any]) -> None:
        self.time, self.total = state["intake"]["frontier"]["time"], state["total"]
        self.steps, self.before = state["steps"], memories.get("q", {"before": 0})["before"]


class Folder:
    """What `Shelf` and `Cache` need of a kernel's `Folder`."""

    def __init__(self, path: SimulatedPath, files: SimulatedFiles) -> None:
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

    def __call__(self, path: SimulatedPath) -> Folder:
        return Folder(path, self._files)

    def opened(self, path: SimulatedPath) -> Folder:
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

    def entry(self, step: int) -> Any:
        return self._log[step]

    def memory(self, query: str) -> bytes | None:
        return self._memory.get(query)

    def put_memory(self, query: str, memory: bytes) -> None:
        self._memory[query] = memory


class Entry:
    """What a step of networks has changed: values by their names, None for what has gone."""

    def __init__(self, changed: Mapping[str, int | None], waiting: Sequence[Any] = ()) -> None:
        self.changed, self.waiting = changed, waiting
        self.size = len(changed)

    def pieces(self, streams: Sequence[str]) -> list[Piece]:
        return [Piece("", 0, "networks", json.dumps(self.changed).encode())]

    @classmethod
    def read(cls, pieces: Sequence[Piece], streams: Sequence[str]) -> Entry:
        return cls(json.loads(pieces[0].payload))


class Network:
    """Values that come, change and go."""

    def __init__(self) -> None:
        self.held: dict[str, int] = {}
        self._changed: dict[str, int | None] = {}

    @property
    def size(self) -> int:
        return len(self.held)

    def put(self, name: str, value: int | None) -> None:
        self._changed[name] = value
        self.change({name: value})

    def change(self, changed: Mapping[str, int | None]) -> None:
        for name, value in changed.items():
            if value is None:
                self.held.pop(name, None)
            else:
                self.held[name] = value

    def take(self) -> dict[str, int | None]:
        changed, self._changed = self._changed, {}
        return changed

    def all(self) -> dict[str, int]:
        return dict(self.held)


class Steps:
    """What `network_shard.step` needs of `NetworkSteps`."""

    streams = ("s",)
    waiting = since = ()

    def __init__(self) -> None:
        self.network = Network()
        self.frontier = 0

    def step(self, batches: Iterable[tuple[str, Any]], ended: object, beats: object) -> Iterable[str]:
        for _, items in batches:
            for time, number in items:
                name, held = str(number % 4), self.network.held
                self.network.put(name, held.get(name, 0) + number)
                if number % 3 == 0:
                    self.network.put(str(time % 4), None)
                self.frontier = time
                yield f"{time} {sum(held.values())} {sorted(held)}\n"

    def state(self) -> dict[str, int]:
        return {"frontier": self.frontier}

    def resume(self, state: Mapping[str, int], waiting: object) -> None:
        self.frontier = state["frontier"]

    def metrics(self) -> dict[str, int]:
        return {}
