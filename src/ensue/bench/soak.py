"""A long replay: ever-new terms through sliding windows, with rules, and memory that must stay flat.

Every observation is a node that was never seen before and never comes again, so whatever is not given
back shows up as memory. The peak of the last third of the run is compared with that of the middle third;
the first third is for caches and tables to find their size. Exit code 1 if memory grew.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from ensue.bench.driver import Lane
from ensue.bench.resident import resident_bytes
from ensue.bench.sensors import EACH, STEP_MS, Sensors, query
from ensue.errors import EnsueError

STATEMENTS = 20_000_000
OBSERVATIONS = 500
"""New observations a second of the stream's time."""
RANGES = (10, 3)
"""The ranges of the queries, in seconds. Short: the less a window holds, the more a leak stands out."""
ALLOWED_GROWTH = 1.05
SAY_EVERY = 10.0
FEWEST_SAMPLES = 9
MOST_SAMPLES = 300
"""Few, whatever the length of the run: what is kept of the samples is memory too."""


class MemoryGrowthError(EnsueError):
    """Memory grew where it should have stayed flat, or the run was too short to tell."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The resident memory once so many statements had been replayed."""

    statements: int
    resident: int


def replay(statements: int, say: Callable[[str], None] = print, seed: int = 1) -> list[Sample]:
    """Replay so many statements and sample the memory at even steps; every now and then, say a line."""
    workload = Sensors(rare=100, sensors=100, seed=seed)
    lane = Lane(workload, [query(f"last{seconds}", seconds * STEP_MS) for seconds in RANGES])
    per_step = EACH * OBSERVATIONS
    steps = -(-statements // per_step)
    every = -(-steps // MOST_SAMPLES)
    samples: list[Sample] = []
    began = said = monotonic()
    for number in range(1, steps + 1):
        results = lane.run(number, workload.second(number, OBSERVATIONS))
        _check_answers(workload, number, {result.query: len(result.answers.rows) for result in results})
        now = monotonic()
        if number % every == 0 or number == steps:
            samples.append(Sample(number * per_step, resident_bytes()))
        if now - said >= SAY_EVERY:
            said = now
            say(_line(Sample(number * per_step, resident_bytes()), now - began))
    say(_line(samples[-1], monotonic() - began))
    return samples


def growth(samples: Sequence[Sample]) -> float:
    """How many times the peak of the middle third the peak of the last third is.

    >>> growth([Sample(n, size) for n, size in enumerate([1, 2, 3, 9, 10, 10, 10, 10, 11])])
    1.1
    """
    if len(samples) < FEWEST_SAMPLES:
        raise MemoryGrowthError("too short to tell whether memory is flat", hint="replay more statements")
    third = len(samples) // 3
    middle, last = samples[third:-third], samples[-third:]
    return max(s.resident for s in last) / max(1, *(s.resident for s in middle))


def check_flat(samples: Sequence[Sample]) -> str:
    """Raise MemoryGrowthError if memory grew; otherwise say how flat it was."""
    times = growth(samples)
    found = f"memory in the last third is {times:.3f} times that of the middle third"
    if times > ALLOWED_GROWTH:
        raise MemoryGrowthError(f"{found}, at most {ALLOWED_GROWTH} is flat", hint="something is kept")
    return found


def _check_answers(workload: Sensors, number: int, found: dict[str, int]) -> None:
    """Memory can also be flat because nothing is answered: so the answers are counted."""
    for seconds in RANGES:
        first = max(0, number - seconds) * OBSERVATIONS
        expected = len(workload.answers(first, number * OBSERVATIONS))
        answers = found.get(f"last{seconds}", 0)
        if answers != expected:
            what = f"step {number}: {answers} answers in {seconds} s, not {expected}"
            raise EnsueError(what, hint="this is a bug: please report the command and its seed")


def _line(sample: Sample, seconds: float) -> str:
    rate = sample.statements / max(seconds, 1e-9)
    return (
        f"{seconds:6.0f} s: {sample.statements:,} statements, {rate:,.0f}/s, {sample.resident / 1e6:.1f} MB"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m ensue.bench.soak", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--statements", type=int, default=STATEMENTS, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    args = parser.parse_args(words)
    try:
        print(check_flat(replay(args.statements, lambda line: print(line, flush=True), args.seed)))
    except EnsueError as problem:
        print(problem)
        return problem.exit_code
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
