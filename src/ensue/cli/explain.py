"""`ensue explain`: how a job would be done, and why so."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from ensue.cli.job import add_job_options, are_networks, job_of
from ensue.networks.explain import describe, lines
from ensue.networks.parse import load_network
from ensue.plan.spread import spread

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers


def add_explain(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "explain",
        help="show how a job would be done, and why so",
        description="Show the plan of a job: evaluators, strategies, and what queries share.",
    )
    add_job_options(parser)
    add = parser.add_argument
    add("--json", action="store_true", help="for machines")
    add("--shards", metavar="N", type=int, default=1, help="over how many shards it is to be spread")
    add("--keep-all", action="store_true", help="drop no statement that no query needs")
    add("--expand", action="store_true", help="apply linear rules before statements are spread")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    if are_networks(args.queries):
        network = describe(load_network(*args.queries))
        print(json.dumps(network, indent=2, ensure_ascii=False) if args.json else "\n".join(lines(network)))
        return 0
    job = job_of(args)
    how = spread(job, shards=args.shards, keep_all=args.keep_all, expand=args.expand, explain=True)
    changes = sorted({update.at for update in job.updates})
    plan = job.reasoner().plan() | {"background_changes": changes, "spark": how.describe()}
    print(json.dumps(plan, indent=2, ensure_ascii=False) if args.json else "\n".join(_lines(plan)))
    return 0


def _lines(plan: dict[str, Any]) -> list[str]:
    lines = [
        f"rules: {plan['rules']} ({plan['rule_count']})",
        f"background: {plan['background']:,} statements",
    ]
    if plan["background_changes"]:
        lines.append(f"  as of the start; it changes at {', '.join(map(str, plan['background_changes']))}")
    lines += ["on Spark:", *(f"  {line}" for line in plan["spark"])]
    for query in plan["queries"]:
        lines += ["", f"query {query['name']} ({query['form']}, level {query['level']})"]
        lines += [f"  window: {window}" for window in query["windows"]]
        if query["partition"] is not None:
            lines.append(f"  partitioned by {query['partition']}")
        lines.append(f"  evaluator: {query['evaluator']} ({query['why']})")
        lines += [f"  in time: {expression}" for expression in query["events"]]
        lines += [f"  {graph['name']}: {graph['from']}" for graph in query["graphs"]]
    for scope in plan["scopes"]:
        parted = "" if scope["partition"] is None else f", partitioned by {scope['partition']}"
        lines += ["", f"scope {scope['name']}: {scope['streams']}{parted}", f"  strategy: {_strategy(scope)}"]
        lines += [f"  read by: {', '.join(scope['readers'])}", f"  patterns watched: {scope['watched']}"]
        lines += [f"  {line}" for line in _pruned(scope)]
    return lines


def _strategy(scope: dict[str, Any]) -> str:
    return f"{scope['strategy']} ({scope['chosen_because']})"


def _pruned(scope: dict[str, Any]) -> list[str]:
    """What of rules and background is used, pass by pass."""
    lines = []
    for each in scope["passes"]:
        lines += [f"{each['name']}: {each['line']}", *(f"  {detail}" for detail in each["details"])]
    if scope["everything_because"] is not None:
        lines.append(f"all rules and all of the background: {scope['everything_because']}")
    if scope["assumed"]:
        lines += ["as long as no stream brings", *(f"  {shape}" for shape in scope["assumed"])]
    return lines
