"""Run a case on a maintainer and compare it, after every step, with a plain recomputation.

python -m equivalence.replay SEED            one case, on every strategy
python -m equivalence.replay SEED --cases 200 --strategy rete
python -m equivalence.replay SEED --linear --strategy rewrite
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb

from ensue.dictionary import Dictionary
from ensue.maintain import PARTICULAR, STRATEGIES, make, oracle
from ensue.maintain.contract import Maintainer
from ensue.maintain.program import compile_rules
from ensue.maintain.snapshot import Snapshot
from ensue.model import BACKGROUND, FOREVER, NEVER, Copies, Facts
from ensue.rules.tree import RuleSet

from .cases import Admit, Case, Copy, Learn, Operation, Statement, make_case
from .linear import linear

Timed = tuple[int, Statement]
"""A fact of a context, in terms."""

Make = Callable[[str, RuleSet, Dictionary], Maintainer]


@dataclass(frozen=True)
class Expected:
    """What has to hold after one step."""

    stamps: Mapping[Timed, int]
    background: frozenset[Statement]
    inserted: frozenset[Timed]
    deleted: frozenset[Timed]
    retracted: tuple[int, ...]
    """How many copies went with each of the step's retractions."""


@dataclass(frozen=True)
class Difference:
    """Where a maintainer and the recomputation part."""

    strategy: str
    step: int
    what: str
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.strategy}, step {self.step}: {self.what}"]
        lines += [f"  missing {fact}" for fact in self.missing]
        lines += [f"  too much {fact}" for fact in self.extra]
        return "\n".join(lines)


