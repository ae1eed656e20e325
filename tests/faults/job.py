"""A job on Spark in miniature, run through a schedule of faults drawn from a seed.

The protocols are the real ones: the manifest, the lock, the ledger and the output of a checkpoint, the
arrays and tokens of shards, and files of payloads. Spark is a loop: it plans a micro-batch, has tasks try it,
has the results written and notes that it is done; a task reads a version of its shard's state and writes the
next one.
"""

from __future__ import annotations

import json
import pickle
from contextlib import ExitStack, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from ensue.errors import EnsueError
from ensue.spark.pieces import BLOCK, Piece

from .actors import Actor
from .loading import Mistake, Protocols, load
from .miniature import Adder, Block, Entry, Folders, Steps, Store
from .simulated import Directory, Disk, Killed, Process, SimulatedFiles, SimulatedPath

CHECKPOINT, OUTPUT, SHELF, PLACE = map(SimulatedPath, ("/data/checkpoint", "/data/out", "/shm", "/tmp"))
SPARK = CHECKPOINT / "spark"
_TRIES = 4
_PAYLOAD = "what workers are sent"
_KINDS = ("kill", "kill", "kill", "worker", "worker", "power", "full", "rival", "failure", "others", "hour")


class TaskFailed(Exception):  # noqa: N818
    """A task that Spark tries again."""


class SparkFailed(Exception):  # noqa: N818
    """Spark gives the job up."""


class SparkIsTorn(Exception):  # noqa: N818
    """What Spark has written was lost with the power."""


@dataclass
class Worker:
    """A process for tasks, and its cache."""

    process: Process
    files: SimulatedFiles
    cache: Any
    networks: Any


class _Tokens:
    """In place of `secrets`: a schedule runs again as it did."""

    def __init__(self) -> None:
        self.given = 0

    def token_hex(self, size: int) -> str:
        self.given += 1
        return f"{self.given:08x}"


_tokens = _Tokens()


@cache
def protocols(*mistakes: Mistake) -> Protocols:
    """The real protocols over miniatures, with mistakes planted."""
    names = {
        "ledger": {"Path": SimulatedPath, "asdict": _asdict},
        "card": {"asdict": _asdict},
        "shelf": {"secrets": _tokens},
        "guarded": {"Block": Block},
        "shard": {"Block": Block, "Batch": Block, "secrets": _tokens},
        "network_shard": {
            **{"Block": Block, "came": lambda block: block.items, "Entry": Entry, "secrets": _tokens},
            # So few that a log is written anew, and that networks are too far behind, within some steps.
            **{"_SMALL_LOG": 2, "_FEW_ENTRIES": 2, "_REMEMBERED": 3},
        },
        "payload_files": {"SMALL": 0},
    }
    return load(mistakes, names)


def _asdict(value: Any) -> dict[str, Any]:
    """The same as that of `dataclasses` for what has plain values, in a tenth of the time."""
    return {name: getattr(value, name) for name in value.__slots__}


