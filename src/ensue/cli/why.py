"""`ensue why`: why a fact or an answer holds, and until when; or what went when an answer left.

Without a stream the files are closed once, as `ensue reason` does it. With streams they are queries, which
run until the window in question has closed. Every proof is replayed before it is shown.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ensue.cli.interrupts import Interrupts
from ensue.cli.job import add_job_options, job_of, streams_of
from ensue.cli.letters import ShownLetters
from ensue.cli.output import Output
from ensue.cli.run_local import Feed
from ensue.errors import UsageError
from ensue.progress import Progress
from ensue.proof.dot import to_dot
from ensue.proof.explanation import Explanation, NotHeldError
from ensue.proof.given import Wanted, read_fact, wanted_of
from ensue.proof.json import to_json
from ensue.proof.proof import Statement
from ensue.proof.replay import replay
from ensue.proof.svg import to_svg
from ensue.proof.text import to_text
from ensue.query.answers import Row
from ensue.query.output import Result
from ensue.query.tree import ContinuousQuery, Relation
from ensue.reasoner import Reasoner
from ensue.rules.load import load_rules

if TYPE_CHECKING:
    from ensue.cli.main import SubParsers

FORMATS: dict[str, Callable[[Explanation], str]] = {
    "text": to_text,
    "json": lambda explanation: json.dumps(to_json(explanation), indent=2, ensure_ascii=False),
    "dot": to_dot,
    "svg": to_svg,
}
"""How an explanation is written, by name."""

_USAGE = """ensue why --rules REGIME|FILE [options] FACT FILE...
       ensue why --stream IRI=PATH [options] FACT QUERY.rq...
       ensue why --stream IRI=PATH [options] --answer VAR=TERM [--left] QUERY.rq"""


def add_why(subparsers: SubParsers) -> None:
    """Add the command's options."""
    parser = subparsers.add_parser(
        "why",
        usage=_USAGE,
        help="say why a fact or an answer holds, and until when",
        description="Say why a fact or an answer holds, by a smallest proof, and until when. FACT is one "
        "statement in Turtle; rdf, rdfs, owl, xsd and violation need no prefix line.",
    )
    add_job_options(parser)
    add = parser.add_argument
    add("--answer", metavar="VAR=TERM", action="append", help="of SELECT; a triple of CONSTRUCT; yes of ASK")
    add("--left", action="store_true", help="the answer is one no more: say what went")
    add("--at", metavar="MS", type=int, help="in the window that closes then (default: the last)")
    add("--format", choices=[*FORMATS], default="text", help="how to write it")
    add("-o", "--output", metavar="FILE", help="where to write (default: standard output)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do it."""
    fact = None if args.answer else read_fact(args.queries.pop(0))
    with Output(args.output) as output:
        explanation = _of_streams(args, fact) if args.stream else _of_files(args, fact)
        rules = load_rules(*args.rules)
        for proof in explanation.proofs:
            replay(proof, rules)
        output.write(FORMATS[args.format](explanation).rstrip("\n") + "\n")
    return 0


def _of_files(args: argparse.Namespace, fact: Statement | None) -> Explanation:
    """Explain a fact of files that are closed once."""
    if fact is None:
        raise UsageError("answers are of queries over streams", hint="add --stream IRI=PATH, or name a fact")
    s, p, o = fact
    reasoner = Reasoner(load_rules(*args.rules), [*args.background, *args.queries], explain=True)
    return reasoner.explain((s, p, o))


def _of_streams(args: argparse.Namespace, fact: Statement | None) -> Explanation:
    """Explain a fact or an answer in a window of a query."""
    if not args.queries:
        raise UsageError("there is no query", hint="name the file of one after the fact")
    if fact is not None:
        reasoner, _ = _run(args, args.at)
        s, p, o = fact
        try:
            return reasoner.explain((s, p, o))
        except NotHeldError as problem:
            which = "that closes last" if args.at is None else f"that closes at {args.at}"
            hint = f"{problem.hint}; other windows: --at MS"
            raise NotHeldError(f"{problem.what} in the window {which}", hint=hint) from problem
    reasoner, seen = _run(args, args.at)
    row, close = _find(seen, args)
    if args.at is None and close != seen.closes[-1]:
        reasoner, _ = _run(args, close)
    name = seen.query.name
    return reasoner.explain_left(name, row) if seen.left else reasoner.explain_answer(name, row)


@dataclass(slots=True)
class _Seen:
    """What became of the answer that is asked for, window by window."""

    query: ContinuousQuery
    wanted: Wanted
    left: bool
    """Whether it is to be told why it left."""
    closes: list[int]
    before: Row | None = None
    """The answer, if it was one in the last window."""
    found: tuple[Row, int] | None = None
    """The answer, and the last window in which it was one (or from which on it was none)."""

    def see(self, result: Result) -> None:
        """Look at one more window."""
        now = next(filter(self.wanted, result.answers.rows), None)
        is_end = self.left and self.query.relation is not Relation.DSTREAM
        row = (self.before if now is None else None) if is_end else now
        if row is not None:
            self.found = (row, result.close)
        self.closes.append(result.close)
        self.before = now


def _run(args: argparse.Namespace, to: int | None) -> tuple[Reasoner, _Seen]:
    """Run the job up to a close, or (None) to its end."""
    progress = Progress(sys.stderr, quiet=args.quiet)
    reasoner = job_of(args, explain=True).reasoner()
    query = reasoner.queries[0]
    left = args.left or query.relation is Relation.DSTREAM
    seen = _Seen(query, wanted_of(query, args.answer or []), left, [])
    streams = streams_of(args, reasoner)
    for result in Feed(streams, ShownLetters(progress), progress, Interrupts(progress)).results(reasoner):
        if result.query == query.name:
            seen.see(result)
            if result.close == to:
                return reasoner, seen
    if to is not None or not seen.closes:
        closes = ", ".join(map(str, seen.closes[-5:])) or "none"
        what = f"no window of '{query.name}' closes" + ("" if to is None else f" at {to}")
        raise UsageError(what, hint=f"the last that do: {closes}")
    return reasoner, seen


def _find(seen: _Seen, args: argparse.Namespace) -> tuple[Row, int]:
    if seen.found is None or args.at not in (None, seen.found[1]):
        what = "leaves" if seen.left else "is an answer"
        when = "in any window" if args.at is None else f"in the window that closes at {args.at}"
        raise NotHeldError(
            f"nothing with {' '.join(args.answer)} {what} {when}", hint="`ensue run` shows the answers"
        )
    return seen.found
