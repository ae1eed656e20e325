"""`ensue run` on Spark: embedded in this process, or on a cluster."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, Self, TypeVar

from ensue.cli.job import job_of, streams_of
from ensue.cli.report import exit_code, report, write_metrics
from ensue.cli.spark_sink import Sink
from ensue.cli.violations import ViolationLines
from ensue.cli.warn import warn
from ensue.errors import UsageError
from ensue.inputlimits import check_max_line
from ensue.model import FOREVER, NEVER
from ensue.progress import Progress
from ensue.query.output import Result
from ensue.reasoner import Reasoner
from ensue.spark.card import Card, go_on, make
from ensue.spark.ledger import Ledger, alone
from ensue.spark.pipeline import AnyPlan
from ensue.spark.plan import plan_of
from ensue.spark.runner import Feed, MicroBatch, Run, java_is_gone
from ensue.spark.session import embedded

_COUNTED = dict.fromkeys(
    ("admitted", "late", "windows", "skipped", "events", "answers", "unkeyed", "outside", "dead_letters"), 0
)


def run_spark(args: argparse.Namespace) -> int:
    """Do it."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    job = job_of(args)
    reasoner = job.reasoner()
    streams = streams_of(args, reasoner)
    warn(job)
    plan = plan_of(
        job,
        shards=args.shards or 1,
        keep_all=bool(args.keep_all),
        expand=bool(args.expand),
        max_line=check_max_line(args.max_line),
    )
    if plan.not_expanded_because is not None:
        progress.say(f"shards apply all rules: {plan.not_expanded_because}")
    filtered, expanded = plan.relevance is not None, plan.expansion is not None
    card = Card.of(job, shards=len(plan.keys), filtered=filtered, expanded=expanded)
    updates = [update.at for update in job.updates]
    sink_of = partial(_QuerySink, args, progress=progress, reasoner=reasoner, updates=updates)
    sink, stopped = on_spark(args, plan, card, streams, sink_of, progress, _COUNTED)
    counted = _COUNTED | sink.counters
    report(args, counted, time.perf_counter() - sink.started, progress)
    return INTERRUPTED if stopped else exit_code(counted, sink.dead_of(streams))


INTERRUPTED = 130


class SpreadPlan(AnyPlan, Protocol):
    """A plan that knows why it is not spread."""

    @property
    def one_shard_because(self) -> str | None:
        """Why there is one shard only although more were asked for."""


S = TypeVar("S", bound=Sink)


def on_spark(
    args: argparse.Namespace,
    plan: SpreadPlan,
    card: Card,
    streams: dict[str, str],
    sink_of: Callable[[Ledger], S],
    progress: Progress,
    counted: dict[str, Any],
) -> tuple[S, bool]:
    """Run a plan to its end; the sink, and whether it was stopped before. The sink has what was counted.

    `counted` is what stands for it as long as nothing was.
    """
    if plan.one_shard_because is not None:
        progress.say(f"one shard: {plan.one_shard_because}")
    checkpoint = None if args.checkpoint is None else Path(args.checkpoint)
    feed = Feed(streams, args.speed or 0, args.batch_bytes, finite=not args.follow)
    sink: S | None = None
    try:
        with ExitStack() as stack:
            if checkpoint is not None:
                make(checkpoint)
                stack.enter_context(alone(checkpoint))
                for line in go_on(checkpoint, card):
                    progress.say(line)
            sink = sink_of(Ledger(checkpoint))
            stack.enter_context(sink)
            with _ctrl_c_waits(progress):
                spark = stack.enter_context(
                    embedded(
                        cores=args.cores,
                        shards=len(plan.keys),
                        memory=args.memory,
                        master=args.master,
                        extra=_settings(args.conf),
                        say=progress.say,
                    )
                )
            run = Run(spark, plan, feed, sink.take, checkpoint)
            with _stopped_by_ctrl_c(run, progress):
                run.until_it_ends()
            return sink, run.was_stopped
    except KeyboardInterrupt:
        # What was counted up to the last micro-batch that was written.
        seconds = 0.0 if sink is None else time.perf_counter() - sink.started
        write_metrics(args, counted | ({} if sink is None else sink.counters), seconds)
        raise
    except ConnectionRefusedError as problem:
        # Java could not even be told to stop.
        raise java_is_gone() from problem


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


class _QuerySink(Sink):
    """Tells the answers of queries from what is wrong."""

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
        super().__init__(args, ledger, progress)
        self._updates = list(updates)
        self._reasoner = reasoner

    def __enter__(self) -> Self:
        super().__enter__()
        self._wrong = ViolationLines(self.args.violations, self.file, self.progress)
        if self.ledger.written.batch >= 0:
            list(self._reasoner.violations())  # Those of the background were told when the job began.
        return self

    def results(self, batch: MicroBatch) -> Iterator[Result]:
        """The answers; what is wrong is written behind them."""
        self._follow(batch)
        yield from self._reasoner.told_apart(batch.results)
        self._wrong.write(self._reasoner.violations())

    def shown(self, counted: dict[str, Any]) -> list[str]:
        """What shards did."""
        return [
            f"{counted.get('windows', 0) + counted.get('events', 0):,} windows",
            f"{counted.get('answers', 0):,} answers",
            f"{counted.get('facts', 0):,} facts",
            f"{counted.get('derivations', 0):,} derivations",
        ]

    def _follow(self, batch: MicroBatch) -> None:
        """Let the reasoner, which has no statements, tell what another background violates by itself."""
        frontier = batch.counters.get("frontier", NEVER)
        if frontier == FOREVER:  # The last evaluation says how far time has come.
            frontier = max((result.close for result in batch.results), default=NEVER)
        if self.args.violations is not None and any(time <= frontier for time in self._updates):
            self._updates = [time for time in self._updates if time > frontier]
            list(self._reasoner.advance(to=frontier))
