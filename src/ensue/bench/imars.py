"""The experiment of IMaRS (Barbieri et al. 2010, section 5): how much of a window may change.

A pool of isIn trees; part of it is background, the rest is streamed through a count window. At
each share of change every strategy takes the same steps, oldest statements out, new ones in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, islice

import numpy as np

from ensue.bench.feed import Ids, Step, Stepper, encode
from ensue.bench.harness import (
    Cell,
    Chart,
    Experiment,
    Result,
    Row,
    Table,
    Timing,
    crossover,
    progress,
    ratio,
)
from ensue.bench.isin import Trees, isin_statements, split_background
from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.maintain import STRATEGIES, make
from ensue.maintain.contract import Maintainer
from ensue.rules.tree import RuleSet

SHARES = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 13.0, 20.0, 40.0, 60.0, 80.0, 100.0)
"""Per cent of the window that a step replaces; 2 and 13 are where the paper saw its crossovers."""

KEEP_ALL = "expiration-keep-all"
WANTED = ("recompute", "dred", "expiration", "rete", KEEP_ALL)
PASS_THROUGH = "pass-through"
WARM_UP = 1


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    window: int = 10_000
    background: int = 10_000
    depth: int = 5
    fanout: int = 3
    steps: int = 3
    seed: int = 1
    shares: Sequence[float] = SHARES
    strategies: Sequence[str] = WANTED

    def trees(self) -> Trees:
        """Enough trees for the background and four windows: none repeats a statement it holds."""
        size = Trees(1, self.depth, self.fanout).statements
        return Trees(-(-(self.background + 4 * self.window) // size), self.depth, self.fanout)


Points = dict[float, dict[str, list[Step]]]


def experiment(options: Options, rules: RuleSet) -> Experiment:
    """The experiment, ready to run."""
    parameters: dict[str, Cell] = {
        name: ", ".join(map(str, value)) if isinstance(value, tuple | list) else value
        for name, value in asdict(options).items()
    }
    trees = options.trees()
    return Experiment(
        "imars",
        f"{trees.statements:,} statements in isIn trees ({trees.depth} deep, fanout {trees.fanout})",
        parameters,
        f"{PASS_THROUGH}: expiration without rules (the log, the facts' index and expiry alone)",
        lambda: measure(options, rules),
    )


def measure(options: Options, rules: RuleSet) -> Result:
    """Run every strategy at every share of change and sum up."""
    if options.steps < 1 or min(options.shares) <= 0 or max(options.shares) > 100:
        raise UsageError(
            "nothing to measure", hint="at least one step, shares above 0 and up to 100 per cent"
        )
    dictionary = Dictionary()
    pool = isin_statements(options.trees(), options.seed)
    ground, stream = split_background(pool, options.background, options.seed)
    maintainers = _maintainers(options.strategies, rules, dictionary)
    stepper = Stepper(maintainers, options.window, unchecked=[PASS_THROUGH])
    progress(f"loading {len(ground):,} background statements into {', '.join(maintainers)}")
    stepper.load(encode(ground, dictionary))
    source = _Source(encode(stream, dictionary))
    stepper.step(source.take(options.window))
    return _sum_up(_run(options, stepper, source), list(maintainers))


def _run(options: Options, stepper: Stepper, source: _Source) -> Points:
    points: Points = {}
    for share in options.shares:
        size = max(1, round(options.window * share / 100))
        progress(f"{share:g}%: {options.steps} steps of {size:,} statements")
        taken = [stepper.step(source.take(size)) for _ in range(WARM_UP + options.steps)][WARM_UP:]
        points[share] = {name: [step[name] for step in taken] for name in taken[0]}
    return points


class _Source:
    """The stream, over and over: longer than two windows, so no window holds a statement twice."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._rows: Iterator[int] = cycle(range(len(ids)))

    def take(self, n: int) -> Ids:
        return self._ids[np.fromiter(islice(self._rows, n), np.int64, n)]


def _maintainers(wanted: Sequence[str], rules: RuleSet, dictionary: Dictionary) -> dict[str, Maintainer]:
    found = {}
    for name in wanted:
        if name not in STRATEGIES and name == KEEP_ALL:
            progress(f"{KEEP_ALL} is not among the strategies: left out")
            continue
        found[name] = make(name, rules, dictionary)
    if "expiration" in found:
        found[PASS_THROUGH] = make("expiration", RuleSet("none", ()), dictionary)
    return found


def _sum_up(points: Points, names: list[str]) -> Result:
    medians = {
        name: [Timing(tuple(s.seconds for s in at[name])).median for at in points.values()] for name in names
    }
    shares = list(points)
    chart = Chart(
        "time of a step over the share of the window that it replaces",
        "share of change (%)",
        "seconds",
        {name: list(zip(shares, line, strict=True)) for name, line in medians.items()},
        log_x=True,
        log_y=True,
    )
    tables = [*_times(points, names), _changes(points, names), _ratios(shares, medians)]
    return Result(tables, [chart], _crossovers(shares, medians))


def _times(points: Points, names: list[str]) -> list[Table]:
    medians: list[Row] = []
    spreads: list[Row] = []
    for share, at in points.items():
        timings = {name: Timing(tuple(step.seconds for step in at[name])) for name in names}
        medians.append({"change %": share} | {name: t.median * 1000 for name, t in timings.items()})
        spreads.append({"change %": share} | {name: t.spread for name, t in timings.items()})
    return [Table("ms a step, median", medians), Table("ms a step, fastest to slowest", spreads)]


def _changes(points: Points, names: list[str]) -> Table:
    rows: list[Row] = []
    for share, at in points.items():
        last = at[names[0]][-1]
        row: dict[str, Cell] = {
            "change %": share,
            "facts": last.held,
            "P+": last.inserted,
            "P-": last.deleted,
        }
        rows.append(row | {"all agree": True})
    return Table("the last step: closure of the window, inserted, deleted (checked after every step)", rows)


def _ratios(shares: list[float], medians: dict[str, list[float]]) -> Table:
    compared = [name for name in medians if name not in ("expiration", PASS_THROUGH)]
    if "expiration" not in medians:
        return Table("how many times expiration's time each takes", [])
    rows = [
        {"change %": share} | {name: ratio(medians[name][k], medians["expiration"][k]) for name in compared}
        for k, share in enumerate(shares)
    ]
    return Table("how many times expiration's time each takes", rows)


def _crossovers(shares: list[float], medians: dict[str, list[float]]) -> list[str]:
    """Where recomputing becomes the faster way, for each strategy that avoids it."""
    notes = []
    for name in medians:
        if "recompute" not in medians or name in ("recompute", PASS_THROUGH):
            continue
        where = crossover(shares, medians["recompute"], medians[name])
        if where is None:
            notes.append(f"recompute never overtakes {name} (up to {shares[-1]:g}%)")
        else:
            about = "from the smallest change on" if where == shares[0] else f"at about {where:.2g}% change"
            notes.append(f"recompute overtakes {name} {about}")
    if {"dred", "expiration"} <= medians.keys():
        where = crossover(shares, medians["dred"], medians["expiration"])
        notes.append(
            "expiration is ahead of dred everywhere"
            if where is None
            else f"dred overtakes expiration at {where:.2g}%"
        )
    return notes
