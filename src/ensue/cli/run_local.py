"""`ensue run --engine local`: in this process, without Spark."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Protocol

from ensue.cli.job import reasoner_of, streams_of
from ensue.cli.letters import ShownLetters, StrictLetters
from ensue.cli.output import Output
from ensue.cli.report import report, tell_skipped
from ensue.cli.run import kind_and_path
from ensue.cli.violations import ViolationLines
from ensue.model import NEVER
from ensue.progress import Progress
from ensue.query.output import Result, writer
from ensue.streamfile import BadLine, DeadLetters, Timed, read_stream


def run_local(args: argparse.Namespace) -> int:
    """Do it."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    reasoner = reasoner_of(args)
    streams = streams_of(args, reasoner)
    started = time.perf_counter()
    with ExitStack() as stack:
        kind, path = kind_and_path(args.output)
        out = writer(kind, stack.enter_context(Output(path, whole=False)))
        letters = letters_of(args, stack, progress)
        wrong = ViolationLines(
            args.violations, lambda path: stack.enter_context(Output(path, whole=False)), progress
        )
        wrong.write(reasoner.violations())
        for result in results_of(reasoner, streams, letters, progress):
            wrong.write(reasoner.violations())
            out.write(result)
            tell_skipped(result, progress)
        wrong.write(reasoner.violations())
        out.close()
    counted = reasoner.metrics() | {"dead_letters": letters.count}
    report(args, counted, time.perf_counter() - started, progress)
    return 0


def letters_of(args: argparse.Namespace, stack: ExitStack, progress: Progress) -> DeadLetters:
    """Where malformed lines go."""
    if args.strict:
        return StrictLetters()
    if args.dead_letters is not None:
        return DeadLetters(stack.enter_context(Output(args.dead_letters, whole=False)))
    return ShownLetters(progress)


class Engine(Protocol):
    """What streams are fed to: a reasoner, or a rule network."""

    answers: int

    def feed(self, stream: str, batch: Sequence[Timed]) -> None:
        """Let statements wait for their time."""

    def advance(self) -> Iterator[Result]:
        """What comes of those whose time has come."""

    def end(self, stream: str) -> Iterator[Result]:
        """Nothing will follow on a stream."""

    def dead_letters(self) -> Iterator[BadLine]:
        """The statements that were rejected since the last call."""


def results_of(
    engine: Engine, streams: dict[str, str], letters: DeadLetters, progress: Progress
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
            yield from engine.end(stream)
            continue
        newest[stream] = max(newest[stream], max(statement[0] for statement in batch))
        engine.feed(stream, batch)
        for rejected in engine.dead_letters():
            letters(rejected)
        yield from engine.advance()
        read += len(batch)
        progress.note(f"{read:,} statements, {engine.answers:,} answers, {letters.count:,} dead letters")
