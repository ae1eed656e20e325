"""The entry point: which command, and what its end means to the shell.

A command's module is loaded only when that command is named, so `ensue --help` does not wait for
parsers and kernels. Exit codes: 0 done, 1 the input was at fault, 2 usage, 3
inconsistent (`reason --check`), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ensue.cli.output import silence_stdout
from ensue.errors import EnsueError

if TYPE_CHECKING:
    SubParsers = argparse._SubParsersAction[argparse.ArgumentParser]

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what it does in a few words, and the function that adds it to the parser.

    That function is called with argparse's sub-parsers, adds a parser for the command and sets its
    default `run` to a function from the parsed arguments to an exit code.
    """

    help: str
    module: str
    adder: str

    def add(self, subparsers: SubParsers) -> None:
        """Load the command and add its options."""
        cast("Callable[[SubParsers], None]", getattr(import_module(self.module), self.adder))(subparsers)


COMMANDS = {
    "run": Command("answer continuous queries over streams", "ensue.cli.run", "add_run"),
    "check": Command("check queries, rules and files without running", "ensue.cli.check", "add_check"),
    "explain": Command("show how a job would be done", "ensue.cli.explain", "add_explain"),
    "reason": Command("close RDF files under rules, once", "ensue.cli.reason", "add_reason"),
    "why": Command("say why a fact or an answer holds, and until when", "ensue.cli.why", "add_why"),
    "rules": Command("show regimes and what they share", "ensue.cli.rules", "add_rules"),
    "generate": Command("make a workload", "ensue.bench.cli", "add_generate"),
    "bench": Command("run an experiment: table, JSON and plot", "ensue.bench.cli", "add_bench"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    >>> main(["reason", "--rules", "no-such-regime", "no-such-file.nt"])
    1
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        args = build_parser(words).parse_args(words)
        code = cast("int", args.run(args) or 0)
        sys.stdout.flush()
    except EnsueError as problem:
        print(f"ensue: {' '.join(str(problem).split())}", file=sys.stderr)
        return problem.exit_code
    except KeyboardInterrupt:
        print("ensue: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        silence_stdout()
        return 0
    return code


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser, with the options of the one command that `words` names."""
    parser = argparse.ArgumentParser(prog="ensue", description="A stream reasoner for RDF.")
    parser.add_argument("--version", action="version", version=_version(words))
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    named = next((word for word in words if not word.startswith("-")), None)
    for name, command in COMMANDS.items():
        if name == named:
            command.add(subparsers)
        else:
            subparsers.add_parser(name, help=command.help)
    return parser


def _version(words: Sequence[str]) -> str:
    if "--version" not in words:
        return ""  # looking it up takes a while, and nobody asked
    from importlib.metadata import version

    return f"ensue {version('ensue')}"
