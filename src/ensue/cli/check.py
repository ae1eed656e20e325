"""`ensue check`: whether queries, rules and files are sound, without running anything."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ensue.cli.job import add_job_options, are_networks, job_of, streams_of
from ensue.cli.pairs import pairs
from ensue.cli.stamp_summary import StampSummary
from ensue.cli.warn import vocabulary_of, warn_of_terms, warn_of_variables
from ensue.inputlimits import check_max_line
from ensue.networks.parse import load_network
from ensue.progress import Progress
from ensue.query.vocabulary import Vocabulary
from ensue.streamfile import BadLine, read_stream

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers


def add_check(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "check",
        help="check queries, rules and files without running",
        description="Check queries, rules, background and streams without running. Streams may be left out.",
    )
    add_job_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    streams = pairs(args.stream, "--stream")
    vocabulary: Vocabulary | None = None
    if are_networks(args.queries):
        network = load_network(*args.queries)
        progress.say(f"network {network.name}: {len(network.rules)} rules")
    else:
        job = job_of(args)
        reasoner = job.reasoner()
        vocabulary = vocabulary_of(job)
        for query in reasoner.queries:
            progress.say(f"query {query.name}: {query.form}, {len(query.streams)} windows")
        streams = streams_of(args, reasoner) if streams else {}
        warn_of_variables(reasoner.queries)
    bad: list[BadLine] = []
    for stream, path in streams.items():
        seen = StampSummary()
        for batch in read_stream(path, on_bad=bad.append, max_line=check_max_line(args.max_line)):
            seen.add([statement[0] for statement in batch])
            if vocabulary is not None:
                vocabulary.stream(batch)
        progress.say(f"stream <{stream}>: {seen}")
        for doubt in seen.doubts(args.max_jump):
            progress.say(f"stream <{stream}>: {doubt}")
    if vocabulary is not None:
        warn_of_terms(vocabulary)
    for line in bad:
        print(f"ensue: {line.error()}", file=sys.stderr)
    return 1 if bad else 0
