"""`ensue run NETWORK.ru`: a rule network over streams; here in this process, or on Spark."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from ensue.cli.interrupts import Interrupts
from ensue.cli.output import Output
from ensue.cli.pairs import pairs
from ensue.cli.report import exit_code, write_metrics
from ensue.cli.run import kind_and_path
from ensue.cli.run_local import Feed, letters_of
from ensue.errors import UsageError
from ensue.inputlimits import check_max_line
from ensue.maintain.budget import Budget
from ensue.networks.dataset import line_of
from ensue.networks.job import NetworkJob
from ensue.networks.loops import Limit
from ensue.networks.parse import load_network
from ensue.networks.run import NetworkRun
from ensue.paths import STANDARD
from ensue.progress import Progress
from ensue.query.output import writer
from ensue.windows.frontier import Disorder


def run_network(args: argparse.Namespace) -> int:
    """Do it."""
    _check(args)
    # As Spark has them, by whose names the blank nodes of a file are known.
    streams = {
        iri: path if path == STANDARD else os.path.abspath(path)
        for iri, path in pairs(args.stream, "--stream").items()
    }
    job = NetworkJob.of(
        load_network(*args.queries),
        streams,
        args.background,
        Disorder(args.disorder, args.late),
        _limit(args),
        args.max_jump,
    )
    if args.engine == "spark":
        from ensue.cli.run_network_spark import run_network_spark

        return run_network_spark(args, job, streams)
    progress = Progress(sys.stderr, quiet=args.quiet)
    networks = job.networks()
    running = NetworkRun(networks, streams, disorder=job.disorder, max_jump=job.max_jump)
    started = time.perf_counter()
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts(progress))
        kind, path = kind_and_path(args.output)
        out = writer(kind, stack.enter_context(Output(path, whole=False)))
        letters = letters_of(args, stack, progress)
        feed = Feed(streams, letters, progress, interrupts, check_max_line(args.max_line))
        try:
            for result in feed.results(running):
                out.write(result)
        except KeyboardInterrupt:
            if not interrupts.at_once:
                counted = running.metrics() | {"dead_letters": letters.count}
                write_metrics(args, counted, time.perf_counter() - started)
            raise
        out.close()
    if args.dataset is not None:
        write_dataset(args.dataset, map(line_of, networks))
    counted = running.metrics() | {"dead_letters": letters.count}
    tell(args, counted, time.perf_counter() - started, progress)
    return exit_code(counted, feed.dead)


def _check(args: argparse.Namespace) -> None:
    """Refuse what a network has no use for, and none that would wait for ever."""
    if not args.stream:
        raise UsageError("nothing would arrive at the network", hint="add --stream IRI=PATH")
    if args.at_limit != "stop":
        what = "a network cannot go on with parts of what its rules would do"
        raise UsageError(what, hint="--at-limit partial is for queries: leave it out")
    for name in ("rules", "graph", "allow"):
        if getattr(args, name):
            raise UsageError(f"--{name} is for queries", hint="a network has its rules in its own file")
    if args.until:
        raise UsageError("--until is for queries", hint="what a network gives leaves by no window")
    for name in ("reload", "reload_graph", "knowledge", "keep_all", "expand"):
        if getattr(args, name):
            hint = "a network holds what its own rules leave"
            raise UsageError(f"--{name.replace('_', '-')} is for queries", hint=hint)


def write_dataset(path: str, held: Iterable[str]) -> None:
    """Write what networks hold, lines of N-Quads, in the order of their text."""
    with Output(path) as output:
        output.write_lines(sorted(held))


def tell(args: argparse.Namespace, counted: dict[str, Any], seconds: float, progress: Progress) -> None:
    """Write the counters down where that was asked for, and say the most important ones."""
    write_metrics(args, counted, seconds)
    progress.say(_summary(counted, seconds))


def _limit(args: argparse.Namespace) -> Limit:
    given = {"rounds": args.max_rounds, "firings": args.max_firings}
    budget = Budget.of(args.max_facts, args.max_memory)
    return Limit(**{name: value for name, value in given.items() if value is not None}, budget=budget)


def _summary(counted: dict[str, Any], seconds: float) -> str:
    late = f", {counted['late']:,} late" if counted["late"] else ""
    dead = f", {counted['dead_letters']:,} dead letters" if counted["dead_letters"] else ""
    among = f" by {counted['networks']:,} networks" if "networks" in counted else ""
    unkeyed = f", {counted['unkeyed']:,} of no key" if counted.get("unkeyed") else ""
    return (
        f"{counted['admitted']:,} statements in {seconds:.1f} s: {counted['firings']:,} firings, "
        f"{counted['answers']:,} answers, {counted['quads']:,} statements held{among}{late}{unkeyed}{dead}"
    )