class World:
    """One job and what happens to it."""

    def __init__(self, seed: int, of: Protocols) -> None:
        self.of = of
        self.random = random = Random(seed)
        _tokens.given = 0
        self.disk = disk = Disk(random)
        out = {OUTPUT.name: Directory()}
        disk.root = Directory({"data": Directory(out, dict(out)), "shm": Directory(), "tmp": Directory()})
        disk.root.durable = dict(disk.root.entries)
        self.shards = random.choice((1, 1, 2))
        self.numbers = [random.randrange(1, 1000) for _ in range(random.randint(3, 8))]
        self.events = random.choice((0, 1, 1, 2, 2, 3, 4))
        self.spark_syncs = random.random() < 0.6
        self.networks = random.random() < 0.2
        self.threaded = random.random() < 0.2
        self.restores = random.random() < 0.3
        self.may_refuse = False
        self.fails_next = False
        self.busy = False
        self.actors: dict[int, Actor] = {}
        self.zombies: list[tuple[Actor, Process]] = []
        self.workers: list[Worker] = []
        self.kept: Directory | None = None
        self.trace: list[str] = []
        disk.at_step = self._at_step
        self._draw()

    # -- what happens ------------------------------------------------------------------------------

    def _draw(self) -> None:
        self.next_event = self.disk.steps + 1 + int(self.random.expovariate(1 / 40))

    def _at_step(self, process: Process) -> None:
        actor = self.actors.get(process.number)
        if actor is not None:
            actor.pause_if_due()
        if self.busy or process.dead:
            return
        if self.zombies and self.random.random() < 0.05:
            self._quietly(lambda: self._rouse(self.random.randint(1, 12)))
        if self.events and self.disk.steps >= self.next_event:
            self.events -= 1
            self._draw()
            kind = self.random.choice(_KINDS)
            self.trace.append(f"{kind} at {self.disk.steps}")
            getattr(self, f"_{kind}")(process)

    def _quietly(self, act: Any) -> None:
        self.busy, before = True, self.busy
        try:
            act()
        finally:
            self.busy = before

    def _kill(self, process: Process) -> None:
        """The whole job, but perhaps not what hangs."""
        hanging = {each.number for _, each in self.zombies}
        for each in list(self.disk.processes.values()):
            if each.number not in hanging or self.random.random() < 0.5:
                self.disk.kill(each)

    def _worker(self, process: Process) -> None:
        if any(worker.process is process for worker in self.workers):
            self.disk.kill(process)

    def _power(self, process: Process) -> None:
        self.may_refuse |= not self.spark_syncs
        self.disk.lose_power()

    def _full(self, process: Process) -> None:
        self.disk.full = self.random.randint(1, 8)

    def _failure(self, process: Process) -> None:
        self.fails_next = True

    def _rival(self, process: Process) -> None:
        """The same command a second time."""

        def run() -> None:
            rival, workers = self.disk.start(), self.workers
            self.workers = []
            with suppress(EnsueError, Killed, SparkFailed, SparkIsTorn):
                self.drive(rival)
            self.disk.kill(rival)
            self.workers = workers

        self._quietly(run)

    def _others(self, process: Process) -> None:
        """Another job on the host begins, or the same one elsewhere ends."""
        files = SimulatedFiles(self.disk, self.disk.start())

        def run() -> None:
            self.of.payload_files.remove_abandoned(PLACE, files)
            shelf = self.of.shelf.Shelf.at(SHELF, "plan", files, Folders(files))
            if self.random.random() < 0.5:
                shelf.clear()

        self._quietly(run)

    def _hour(self, process: Process) -> None:
        self.disk.now += 5000.0
        self._others(process)

    def _rouse(self, steps: int) -> None:
        actor, _ = self.zombies[0]
        if actor.run(steps):
            self.zombies.pop(0)

    # -- Spark -------------------------------------------------------------------------------------

    def drive(self, process: Process) -> None:
        """A run of the command, from its start to its end."""
        files, of = SimulatedFiles(self.disk, process), self.of
        of.card.make(CHECKPOINT, files)
        with ExitStack() as stack:
            stack.enter_context(of.ledger.alone(CHECKPOINT, files))
            of.card.go_on(CHECKPOINT, _card(of), files)
            ledger = of.ledger.Ledger(CHECKPOINT, files)
            output = stack.enter_context(of.ledger.OnceFile(str(OUTPUT / "results"), ledger))
            payload = stack.enter_context(of.payload_files.PayloadFiles(None, PLACE, files)).pack(_PAYLOAD)
            for folder in (SPARK, SPARK / "offsets", SPARK / "commits", SPARK / "state"):
                self._folder(files, folder)
            first, start = self._begin(files)
            for number in range(first, first + len(self.numbers)):
                if start == len(self.numbers):
                    return
                start = self._batch(files, number, start, ledger, output, SimulatedPath(payload.path))

    def _begin(self, files: SimulatedFiles) -> tuple[int, int]:
        """With which micro-batch Spark goes on, and where its statements begin."""
        planned = max(map(int, files.names(SPARK / "offsets")), default=-1)
        number = planned + (str(planned) in files.names(SPARK / "commits"))
        return max(number, 0), 0 if number <= 0 else self._offset(files, number - 1)

    def _offset(self, files: SimulatedFiles, number: int) -> int:
        try:
            return int(files.read(SPARK / "offsets" / str(number)))
        except (FileNotFoundError, ValueError) as problem:
            raise SparkIsTorn from problem

    def _folder(self, files: SimulatedFiles, path: SimulatedPath) -> None:
        try:
            if not files.exists(path):
                files.make_folder(path)
            if self.spark_syncs:
                files.sync_folder(path.parent)
        except OSError as problem:
            raise SparkFailed from problem

    def _put(self, files: SimulatedFiles, path: SimulatedPath, data: bytes) -> None:
        try:
            files.put_whole(path, data, synced=self.spark_syncs)
        except OSError as problem:
            raise SparkFailed from problem

    def _batch(
        self, files: SimulatedFiles, number: int, start: int, ledger: Any, output: Any, payload: SimulatedPath
    ) -> int:
        offset, commit = SPARK / "offsets" / str(number), SPARK / "commits" / str(number)
        if files.exists(offset):
            end = self._offset(files, number)
        else:
            end = min(len(self.numbers), start + self.random.randint(1, 3))
            self._put(files, offset, b"%d" % end)
        rows = []
        for shard in range(self.shards):
            items = [[at + 1, self.numbers[at]] for at in range(start, end) if at % self.shards == shard]
            if items:
                rows += [
                    (int(row.split()[0]), row) for row in self._task(number, shard, items, payload, files)
                ]
            else:
                self._pass_on(files, number, shard)

        def write() -> Any:
            for _, row in sorted(rows):
                output.write(row)
            return self.of.ledger.Written(queries=("q",))

        ledger.once(number, write, [output])
        self._put(files, commit, b"done")
        return end

    def _pass_on(self, files: SimulatedFiles, number: int, shard: int) -> None:
        data = pickle.dumps(self._store(files, number, shard).data())
        self._put(files, SPARK / "state" / f"{shard}.{number + 1}", data)

    def _store(self, files: SimulatedFiles, number: int, shard: int) -> Store:
        if number == 0:
            return Store(None, {}, {})
        try:
            return Store(*pickle.loads(files.read(SPARK / "state" / f"{shard}.{number}")))
        except (
            FileNotFoundError,
            EOFError,
            pickle.UnpicklingError,
            TypeError,
            ValueError,
            IndexError,
        ) as lost:
            raise SparkIsTorn from lost

    def _task(
        self, number: int, shard: int, items: list[list[int]], payload: SimulatedPath, driver: SimulatedFiles
    ) -> list[str]:
        for _ in range(_TRIES):
            if driver.process_.dead:
                raise Killed
            try:
                if self.threaded and not self.busy and self.random.random() < 0.5:
                    return self._at_once(number, shard, items, payload)
                return self._attempt(self._some_worker(), number, shard, items, payload)
            except (TaskFailed, Killed):
                continue  # Perhaps it was the worker alone.
            except SparkFailed as problem:
                if problem.args:
                    raise
        if driver.process_.dead:
            raise Killed
        raise SparkFailed

    def _at_once(self, number: int, shard: int, items: list[list[int]], payload: SimulatedPath) -> list[str]:
        """Two attempts by turns; one of them may hang, and go on some time later."""
        actors = []
        for worker in (self._some_worker(), self._new_worker()):
            actor = Actor(lambda worker=worker: self._attempt(worker, number, shard, items, payload))
            self.actors[worker.process.number] = actor
            actors.append((actor, worker))
        if self.random.random() < 0.5:
            actors.pop()
        hangs = self.random.random() < 0.5
        if hangs and len(actors) == 1:
            actor, worker = actors.pop()
            self._give_up(actor, worker, self.random.randint(1, 12))
            raise TaskFailed
        while not any(actor.done and actor.problem is None for actor, _ in actors):
            left = [each for each in actors if not each[0].done]
            if not left:
                raise actors[0][0].problem or TaskFailed
            self.random.choice(left)[0].run(self.random.randint(1, 6))
        winner = next(actor for actor, _ in actors if actor.done and actor.problem is None)
        for actor, worker in actors:
            if not actor.done:
                self._give_up(actor, worker, 0 if hangs else 1000)
        found: list[str] = winner.result
        return found

    def _give_up(self, actor: Actor, worker: Worker, steps: int) -> None:
        if not actor.run(steps):
            self.zombies.append((actor, worker.process))
            self.workers = [each for each in self.workers if each is not worker]

    def _some_worker(self) -> Worker:
        self.workers = [worker for worker in self.workers if not worker.process.dead]
        if len(self.workers) == 2:
            worker = self.random.choice(self.workers)
            self.actors.pop(worker.process.number, None)
            return worker
        return self._new_worker()

    def _new_worker(self) -> Worker:
        process = self.disk.start()
        files = SimulatedFiles(self.disk, process)
        shelf = self.of.shelf.Shelf.at(SHELF, "plan", files, Folders(files))
        worker = Worker(process, files, self.of.shard.Cache(shelf), self.of.network_shard.NetworkCache())
        self.workers.append(worker)
        return worker

    def _attempt(
        self, worker: Worker, number: int, shard: int, items: list[list[int]], payload: SimulatedPath
    ) -> list[str]:
        files = worker.files
        store = self._store(files, number, shard)
        try:
            files.read(payload)
        except FileNotFoundError as problem:
            raise SparkFailed("what workers are sent is gone") from problem
        pieces = [Piece("s", number, BLOCK, json.dumps(items).encode())]
        if self.networks:
            outcome = self.of.network_shard.step(f"shard{shard}", pieces, store, Steps, worker.networks)
        else:
            outcome = self.of.shard.step(f"shard{shard}", pieces, store, lambda *_: Adder(), worker.cache)
        if self.fails_next:
            self.fails_next = False
            raise TaskFailed
        self._put(files, SPARK / "state" / f"{shard}.{number + 1}", pickle.dumps(store.data()))
        found: list[str] = outcome.results
        return found

    # -- the whole story ---------------------------------------------------------------------------

    def run(self) -> str | None:
        """Run the job again and again until it has ended; what is wrong with the output, or None."""
        try:
            for _ in range(40):
                driver = self.disk.start()
                try:
                    self.drive(driver)
                except Killed:
                    pass
                except SparkIsTorn:
                    return None if self.may_refuse else "Spark's own files are torn"
                except SparkFailed as problem:
                    if problem.args:
                        return str(problem)
                except EnsueError as problem:
                    if not isinstance(problem.__cause__, OSError) or "cannot be written" not in str(problem):
                        return None if self.may_refuse else f"refused: {problem}"
                else:
                    return self._difference()
                self._between(driver)
            return "it never ends"
        finally:
            self.disk.at_step = self._only_pause
            for actor, process in self.zombies:
                self.disk.kill(process)
                while not actor.run(1000):
                    pass

    def _only_pause(self, process: Process) -> None:
        actor = self.actors.get(process.number)
        if actor is not None:
            actor.pause_if_due()

    def _between(self, driver: Process) -> None:
        """The job is down: its workers follow, and somebody may put an older checkpoint back."""
        self.disk.kill(driver)
        for worker in self.workers:
            self.disk.kill(worker.process)
        self.workers = []
        data = self.disk.root.entries["data"]
        if self.zombies or not self.restores or "checkpoint" not in data.entries:
            return
        if self.kept is None:
            self.kept = deepcopy(data.entries["checkpoint"])
        else:
            self.trace.append("an older checkpoint")
            data.do(("checkpoint", deepcopy(self.kept)))
            data.durable, data.pending = dict(data.entries), []

    def _difference(self) -> str | None:
        self.busy = True
        while self.zombies:
            self._rouse(1000)
        node = self.disk.root.entries["data"].entries["out"].entries.get("results")
        found = b"" if node is None else node.data
        expected = "".join(_expected(self.numbers, self.shards, networks=self.networks)).encode()
        return (
            None
            if found == expected
            else f"expected\n{expected.decode()}found\n{found.decode(errors='replace')}"
        )


@cache
def _card_of(make: Any) -> Any:
    return make(5, "1", *["-"] * 5, 1, False)


def _card(of: Protocols) -> Any:
    return _card_of(of.card.Card)


def _expected(numbers: list[int], shards: int, *, networks: bool) -> list[str]:
    """The results of a job that nothing happens to: each shard by itself, in one go."""
    found = []
    for shard in range(shards):
        items = [[at + 1, number] for at, number in enumerate(numbers) if at % shards == shard]
        if items:
            rows = (
                Steps().step([("s", items)], (), {})
                if networks
                else Adder().step({"s": Block(items)}, (), {})
            )
            found += [(int(row.split()[0]), row) for row in rows]
    return [row for _, row in sorted(found)]


def problem_of(seed: int, *mistakes: Mistake) -> str | None:
    """What goes wrong in the schedule of a seed."""
    world = World(seed, protocols(*mistakes))
    problem = world.run()
    return None if problem is None else f"seed {seed}: {', '.join(world.trace)}\n{problem}"
