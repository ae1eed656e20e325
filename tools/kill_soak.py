"""Kills a job on Spark at random moments, again and again: its output must be that of a job nobody killed.

A job is killed with -9: all of its processes, or only the driver, Java, or a Python worker; at any time, or
right when a step's state, its results or its place in the ledger is being written. What is left is started
again from the checkpoint. In the end no line of the output may be missing, there twice, or different, and
so for the dead letters. Exit code 1 if one is; the seed is printed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from uuid import uuid4

from kill_workload import Workload, make_workload

BATCH_BYTES = 12_000
KILLS_A_JOB = 12
PATIENCE = 300.0
"""After so many seconds without a micro-batch a job is said to hang."""
POLL_SECONDS = 0.003
ANY_SECONDS = 60.0
"""In so many seconds a job has started, and done something."""
LOOK_SECONDS = 0.5
"""How often somebody looks which processes there are."""
WORKER_SECONDS = 3.0
"""If a job goes on for so long without a worker, it got over it."""

MARK = "ENSUE_KILL_SOAK"
"""The variable by which the processes of a job are known: Spark's workers leave its process group."""


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
        tidy = {"TMPDIR": str(scratch), "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={scratch}"}
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
        """Its processes that are there now, all or some: which is the driver, Java, the workers."""
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
        return "worker" if b"pyspark" in words and b"org.apache" not in words else "java"

    def reaches(self, moment: str, random: Random) -> bool:
        """Wait until something begins to be written, perhaps for the second or third time; or for "any" time.

        False if the job ends before.
        """
        changes, end = random.randint(1, 3), random.uniform(0, ANY_SECONDS)
        before, began = self.place.looks(moment), time.monotonic()
        while self.process.poll() is None:
            if (now := self.place.looks(moment)) != before:
                changes, before = changes - 1, now
            waited = time.monotonic() - began
            if waited > end if moment == "any" else changes == 0:
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
        if act != "worker":
            return self.wait()
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(WORKER_SECONDS)
        return None

    def kill(self, victim: str, random: Random) -> int:
        """Kill its processes of one kind, but of the workers only one; or "all". How many there were."""
        count = 0
        # Those that are known first: to look for all takes longer than most of what is to be met.
        for among in (list(self._known), None):
            found = [pid for pid, kind in self.processes(among).items() if victim in ("all", kind)]
            if victim == "worker":
                found = random.sample(found, min(1 - count, len(found)))
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            count += len(found)
        return count


# What is done to it.

INTERRUPTS = {"Ctrl-C": 1, "Ctrl-C twice": 2}
CODES: dict[str, set[int | None]] = {
    "all": {-signal.SIGKILL},
    "driver": {-signal.SIGKILL},
    "java": {1},
    # Spark tries a task again, but not what plans micro-batches.
    "worker": {None, 0, 1},
    "Ctrl-C": {130},
    "Ctrl-C twice": {130},
}
"""What is done to a job, and the exit codes that may follow; None: it goes on."""
Blow = tuple[str, str]
"""What is done to a job, and when."""


def random_blows(count: int, random: Random) -> list[Blow]:
    """So many kills, each of anything at any moment."""
    victims, moments = ("all", "all", "driver", "java", "worker"), ("any", "state", "results", "ledger")
    return [(random.choice(victims), random.choice(moments)) for _ in range(count)]


def endure(
    start: Callable[[], Child], blows: Iterable[Blow], random: Random, say: Callable[[str], object] = print
) -> int:
    """Run a job to its end through some blows, starting it again where one has ended it; how many there were.

    Raises AssertionError where it ends in another way than it should.
    """
    left, count, hurt, child = list(blows), 0, False, start()
    try:
        while True:
            if left and child.reaches(left[0][1], random):
                act, moment = left.pop(0)
                began = time.monotonic()
                code = child.suffer(act, random)
                count, hurt = count + 1, code is None
                say(f"{act} at {moment}: exit code {code} after {time.monotonic() - began:.1f} s")
                assert code in CODES[act], f"{act} at {moment}: exit code {code}\n{child.said()}"
            else:
                code = child.wait()
                assert code == 0 or (hurt and code == 1), f"exit code {code}\n{child.said()}"
            if code == 0:
                return count
            if code is not None:
                child, hurt = start(), False
    finally:
        child.kill("all", random)


def difference(expected: Sequence[str], found: Sequence[str]) -> str | None:
    """What is wrong with some lines, if anything is."""
    lost, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    if lost or more:
        shown = [f"{what}: {line[:200]}" for what, lines in (("-", lost), ("+", more)) for line in lines]
        return "\n".join([f"{lost.total()} lines lost, {more.total()} too many", *shown[:10]])
    return None if list(expected) == list(found) else "the lines are in another order"


def soak(kills: int, seed: int, folder: Path) -> str | None:
    """Kill jobs until there were so many kills; what went wrong, or None."""
    random, done, number = Random(seed), 0, 0
    while done < kills:
        number += 1
        home = folder / str(number)
        workload = make_workload(home / "in", random.randrange(1 << 30))
        calm, place = Place(home / "calm"), Place(home / "killed")
        endure(partial(Child, workload, calm), [], random)
        blows = random_blows(min(KILLS_A_JOB, kills - done), random)
        done += endure(partial(Child, workload, place), blows, random)
        for what, expected, found in zip(
            ("results", "dead letters"), calm.written(), place.written(), strict=True
        ):
            if problem := difference(expected, found):
                return f"job {number}, {what}: {problem}"
        print(f"{done} kills, {number} jobs: {len(calm.written()[0])} results each once, and none different")
        shutil.rmtree(home)
    return None


def main() -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 30))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    with tempfile.TemporaryDirectory(prefix="ensue-kill-soak-", ignore_cleanup_errors=True) as folder:
        try:
            problem = soak(args.kills, args.seed, Path(folder))
        except AssertionError as failed:
            problem = str(failed)
    print(problem or "nothing was lost, nothing came twice, nothing was different")
    return 1 if problem else 0


if __name__ == "__main__":
    raise SystemExit(main())
