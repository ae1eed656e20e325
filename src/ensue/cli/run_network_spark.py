"""`ensue run NETWORK.ru` on Spark."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from functools import partial
from typing import Any

from ensue.cli.report import exit_code
from ensue.cli.run_network import tell, write_dataset
from ensue.cli.run_spark import INTERRUPTED, on_spark
from ensue.cli.spark_sink import Sink
from ensue.inputlimits import check_max_line
from ensue.networks.job import NetworkJob
from ensue.progress import Progress
from ensue.spark.card import Card
from ensue.spark.network_plan import network_plan
from ensue.spark.runner import MicroBatch

_BATCH_BYTES = 8 << 20
"""Unless told, a micro-batch of a network takes in so much at most: rules take longer over a statement than
queries do, and all that while nothing would come out.
"""
_COUNTED = dict.fromkeys(("admitted", "late", "answers", "firings", "quads", "dead_letters"), 0)


def run_network_spark(args: argparse.Namespace, job: NetworkJob, streams: dict[str, str]) -> int:
    """Do it."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    told = replace(job, tells=args.dataset is not None)
    plan = network_plan(told, args.shards or 1, check_max_line(args.max_line))
    card = Card.of_networks(job, shards=len(plan.keys))
    args.batch_bytes = args.batch_bytes or _BATCH_BYTES
    sink_of = partial(_NetworkSink, args, progress=progress)
    sink, stopped = on_spark(args, plan, card, streams, sink_of, progress, _COUNTED)
    if args.dataset is not None and sink.held is not None:
        write_dataset(args.dataset, [f"{line}\n" for line in sink.held.split("\n")[:-1]])
    elif args.dataset is not None:
        progress.say("--dataset: nothing is written, for it is not now that the streams have ended")
    counted = _COUNTED | sink.counters
    tell(args, counted, time.perf_counter() - sink.started, progress)
    return INTERRUPTED if stopped else exit_code(counted, sink.dead_of(streams))


class _NetworkSink(Sink):
    held: str | None = None

    def take(self, batch: MicroBatch) -> None:
        """Write what a micro-batch gave, unless it was written before."""
        super().take(batch)
        self.held = batch.held

    def shown(self, counted: dict[str, Any]) -> list[str]:
        """What networks did."""
        return [
            f"{counted.get('elements', 0):,} elements",
            f"{counted.get('firings', 0):,} firings",
            f"{counted.get('answers', 0):,} answers",
            f"{counted.get('quads', 0):,} statements held",
        ]
