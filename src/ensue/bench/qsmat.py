"""How long a window takes that is read for one query, by who does the reasoning (seed: QSMat, section 3.2).

The query asks for products of a type. For a leaf type nothing has to be derived; for the root everything
that says what a product is. Whoever materialises all of it does the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median

from ensue.bench.bsbm.hierarchy import Shape
from ensue.bench.harness import Chart, Experiment, Result, Row, Table, progress, ratio
from ensue.bench.qsmat_lanes import ALTERNATIVES, REGIME, Lanes, Ran
from ensue.bench.qsmat_market import Windows
from ensue.errors import UsageError

LIMIT = "raw window"

SHAPES = {7: (2, 2), 73: (8, 8), 329: (8, 8, 4), 1353: (8, 8, 4, 4), 11111: (10, 10, 10, 10)}
"""Hierarchies by how many types they have."""

_GENERIC = ("full", "pruned", "rewritten", "rewritten as a union", "hybrid", "auto")
_SPARKWAVE = ("epsilon", "epsilon pruned")


@dataclass(frozen=True, slots=True)
class Options:
    """The size of the experiment."""

    types: tuple[int, ...] = tuple(SHAPES)
    window: int = 100_000
    """Statements of a window."""
    windows: tuple[int, ...] = (25_000, 50_000, 100_000, 200_000)
    """The same for the part in which they grow."""
    instances: int = 3
    """Queries drawn from the template."""
    rounds: int = 7
    """Windows of each query that are timed, after one to warm up."""
    alternatives: tuple[str, ...] = tuple(ALTERNATIVES)
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Point:
    """One alternative at one place: means over the queries of medians over their windows."""

    types: int
    window: int
    kind: str
    name: str
    runs: Sequence[Ran]

    @property
    def seconds(self) -> float:
        """Of a window, indexing included."""
        return fmean(median(step.seconds for step in ran.steps) for ran in self.runs)

    @property
    def unindexed(self) -> float:
        """Of a window without what it takes to give its terms numbers."""
        return fmean(median(step.seconds - step.indexing for step in ran.steps) for ran in self.runs)

    @property
    def derived(self) -> float:
        """Derivations in a window."""
        return fmean(ran.derivations for ran in self.runs)

    @property
    def rules(self) -> str:
        """How many rules were left."""
        counts = sorted({ran.rules for ran in self.runs})
        return str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"


def experiment(options: Options) -> Experiment:
    """The experiment, ready to run."""
    for number in options.types:
        if number not in SHAPES:
            raise UsageError(f"no hierarchy has {number} types", hint=f"one of {', '.join(map(str, SHAPES))}")
    for name in options.alternatives:
        if name not in ALTERNATIVES:
            raise UsageError(f"no alternative is called '{name}'", hint=f"some of {', '.join(ALTERNATIVES)}")
    return Experiment(
        "qsmat",
        f"BSBM's products and offers on the stream, all else in the background, {options.window:,} "
        f"statements a window, under {REGIME}; listing 3.1 with {options.instances} types and features",
        {name: str(value) for name, value in asdict(options).items()},
        "the same query over the raw window, without rules",
        lambda: measure(options),
    )


def measure(options: Options) -> Result:
    """All figures of the paper."""
    points: list[Point] = []
    for number in options.types:
        windows = Windows(Shape(SHAPES[number]), options.window)
        lanes = _lanes(options, windows)
        for kind in ("leaf", "root"):
            points += _points(options, windows, lanes, kind)
    grown = list(_grown(options))
    return Result(
        [_table("leaf and root types", points), _table("types of any level, by size of window", grown)],
        [*_by_types(points), *_by_window(grown)],
        list(_notes(points)),
    )


def _lanes(options: Options, windows: Windows) -> Lanes:
    return Lanes(windows, (LIMIT, *options.alternatives), reference=options.alternatives[0])


def _points(options: Options, windows: Windows, lanes: Lanes, kind: str) -> list[Point]:
    progress(f"{windows.shape.types:,} types, {windows.statements:,} statements a window, {kind} types")
    asked = windows.instances(kind, options.instances, options.seed)
    runs = lanes.interleaved(asked, options.rounds)
    return [
        Point(windows.shape.types, windows.statements, kind, name, ran)
        for name, ran in runs.items()
        if name != LIMIT or kind == "leaf"  # Above the leaves the raw window has other answers.
    ]


def _grown(options: Options) -> Iterable[Point]:
    for number in (7, 329):
        for size in options.windows if number in options.types else ():
            windows = Windows(Shape(SHAPES[number]), size)
            yield from _points(options, windows, _lanes(options, windows), "any")


def _table(title: str, points: Sequence[Point]) -> Table:
    rows: list[Row] = []
    for point in points:
        alike = [p for p in points if _place(p) == _place(point) and p.name != LIMIT]
        rows.append(
            {
                "types": point.types,
                "window": point.window,
                "asked for": point.kind,
                "who": point.name,
                "ms": 1000 * point.seconds,
                "ms without indexing": 1000 * point.unindexed,
                "rules left": point.rules,
                "derived": round(point.derived),
                "times the best": ratio(point.unindexed, min(p.unindexed for p in alike)),
            }
        )
    return Table(title, rows)


def _place(point: Point) -> tuple[int, int, str]:
    return point.types, point.window, point.kind


def _by_types(points: Sequence[Point]) -> Iterable[Chart]:
    for title, kind, names, value in (
        ("4a: leaf types", "leaf", _GENERIC, "seconds"),
        ("4b: the root type", "root", _GENERIC, "seconds"),
        ("4c: the root type, without indexing", "root", _GENERIC, "unindexed"),
        ("5a: leaf types, epsilon", "leaf", _SPARKWAVE, "seconds"),
        ("5b: the root type, epsilon", "root", _SPARKWAVE, "seconds"),
    ):
        lines = _lines([p for p in points if p.kind == kind], names, "types", value)
        yield Chart(title, "types", "ms", lines, log_x=True, log_y=True)


def _by_window(points: Sequence[Point]) -> Iterable[Chart]:
    for title, number in (("6a: types of any level, 7 types", 7), ("6b: the same, 329 types", 329)):
        here = [p for p in points if p.types == number]
        if here:
            lines = _lines(here, (*_GENERIC, *_SPARKWAVE), "window", "seconds")
            yield Chart(title, "statements in the window", "ms", lines)


def _lines(
    points: Sequence[Point], names: Sequence[str], x: str, y: str
) -> Mapping[str, Sequence[tuple[float, float]]]:
    found = {
        name: [(float(getattr(p, x)), 1000 * float(getattr(p, y))) for p in points if p.name == name]
        for name in names
    }
    return {name: line for name, line in found.items() if line}


def _notes(points: Sequence[Point]) -> Iterable[str]:
    by_place: dict[tuple[int, int, str], dict[str, Point]] = {}
    for point in points:
        by_place.setdefault(_place(point), {})[point.name] = point
    for (types, _, kind), here in by_place.items():
        where = f"{types:,} types, {kind}: without indexing"
        for one, other in ((LIMIT, "pruned"), ("pruned", "full"), ("epsilon pruned", "full")):
            if one in here and other in here:
                times = ratio(here[other].unindexed, here[one].unindexed)
                yield f"{where} {other} takes {times} times as long as {one}"
        if "auto" in here:
            best = min((p for p in here.values() if p.name not in (LIMIT, "auto")), key=lambda p: p.unindexed)
            times = ratio(here["auto"].unindexed, best.unindexed)
            yield f"{where} auto takes {times} times as long as the best, {best.name}"
