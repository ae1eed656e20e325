"""What every experiment shares: timing, and a result that prints, saves and plots in one way.

An experiment is a function from its options to a `Result`. `publish` puts a header above it (the
machine, the commit, the workload and its parameters), so that each output stands on its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

Cell = str | int | float | bool | None
Row = Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of several runs of the same thing.

    >>> Timing((0.3, 0.1, 0.2)).median, Timing((0.3, 0.1, 0.2)).spread
    (0.2, '100-300')
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one: a neighbour on the machine disturbs it less than the mean."""
        return median(self.seconds)

    @property
    def spread(self) -> str:
        """The fastest and the slowest, in ms."""
        ends = (min(self.seconds) * 1000, max(self.seconds) * 1000)
        # Three digits that count, but never 1.5e+03.
        return "-".join(f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}" for ms in ends)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under the columns of the first row."""

    title: str
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over one pair of axes."""

    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What an experiment found: tables, charts, and sentences drawn from them."""

    tables: Sequence[Table]
    charts: Sequence[Chart] = ()
    notes: Sequence[str] = ()

    def __add__(self, other: Result) -> Result:
        return Result(
            [*self.tables, *other.tables], [*self.charts, *other.charts], [*self.notes, *other.notes]
        )


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is measured, on which workload, with which parameters, and against which limit."""

    name: str
    workload: str
    parameters: Mapping[str, Cell]
    limit: str
    """What no strategy could beat here, as measured in the same run."""
    measure: Callable[[], Result] = field(repr=False)


def progress(line: str) -> None:
    """Tell whoever waits how far it is; standard output is for the result."""
    print(line, file=sys.stderr, flush=True)


def ratio(slower: float, faster: float) -> float:
    """How many times `slower` is `faster`, as a table shows it.

    >>> ratio(1.0, 0.3), ratio(1.0, 0.0)
    (3.33, 0.0)
    """
    return round(slower / faster, 2 if slower < 100 * faster else 0) if faster > 0 else 0.0


def crossover(xs: Sequence[float], challenger: Sequence[float], holder: Sequence[float]) -> float | None:
    """Where the challenger's line first falls below the holder's, None if it never does.

    Between two measured points it is where straight lines between them would cross.

    >>> crossover([1, 2, 3], [4, 4, 4], [1, 3, 5])
    2.5
    >>> crossover([1, 2], [4, 4], [1, 3]) is None
    True
    """
    gaps = [c - h for c, h in zip(challenger, holder, strict=True)]
    for k, gap in enumerate(gaps):
        if gap < 0:
            if k == 0:
                return float(xs[0])
            share = gaps[k - 1] / (gaps[k - 1] - gap)
            return float(xs[k - 1] + share * (xs[k] - xs[k - 1]))
    return None
