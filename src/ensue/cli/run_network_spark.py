"""`ensue run NETWORK.ru` on Spark."""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from typing import Any

from ensue.cli.run_network import tell
from ensue.cli.run_spark import INTERRUPTED, on_spark
from ensue.cli.spark_sink import Sink
from ensue.errors import UsageError
from ensue.networks.job import NetworkJob
from ensue.progress import Progress
from ensue.spark.card import Card
from ensue.spark.network_plan import network_plan

_COUNTED = dict.fromkeys(("admitted", "late", "answers", "firings", "quads", "dead_letters"), 0)


def run_network_spark(args: argparse.Namespace, job: NetworkJob, streams: dict[str, str]) -> int:
    """Do it."""
    if args.dataset is not None:
        raise UsageError("--dataset is written in process", hint="add --engine local")
    progress = Progress(sys.stderr, quiet=args.quiet)
    plan = network_plan(job, args.shards or 1)
    card = Card.of_networks(job, shards=len(plan.keys))
    sink, stopped = on_spark(
        args, plan, card, streams, partial(_NetworkSink, args, progress=progress), progress
    )
    tell(args, _COUNTED | sink.counters, time.perf_counter() - sink.started, progress)
    return INTERRUPTED if stopped else 0


class _NetworkSink(Sink):
    def shown(self, counted: dict[str, Any]) -> list[str]:
        """What networks did."""
        return [
            f"{counted.get('elements', 0):,} elements",
            f"{counted.get('firings', 0):,} firings",
            f"{counted.get('answers', 0):,} answers",
            f"{counted.get('quads', 0):,} statements held",
        ]
