"""Run a case on the engine and compare it, line by line, with what the definition says.

python -m query.equivalence.replay SEED            one case, on every strategy with each evaluator
python -m query.equivalence.replay SEED --cases 200 --strategy rete --evaluator oxigraph
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from traceback import extract_tb

from query.equivalence.cases import Advance, Case, Change, End, Push, Register, Statement, make_case
from query.equivalence.history import parsed
from query.equivalence.reference import Bag, Expected, expected

from ensue import Reasoner
from ensue.errors import StrategyError
from ensue.knowledge import Update
from ensue.query.output import Result
from ensue.query.terms_in import term_text
from ensue.query.tree import Form
from ensue.windows.frontier import Disorder

STRATEGIES = ("recompute", "dred", "expiration", "rete", "rewrite", "rewrite-union", "hybrid")
EVALUATORS = ("compiled", "oxigraph")
"""`compiled` stands for the engine's own choice: what does not compile goes to oxigraph."""


@dataclass(frozen=True)
class Difference:
    """Where the engine and the definition part: at which evaluation of which query."""

    combination: str
    query: str
    number: int
    want: str
    got: str

    def __str__(self) -> str:
        where = f"{self.combination}, {self.query}, evaluation {self.number}"
        return f"{where}\n  expected {self.want}\n  actual   {self.got}"


class Engine:
    """A reasoner that goes through a case."""

    def __init__(
        self,
        case: Case,
        strategy: str,
        evaluator: str,
        folder: Path,
        kind: type[Reasoner] = Reasoner,
        *,
        prune: bool = True,
        check: int | None = None,
    ) -> None:
        self.case = case
        self.results: list[Result] = []
        background = [_file(folder / "background.nt", case.background)]
        graphs = {
            iri: _file(folder / f"graph{number}.nt", statements)
            for number, (iri, statements) in enumerate(case.graphs.items())
        }
        self.reasoner = kind(
            case.rules,
            background,
            strategy,
            evaluator="auto" if evaluator == "compiled" else evaluator,
            graphs=graphs,
            disorder={stream: Disorder(allowed) for stream, allowed in case.allowed.items()},
            t0=case.t0,
            bounds=case.bounds,
            prune=prune,
            check=check,
            max_jump=None,  # The definition lets each statement in when it comes.
        )

    def run(self) -> list[Result]:
        """All results, in the order in which they came."""
        for action in self.case.actions:
            match action:
                case Register(text):
                    self.reasoner.register(parsed(text))  # Parsing is most of a small run: once is enough.
                case Push(stream, rows):
                    self.reasoner.push(stream, [(time, *statement) for time, statement in rows])
                case Advance(to):
                    self.results += self.reasoner.advance(to)
                case End(stream):
                    self.results += self.reasoner.end(stream)
                case Change():
                    self.reasoner.change(update_of(action))
        return self.results


def update_of(change: Change) -> Update:
    """A change as the engine has it."""

    def stated(statements: tuple[Statement, ...]) -> tuple[tuple[str, str, str, None], ...]:
        return tuple((*map(term_text, statement), None) for statement in statements)

    return Update(
        change.at,
        stated(change.added),
        stated(change.removed),
        None if change.reloaded is None else stated(change.reloaded),
        {iri: stated(graph) for iri, graph in change.graphs},
    )


def _file(path: Path, statements: tuple[Statement, ...]) -> Path:
    """A file of statements, written only if it has others: some disks wait for a file that is overwritten."""
    text = "".join(f"{s} {p} {o} .\n" for s, p, o in statements)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def run(case: Case, strategy: str, evaluator: str, *, prune: bool = True, check: int | None = None) -> Engine:
    """An engine that has gone through a case."""
    engine = Engine(case, strategy, evaluator, Path(_folder().name), prune=prune, check=check)
    engine.run()
    return engine


@cache
def _folder() -> TemporaryDirectory:
    """Where the files of one case after the other are: to make and delete a folder takes long."""
    return TemporaryDirectory()


def bag(result: Result) -> Bag:
    """The answers of a result, columns in order of name."""
    if result.answers.form is not Form.SELECT:
        return Counter(map(tuple, result.answers.rows))
    order = sorted(range(len(result.answers.variables)), key=result.answers.variables.__getitem__)
    return Counter(tuple(row[k] for k in order) for row in result.answers.rows)


