"""How fast the kernel derives, how much room a fact takes, and what a step costs as state grows.

A step must cost what it changes, not what there is: so the same step is taken over a window, and
over a background, of n and of ten times n statements, and its probes, derivations and time compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from statistics import median

import numpy as np

from ensue.bench.feed import Ids, background_of, copies_at, encode, timed_step
from ensue.bench.harness import Cell, Chart, Experiment, Result, Row, Table, Timing, progress, ratio
from ensue.bench.hierarchy import Hierarchy, hierarchy_rules, links
from ensue.bench.isin import IS_IN, Statement, Trees, isin_statements, place
from ensue.dictionary import Dictionary
from ensue.maintain import make
from ensue.maintain.contract import Maintainer
from ensue.rules.tree import RuleSet

FIRST_STREAMED = 1_000_000
"""The number of the first tree that is streamed: smaller ones are the background's."""
COUNTERS = ("facts", "derivations", "probes", "bytes")


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    strategy: str = "expiration"
    statements: int = 100_000
    """Links of the hierarchy workload; the default gives about 5 M derived facts."""
    trees: int = 250
    """isIn trees of the transitive workload, 510 statements each."""
    scale: int = 10_000
    """The smaller window and background of the scaling part."""
    step: int = 1_000
    """Statements of a step there."""
    steps: int = 9
    repeats: int = 5
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Workload:
    """Rules, a background, and statements to admit, in the integers of a dictionary."""

    name: str
    rules: RuleSet
    dictionary: Dictionary
    background: Ids
    statements: Ids
    indexed: bool = False
    """Whether both join indexes are kept from the start, though no rule here looks up in them."""

    def maintainer(self, strategy: str) -> Maintainer:
        """A maintainer of this workload that holds the background."""
        made = self._indexed() if self.indexed else make(strategy, self.rules, self.dictionary)
        made.load_background(background_of(self.background))
        made.advance(0)
        return made

    def _indexed(self) -> Maintainer:
        from ensue.maintain.expiration import Expiration
        from ensue.maintain.kernel.layout import OBJECT, PREDICATE, SUBJECT

        return Expiration(self.rules, self.dictionary, indexes=(PREDICATE | SUBJECT, PREDICATE | OBJECT))


def experiment(options: Options, transitive: RuleSet) -> Experiment:
    """The experiment, ready to run."""
    return Experiment(
        "kernel",
        "class tree of depth 6 with 50 properties (rdfs2, 3, 7, 9); isIn trees (transitivity)",
        asdict(options),
        "pass-through: the same copies admitted without rules",
        lambda: measure(options, transitive),
    )


def measure(options: Options, transitive: RuleSet) -> Result:
    """Rates, room and scaling."""
    progress("warming up")
    small = (hierarchy_workload(200, options.seed), transitive_workload(2, transitive, options.seed))
    for workload in small:
        _admit_all(workload, options.strategy)
    hierarchy = hierarchy_workload(options.statements, options.seed)
    rates: list[Row] = [_rate(hierarchy, options)]
    if options.strategy == "expiration":
        rates.append(_rate(replace(hierarchy, name="with both join indexes", indexed=True), options))
    rates.append(_rate(_without_rules(hierarchy), options))
    trees = transitive_workload(options.trees, transitive, options.seed)
    rates += [_rate(trees, options), _rate(_without_rules(trees), options)]
    scaling = [row for case in scaling_cases(options, transitive) for row in _scaling(*case, options)]
    return Result(
        [
            Table("admitting everything at once", rates),
            Table(f"a step of {options.step:,} statements", scaling),
        ],
        [_chart(scaling, options.step)],
        _notes(rates, scaling),
    )


def hierarchy_workload(n: int, seed: int) -> Workload:
    """`n` links under a class-and-property hierarchy."""
    hierarchy, dictionary = Hierarchy(seed=seed), Dictionary()
    schema = encode(hierarchy.schema(), dictionary)
    return Workload("hierarchy", hierarchy_rules(), dictionary, schema, links(hierarchy, n, dictionary))


def transitive_workload(trees: int, rules: RuleSet, seed: int) -> Workload:
    """Trees of isIn, eight deep."""
    dictionary = Dictionary()
    statements = encode(isin_statements(Trees(trees, 8, 2), seed), dictionary)
    return Workload("transitive", rules, dictionary, np.zeros((0, 3), np.int32), statements)


def _without_rules(workload: Workload) -> Workload:
    nothing = RuleSet("none", ())
    return Workload("pass-through", nothing, workload.dictionary, workload.background, workload.statements)


def _admit_all(workload: Workload, strategy: str) -> tuple[float, dict[str, int]]:
    """The time that admitting all of it takes, and what the counters say it did."""
    maintainer = workload.maintainer(strategy)
    before = _counters(maintainer)
    seconds, _ = timed_step(maintainer, copies_at(workload.statements, 1), 0)
    after = _counters(maintainer)
    done = {name: after[name] - before[name] for name in ("facts", "derivations", "probes")}
    return seconds, done | {"bytes": after["bytes"], "held": after["facts"]}


