"""`ensue run NETWORK.ru`: a rule network over streams, in this process."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack
from typing import Any

from ensue.cli.output import Output
from ensue.cli.pairs import pairs
from ensue.cli.report import write_metrics
from ensue.cli.run import kind_and_path
from ensue.cli.run_local import letters_of, results_of
from ensue.errors import UsageError
from ensue.networks.dataset import Ground
from ensue.networks.loops import Limit
from ensue.networks.network import Network
from ensue.networks.run import NetworkRun
from ensue.progress import Progress
from ensue.query.output import writer
from ensue.windows.frontier import Disorder


def run_network(args: argparse.Namespace) -> int:
    """Do it."""
    _check(args)
    progress = Progress(sys.stderr, quiet=args.quiet)
    streams = pairs(args.stream, "--stream")
    network = Network.from_files(*args.queries, background=args.background, limit=_limit(args))
    running = NetworkRun(network, streams, disorder=Disorder(args.disorder, args.late))
    started = time.perf_counter()
    with ExitStack() as stack:
        kind, path = kind_and_path(args.output)
        out = writer(kind, stack.enter_context(Output(path, whole=False)))
        letters = letters_of(args, stack, progress)
        for result in results_of(running, streams, letters, progress):
            out.write(result)
        out.close()
    if args.dataset is not None:
        with Output(args.dataset) as output:
            output.write_lines(map(_line, network))
    counted = running.metrics() | {"dead_letters": letters.count}
    seconds = time.perf_counter() - started
    write_metrics(args, counted, seconds)
    progress.say(_summary(counted, seconds))
    return 0


def _check(args: argparse.Namespace) -> None:
    """Refuse what a network has no use for."""
    if args.engine != "local":
        hint = "its rules see each other's effects in order: add --engine local"
        raise UsageError("a rule network runs in one process, not on Spark", hint=hint)
    for name in ("rules", "graph", "allow"):
        if getattr(args, name):
            raise UsageError(f"--{name} is for queries", hint="a network has its rules in its own file")
    for name in ("reload", "reload_graph", "knowledge"):
        if getattr(args, name):
            hint = "a network changes what it holds by its own rules"
            raise UsageError(f"--{name.replace('_', '-')} is for queries", hint=hint)


def _limit(args: argparse.Namespace) -> Limit:
    given = {"rounds": args.max_rounds, "firings": args.max_firings}
    return Limit(**{name: value for name, value in given.items() if value is not None})


def _line(quad: Ground) -> str:
    graph, *triple = quad
    return f"{' '.join((*triple, graph) if graph else triple)} .\n"


def _summary(counted: dict[str, Any], seconds: float) -> str:
    late = f", {counted['late']:,} late" if counted["late"] else ""
    dead = f", {counted['dead_letters']:,} dead letters" if counted["dead_letters"] else ""
    return (
        f"{counted['admitted']:,} statements in {seconds:.1f} s: {counted['firings']:,} firings, "
        f"{counted['answers']:,} answers, {counted['quads']:,} statements held{late}{dead}"
    )