def differences(combination: str, lines: list[Expected], results: list[Result]) -> Iterator[Difference]:
    """Every difference, query by query."""
    for name in dict.fromkeys([*(line.query for line in lines), *(result.query for result in results)]):
        want = [line for line in lines if line.query == name]
        got = [result for result in results if result.query == name]
        known = True
        for number in range(max(len(want), len(got))):
            if number >= len(want) or number >= len(got):
                texts = [_window(each[number]) if number < len(each) else "nothing" for each in (want, got)]
                yield Difference(combination, name, number, *texts)
                break
            line, result = want[number], got[number]
            exact, known = result.exact and known, result.exact
            if (line.open, line.close) != (result.open, result.close):
                yield Difference(combination, name, number, _window(line), _window(result))
                break
            if line.whole and not result.exact:
                yield Difference(combination, name, number, "exact answers", "answers that are not exact")
            elif exact and (found := bag(result)) != line.answers:
                yield Difference(combination, name, number, *_texts(line.answers, found, _window(line)))


def _window(line: Expected | Result) -> str:
    return f"({line.open}, {line.close}]"


def _texts(want: Bag, got: Bag, window: str) -> tuple[str, str]:
    def rows(bag: Bag) -> str:
        texts = (f"{count} x ({' '.join(map(str, row))})" for row, count in sorted(bag.items(), key=str))
        return "; ".join(texts) or "nothing"

    both = want & got
    rest = f" beside {both.total()} others" if both else ""
    return f"{window} {rows(want - got)}{rest}", f"{window} {rows(got - want)}{rest}"


def compare(
    case: Case, strategy: str, evaluator: str, lines: list[Expected] | None = None
) -> Difference | None:
    """The first difference between the engine and the definition; a crash is one too.

    Raises StrategyError where the strategy does not take the rules.
    """
    lines = expected(case) if lines is None else lines
    combination = f"{strategy}/{evaluator}"
    try:
        results = run(case, strategy, evaluator).results
    except StrategyError:
        raise  # Not every strategy takes every rule: that is for the caller.
    except Exception as problem:  # whatever it is, it belongs with the case that brought it about
        frame = extract_tb(problem.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        return Difference(combination, "", -1, "no error", f"{type(problem).__name__} at {where}: {problem}")
    return next(differences(combination, lines, results), None)


def render(case: Case) -> str:
    """The case as text: the setting, the queries, and what happens."""
    lines = [f"t0 {case.t0}, bounds {case.bounds}, disorder {case.allowed}"]
    lines += map(str, case.rules.rules)
    lines += [f"axiom {axiom}" for axiom in case.rules.axioms]
    lines += [f"background {' '.join(statement)}" for statement in case.background]
    lines += [f"graph {iri} {' '.join(s)}" for iri, graph in case.graphs.items() for s in graph]
    for action in case.actions:
        match action:
            case Register(text):
                lines += ["register", *(f"    {line}" for line in text.splitlines())]
            case Push(stream, rows):
                lines += [f"push {stream} {time} {' '.join(statement)}" for time, statement in rows]
            case Advance(to):
                lines.append("advance" if to is None else f"advance to {to}")
            case End(stream):
                lines.append(f"end {stream or 'of all streams'}")
            case Change():
                lines.append(str(action))
    return "\n".join(lines).replace("<urn:", "<").replace("^^<http://www.w3.org/2001/XMLSchema#", "^^<")


def main(arguments: list[str] | None = None) -> int:
    """Replay cases from a seed on; 1 and the first difference, with its case, if there is one."""
    parser = argparse.ArgumentParser(prog="python -m query.equivalence.replay", description=main.__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--strategy", action="append", choices=STRATEGIES)
    parser.add_argument("--evaluator", action="append", choices=EVALUATORS)
    options = parser.parse_args(arguments)
    for seed in range(options.seed, options.seed + options.cases):
        case = make_case(seed)
        lines = expected(case)
        for strategy in options.strategy or STRATEGIES:
            for evaluator in options.evaluator or EVALUATORS:
                try:
                    difference = compare(case, strategy, evaluator, lines)
                except StrategyError as refusal:
                    print(f"case {seed}: {refusal}", flush=True)
                    continue
                if difference is not None:
                    print(f"{render(case)}\n\ncase {seed}: {difference}", flush=True)
                    return 1
    print(f"{options.cases} cases, no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