@dataclass
class Truth:
    """The copies that count: a list, searched from end to end. It shares no code with the log."""

    case: Case
    threshold: int = NEVER
    copies: list[Copy] = field(default_factory=list)
    background: list[Statement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.background = [*self.case.background]

    def apply(self, operation: Operation) -> int | None:
        """Take an operation in; for a retraction, how many copies went."""
        if isinstance(operation, Learn):
            self.background += operation.statements
        elif isinstance(operation, Admit):
            self.copies += [copy for copy in operation.copies if copy.stamp > self.threshold]
        else:
            return sum(self._retract(copy, operation.every) for copy in operation.copies)
        return None

    def _retract(self, wanted: Copy, every: bool) -> int:
        key = (wanted.context, wanted.statement, wanted.graph)
        found = [copy for copy in self.copies if (copy.context, copy.statement, copy.graph) == key]
        found = found if every else sorted(found, key=lambda copy: copy.stamp)[-1:]
        for copy in found:
            self.copies.remove(copy)
        return len(found)

    def advance(self, threshold: int) -> None:
        """Forget what has expired."""
        self.threshold = threshold
        self.copies = [copy for copy in self.copies if copy.stamp > threshold]


def expected(case: Case) -> list[Expected]:
    """The answers to a case, step by step, each closed from scratch."""
    truth, answers = Truth(case), []
    before: frozenset[Timed] = frozenset()
    dictionary = Dictionary(nesting=case.nesting)
    program = compile_rules(case.rules, dictionary)
    for step in case.steps:
        counts = [truth.apply(operation) for operation in step.operations]
        truth.advance(step.threshold)
        copies = (background(dictionary, truth.background), encode(dictionary, truth.copies))
        closed = oracle.closure(program, dictionary, copies, step.threshold)
        stamps = {(f[0], _decode(dictionary, f[1:])): stamp for f, stamp in closed.items()}
        ground = frozenset(statement for context, statement in stamps if context == BACKGROUND)
        live = {timed: stamp for timed, stamp in stamps.items() if timed[0] != BACKGROUND}
        inserted = frozenset(live) - before
        deleted = frozenset(timed for timed in before - frozenset(live) if timed[1] not in ground)
        retracted = tuple(count for count in counts if count is not None)
        answers.append(Expected(live, ground, inserted, deleted, retracted))
        before = frozenset(live)
    return answers


def encode(dictionary: Dictionary, copies: Iterable[Copy]) -> Copies:
    """Copies in the dictionary's integers."""
    batch = Copies()
    for copy in copies:
        s, p, o = map(dictionary.encode, copy.statement)
        batch.append(copy.context, s, p, o, copy.stamp, dictionary.encode(copy.graph) if copy.graph else 0)
    return batch


def background(dictionary: Dictionary, statements: Iterable[Statement]) -> Copies:
    """Background in the dictionary's integers."""
    return encode(dictionary, (Copy(BACKGROUND, statement, FOREVER) for statement in statements))


def _decode(dictionary: Dictionary, triple: Iterable[int]) -> Statement:
    s, p, o = map(dictionary.decode, triple)
    return s, p, o


class Replay:
    """One maintainer going through one case."""

    def __init__(self, case: Case, strategy: str, maker: Make = make) -> None:
        self.case, self.strategy, self._make = case, strategy, maker
        self._start()
        self.maintainer.load_background(background(self.dictionary, case.background))

    def _start(self) -> None:
        self.dictionary = Dictionary(nesting=self.case.nesting)
        self.maintainer = self._make(self.strategy, self.case.rules, self.dictionary)

    def run(self, answers: list[Expected]) -> Difference | None:
        """The first difference, None if there is none."""
        contexts = sorted({context for answer in answers for context, _ in answer.stamps} | {1})
        for number, (step, answer) in enumerate(zip(self.case.steps, answers, strict=True)):
            counts = tuple(n for operation in step.operations if (n := self._apply(operation)) is not None)
            change = self.maintainer.advance(step.threshold)
            checks = [
                ("copies retracted", set(enumerate(answer.retracted)), set(enumerate(counts))),
                ("P+", answer.inserted, self._facts(change.inserted)),
                ("P-", answer.deleted, self._facts(change.deleted)),
                *(self._closure_check(answer, context) for context in contexts),
            ]
            if self.maintainer.stamped:
                checks += self._stamp_checks(answer, contexts, step.threshold)
            for what, want, got in checks:
                if want != got:
                    return _difference(self.strategy, number, what, want, got)
            self._then(step.then)
        return None

    def _apply(self, operation: Operation) -> int | None:
        if isinstance(operation, Learn):
            self.maintainer.load_background(background(self.dictionary, operation.statements))
        elif isinstance(operation, Admit):
            self.maintainer.admit(encode(self.dictionary, operation.copies))
        else:
            batch = encode(self.dictionary, operation.copies)
            return self.maintainer.retract(batch, every=operation.every)
        return None

    def _then(self, what: str) -> None:
        if what == "sweep":
            self.dictionary.sweep(self.maintainer.used_terms())
        elif what == "restart":
            data = self.maintainer.snapshot().to_bytes()
            self._start()
            self.maintainer.restore(Snapshot.from_bytes(data))

    def _closure_check(self, answer: Expected, context: int) -> tuple[str, set[object], set[object]]:
        want = {timed for timed in answer.stamps if timed[0] == context}
        return f"closure of context {context}", want, self._facts(self.maintainer.closure(context))

    def _stamp_checks(
        self, answer: Expected, contexts: list[int], threshold: int
    ) -> Iterable[tuple[str, set[object], set[object]]]:
        """Stamps, and what is read at thresholds that a narrower window would have."""
        for context in contexts:
            mine = {timed: stamp for timed, stamp in answer.stamps.items() if timed[0] == context}
            stamps = sorted(set(mine.values()))
            for at in {threshold, *stamps[:1], *stamps[len(stamps) // 2 :][:1], *stamps[-1:]}:
                want = {(timed, stamp) for timed, stamp in mine.items() if stamp > at}
                read = self.maintainer.closure(context, at)
                got = {((c, _decode(self.dictionary, (s, p, o))), stamp) for c, s, p, o, stamp in read}
                yield f"stamps of context {context} above {at}", want, got

    def _facts(self, facts: Facts) -> set[object]:
        listed = Counter((c, _decode(self.dictionary, (s, p, o))) for c, s, p, o, _ in facts)
        return {*listed, *(("twice", timed) for timed, count in listed.items() if count > 1)}


def _difference(
    strategy: str, step: int, what: str, want: Iterable[object], got: Iterable[object]
) -> Difference:
    want, got = set(want), set(got)
    missing, extra = (tuple(sorted(map(str, facts))) for facts in (want - got, got - want))
    return Difference(strategy, step, what, missing, extra)


def compare(
    case: Case, strategy: str, answers: list[Expected] | None = None, maker: Make = make
) -> Difference | None:
    """The first difference between a strategy and the recomputation; a crash is one too."""
    answers = expected(case) if answers is None else answers
    try:
        return Replay(case, strategy, maker).run(answers)
    except Exception as problem:  # whatever it is, it belongs with the case that brought it about
        frame = extract_tb(problem.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        return Difference(strategy, -1, f"{type(problem).__name__} at {where}: {problem}")


def main(arguments: list[str] | None = None) -> int:
    """Replay cases from a seed on; 1 and the first difference if there is one."""
    parser = argparse.ArgumentParser(prog="python -m equivalence.replay", description=main.__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--cases", type=int, default=1)
    parser.add_argument("--strategy", action="append", choices=sorted(STRATEGIES))
    parser.add_argument("--linear", action="store_true", help="with linear rules, as `rewrite` wants them")
    options = parser.parse_args(arguments)
    for seed in range(options.seed, options.seed + options.cases):
        case = linear(make_case(seed)) if options.linear else make_case(seed)
        answers = expected(case)
        for strategy in options.strategy or STRATEGIES.keys() - PARTICULAR:
            difference = compare(case, strategy, answers)
            if difference is not None:
                print(f"case {seed}: {difference}", flush=True)
                return 1
    print(f"{options.cases} cases, no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
