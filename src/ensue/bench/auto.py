"""Whether the strategy that is chosen is the best one, on workloads it was not calibrated on."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter

from ensue.bench.auto_workloads import STREAM, Workload, workloads
from ensue.bench.driver import Answers, answers_of, check_answers, freeze, in_turn
from ensue.bench.harness import Experiment, Result, Row, Table, progress, ratio
from ensue.errors import StrategyError
from ensue.files import Timed
from ensue.reasoner import Reasoner

ALTERNATIVES: Mapping[str, tuple[str, bool]] = {
    "auto": ("auto", True),
    "expiration": ("expiration", True),
    "expiration, not pruned": ("expiration", False),
    "rewrite": ("rewrite", True),
    "hybrid": ("hybrid", True),
    "recompute": ("recompute", True),
}
"""By name: the strategy, and whether rules and background are pruned."""


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    window: int = 20_000
    """Statements of a window."""
    changes: tuple[float, ...] = (1.0, 0.5, 0.1)
    """The shares of the window that are new at an evaluation."""
    rounds: int = 21
    """Evaluations that are timed."""
    seed: int = 1


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    return Experiment(
        "auto",
        f"isIn trees, random hierarchies and LUBM, windows of {options.window:,} statements, of which "
        f"{', '.join(f'{share:.0%}' for share in options.changes)} are new at an evaluation",
        {name: str(value) for name, value in asdict(options).items()},
        "the best alternative in the same run; terms have their numbers before the clock starts",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """Each workload, at each share of change, by all who can do it."""
    rows: list[Row] = []
    for workload in workloads(options.seed):
        freeze()
        for change in options.changes:
            progress(f"{workload.name}, {change:.0%} new")
            rows += _rows(options, workload, change)
    chosen = [row for row in rows if row["who"] == "auto"]
    worst = max(chosen, key=lambda row: float(row["times the best"] or 0))
    note = (
        f"auto is at most {worst['times the best']} times as slow as the best: "
        f"{worst['workload']}, {worst['new']} new"
    )
    return Result([Table("ms an evaluation, median", rows)], [], [note])


def _rows(options: Options, workload: Workload, change: float) -> Iterable[Row]:
    step = round(options.window * change)
    lanes = dict(_lanes(workload, workload.query(options.window, step)))
    fed = 0
    times: dict[str, list[float]] = {name: [] for name in lanes}
    warm = -(-options.window // step) + 1
    for number in range(1, warm + options.rounds + 1):
        batch = workload.batch(fed, step)
        fed += step
        answers: dict[str, Answers] = {}
        for name in in_turn(lanes, number):
            seconds, answers[name] = _evaluate(lanes[name], batch, fed)
            if number > warm:
                times[name].append(seconds)
        check_answers(answers)
    medians = {name: median(seconds) for name, seconds in times.items()}
    best = min(medians.values())
    for name, seconds in medians.items():
        yield {
            "workload": workload.name,
            "new": f"{change:.0%}",
            "who": name,
            "ms": 1000 * seconds,
            "times the best": ratio(seconds, best),
            "chosen": lanes[name].plan()["scopes"][0]["strategy"] if name == "auto" else "",
        }


def _lanes(workload: Workload, query: str) -> Iterable[tuple[str, Reasoner]]:
    """The reasoners of those that take the rules."""
    for name, (strategy, prune) in ALTERNATIVES.items():
        reasoner = Reasoner(workload.rules, workload.knowledge, strategy, prune=prune)
        try:
            reasoner.register(query)
        except StrategyError:
            continue
        yield name, reasoner


def _evaluate(reasoner: Reasoner, batch: Sequence[Timed], now: int) -> tuple[float, Answers]:
    reasoner.feed(STREAM, batch)
    gc.collect()
    begin = perf_counter()
    results = list(reasoner.advance(to=now))
    return perf_counter() - begin, answers_of(results)
