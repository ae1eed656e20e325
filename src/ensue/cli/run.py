"""`ensue run`: answer continuous queries over streams, as windows close."""

from __future__ import annotations

import argparse
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ensue.cli.job import add_job_options, are_networks
from ensue.errors import UsageError
from ensue.paths import STANDARD
from ensue.query.output import WRITERS

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers

_ON_SPARK = (
    "checkpoint",
    "shards",
    "cores",
    "memory",
    "speed",
    "follow",
    "keep_all",
    "expand",
    "batch_bytes",
    "master",
    "conf",
)
"""The options that only Spark has a use for."""


_OF_NETWORKS = ("max_firings", "dataset")
"""The options that only rule networks have a use for."""


def add_run(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "run",
        help="answer continuous queries over streams",
        description="Answer continuous queries over streams, with everything that follows under the rules.",
    )
    add_job_options(parser)
    add = parser.add_argument
    add("--engine", choices=["spark", "local"], default="spark", help="where it runs")
    kinds = f"{', '.join(WRITERS)}, or a file so named; - is standard output, as a table"
    add("--output", metavar="KIND|FILE", default="table", help=kinds)
    add("--dead-letters", metavar="FILE", help="where malformed lines go, as JSON lines")
    add("--strict", action="store_true", help="stop at a malformed line")
    add("--metrics", metavar="FILE", help="write counters there at the end, as JSON")
    spark = parser.add_argument_group("on Spark")
    add = spark.add_argument
    add("--checkpoint", metavar="DIR", help="go on from there, and leave what is needed to go on")
    add("--shards", metavar="N", type=int, help="over how many shards to spread the work (default 1)")
    add("--cores", metavar="N", type=int, help="how many tasks run at once (default: all cores)")
    add("--memory", metavar="SIZE", help="what Java may take, for example 2g")
    add("--conf", metavar="NAME=VALUE", action="append", help="a setting of Spark's own")
    add("--master", metavar="URL", help="a cluster, for example spark://host:7077 (default: this process)")
    add(
        "--speed", metavar="X", type=float, help="replay X times as fast as the stamps say (default: at once)"
    )
    add("--follow", action="store_true", default=None, help="files grow: go on until Ctrl-C")
    add("--keep-all", action="store_true", default=None, help="drop no statement that no query needs")
    add("--expand", action="store_true", default=None, help="apply linear rules before statements are spread")
    add("--batch-bytes", metavar="N", type=int, help="how much a micro-batch takes in at most")
    networks = parser.add_argument_group(
        "rule networks: files of SPARQL Update rules, *.ru, in place of queries"
    )
    add = networks.add_argument
    add("--max-firings", metavar="N", type=int, help="after how many firings for one element to stop")
    add("--dataset", metavar="FILE", help="write what is held at the end there, as N-Quads")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    _, output = kind_and_path(args.output)
    files = {"--output": output, "--dead-letters": args.dead_letters, "--metrics": args.metrics}
    if args.violations not in (None, "", "-"):
        files["--violations"] = args.violations
    if args.every_violation and args.violations is None:
        raise UsageError("--every-violation without --violations", hint="add --violations FILE")
    _check_apart(files | {"--dataset": args.dataset})
    is_network = are_networks(args.queries)
    for name in () if is_network else _OF_NETWORKS:
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for rule networks", hint="leave it out")
    for name in _ON_SPARK if args.engine == "local" else ():
        if getattr(args, name) is not None:
            hint = "leave it out, or run it on Spark: --engine spark"
            raise UsageError(f"--{name.replace('_', '-')} is for Spark", hint=hint)
    if args.engine == "spark" and find_spec("pyspark") is None:
        raise UsageError("there is no Spark", hint="pip install 'ensue[spark]', or: --engine local")
    if is_network:
        from ensue.cli.run_network import run_network

        return run_network(args)
    if args.engine == "local":
        from ensue.cli.run_local import run_local

        return run_local(args)
    from ensue.cli.run_spark import run_spark

    return run_spark(args)


def _check_apart(files: dict[str, str | None]) -> None:
    """Refuse two outputs to one file: they would write over each other."""
    seen: dict[str, str] = {}
    for option, path in files.items():
        if path not in (None, STANDARD) and (os.path.isfile(path) or not os.path.exists(path)):
            before = seen.setdefault(os.path.realpath(path), option)
            if before != option:
                raise UsageError(f"{before} and {option} name the same file", hint="give each its own")


def kind_and_path(output: str) -> tuple[str, str | None]:
    """The format of the output, and its file if it goes to one."""
    if output == STANDARD:
        return "table", None
    if output in WRITERS:
        return output, None
    kind = os.path.splitext(output)[1][1:]
    if kind not in WRITERS:
        hint = f"one of {', '.join(WRITERS)}, or a file whose name ends so"
        raise UsageError(f"unknown output '{output}'", hint=hint)
    return kind, output
