"""`ensue conformance`: a third-party suite, as tables, JSON and EARL."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ensue.cli.output import Output
from ensue.progress import Progress

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers
    from ensue.conformance.suites import Report

NAMES = ("w3c-entailment", "rdf-mt", "w3c-query", "citybench")
"""The suites, named here so that `--help` need not load them."""


def add_conformance(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "conformance",
        help="run a third-party suite: tables, JSON and EARL",
        description="Run a suite of the W3C's, or the queries of CityBench, and tell what passes, with which "
        "rules or on which engine, what fails, and why. Exit code 1 if a test fails that is not listed as "
        "failing, or passes although it is.",
    )
    parser.add_argument("suite", choices=NAMES, help="which suite")
    parser.add_argument("path", metavar="PATH", type=Path, help="the folder of the suite")
    parser.add_argument("--json", metavar="FILE", help="write the same as JSON")
    parser.add_argument("--earl", metavar="FILE", help="write what came of each test as EARL, in Turtle")
    parser.add_argument(
        "--no-rules-needed", action="store_true", help="do not find out which rules each test needs (slow)"
    )
    parser.add_argument(
        "--engine",
        choices=["local", "spark", "both"],
        default="local",
        help="where the queries of citybench run (default: in this process)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    from ensue.bench.publish import render_table

    report = _run(args)
    for table in report.tables:
        print(render_table(table))
    _write(args, report)
    for line in report.unexpected:
        print(f"ensue: unexpected: {line}", file=sys.stderr)
    return 1 if report.unexpected else 0


def _run(args: argparse.Namespace) -> Report:
    from ensue.conformance.suites import SUITES, run_citybench, run_entailment

    progress = Progress(sys.stderr, quiet=args.quiet)

    def tell(done: int, of: int, name: str) -> None:
        progress.update(args.suite, done / of, name)

    try:
        if args.suite == "w3c-entailment":
            return run_entailment(args.path, tell, rules=not args.no_rules_needed)
        if args.suite == "citybench":
            engines = ("local", "spark") if args.engine == "both" else (args.engine,)
            return run_citybench(args.path, tell, engines)
        return SUITES[args.suite](args.path, tell)
    finally:
        progress.clear()


def _write(args: argparse.Namespace, report: Report) -> None:
    from ensue.conformance.earl import write_earl

    if args.json:
        with Output(args.json) as output:
            output.write_lines([json.dumps(report.data(), indent=2, ensure_ascii=False) + "\n"])
    if args.earl:
        with Output(args.earl) as output:
            output.write_lines([write_earl(report.outcomes)])
