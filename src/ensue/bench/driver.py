"""Drives whole reasoners step by step, and says where the time of a step goes."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from time import perf_counter
from typing import Any

from ensue.bench.feed import DisagreementError
from ensue.bench.sensors import STEP_MS, STREAM, Sensors
from ensue.files import Timed
from ensue.maintain.kernel.maintainer import KernelMaintainer
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.materialise import Materialisation
from ensue.query.output import Result
from ensue.query.oxigraph import OxigraphEvaluator
from ensue.query.oxigraph_mirror import Mirror
from ensue.reasoner import Reasoner
from ensue.rules.tree import RuleSet

REGIME = "rdfs-jena"
NO_RULES = RuleSet("none", ())
COUNTERS = ("probes", "derivations")

STAGES: Mapping[str, Sequence[tuple[type, str]]] = {
    # What is admitted is taken in when somebody reads: wherever that happens, it is maintenance.
    "maintain": ((Materialisation, "admit"), (Materialisation, "forget"), (KernelMaintainer, "_flush")),
    "load": ((Mirror, "show"),),
    # Oxigraph looks for answers while they are asked for, one by one: that is part of its query.
    "query": (
        (OxigraphEvaluator, "_run"),
        (OxigraphEvaluator, "_solutions"),
        (CompiledEvaluator, "evaluate"),
    ),
}
"""The stages of a step, and the methods that do them, less what one of them calls of another stage. What
is left of the step is admission."""

Answers = dict[tuple[str, int], list[tuple[str | None, ...]]]
"""The rows of each query at each close, sorted."""


def in_turn(names: Iterable[str], number: int) -> list[str]:
    """The same names from another one on in each round: whoever is first finds the caches cold.

    >>> in_turn("abc", 4)
    ['b', 'c', 'a']
    """
    every = list(names)
    first = number % len(every)
    return every[first:] + every[:first]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one reasoner: seconds in all and of each stage, and what was answered."""

    seconds: float
    stages: Mapping[str, float]
    answers: Answers = field(repr=False)

    @property
    def unloaded(self) -> float:
        """The seconds without those that loading another store took."""
        return self.seconds - self.stages["load"]


class Lane:
    """A reasoner over the observations of one workload."""

    def __init__(
        self,
        workload: Sensors,
        queries: Sequence[str],
        *,
        rules: str | RuleSet = REGIME,
        evaluator: str = "compiled",
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            background = [workload.write_background(folder)]
            self.reasoner = Reasoner(rules, background, "expiration", evaluator=evaluator)
        for text in queries:
            self.reasoner.register(text)

    def step(self, number: int, batch: Sequence[Timed], clocks: Clocks) -> Step:
        """Feed the statements of a step, the first of which is number 1, and let its windows close.

        What earlier steps left to the cycle collector is collected before the clock starts.
        """
        gc.collect()
        clocks.reset()
        begin = perf_counter()
        results = self.run(number, batch)
        seconds = perf_counter() - begin
        return Step(seconds, dict(clocks.seconds), answers_of(results))

    def run(self, number: int, batch: Sequence[Timed]) -> list[Result]:
        """The same, without a clock."""
        self.reasoner.feed(STREAM, batch)
        return list(self.reasoner.advance(to=number * STEP_MS))

    def counters(self) -> dict[str, int]:
        """The work done so far. Not between steps that are timed: counting goes through the window."""
        found = self.reasoner.metrics()
        return {name: found[name] for name in COUNTERS}


def freeze() -> None:
    """Leave data and plans out of what is collected before a step: to look through them takes longer."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def answers_of(results: Sequence[Result]) -> Answers:
    """What the results say, in a form that compares."""
    return {(result.query, result.close): sorted(result.answers.rows, key=str) for result in results}


def check_answers(found: Mapping[str, Answers]) -> None:
    """Raise DisagreementError unless all have the same answers."""
    (reference, expected), *others = found.items()
    for name, answers in others:
        if answers != expected:
            raise DisagreementError(
                f"{name} and {reference} disagree on the answers at {sorted(expected)[0]}",
                hint="this is a bug in an evaluator: please report the command and its seed",
            )


class Clocks:
    """The seconds spent in each stage since the last reset."""

    def __init__(self) -> None:
        self.reset()
        self._inner = 0.0
        """Seconds of the methods that the one now running has called."""

    def reset(self) -> None:
        """Start from zero."""
        self.seconds = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def running(self) -> Iterator[Clocks]:
        """Time the stages while inside: the engine itself reads no clock."""
        with ExitStack() as undo:
            for stage, methods in STAGES.items():
                for owner, name in methods:
                    plain = owner.__dict__[name]
                    setattr(owner, name, self._timed(stage, plain))
                    undo.callback(setattr, owner, name, plain)
            yield self

    def _timed(self, stage: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(plain)
        def timed(*args: Any, **options: Any) -> Any:
            outer, self._inner = self._inner, 0.0
            begin = perf_counter()
            try:
                return plain(*args, **options)
            finally:
                spent = perf_counter() - begin
                self.seconds[stage] += spent - self._inner
                self._inner = outer + spent

        return timed
