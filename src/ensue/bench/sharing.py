"""Many queries with different ranges over one stream: one materialisation serves them all.

At the frontier the closure of a window is what has a stamp above its open, so a query of any range reads
the answers that are kept for the largest. Fifty queries should so cost little more than one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from ensue.bench.driver import Clocks, Lane, Step, answers_of, check_answers
from ensue.bench.harness import Chart, Experiment, Result, Row, Table, Timing, progress, ratio
from ensue.bench.sensors import EACH, STEP_MS, Sensors, query
from ensue.errors import UsageError


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    queries: int = 50
    shortest: int = 1
    """The smallest range, in seconds."""
    longest: int = 600
    observations: int = 556
    """New observations a second; the default is that of `ensue bench windows`."""
    answers: int = 60
    """Answers in the longest window."""
    steps: int = 20
    sensors: int = 1000
    check_observations: int = 2
    """New observations a second where separate engines are compared."""
    check_steps: int = 60
    """Steps over the full longest window that are compared there."""
    seed: int = 1

    @property
    def ranges(self) -> list[int]:
        """The ranges in seconds, evenly from the shortest to the longest.

        >>> Options(queries=3, longest=11).ranges
        [1, 6, 11]
        """
        spread, last = self.longest - self.shortest, self.queries - 1
        return [self.shortest + k * spread // last for k in range(self.queries)]

    def workload(self, observations: int) -> Sensors:
        """Observations of which so many are answers in the longest window."""
        rare = max(1, observations * self.longest // self.answers)
        return Sensors(rare, self.sensors, seed=self.seed)


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    return Experiment(
        "sharing",
        f"{options.queries} queries with ranges from {options.shortest} to {options.longest} s, "
        f"each step 1 s, over {EACH * options.observations:,} statements a second under rdfs-jena",
        asdict(options),
        "the query with the largest range alone",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """The time of a step with the largest query alone and with all, then the check."""
    if options.queries < 2 or options.shortest >= options.longest:
        raise UsageError("nothing to share", hint="two queries or more, and ranges that differ")
    workload = options.workload(options.observations)
    cases = {
        "the largest alone": [query("q", options.longest * STEP_MS)],
        "all, one pattern": _texts(options, kinds=None),
        f"all, {workload.kinds} patterns": _texts(options, kinds=workload.kinds),
    }
    with Clocks().running() as clocks:
        lanes = {name: Lane(workload, texts) for name, texts in cases.items()}
        taken = _run(options, lanes, workload, clocks)
    alone = median(step.seconds for step in taken["the largest alone"])
    rows = [_row(name, len(cases[name]), steps, alone) for name, steps in taken.items()]
    notes = [
        f"{row['case']}: {row['times the largest alone']} times the largest alone, answers included"
        for row in rows[1:]
    ]
    return Result([Table("ms a step, median", rows)], [_chart(taken)], [*notes, check(options)])


def _texts(options: Options, kinds: int | None) -> list[str]:
    """The queries: all over the same pattern, or each over one of so many in turn."""
    return [
        query(f"q{k}", seconds * STEP_MS, of=None if kinds is None else k % kinds)
        for k, seconds in enumerate(options.ranges)
    ]


def _run(
    options: Options, lanes: dict[str, Lane], workload: Sensors, clocks: Clocks
) -> dict[str, list[Step]]:
    taken: dict[str, list[Step]] = {name: [] for name in lanes}
    for number in range(1, options.longest + options.steps + 2):
        if number % 60 == 0:
            progress(f"step {number} of {options.longest + options.steps + 1}")
        batch = workload.second(number, options.observations)
        if number <= options.longest + 1:
            for lane in lanes.values():
                lane.run(number, batch)
            continue
        for name, lane in lanes.items():
            taken[name].append(lane.step(number, batch, clocks))
    return taken


def _row(name: str, queries: int, steps: Sequence[Step], alone: float) -> Row:
    timing = Timing(tuple(step.seconds for step in steps))
    return {
        "case": name,
        "queries": queries,
        "answers": sum(len(rows) for rows in steps[-1].answers.values()),
        "ms": 1000 * timing.median,
        "min-max ms": timing.spread,
        "closure and answers": 1000 * median(step.stages["maintain"] for step in steps),
        "query": 1000 * median(step.stages["query"] for step in steps),
        "times the largest alone": ratio(timing.median, alone),
    }


def _chart(taken: Mapping[str, Sequence[Step]]) -> Chart:
    series = {
        name: [(float(k), 1000 * step.seconds) for k, step in enumerate(steps, 1)]
        for name, steps in taken.items()
    }
    return Chart("the steps over the full window", "step", "ms", series, log_y=True)


def check(options: Options) -> str:
    """Compare the answers of all queries in one engine with those of an engine for each."""
    each = options.check_observations
    workload = options.workload(each)
    texts = _texts(options, kinds=workload.kinds)
    progress(f"check: {options.queries} queries in one engine, and in one engine each")
    shared = Lane(workload, texts)
    separate = [Lane(workload, [text]) for text in texts]
    compared = 0
    for number in range(1, options.longest + options.check_steps + 1):
        batch = workload.second(number, each)
        together = answers_of(shared.run(number, batch))
        apart = [answers_of(lane.run(number, batch)) for lane in separate]
        check_answers({"one engine each": {k: v for one in apart for k, v in one.items()}, "all": together})
        compared += sum(map(len, together.values()))
    return f"check: {compared:,} answers are the same in {options.queries} engines with one query each"
