"""Kills a job on Spark at random moments, again and again: its output must be that of a job nobody killed.

A job is killed with -9: all of its processes, or only the driver, Java, or a Python worker; at any time, or
right when a step's state, its results or its place in the ledger is being written. What is left is started
again from the checkpoint. In the end no line of the output may be missing, there twice, or different, and
so for the dead letters. Exit code 1 if one is; the seed is printed.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from uuid import uuid4

SECONDS_A_JOB = 240
"""Seconds of stream time in a job: some two dozen micro-batches."""
BATCH_BYTES = 12_000
DISORDER_MS = 1000
KILLS_A_JOB = 12
PATIENCE = 300.0
"""After so many seconds a job is said to hang."""
POLL_SECONDS = 0.001
ANY_SECONDS = 60.0
"""In so many seconds a job has started, and done something."""
WORKER_SECONDS = 3.0
"""If a job goes on for so long without a worker, it got over it."""

MARK = "ENSUE_KILL_SOAK"
"""The variable by which the processes of a job are known: Spark's workers leave its process group."""

QUERIES = {
    "places": "SELECT ?x ?y FROM STREAM :moves [RANGE 4s STEP 2s] WHERE { ?x a :Thing ; :isIn ?y }",
    "arrivals": """REGISTER ISTREAM :arrivals AS SELECT ?x ?y FROM NAMED WINDOW :w ON :moves
        [RANGE PT6S STEP PT2S] WHERE { WINDOW :w { ?x a :Thing ; :isIn ?y } }""",
    "crowds": """REGISTER QUERY crowds COMPUTE EVERY 3s AS SELECT ?y (COUNT(?x) AS ?n)
        FROM STREAM :moves [RANGE 6s STEP 2s] WHERE { ?x :isIn ?y } GROUP BY ?y""",
    "alarms": """REGISTER STREAM :alarms COMPUTED EVERY 2s AS CONSTRUCT { ?x a :Hot }
        FROM STREAM :readings [RANGE 4s STEP 2s] WHERE { ?x :reads ?v FILTER(?v > 60) }""",
    "seen": """REGISTER QUERY seen AS SELECT ?y (COUNT(?x) AS ?n) FROM STREAM :alarms [RANGE 8s STEP 4s]
        FROM STREAM :moves [RANGE 8s STEP 4s] WHERE { ?x a :Hot ; :isIn ?y } GROUP BY ?y""",
}
BACKGROUND = (
    "@prefix : <http://example.org/> . :house0 :isIn :town . :house1 :isIn :town . :town :isIn :land ."
)
BAD_LINES = ("no time here", "{}\t<urn:a> <urn:p> .", '{}\t"a" <urn:p> <urn:b> .', "{}\t")


# What is run.


@dataclass(frozen=True, slots=True)
class Workload:
    """The words of a job without those that say where its output goes."""

    words: tuple[str, ...]


def make_workload(folder: Path, seed: int, seconds: int = SECONDS_A_JOB) -> Workload:
    """Write queries, rules, and streams with lines that are late, out of order, or no lines at all."""
    random = Random(seed)
    folder.mkdir(parents=True)
    words: list[str] = []
    for name, query in QUERIES.items():
        (folder / f"{name}.rq").write_text(f"PREFIX : <http://example.org/>\n{query}\n")
        words.append(str(folder / f"{name}.rq"))
    (folder / "background.ttl").write_text(BACKGROUND)
    moves = list(_disordered(_moves(random, seconds), random))
    (folder / "moves").mkdir()
    half = len(moves) // 2
    (folder / "moves" / "1.tsv").write_text("".join(moves[:half]))
    (folder / "moves" / "2.tsv.gz").write_bytes(gzip.compress("".join(moves[half:]).encode()))
    (folder / "readings.tsv").write_text("".join(_disordered(_readings(random, seconds), random)))
    words += ["--rules", "transitive-isin", "--background", str(folder / "background.ttl")]
    for stream, path in (("moves", "moves"), ("readings", "readings.tsv")):
        words += ["--stream", f"http://example.org/{stream}={folder / path}"]
    return Workload((*words, "--disorder", str(DISORDER_MS)))


