"""`ensue run`: answer continuous queries over streams, as windows close."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ensue.cli.job import add_job_options, reasoner_of, streams_of
from ensue.cli.output import Output
from ensue.errors import UsageError
from ensue.model import NEVER
from ensue.progress import Progress
from ensue.query.output import WRITERS, Result, writer
from ensue.reasoner import Reasoner
from ensue.streamfile import BadLine, DeadLetters, Timed, read_stream

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers

_SHOWN = 5
"""How many dead letters are shown if they go to no file."""


def add_run(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "run",
        help="answer continuous queries over streams",
        description="Answer continuous queries over streams, with everything that follows under the rules.",
    )
    add_job_options(parser)
    add = parser.add_argument
    add("--engine", choices=["local", "spark"], default="local", help="where it runs")
    add("--output", metavar="KIND|FILE", default="table", help=f"{', '.join(WRITERS)}, or a file so named")
    add("--dead-letters", metavar="FILE", help="where malformed lines go, as JSON lines")
    add("--metrics", metavar="FILE", help="write counters there at the end, as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    if args.engine == "spark":
        raise UsageError("the Spark engine is not there yet", hint="run it here: --engine local")
    progress = Progress(sys.stderr, quiet=args.quiet)
    reasoner = reasoner_of(args)
    streams = streams_of(args, reasoner)
    started = time.perf_counter()
    with ExitStack() as stack:
        kind, path = _kind_and_path(args.output)
        out = writer(kind, stack.enter_context(Output(path, whole=False)))
        letters = _letters(args, stack, progress)
        for result in _answers(reasoner, streams, letters, progress):
            out.write(result)
        out.close()
    _report(args, reasoner, letters, time.perf_counter() - started, progress)
    return 0


def _answers(
    reasoner: Reasoner, streams: dict[str, str], letters: DeadLetters, progress: Progress
) -> Iterator[Result]:
    """Feed the streams side by side, the one that is furthest behind first, and give what comes out."""
    sources = {iri: read_stream(path, on_bad=letters) for iri, path in streams.items()}
    newest = dict.fromkeys(sources, NEVER)
    read = 0
    while sources:
        stream = min(sources, key=newest.__getitem__)
        batch: list[Timed] | None = next(sources[stream], None)
        if batch is None:
            del sources[stream]
            yield from reasoner.end(stream)
            continue
        newest[stream] = max(newest[stream], max(statement[0] for statement in batch))
        reasoner.feed(stream, batch)
        yield from reasoner.advance()
        read += len(batch)
        progress.note(f"{read:,} statements, {reasoner.answers:,} answers, {letters.count:,} dead letters")


def _kind_and_path(output: str) -> tuple[str, str | None]:
    if output in WRITERS:
        return output, None
    kind = os.path.splitext(output)[1][1:]
    if kind not in WRITERS:
        hint = f"one of {', '.join(WRITERS)}, or a file whose name ends so"
        raise UsageError(f"unknown output '{output}'", hint=hint)
    return kind, output


def _letters(args: argparse.Namespace, stack: ExitStack, progress: Progress) -> DeadLetters:
    if args.dead_letters is not None:
        return DeadLetters(stack.enter_context(Output(args.dead_letters, whole=False)))
    return _ShownLetters(progress)


class _ShownLetters(DeadLetters):
    """Dead letters that go to no file: the first ones are shown."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress

    def __call__(self, bad: BadLine) -> None:
        super().__call__(bad)
        if self.count <= _SHOWN:
            self._progress.say(f"dead letter: {bad.error()}")


def _report(
    args: argparse.Namespace, reasoner: Reasoner, letters: DeadLetters, seconds: float, progress: Progress
) -> None:
    found = reasoner.metrics() | {"dead_letters": letters.count, "wall_seconds": round(seconds, 3)}
    if args.metrics is not None:
        with Output(args.metrics) as output:
            output.write_lines([json.dumps(found) + "\n"])
    late = f", {found['late']:,} late" if found["late"] else ""
    dead = f", {letters.count:,} dead letters" if letters.count else ""
    progress.say(
        f"{found['admitted']:,} statements in {seconds:.1f} s: {found['windows']:,} evaluations, "
        f"{found['answers']:,} answers{late}{dead}"
    )
