"""`ensue run` on Spark: embedded in this process, or on a cluster."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from ensue.badlines import BadLine, DeadLetters
from ensue.cli.job import job_of, streams_of
from ensue.cli.letters import ShownLetters, StrictLetters
from ensue.cli.output import Output
from ensue.cli.report import report
from ensue.cli.run import kind_and_path
from ensue.cli.violations import ViolationLines
from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER
from ensue.progress import Progress
from ensue.query.output import writer
from ensue.query.output_writer import Writer
from ensue.reasoner import Reasoner
from ensue.spark.card import Card, go_on
from ensue.spark.ledger import Ledger, OnceFile, Written, alone
from ensue.spark.plan import Plan, plan_of
from ensue.spark.runner import Feed, MicroBatch, Run, java_is_gone
from ensue.spark.session import embedded

_COUNTED = dict.fromkeys(
    ("admitted", "late", "windows", "events", "answers", "unkeyed", "outside", "dead_letters"), 0
)


def run_spark(args: argparse.Namespace) -> int:
    """Do it."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    job = job_of(args)
    reasoner = job.reasoner()
    streams = streams_of(args, reasoner)
    plan = plan_of(job, shards=args.shards or 1, keep_all=bool(args.keep_all), expand=bool(args.expand))
    if plan.not_expanded_because is not None:
        progress.say(f"shards apply all rules: {plan.not_expanded_because}")
    if plan.one_shard_because is not None:
        progress.say(f"one shard: {plan.one_shard_because}")
    checkpoint = _checkpoint(args, plan, progress)
    feed = Feed(streams, args.speed or 0, args.batch_bytes, finite=not args.follow)
    try:
        with ExitStack() as stack:
            if checkpoint is not None:
                stack.enter_context(alone(checkpoint))
            updates = [update.at for update in job.updates]
            sink = stack.enter_context(_Sink(args, Ledger(checkpoint), progress, reasoner, updates))
            with _ctrl_c_waits(progress):
                spark = stack.enter_context(
                    embedded(
                        cores=args.cores,
                        shards=len(plan.keys),
                        memory=args.memory,
                        master=args.master,
                        extra=_settings(args.conf),
                    )
                )
            run = Run(spark, plan, feed, sink.take, checkpoint)
            with _stopped_by_ctrl_c(run, progress):
                run.until_it_ends()
            stopped = run.was_stopped
    except ConnectionRefusedError as problem:
        # Java could not even be told to stop.
        raise java_is_gone() from problem
    report(args, _COUNTED | sink.counters, time.perf_counter() - sink.started, progress)
    return _INTERRUPTED if stopped else 0


def _checkpoint(args: argparse.Namespace, plan: Plan, progress: Progress) -> Path | None:
    """The folder to go on from, if there is one and the job may."""
    if args.checkpoint is None:
        return None
    checkpoint = Path(args.checkpoint)
    filtered, expanded = plan.relevance is not None, plan.expansion is not None
    card = Card.of(plan.job, shards=len(plan.keys), filtered=filtered, expanded=expanded)
    for line in go_on(checkpoint, card):
        progress.say(line)
    return checkpoint


_INTERRUPTED = 130


def _settings(words: list[str] | None) -> dict[str, str]:
    """Settings of Spark's own from the command line."""
    found = {}
    for word in words or ():
        name, given, value = word.partition("=")
        if not given or not name.startswith("spark."):
            raise UsageError(f"--conf {word}", hint="write --conf spark.NAME=VALUE")
        found[name] = value
    return found


@contextmanager
def _ctrl_c_waits(progress: Progress) -> Iterator[None]:
    """Let Ctrl-C wait until Spark has started: a Java that nobody waits for any more would never end."""
    asked = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        progress.say("stopping as soon as Spark has started")

    with _on_ctrl_c(remember):
        yield
    if asked:
        raise KeyboardInterrupt


