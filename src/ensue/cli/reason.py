"""`ensue reason`: close files under rules, once, and write what holds as N-Triples.

All files together are background knowledge, whatever graphs they name. The output is in order of its
text, so that two runs can be compared, and it is RDF: what a regime concludes about literals (they
may be subjects inside the closure) is counted and left out. So are violations: `--check` tells them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ensue.cli.budget import add_budget_options, budget_of
from ensue.cli.output import Output
from ensue.closing import close_once
from ensue.dictionary import Dictionary
from ensue.files import SYNTAXES, load_file
from ensue.maintain import STRATEGIES
from ensue.maintain.budget import Meter
from ensue.model import Copies, Facts, Triple
from ensue.plan.representatives import EQUALITIES
from ensue.progress import Progress
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet
from ensue.violations import Violation, violations_in
from ensue.writing import lines_of

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers

INCONSISTENT = 3
"""The exit code of `--check` where some condition is violated."""


def add_reason(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "reason",
        help="close RDF files under rules, once",
        description="Close RDF files under rules, once, and write the statements that hold as N-Triples.",
    )
    parser.add_argument(
        "--rules",
        metavar="REGIME|FILE",
        action="append",
        required=True,
        help="a regime by name or a file of rules; may be given more than once",
    )
    parser.add_argument("--derived-only", action="store_true", help="leave out what the files state")
    parser.add_argument(
        "--equality", choices=EQUALITIES, default=EQUALITIES[0], help="how equal terms are kept meanwhile"
    )
    parser.add_argument(
        "--representatives",
        action="store_true",
        help="write what holds of one of several equal terms, and who is equal to it",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="list what is wrong, as JSON lines, and end with 3 if something is",
    )
    parser.add_argument("--strategy", choices=[*STRATEGIES], default="expiration", help="who computes it")
    parser.add_argument("--format", choices=[*SYNTAXES], help="the files' syntax, if not by extension")
    parser.add_argument("-o", "--output", metavar="OUT.nt", help="where to write (default: standard output)")
    add_budget_options(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress and counts")
    parser.add_argument("files", metavar="FILE", nargs="+", help="RDF in any syntax; .gz works")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    rules = load_rules(*args.rules)
    dictionary = Dictionary()
    dictionary.meter = Meter(budget_of(args))
    # Opened first: a path that cannot be written to should not cost a long run.
    with Output(args.output) as output:
        stated = _read(args, dictionary, progress)
        started = time.perf_counter()
        facts = close_once(
            rules,
            stated,
            dictionary,
            strategy=args.strategy,
            equality=args.equality,
            representatives=args.representatives,
            say=progress.say,
        )
        seconds = time.perf_counter() - started
        known = set(zip(stated.s, stated.p, stated.o, strict=True))
        wrong = violations_in(facts, dictionary)
        count = len(facts) - len(wrong)
        progress.say(
            f"closed under {rules.name} by {args.strategy} in {seconds:.2f} s: {len(known):,} stated, "
            f"{count - len(known):,} derived, {count:,} in all"
        )
        hidden = known if args.derived_only else set()
        written = lines_of(facts, dictionary, hidden)
        for text in written.texts():
            output.write(text)
    _report_what_is_missing(count - len(hidden) - len(written), dictionary, progress)
    if args.check and wrong:
        wrong = _explained(wrong, rules, dictionary, facts, known)
    return _report_what_is_wrong(wrong, progress, check=args.check)


def _read(args: argparse.Namespace, dictionary: Dictionary, progress: Progress) -> Copies:
    copies = Copies()
    for name in args.files:
        before = len(copies)

        def tell(count: int, share: float, label: str = f"reading {name}") -> None:
            progress.update(label, share, f"{count:,} statements")

        try:
            load_file(name, dictionary, format=args.format, into=copies, progress=tell)
        finally:
            progress.clear()
        progress.say(f"read {name}: {len(copies) - before:,} statements")
    return copies


def _explained(
    wrong: Sequence[Violation], rules: RuleSet, dictionary: Dictionary, facts: Facts, known: set[Triple]
) -> list[Violation]:
    """Violations with the statements that each rests on."""
    # Loaded when asked for: proofs know of queries, and of all that these are made of.
    from ensue.proof.held import Ground, Held
    from ensue.proof.proof import BACKGROUND
    from ensue.proof.responsible import with_statements

    ground = Ground(rules, dictionary, facts, ((BACKGROUND, triple) for triple in known))
    return [with_statements(each, Held(ground, (), {})) for each in wrong]


def _report_what_is_wrong(wrong: Sequence[Violation], progress: Progress, *, check: bool) -> int:
    """Say what is inconsistent, one by one if that was asked for; the exit code."""
    if not check:
        if wrong:
            progress.say(f"note: inconsistent, {len(wrong):,} violations; --check lists them")
        return 0
    for violation in wrong:
        print(json.dumps(violation.json(), ensure_ascii=False), file=sys.stderr)
    progress.say(
        f"inconsistent: {len(wrong):,} violations" if wrong else "consistent: no condition is violated"
    )
    return INCONSISTENT if wrong else 0


def _report_what_is_missing(left_out: int, dictionary: Dictionary, progress: Progress) -> None:
    if left_out:
        progress.say(f"left out {left_out:,} statements that are no RDF, such as those about literals")
    if dictionary.refused_mints:
        progress.say(
            f"note: {dictionary.refused_mints:,} times a rule was not allowed to mint a node, as nodes "
            f"minted from minted nodes nest at most {dictionary.nesting} deep"
        )