def _moves(random: Random, seconds: int) -> Iterator[tuple[int, str]]:
    for now in range(0, 1000 * seconds, 200):
        thing = f":thing{random.randrange(12)}"
        yield now, f"{thing} a :Thing"
        yield now, f"{thing} :isIn :room{random.randrange(5)}"
        if random.random() < 0.3:
            yield now, f":room{random.randrange(5)} :isIn :house{random.randrange(2)}"


def _readings(random: Random, seconds: int) -> Iterator[tuple[int, str]]:
    for now in range(0, 1000 * seconds, 500):
        yield now, f":thing{random.randrange(12)} :reads {random.randrange(100)}"


def _disordered(statements: Iterator[tuple[int, str]], random: Random) -> Iterator[str]:
    """Lines in an order that is within what is allowed, but for one in a hundred; and some bad ones."""
    moved = []
    for now, statement in statements:
        delay = random.randrange(DISORDER_MS) if random.random() < 0.99 else random.randrange(10_000)
        moved.append((now + delay, f"{now}\t{_expanded(statement)} .\n"))
        if random.random() < 0.01:
            moved.append((now, random.choice(BAD_LINES).format(now) + "\n"))
    return (line for _, line in sorted(moved))


def _expanded(statement: str) -> str:
    special = {"a": "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"}
    integer = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    return " ".join(
        f"<http://example.org/{word[1:]}>" if word[0] == ":" else special.get(word) or integer.format(word)
        for word in statement.split()
    )


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
        self._said = tempfile.TemporaryFile()
        words = (*workload.words, *place.words, "--batch-bytes", str(BATCH_BYTES), "--cores", "2", *more)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ensue", "run", *words],
            env=os.environ | {MARK: self._mark},
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            start_new_session=True,
            # A shell without job control has its background jobs ignore interrupts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def wait(self, seconds: float = PATIENCE) -> int:
        """The exit code."""
        return self.process.wait(seconds)

    def said(self) -> str:
        """What it said on standard error so far."""
        return os.pread(self._said.fileno(), 1 << 20, 0).decode()

    def processes(self) -> dict[int, str]:
        """Its processes that are there now: which is the driver, Java, the workers."""
        found = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and (kind := self._kind(folder)):
                found[int(folder.name)] = kind
        return found

    def _kind(self, folder: Path) -> str | None:
        try:
            if f"{MARK}={self._mark}".encode() not in (folder / "environ").read_bytes().split(b"\0"):
                return None
            words = (folder / "cmdline").read_bytes()
        except OSError:  # It has gone, or is somebody else's.
            return None
        if int(folder.name) == self.process.pid:
            return "driver"
        return "worker" if b"pyspark" in words and b"org.apache" not in words else "java"

    def reaches(self, moment: str, random: Random) -> bool:
        """Wait until something begins to be written, perhaps for the second or third time; or for "any" time.

        False if the job ends before.
        """
        if moment == "any":
            end = time.monotonic() + random.uniform(0, ANY_SECONDS)
            while self.process.poll() is None and time.monotonic() < end:
                time.sleep(POLL_SECONDS)
            return self.process.poll() is None
        changes, before = random.randint(1, 3), self.place.looks(moment)
        end = time.monotonic() + PATIENCE
        while changes and self.process.poll() is None:
            assert time.monotonic() < end, f"nothing happens:\n{self.said()}"
            time.sleep(POLL_SECONDS)
            if (now := self.place.looks(moment)) != before:
                changes, before = changes - 1, now
        return not changes

    def suffer(self, act: str, random: Random) -> int | None:
        """Do something to it. The exit code, or None if it goes on."""
        if act in INTERRUPTS:
            for number in range(INTERRUPTS[act]):
                time.sleep(number * 0.2)
                os.killpg(self.process.pid, signal.SIGINT)
        else:
            self.kill(act, random)
        try:
            return self.wait(WORKER_SECONDS if act == "worker" else PATIENCE)
        except subprocess.TimeoutExpired:
            if act == "worker":
                return None
            raise

    def kill(self, victim: str, random: Random) -> None:
        """Kill its processes of one kind, but of the workers only one; or "all"."""
        found = [pid for pid, kind in self.processes().items() if victim in ("all", kind)]
        for pid in [random.choice(found)] if victim == "worker" and found else found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


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
