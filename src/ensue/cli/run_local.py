"""`ensue run --engine local`: in this process, without Spark."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Protocol

from ensue.badlines import BadLine
from ensue.cli.interrupts import Interrupts
from ensue.cli.job import job_of, streams_of
from ensue.cli.letters import ShownLetters, StrictLetters
from ensue.cli.output import Output
from ensue.cli.partial import PartialAnswers
from ensue.cli.report import exit_code, report, tell_skipped, write_metrics
from ensue.cli.run import kind_and_path
from ensue.cli.violations import ViolationLines
from ensue.cli.warn import warn
from ensue.inputlimits import MAX_LINE, check_max_line
from ensue.model import NEVER
from ensue.progress import Progress
from ensue.query.output import Result, writer
from ensue.streamfile import DeadLetters, Timed, read_stream


def run_local(args: argparse.Namespace) -> int:
    """Do it."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    job = job_of(args)
    reasoner = job.reasoner()
    streams = streams_of(args, reasoner)
    warn(job)
    started = time.perf_counter()
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts(progress))
        kind, path = kind_and_path(args.output)
        out = writer(kind, stack.enter_context(Output(path, whole=False)), until=args.until)
        letters = letters_of(args, stack, progress)
        wrong = ViolationLines(
            args.violations, lambda path: stack.enter_context(Output(path, whole=False)), progress
        )
        feed = Feed(streams, letters, progress, interrupts, check_max_line(args.max_line))
        wrong.write(reasoner.violations())
        partial_answers = PartialAnswers(progress.say)
        try:
            for result in feed.results(reasoner):
                wrong.write(reasoner.violations())
                out.write(result)
                partial_answers.tell(result)
                tell_skipped(result, progress)
        except KeyboardInterrupt:
            if not interrupts.at_once:
                counted = reasoner.metrics() | {"dead_letters": letters.count}
                write_metrics(args, counted, time.perf_counter() - started)
            raise
        wrong.write(reasoner.violations())
        out.close()
    counted = reasoner.metrics() | {"dead_letters": letters.count}
    report(args, counted, time.perf_counter() - started, progress)
    return exit_code(counted, feed.dead)


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


class Feed:
    """The streams of a run side by side: the one that is furthest behind is read first."""

    def __init__(
        self,
        streams: Mapping[str, str],
        letters: DeadLetters,
        progress: Progress,
        interrupts: Interrupts,
        max_line: int = MAX_LINE,
    ) -> None:
        self.dead: Counter[str] = Counter()
        """How many dead letters each stream has had."""
        self._letters, self._progress, self._interrupts = letters, progress, interrupts
        self._sources = {
            iri: read_stream(path, on_bad=partial(self._bury, iri), max_line=max_line)
            for iri, path in streams.items()
        }

    def results(self, engine: Engine) -> Iterator[Result]:
        """What comes out as the streams are fed to an engine, to their end."""
        sources, newest, read = self._sources, dict.fromkeys(self._sources, NEVER), 0
        while sources:
            stream = min(sources, key=newest.__getitem__)
            with self._interrupts.waiting():
                batch: list[Timed] | None = next(sources[stream], None)
            if batch is None:
                del sources[stream]
                yield from self._taken(engine.end(stream))
                continue
            newest[stream] = max(newest[stream], max(statement[0] for statement in batch))
            engine.feed(stream, batch)
            for rejected in engine.dead_letters():
                self._bury(stream, rejected)
            yield from self._taken(engine.advance())
            read += len(batch)
            count, dead = engine.answers, self._letters.count
            self._progress.note(f"{read:,} statements, {count:,} answers, {dead:,} dead letters")

    def _taken(self, results: Iterator[Result]) -> Iterator[Result]:
        for result in results:
            yield result
            self._interrupts.check()

    def _bury(self, stream: str, bad: BadLine) -> None:
        self.dead[stream] += 1
        self._letters(bad)