def _rate(workload: Workload, options: Options) -> Row:
    progress(f"{workload.name}: {len(workload.statements):,} statements, {options.repeats} times")
    runs = [_admit_all(workload, options.strategy) for _ in range(options.repeats)]
    timing = Timing(tuple(seconds for seconds, _ in runs))
    found = runs[-1][1]
    return {
        "workload": workload.name,
        "statements": len(workload.statements),
        "new facts": found["facts"],
        "derivations": found["derivations"],
        "seconds": timing.median,
        "min-max ms": timing.spread,
        "new facts/s": found["facts"] / timing.median,
        "derivations/s": found["derivations"] / timing.median,
        "bytes/fact": found["bytes"] / max(1, found["held"]),
    }


def scaling_cases(options: Options, transitive: RuleSet) -> list[tuple[str, Callable[[int], Workload], str]]:
    """What grows in each case: a name, the workload at a size, and whether window or background."""
    return [
        ("hierarchy", lambda n: _growing_links(n, options.scale, options), "window"),
        ("hierarchy", lambda n: _growing_links(options.scale, n, options), "background"),
        ("transitive", lambda n: _growing_trees(n, options.scale, transitive, options), "window"),
        ("transitive", lambda n: _growing_trees(options.scale, n, transitive, options), "background"),
    ]


def _growing_links(window: int, ground: int, options: Options) -> Workload:
    """A window of links over a background of links; the links of the steps are always the same ones."""
    hierarchy, dictionary = Hierarchy(seed=options.seed), Dictionary()
    schema = encode(hierarchy.schema(), dictionary)
    known = links(hierarchy, ground, dictionary, prefix="known")
    total = 10 * options.scale + (options.steps + 1) * options.step
    stream = links(hierarchy, total, dictionary, shared=known[: min(ground, options.scale)])
    kept = stream[total - (options.steps + 1) * options.step - window :]
    return Workload("hierarchy", hierarchy_rules(), dictionary, np.concatenate([schema, known]), kept)


def _growing_trees(window: int, ground: int, rules: RuleSet, options: Options) -> Workload:
    """Trees whose roots are in places of trees that the background holds."""
    shape, dictionary = Trees(1, 4, 3), Dictionary()
    size = shape.statements
    known, shared = -(-ground // size), -(-options.scale // size)
    total = 10 * options.scale + (options.steps + 1) * options.step
    count = -(-total // (size + 1))
    pool = isin_statements(Trees(count, 4, 3), options.seed, mixed=1, first=FIRST_STREAMED)
    stream: list[Statement] = []
    for tree in range(count):
        stream += pool[tree * size : (tree + 1) * size]
        stream.append((place(FIRST_STREAMED + tree, 0), IS_IN, place(tree % shared, size)))
    background = encode(isin_statements(Trees(known, 4, 3), options.seed), dictionary)
    kept = stream[total - (options.steps + 1) * options.step - window : total]
    return Workload("transitive", rules, dictionary, background, encode(kept, dictionary))


def _scaling(name: str, at: Callable[[int], Workload], grows: str, options: Options) -> list[Row]:
    rows: list[Row] = []
    for size in (options.scale, 10 * options.scale):
        progress(f"{name}: {options.steps} steps at a {grows} of {size:,}")
        workload = at(size)
        window = len(workload.statements) - (options.steps + 1) * options.step
        rows.append({"workload": name, "grows": grows, "size": size, **_steps(workload, window, options)})
    growth = {
        f"{counter} x": ratio(float(rows[1][counter] or 0), float(rows[0][counter] or 0))
        for counter in ("probes", "derivations", "ms")
    }
    return [rows[0], {**rows[1], **growth}]


def _steps(workload: Workload, window: int, options: Options) -> dict[str, Cell]:
    """The median probes, derivations and time of a step over a full window."""
    maintainer = workload.maintainer(options.strategy)
    maintainer.admit(copies_at(workload.statements[:window], 1))
    maintainer.advance(0)
    seconds, readings = [], []
    for k in range(options.steps + 1):
        first = window + k * options.step
        copies = copies_at(workload.statements[first : first + options.step], first + 1)
        seconds.append(timed_step(maintainer, copies, first + options.step - window)[0])
        readings.append(_counters(maintainer))
    found: dict[str, Cell] = {}
    for counter in ("probes", "derivations"):
        found[counter] = int(median(after[counter] - before[counter] for before, after in pairwise(readings)))
    timing = Timing(tuple(seconds[1:]))
    return found | {"ms": timing.median * 1000, "min-max ms": timing.spread}


def _counters(maintainer: Maintainer) -> dict[str, int]:
    found = maintainer.statistics()
    return {name: found.get(name, 0) for name in COUNTERS}


def _chart(scaling: list[Row], step: int) -> Chart:
    series: dict[str, list[tuple[float, float]]] = {}
    for row in scaling:
        points = series.setdefault(f"{row['workload']}: {row['grows']}", [])
        points.append((float(row["size"] or 0), float(row["ms"] or 0)))
    return Chart(f"a step of {step:,} statements as state grows", "statements", "ms", series, log_x=True)


def _notes(rates: list[Row], scaling: list[Row]) -> list[str]:
    notes = [
        f"{row['workload']}: {row['new facts/s']:,.0f} new facts/s, "
        f"{row['derivations/s']:,.0f} derivations/s, {row['bytes/fact']:.0f} bytes a fact"
        for row in rates
        if row["workload"] != "pass-through"
    ]
    return notes + [
        f"{row['workload']}, {row['grows']} ten times larger: probes {row['probes x']}x, "
        f"derivations {row['derivations x']}x, time {row['ms x']}x"
        for row in scaling
        if "probes x" in row
    ]
