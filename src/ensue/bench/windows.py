"""What a step of a sliding window costs when answers are kept, and when they are looked for anew.

The same observations go through reasoners that differ in the evaluator: one keeps the answers of the
query as facts come and go, the other asks oxigraph about the window again at each step. Then the window
grows at a fixed rate of change: a step must cost what it changes, not what the window holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median

from ensue.bench.driver import COUNTERS, NO_RULES, Clocks, Lane, Step, check_answers
from ensue.bench.harness import Cell, Chart, Experiment, Result, Row, Table, Timing, progress, ratio
from ensue.bench.sensors import EACH, STEP_MS, Sensors, query
from ensue.errors import UsageError

COMPILED, OXIGRAPH, PASS_THROUGH = "compiled", "oxigraph", "pass-through"


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    seconds: int = 60
    """The range of the window; it moves every second."""
    window: int = 100_000
    """Statements in the window."""
    answers: int = 60
    """Answers in a window, whatever its size."""
    steps: int = 20
    sensors: int = 1000
    factors: Sequence[float] = (0.1, 1.0, 10.0)
    """How many times the range the windows of the scaling part are."""
    seed: int = 1

    @property
    def observations(self) -> int:
        """New observations a second."""
        return -(-self.window // (EACH * self.seconds))

    def workload(self, seconds: int) -> Sensors:
        """Observations of which so many are answers in a window of this range."""
        rare = max(1, self.observations * seconds // self.answers)
        return Sensors(rare, self.sensors, seed=self.seed)


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    parameters: dict[str, Cell] = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple | list) else value
        for name, value in asdict(options).items()
    }
    return Experiment(
        "windows",
        f"{options.observations:,} observations of {EACH} statements a second under rdfs-jena; "
        "three patterns, of which none is rare by itself, joined",
        parameters,
        f"{PASS_THROUGH}: the same statements with no rules, and a query that has no answers",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """Both evaluators over one window, then windows of several sizes."""
    if any(round(options.seconds * factor) < 1 for factor in options.factors):
        raise UsageError("a window shorter than its step", hint="factors that give a second or more")
    with Clocks().running() as clocks:
        return compare(options, clocks) + scale(options, clocks)


# -- keeping answers against looking for them --------------------------------------------------------


def compare(options: Options, clocks: Clocks) -> Result:
    """Every step of both evaluators over the same window, answers checked to be the same."""
    workload, range_ms = options.workload(options.seconds), options.seconds * STEP_MS
    texts = [query("watched", range_ms)]
    lanes = {
        COMPILED: Lane(workload, texts),
        OXIGRAPH: Lane(workload, texts, evaluator=OXIGRAPH),
        # Without rules nothing has a kind above its stated class: this kind is never met.
        PASS_THROUGH: Lane(workload, [query("watched", range_ms, of=workload.kinds)], rules=NO_RULES),
    }
    taken: dict[str, list[Step]] = {name: [] for name in lanes}
    for number in range(1, options.seconds + options.steps + 2):
        if number % 10 == 1:
            progress(f"compare: step {number} of {options.seconds + options.steps + 1}")
        batch = workload.second(number, options.observations)
        steps = {name: lane.step(number, batch, clocks) for name, lane in lanes.items()}
        check_answers({name: steps[name].answers for name in (COMPILED, OXIGRAPH)})
        # The window is full, and the first step at which something leaves is for warming up.
        if number > options.seconds + 1:
            for name, step in steps.items():
                taken[name].append(step)
    return _compared(taken)


def _compared(taken: Mapping[str, Sequence[Step]]) -> Result:
    rows = [_stages(name, steps) for name, steps in taken.items()]
    answers = [len(rows) for step in taken[COMPILED] for rows in step.answers.values()]
    came = sum(_came(before, after) for before, after in pairwise(taken[COMPILED]))
    note = f"answers: {min(answers)} to {max(answers)} a window, the same in both; {came} new ones came"
    return Result([Table("ms a step, median", rows)], notes=[*_ratios(taken), note])


def _stages(name: str, steps: Sequence[Step]) -> Row:
    timing = Timing(tuple(step.seconds for step in steps))
    stages = {
        stage: 1000 * median(step.stages[stage] for step in steps) for stage in ("maintain", "load", "query")
    }
    rest = 1000 * median(step.seconds - sum(step.stages.values()) for step in steps)
    return {
        "evaluator": name,
        "whole step": 1000 * timing.median,
        "min-max": timing.spread,
        "admission": rest,
        "closure and answers": stages["maintain"],
        "loading": stages["load"],
        "query": stages["query"],
    }


def _came(before: Step, after: Step) -> int:
    """How many answers a step has that the one before had not."""
    one, two = ({row for rows in step.answers.values() for row in rows} for step in (before, after))
    return len(two - one)


def _ratios(taken: Mapping[str, Sequence[Step]]) -> list[str]:
    """How many times faster keeping answers is, by what is counted on either side."""
    kept, asked = taken[COMPILED], taken[OXIGRAPH]
    whole = median(step.seconds for step in kept)
    read = median(step.stages["query"] for step in kept)
    again = median(step.stages["query"] for step in asked)
    unloaded = median(step.unloaded for step in asked)
    closure = median(step.stages["maintain"] for step in asked)
    answers = max(0.0, median(step.stages["maintain"] for step in kept) - closure)
    return [
        f"(a) oxigraph's query alone takes {ratio(again, whole)} times the whole incremental step",
        f"(b) with admission and closure on both sides, and no loading: {ratio(unloaded, whole)} times",
        f"(c) oxigraph's query against keeping answers (by difference) and reading them: "
        f"{ratio(again, answers + read)} times; against reading them: {ratio(again, read)} times",
    ]


# -- the window grows --------------------------------------------------------------------------------


def scale(options: Options, clocks: Clocks) -> Result:
    """Steps of the same size over windows of several sizes: the growth of work and time."""
    rows: list[Row] = []
    for factor in options.factors:
        seconds = round(options.seconds * factor)
        size = EACH * options.observations * seconds
        progress(f"scale: {options.steps} steps at a window of {size:,} statements")
        row: dict[str, Cell] = {"range s": seconds, "statements": size, **_full(options, seconds, clocks)}
        if rows:
            row |= {f"{name} x": _growth(row[name], rows[-1][name]) for name in (*COUNTERS, "ms")}
        rows.append(row)
    points = [(float(row["statements"] or 0), float(row["ms"] or 0)) for row in rows]
    chart = Chart("a step as the window grows", "statements", "ms", {"whole step": points}, log_x=True)
    notes = [
        f"from {before['statements']:,} to {row['statements']:,} statements in the window: "
        + ", ".join(f"{name} {row[f'{name} x']}x" for name in (*COUNTERS, "ms"))
        for before, row in pairwise(rows)
    ]
    return Result([Table("the same step over windows of several sizes", rows)], [chart], notes)


def _growth(after: Cell, before: Cell) -> float:
    """To three digits after the point: the limit for work is 1.02."""
    return round(float(after or 0) / float(before), 3) if before else 0.0


def _full(options: Options, seconds: int, clocks: Clocks) -> dict[str, Cell]:
    """What a step over a full window of this range costs: work on average, time as the median."""
    workload, each = options.workload(seconds), options.observations
    lane = Lane(workload, [query("watched", seconds * STEP_MS)])
    full = seconds + 1
    for number in range(1, full + 1):
        lane.run(number, workload.second(number, each))
    before = lane.counters()
    numbers = range(full + 1, full + options.steps + 1)
    steps = [lane.step(number, workload.second(number, each), clocks) for number in numbers]
    after = lane.counters()
    timing = Timing(tuple(step.seconds for step in steps))
    counted = {name: round((after[name] - before[name]) / len(steps)) for name in COUNTERS}
    return counted | {
        "answers": max(len(rows) for step in steps for rows in step.answers.values()),
        "ms": 1000 * timing.median,
        "min-max ms": timing.spread,
        "closure and answers ms": 1000 * median(step.stages["maintain"] for step in steps),
        "query ms": 1000 * median(step.stages["query"] for step in steps),
    }
