"""The options that limit what is derived and held."""

from __future__ import annotations

import argparse

from ensue.maintain.budget import AT_LIMIT, MAX_FACTS, MAX_ROUNDS, Budget


def add_budget_options(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    group = parser.add_argument_group("limits of derivation")
    add = group.add_argument
    add("--max-facts", metavar="N", type=int, help=f"facts held at most (default {MAX_FACTS:,})")
    add("--max-memory", metavar="SIZE", help="memory of a process at most, such as 2g (default: 4/5 of all)")
    add(
        "--max-rounds",
        metavar="N",
        type=int,
        help=f"rounds in which rules compute terms of terms (default {MAX_ROUNDS:,}); of a network: "
        "rounds for one element",
    )
    add("--at-limit", choices=AT_LIMIT, default="stop", help="what to do then (default: stop)")


def budget_of(args: argparse.Namespace) -> Budget:
    """The budget that a command line describes."""
    return Budget.of(args.max_facts, args.max_memory, args.max_rounds, args.at_limit)
