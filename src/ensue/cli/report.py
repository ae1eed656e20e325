"""What is said at the end of a run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any

from ensue.cli.output import Output
from ensue.progress import Progress
from ensue.query.output import Result


def report(args: argparse.Namespace, counted: dict[str, Any], seconds: float, progress: Progress) -> None:
    """Write the counters down where that was asked for, and say the most important ones."""
    write_metrics(args, counted, seconds)
    late = f", {counted['late']:,} late" if counted["late"] else ""
    dead = f", {counted['dead_letters']:,} dead letters" if counted["dead_letters"] else ""
    unkeyed = f", {counted['unkeyed']:,} in no partition" if counted["unkeyed"] else ""
    outside = f", {counted['outside']:,} in no event" if counted["outside"] else ""
    skipped = f" and {counted['skipped']:,} passed over" if counted["skipped"] else ""
    evaluations = counted["windows"] + counted["events"]
    progress.say(
        f"{counted['admitted']:,} statements in {seconds:.1f} s: {evaluations:,} evaluations{skipped}, "
        f"{counted['answers']:,} answers{late}{unkeyed}{outside}{dead}"
    )


def tell_skipped(result: Result, progress: Progress) -> None:
    """Say that evaluations before a result were passed over, if some were."""
    if result.skipped is not None:
        over = result.skipped
        progress.say(
            f"query {result.query}: no statement for long: {over.count:,} evaluations without a change are "
            f"passed over, from {over.first} to {over.last} (--max-empty off makes them all)"
        )


def exit_code(counted: Mapping[str, Any], dead: Mapping[str, int]) -> int:
    """0; or 1, and a word on standard error, if nothing of a stream could be read but dead letters.

    `dead` has how many those of each stream are.
    """
    hint = "is this the stream's file, and in the syntax that its name says?"
    code = 0
    for stream, count in dead.items():
        came = counted.get("streams", {}).get(stream, {})
        if count and not came.get("admitted", 0) and not came.get("dropped", 0):
            letters = "1 dead letter" if count == 1 else f"{count:,} dead letters"
            what = f"nothing of the stream <{stream}> could be read: {letters}"
            print(f"ensue: {what} (hint: {hint})", file=sys.stderr)
            code = 1
    return code


def write_metrics(args: argparse.Namespace, counted: dict[str, Any], seconds: float) -> None:
    """Write the counters down where that was asked for."""
    if args.metrics is not None:
        with Output(args.metrics) as output:
            output.write_lines([json.dumps(counted | {"wall_seconds": round(seconds, 3)}) + "\n"])
