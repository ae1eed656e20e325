"""The alternatives of `ensue bench qsmat`: reasoners that are asked the same, one window after the other."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from ensue.bench.bsbm.files import STREAM
from ensue.bench.driver import NO_RULES, Answers, answers_of, check_answers, freeze, in_turn
from ensue.bench.qsmat_market import WINDOW_MS, Instance, Windows
from ensue.files import Timed
from ensue.reasoner import Reasoner

REGIME = "rdfs-jena"


@dataclass(frozen=True, slots=True)
class Alternative:
    """A strategy, and whether it does what the query needs or everything."""

    strategy: str
    prune: bool = True
    rules: bool = True


ALTERNATIVES: Mapping[str, Alternative] = {
    "full": Alternative("expiration-no-table", prune=False),
    "pruned": Alternative("expiration-no-table"),
    "epsilon": Alternative("expiration", prune=False),
    "epsilon pruned": Alternative("expiration"),
    "rewritten": Alternative("rewrite"),
    "rewritten as a union": Alternative("rewrite-union"),
    "hybrid": Alternative("hybrid"),
    "auto": Alternative("auto"),
    "raw window": Alternative("expiration", rules=False),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One window: seconds in all, and of these what it took to give its terms numbers."""

    seconds: float
    indexing: float


@dataclass(frozen=True, slots=True)
class Ran:
    """A query through some windows."""

    steps: Sequence[Step]
    rules: int
    """How many of them were left."""
    derivations: float
    """In a window."""


class Lane:
    """A reasoner that is asked one query after the other."""

    def __init__(self, windows: Windows, how: Alternative) -> None:
        rules = REGIME if how.rules else NO_RULES
        self._reasoner = Reasoner(rules, windows.knowledge, how.strategy, prune=how.prune)
        self._query: str | None = None
        self._steps: list[Step] = []

    def ask(self, text: str) -> None:
        """Go on with another query."""
        if self._query is not None:
            self._reasoner.remove(self._query)
        self._query = self._reasoner.register(text).name
        self._steps = []

    def step(self, number: int, batch: Sequence[Timed]) -> Answers:
        """Feed a window, and let it close."""
        gc.collect()
        begin = perf_counter()
        self._reasoner.feed(STREAM, batch)
        fed = perf_counter()
        results = list(self._reasoner.advance(to=number * WINDOW_MS))
        self._steps.append(Step(perf_counter() - begin, fed - begin))
        return answers_of(results)

    def derivations(self) -> int:
        """How many there have been, since the plan was made."""
        return self._reasoner.held()["derivations"]

    def ran(self, derivations: float) -> Ran:
        """The windows so far, but for the first, which is to warm up."""
        [scope] = self._reasoner.plan()["scopes"]
        return Ran(tuple(self._steps[1:]), len(scope["rules"]), derivations)


class Lanes:
    """All of them side by side: to read a large background takes long, so they go on from query to query."""

    def __init__(self, windows: Windows, names: Sequence[str], reference: str) -> None:
        self._windows = windows
        self._lanes = {name: Lane(windows, ALTERNATIVES[name]) for name in names}
        self._reference = reference
        self._number = 0

    def interleaved(self, asked: Sequence[Instance], rounds: int) -> dict[str, list[Ran]]:
        """Each query through all lanes in turn, window by window; all must answer as the reference does."""
        found: dict[str, list[Ran]] = {name: [] for name in self._lanes}
        for instance in asked:
            for lane in self._lanes.values():
                lane.ask(instance.text)
            freeze()
            self._step()
            before = {name: lane.derivations() for name, lane in self._lanes.items()}
            for _ in range(rounds):
                self._step()
            for name, lane in self._lanes.items():
                found[name].append(lane.ran((lane.derivations() - before[name]) / rounds))
        return found

    def _step(self) -> None:
        self._number += 1
        batch = self._windows.batch(self._number)
        turns = in_turn(self._lanes, self._number)
        answers = {name: self._lanes[name].step(self._number, batch) for name in turns}
        check_answers({self._reference: answers[self._reference], **_comparable(answers)})


def _comparable(answers: Mapping[str, Answers]) -> dict[str, Answers]:
    """The answers of those that take everything into account that is implied."""
    return {name: rows for name, rows in answers.items() if ALTERNATIVES[name].rules}
