"""What `run`, `check` and `explain` share: a job is queries, rules, background and streams."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ensue.cli.budget import add_budget_options, budget_of
from ensue.cli.pairs import pairs
from ensue.cli.updates import add_update_options, updates_of
from ensue.errors import UsageError
from ensue.graphs import Graphs
from ensue.inputlimits import MAX_LINE
from ensue.job import Job, Settings, check_streams, read_query
from ensue.knowledge import InFiles
from ensue.maintain import STRATEGIES
from ensue.plan.representatives import EQUALITIES
from ensue.query.choose import EVALUATORS
from ensue.reasoner import Reasoner
from ensue.rules.load import load_rules
from ensue.windows.frontier import Disorder
from ensue.windows.jump_guard import MAX_JUMP
from ensue.windows.report import Report
from ensue.windows.stretch import MAX_EMPTY

_SHOWN_STRATEGIES = [name for name in STRATEGIES if not name.startswith("expiration-")]


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a job."""
    add = parser.add_argument
    add("queries", metavar="QUERY.rq", nargs="+", help="continuous queries in C-SPARQL or RSP-QL")
    add(
        "--stream",
        metavar="IRI=PATH",
        action="append",
        default=[],
        help="what a stream's IRI stands for; - is standard input (--engine local)",
    )
    add("--background", metavar="FILE", action="append", default=[], help="RDF that always holds")
    add_update_options(parser)
    add("--rules", metavar="REGIME|FILE", action="append", default=[], help="a regime or a file of rules")
    add("--graph", metavar="IRI=FILE", action="append", default=[], help="which file FROM's IRI is")
    add("--allow", metavar="PLACE", action="append", default=[], help="where else FROM may read files")
    add("--strategy", choices=["auto", *_SHOWN_STRATEGIES], default="auto", help="who keeps windows closed")
    add("--evaluator", choices=EVALUATORS, default="auto", help="who answers queries")
    add("--t0", metavar="MS", type=int, default=0, help="the time that windows are aligned to")
    add("--bounds", choices=["(]", "[)"], default="(]", help="which end belongs to a window")
    add("--report", choices=["close", "change", "content"], default="close", help="when to answer")
    add("--nth", metavar="N", type=int, default=1, help="answer at every N-th evaluation only")
    add("--disorder", metavar="MS", type=int, default=0, help="how much older than the newest one may be")
    add("--late", choices=["admit", "drop", "error"], default="admit", help="what to do with late ones")
    add(
        "--max-empty",
        metavar="N|off",
        type=number_or_off,
        default=MAX_EMPTY,
        help="longest run of evaluations without statements that is reported one by one",
    )
    add(
        "--max-jump",
        metavar="MS|off",
        type=number_or_off,
        default=MAX_JUMP,
        help="how far a stream's time may jump ahead without a second statement that confirms it",
    )
    add("--until", action="store_true", help="say when each answer will leave if nothing more arrives")
    add("--fixed-schema", action="store_true", help="no stream brings schema: stop if one does")
    add(
        "--equality",
        choices=EQUALITIES,
        default=EQUALITIES[0],
        help="how terms that are equal for ever are kept",
    )
    add("--no-prune", action="store_true", help="derive everything, whether or not a query needs it")
    add("--check", metavar="N", type=int, help="compare every Nth window with one closed from scratch")
    add(
        "--violations",
        metavar="FILE",
        nargs="?",
        const="",
        help="tell what violates conditions: in a file, - for standard output (default: standard error)",
    )
    add("--every-violation", action="store_true", help="at each close, not only what is new or gone")
    add(
        "--max-line",
        metavar="BYTES",
        type=int,
        default=MAX_LINE,
        help=f"bytes of a line of a stream: a longer one is a dead letter (default and most: {MAX_LINE})",
    )
    add_budget_options(parser)
    add("-q", "--quiet", action="store_true", help="no progress and counts")


def number_or_off(text: str) -> int | None:
    """The number that an option has; None where it is `off`."""
    return None if text == "off" else int(text)


def are_networks(names: Sequence[str]) -> bool:
    """Whether these are files of rule networks, told by their ending; queries do not mix with them."""
    queries = [name for name in names if not name.endswith(".ru")]
    if queries and len(queries) < len(names):
        hint = "put SELECT into the network's file, or run the two one after the other"
        raise UsageError(f"{queries[0]} is no rule network", hint=hint)
    return not queries


def job_of(args: argparse.Namespace, *, explain: bool = False) -> Job:
    """The job that a command line describes; `explain`: it has to be told why."""
    queries = [read_query(name) for name in args.queries]
    settings = Settings(
        strategy=args.strategy,
        evaluator=args.evaluator,
        disorder=Disorder(args.disorder, args.late),
        t0=args.t0,
        bounds=args.bounds,
        report=Report(args.report, args.nth),
        until=args.until,
        max_empty=args.max_empty,
        max_jump=args.max_jump,
        prune=not args.no_prune,
        fixed_schema=args.fixed_schema,
        check=args.check,
        equality=args.equality,
        violations=None if args.violations is None else "all" if args.every_violation else "changes",
        explain=explain,
        budget=budget_of(args),
    )
    graphs = Graphs(pairs(args.graph, "--graph"), args.allow)
    knowledge = InFiles(tuple(args.background), graphs)
    return Job.of(queries, load_rules(*args.rules), knowledge, settings, updates_of(args))


def reasoner_of(args: argparse.Namespace) -> Reasoner:
    """The reasoner that a command line describes, with its queries registered."""
    return job_of(args).reasoner()


def streams_of(args: argparse.Namespace, reasoner: Reasoner) -> dict[str, str]:
    """The path of each stream that the queries read; each must be given, and none besides."""
    given = pairs(args.stream, "--stream")
    check_streams(given, reasoner.streams, "add --stream {}=PATH")
    return given
