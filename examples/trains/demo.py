"""Trains, stations and commuters: a continuous query with reasoning over a live stream.

Trains report the station they stand in, travellers the train they sit in and how long they still have to
go. Stations are in cities, cities in regions, and who is in something that is in something else is in
that too. The query asks, every second, which commuters with half an hour or more to go are where. Run it
with `make demo`, or `python examples/trains/demo.py --no-wait`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from ensue import Reasoner
from ensue.bench.trains import EX, GRAPH, QUERY, STREAM, Railway
from ensue.query.output import Result

SHOWN = 4
"""How many answers of a window are written out."""


def run(out: TextIO, wait: Callable[[float], None], strategy: str = "auto", seconds: int = 20) -> None:
    """Replay the stream second by second; `wait` is given the seconds to pass."""
    railway = Railway(seconds=seconds)
    with TemporaryDirectory() as folder:
        stations = Path(folder, "stations.nt")
        stations.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in railway.background()))
        reasoner = Reasoner("transitive-isin", strategy=strategy, graphs={GRAPH: stations})
        reasoner.register(QUERY)
    out.write(f"{QUERY}\n")
    for second, reports in groupby(railway.stream(), key=lambda report: report[0] // 1000):
        wait(1.0)
        reasoner.feed(STREAM, list(reports))
        for result in reasoner.advance(to=1000 * second + 999):
            _show(result, out)
    found = reasoner.metrics()
    out.write(
        f"{seconds} seconds: {found['admitted']} reports, {found['windows']} windows, "
        f"{found['answers']} answers, {found['facts']} facts held at the end.\n"
    )


def _show(result: Result, out: TextIO) -> None:
    rows = sorted(" ".join(_short(term or "") for term in row) for row in result.answers.rows)
    more = f"; and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    out.write(f"{result.close // 1000:3} s  {'; '.join(rows[:SHOWN]) or 'nobody'}{more}\n")
    out.flush()


def _short(term: str) -> str:
    return term.strip("<>").removeprefix(EX)


def main() -> None:
    """Run the demo from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the seconds to pass")
    args = parser.parse_args()
    run(sys.stdout, (lambda _seconds: None) if args.no_wait else time.sleep, args.strategy)


if __name__ == "__main__":
    main()
