"""Kills a job on Spark at random moments, again and again: its output must be that of the engine in process.

A job is killed with -9: all of its processes, or only the driver, Java, or a Python worker; at any time, or
right when a step's state, its results or its place in the ledger is being written. What is left is started
again from the checkpoint. In the end no line of the output may be missing, there twice, or different, and
so for the dead letters. What is expected comes from one run in process, which shares with a job on Spark
neither micro-batches nor shards nor a checkpoint. Exit code 1 if a line is wrong; the seed is printed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from random import Random, SystemRandom

from kill_job import PATIENCE, Child, Place
from kill_workload import Workload, make_network_workload, make_workload

__all__ = ["Child", "Place", "difference", "endure", "make_network_workload", "make_workload", "ordered"]

KILLS_A_JOB = 12
KINDS, NETWORK = 5, 4
"""How many kinds of jobs there are, and which of them is a rule network."""
CODES: dict[str, set[int | None]] = {
    "all": {-signal.SIGKILL},
    "driver": {-signal.SIGKILL},
    "java": {1},
    # Spark tries a task again, but not what plans micro-batches.
    "task": {None, 0},
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
                count, hurt = count + 1, 1 in CODES[act]
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


def ordered(line: str) -> str:
    """A line of results with its answers in order: a job that was started again may have them in another."""
    found = json.loads(line)
    for kind in ("bindings", "triples"):
        if kind in found:
            found[kind].sort(key=json.dumps)
    return json.dumps(found)


def difference(expected: Sequence[str], found: Sequence[str]) -> str | None:
    """What is wrong with some lines, if anything is."""
    lost, more = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    if lost or more:
        shown = [f"{what}: {line[:200]}" for what, lines in (("-", lost), ("+", more)) for line in lines]
        return "\n".join([f"{lost.total()} lines lost, {more.total()} too many", *shown[:10]])
    return None if list(expected) == list(found) else "the lines are in another order"


def run_in_process(workload: Workload, place: Place) -> None:
    """Run the job by the engine in process."""
    place.folder.mkdir(parents=True, exist_ok=True)
    words = [*workload.local_words, "--engine", "local", "--quiet"]
    words += ["--output", str(place.output), "--dead-letters", str(place.letters)]
    subprocess.run([sys.executable, "-m", "ensue", "run", *words], check=True, timeout=PATIENCE)


def wrong(expected: Place, found: Place, *, in_order: bool) -> str | None:
    """What is wrong with the output of a job, if anything is.

    Results of different queries have an order among each other only if they are `in_order`; those of one
    query always do.
    """
    results = [list(map(ordered, place.written()[0])) for place in (expected, found)]
    letters = [sorted(map(_letter, place.written()[1])) for place in (expected, found)]
    problem = difference(*(results if in_order else map(sorted, results)))
    if problem is None and not in_order:
        of_queries = [_by_query(lines) for lines in results]
        problem = None if of_queries[0] == of_queries[1] else "results of a query are in another order"
    if problem is not None:
        return f"results: {problem}"
    problem = difference(*letters)
    return None if problem is None else f"dead letters: {problem}"


def _letter(line: str) -> str:
    """What of a dead letter is the same on both engines: which line, and where it is."""
    found = json.loads(line)
    return json.dumps([found["file"], found["offset"], found["text"]])


def _by_query(lines: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for each in map(json.loads, lines):
        found.setdefault(each["query"], []).append(each["close"])
    return found


def soak(kills: int, seed: int, folder: Path) -> str | None:
    """Kill jobs until there were so many kills; what went wrong, or None."""
    random, done, number = Random(seed), 0, 0
    while done < kills:
        number += 1
        home = folder / str(number)
        workload = _workload(number, home / "in", random.randrange(1 << 30))
        calm, place = Place(home / "calm"), Place(home / "killed")
        run_in_process(workload, calm)
        blows = random_blows(min(KILLS_A_JOB, kills - done), random)
        done += endure(partial(Child, workload, place), blows, random)
        if problem := wrong(calm, place, in_order=number % KINDS == NETWORK):
            return f"job {number}, {problem}"
        print(f"{done} kills, {number} jobs: {len(calm.written()[0])} results each once, and none different")
        shutil.rmtree(home)
    return None


def _workload(number: int, folder: Path, seed: int) -> Workload:
    """In turn: queries in two shards, in two behind linear rules, in one, a rule network in two, stars."""
    kind = number % KINDS
    if kind == NETWORK:
        return make_network_workload(folder, seed, shards=2)
    # Which windows a line misses that comes later than is allowed depends on where micro-batches end.
    shards = 1 if kind == 3 else 2
    return make_workload(folder, seed, strays=0, shards=shards, expand=kind == 2, stars=kind == 0)


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
