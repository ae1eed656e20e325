"""Trains, stations and commuters: a continuous query with reasoning over a live stream, on Spark.

Trains report the station they stand in, travellers the train they sit in and how long they still have to
go. Stations are in cities, cities in regions, and who is in something that is in something else is in
that too. The query asks, every second, which commuters with half an hour or more to go are where. Run it
with `make demo`, or `python examples/trains/demo.py --speed 0`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

from ensue.bench.trains import EX, GRAPH, QUERY, STREAM, Railway
from ensue.graphs import Graphs
from ensue.job import Job
from ensue.knowledge import InFiles
from ensue.query.language import parse_query
from ensue.query.output import Result
from ensue.rules.load import load_rules
from ensue.spark.plan import plan_of
from ensue.spark.runner import Feed, MicroBatch, Run
from ensue.spark.session import embedded
from ensue.streamfile import write_stream

SECONDS = 25
SHOWN = 4
"""How many answers of a window are written out."""


def run(out: TextIO, speed: float = 1, seconds: int = SECONDS) -> None:
    """Replay the stream, so many times as fast as it happened; 0 is at once."""
    railway = Railway(seconds=seconds)
    with TemporaryDirectory() as folder:
        stations, reports = Path(folder, "stations.nt"), Path(folder, "reports.tsv")
        stations.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in railway.background()))
        write_stream(reports, railway.stream())
        knowledge = InFiles(graphs=Graphs({GRAPH: stations}))
        job = Job.of([parse_query(QUERY)], load_rules("transitive-isin"), knowledge)
        out.write(f"{QUERY}\nStarting Spark; the first windows close in about half a minute.\n")
        out.flush()
        answer(job, Feed({STREAM: str(reports)}, speed), out)


def answer(job: Job, feed: Feed, out: TextIO) -> None:
    """Do the job on embedded Spark, and show what comes of it."""
    began = time.monotonic()
    last: list[MicroBatch] = []

    def take(batch: MicroBatch) -> None:
        for result in batch.results:
            show(result, out)
        last[:] = [batch]

    with embedded(cores=None, shards=1, memory=None) as spark:
        Run(spark, plan_of(job), feed, take).until_it_ends()
    found = last[0].counters
    out.write(
        f"{found['admitted']} reports, {found['windows']} windows, {found['answers']} answers "
        f"in {last[0].number + 1} micro-batches and {time.monotonic() - began:.0f} seconds.\n"
    )


def show(result: Result, out: TextIO) -> None:
    """A window on a line."""
    rows = sorted(" ".join(short(term or "") for term in row) for row in result.answers.rows)
    more = f"; and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    out.write(f"{result.close // 1000:3} s  {'; '.join(rows[:SHOWN]) or 'nobody'}{more}\n")
    out.flush()


def short(term: str) -> str:
    """A term without what all have in common."""
    return term.strip("<>").removeprefix(EX)


def main() -> None:
    """Run the demo from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--speed", type=float, default=1, help="how many times as fast; 0: at once")
    args = parser.parse_args()
    run(sys.stdout, args.speed)


if __name__ == "__main__":
    main()