@contextmanager
def _stopped_by_ctrl_c(run: Run, progress: Progress) -> Iterator[None]:
    """The first Ctrl-C lets the current micro-batch be the last one; the second does not wait for it."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler)
        progress.say("stopping after this micro-batch; Ctrl-C again to stop at once")
        run.stop(asked=True)

    with _on_ctrl_c(stop):
        yield


@contextmanager
def _on_ctrl_c(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Sink:
    """Where results and dead letters go, micro-batch by micro-batch, each once."""

    def __init__(
        self,
        args: argparse.Namespace,
        ledger: Ledger,
        progress: Progress,
        reasoner: Reasoner,
        updates: Iterable[int] = (),
    ) -> None:
        """`reasoner` does nothing but tell the answers from what is wrong.

        `updates` are the times at which the background changes.
        """
        self._updates = list(updates)
        self._args = args
        self._reasoner = reasoner
        self._ledger = ledger
        self._progress = progress
        self._files: list[OnceFile] = []
        self._stack = ExitStack()
        self._queries = set(ledger.written.queries)
        self.started = time.perf_counter()
        self.counters: dict[str, Any] = {}
        self._seen = (self.started, 0)

    def __enter__(self) -> _Sink:
        kind, path = kind_and_path(self._args.output)
        self._out: Writer = writer(kind, self._file(path))
        self._out.resume(self._queries)
        self._letters = self._dead_letters()
        self._wrong = ViolationLines(self._args.violations, self._file, self._progress)
        if self._ledger.written.batch >= 0:
            list(self._reasoner.violations())  # Those of the background were told when the job began.
        return self

    def __exit__(self, *problem: Any) -> None:
        self._stack.__exit__(*problem)

    def take(self, batch: MicroBatch) -> None:
        """Write what a micro-batch gave, unless it was written before."""
        merged = self._ledger.written.merged
        if batch.number > self._ledger.written.batch:
            merged += batch.merged
            for bad in batch.dead:
                self._letters(bad if self._args.dead_letters else _said_where(bad))
            self._follow(batch)
            for result in self._reasoner.told_apart(batch.results):
                self._out.write(result)
                self._queries.add(result.query)
            self._wrong.write(self._reasoner.violations())
            lengths = {file.name: file.sync() for file in self._files}
            self._ledger.close(Written(batch.number, lengths, tuple(sorted(self._queries)), merged))
        self.counters = batch.counters | {"answers": batch.counters.get("answers", 0) + merged}
        self._tell(self.counters)

    def _follow(self, batch: MicroBatch) -> None:
        """Let the reasoner, which has no statements, tell what another background violates by itself."""
        frontier = batch.counters.get("frontier", NEVER)
        if frontier == FOREVER:  # The last evaluation says how far time has come.
            frontier = max((result.close for result in batch.results), default=NEVER)
        if self._args.violations is not None and any(time <= frontier for time in self._updates):
            self._updates = [time for time in self._updates if time > frontier]
            list(self._reasoner.advance(to=frontier))

    def _file(self, path: str | None) -> Any:
        if path is None or not _is_plain(path):
            return self._stack.enter_context(Output(path, whole=False))
        file = self._stack.enter_context(OnceFile(path, self._ledger))
        self._files.append(file)
        return file

    def _dead_letters(self) -> DeadLetters:
        if self._args.strict:
            return StrictLetters()
        if self._args.dead_letters is not None:
            return DeadLetters(self._file(self._args.dead_letters))
        return ShownLetters(self._progress)

    def _tell(self, counted: dict[str, Any]) -> None:
        now, admitted = time.perf_counter(), counted.get("admitted", 0)
        before, admitted_before = self._seen
        rate = (admitted - admitted_before) / max(now - before, 1e-6)
        self._seen = (now, admitted)
        parts = [
            f"{admitted:,} statements ({rate:,.0f}/s)",
            f"{counted.get('windows', 0) + counted.get('events', 0):,} windows",
            f"{counted.get('answers', 0):,} answers",
            f"{counted.get('facts', 0):,} facts",
            f"{counted.get('derivations', 0):,} derivations",
            f"{counted.get('late', 0):,} late",
            f"{counted.get('dead_letters', 0):,} dead letters",
        ]
        if self._args.follow and NEVER < (frontier := counted.get("frontier", NEVER)) < FOREVER:
            # Of a live stream the stamps are the wall's; of a replayed one they tell nothing of the kind.
            parts.append(f"lag {time.time() - frontier / 1000:.1f} s")
        self._progress.note(", ".join(parts))


def _said_where(bad: BadLine) -> BadLine:
    """For the user to read: lines are not counted here, as any task may begin in the middle of a file."""
    return replace(bad, reason=f"{bad.reason}, in the line at byte {bad.offset}")


def _is_plain(path: str) -> bool:
    return os.path.isfile(path) or not os.path.exists(path)
