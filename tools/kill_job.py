"""A job on Spark in processes of its own, to be killed: see `kill_soak.py`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from uuid import uuid4

from kill_workload import Workload

BATCH_BYTES = 12_000
PATIENCE = 300.0
"""After so many seconds without a micro-batch a job is said to hang."""
POLL_SECONDS = 0.003
START_SECONDS, ANY_SECONDS = 10.0, 60.0
"""For so many seconds at least a job starts; in so many it has started, and done something."""
LOOK_SECONDS = 0.5
"""How often somebody looks which processes there are."""
WORKER_SECONDS = 3.0
"""If a job goes on for so long without a worker, it got over it."""

MARK = "ENSUE_KILL_SOAK"
"""The variable by which the processes of a job are known: Spark's workers leave its process group."""

TIMED = {"start": START_SECONDS, "any": ANY_SECONDS}
"""Moments that are any time up to so many seconds."""
INTERRUPTS = {"Ctrl-C": 1, "Ctrl-C twice": 2}
WORKERS = {"task": {"task"}, "worker": {"task", "planner"}}
"""What is killed under a name that is not that of one kind of processes, and then only one of them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job writes."""

    folder: Path

    @property
    def output(self) -> Path:
        """The results."""
        return self.folder / "out.jsonl"

    @property
    def letters(self) -> Path:
        """The dead letters."""
        return self.folder / "dead.jsonl"

    @property
    def checkpoint(self) -> Path:
        """What a restart goes on from."""
        return self.folder / "checkpoint"

    @property
    def words(self) -> tuple[str, ...]:
        """The same on the command line."""
        return (
            *("--output", str(self.output), "--dead-letters", str(self.letters)),
            *("--checkpoint", str(self.checkpoint)),
        )

    def written(self) -> tuple[list[str], list[str]]:
        """The lines of results and of dead letters."""
        return self.output.read_text().splitlines(), self.letters.read_text().splitlines()

    def looks(self, moment: str) -> object:
        """Something that changes whenever such a thing is written."""
        if moment == "state":
            state = os.walk(self.checkpoint / "spark" / "state")
            return sorted(name for _, _, names in state for name in names)
        path = self.output if moment == "results" else self.checkpoint / "ensue-written.json"
        with suppress(FileNotFoundError):
            status = path.stat()
            return status.st_size, status.st_ino
        return None


class Child:
    """A job that runs in processes of its own."""

    def __init__(self, workload: Workload, place: Place, *more: str) -> None:
        """`more` are words of the command."""
        place.folder.mkdir(parents=True, exist_ok=True)
        self.place = place
        self._mark = uuid4().hex
        self._said = place.folder / f"said-{self._mark}.txt"
        words = (*workload.words, *place.words, "--batch-bytes", str(BATCH_BYTES), "--cores", "2", *more)
        self._known: dict[int, str] = {}
        self._looked = 0.0
        scratch = place.folder / "tmp"
        scratch.mkdir(exist_ok=True)
        # What is killed cannot tidy up.
        tidy = {"TMPDIR": str(scratch), "SPARK_SUBMIT_OPTS": f"-Djava.io.tmpdir={scratch}"}
        with open(self._said, "wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ensue", "run", *words],
                env=os.environ | tidy | {MARK: self._mark},
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
                # A shell without job control has its background jobs ignore interrupts.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def wait(self) -> int:
        """The exit code."""
        while True:
            before = self.place.looks("ledger")
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(PATIENCE)
            assert self.place.looks("ledger") != before, f"it hangs:\n{self.said()}"

    def said(self) -> str:
        """What it said on standard error so far."""
        return self._said.read_text()

    def processes(self, among: Iterable[int] | None = None) -> dict[int, str]:
        """Its processes that are there now, all or some: which is the driver, Java, a worker and of what."""
        if among is None:
            among = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
        return {pid: kind for pid in among if (kind := self._kind(pid))}

    def _kind(self, pid: int) -> str | None:
        folder = Path("/proc", str(pid))
        try:
            if f"{MARK}={self._mark}".encode() not in (folder / "environ").read_bytes().split(b"\0"):
                return None
            words = (folder / "cmdline").read_bytes()
        except OSError:  # It has gone, or is somebody else's.
            return None
        if pid == self.process.pid:
            return "driver"
        if b"org.apache" in words:
            return "java"
        if b"pyspark" not in words:
            return "other"  # Somebody asks a Java which version it is, say: a job without that one goes on.
        return "task" if b"pyspark.worker" in words.split(b"\0") else "planner"

    def reaches(self, moment: str, random: Random) -> bool:
        """Wait until something begins to be written, perhaps for the second or third time; or for some time.

        False if the job ends before.
        """
        changes, end = random.randint(1, 3), random.uniform(0, TIMED.get(moment, 0))
        before, began = self.place.looks(moment), time.monotonic()
        while self.process.poll() is None:
            if (now := self.place.looks(moment)) != before:
                changes, before = changes - 1, now
            waited = time.monotonic() - began
            if waited > end if moment in TIMED else changes == 0:
                return True
            assert waited < PATIENCE, f"nothing happens:\n{self.said()}"
            if time.monotonic() > self._looked + LOOK_SECONDS:
                self._looked, self._known = time.monotonic(), self.processes()
            time.sleep(POLL_SECONDS)
        return False

    def suffer(self, act: str, random: Random) -> int | None:
        """Do something to it. The exit code, or None if it goes on."""
        if act in INTERRUPTS:
            for number in range(INTERRUPTS[act]):
                time.sleep(number * 0.2)
                os.killpg(self.process.pid, signal.SIGINT)
        else:
            while not self.kill(act, random) and self.process.poll() is None:
                time.sleep(POLL_SECONDS)  # Java and workers come later.
        if act not in WORKERS:
            return self.wait()
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(WORKER_SECONDS)
        return None

    def kill(self, victim: str, random: Random) -> int:
        """Kill its processes of one kind, but of workers only one; or "all". How many there were."""
        count = 0
        # Those that are known first: to look for all takes longer than most of what is to be met.
        for among in (list(self._known), None):
            kinds = WORKERS.get(victim, {victim})
            found = [pid for pid, kind in self.processes(among).items() if victim == "all" or kind in kinds]
            if victim in WORKERS:
                found = random.sample(found, min(1 - count, len(found)))
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            count += len(found)
        return count
