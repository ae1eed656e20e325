"""Whom a reasoner asks why: finds the query that is meant, and who explains what was seen there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ensue.errors import UsageError, did_you_mean
from ensue.proof.explainer import Explainer
from ensue.proof.explanation import Explanation
from ensue.proof.memory import Memory
from ensue.proof.proof import Statement
from ensue.proof.scene import Scenes
from ensue.query.answers import Row
from ensue.query.background import Background
from ensue.query.eventquery import EventQuery
from ensue.query.output import Result
from ensue.query.running import RunningQuery
from ensue.query.sources import Sources
from ensue.rules.tree import RuleSet
from ensue.rules.violations import is_violation


@dataclass(slots=True)
class Why:
    """Explains facts, answers and violations by the names of queries."""

    sources: Sources
    rules: RuleSet
    """All of them, conditions included."""
    memory: Memory | None
    """What the last two windows of each query held, if that is kept."""
    watching: bool
    """Whether somebody looks out for violations: then windows are closed under conditions, too."""
    queries: Callable[[], Sequence[RunningQuery]]
    explainer: Explainer = field(init=False)
    _of_violations: Explainer | None = field(init=False)

    def __post_init__(self) -> None:
        self.explainer = Explainer(Scenes(self.sources, self.sources.background, self.memory))
        self._of_violations = self.explainer if self.watching else None

    def fact(self, fact: Statement, query: str | None, at: int | None) -> Explanation:
        """Why a fact holds in the windows of a query, or of each in turn."""
        every = [each for each in self.queries() if not each.query.violations]
        held = [each for each in every if not isinstance(each, EventQuery)] or every[:1]
        queries = [self._running(each.name) for each in held] if query is None else [self._running(query)]
        explainer = self._violations if is_violation(fact[1]) else self.explainer
        return explainer.fact(fact, queries, at)

    def answer(self, answer_of: str | Result, row: Row, at: int | None) -> Explanation:
        """Why a row is an answer of a query, or of a result."""
        if isinstance(answer_of, Result):
            at = answer_of.close if self.memory is not None else None
            return self.explainer.answer(self._running(answer_of.query), row, at)
        return self.explainer.answer(self._running(answer_of), row, at)

    def left(self, query: str, row: Row) -> Explanation:
        """Why a row was an answer of a query the last time but one, and what has gone since."""
        return self.explainer.left(self._running(query), row)

    def start_over(self, background: Background) -> None:
        """Explain over another background from now on."""
        self.explainer.scenes.start_over(background)
        if self._of_violations is not self.explainer:
            self._of_violations = None  # Made again when somebody asks.

    def used_terms(self) -> list[Iterable[int]]:
        """The terms that explanations may still name."""
        used = [*self.explainer.scenes.used_terms()]
        used += self.memory.used_terms() if self.memory is not None else []
        used += self._of_violations.scenes.used_terms() if self._of_violations is not None else []
        return used

    @property
    def _violations(self) -> Explainer:
        """Who explains violations, whether or not they are looked out for."""
        if self._of_violations is None:
            self._of_violations = Explainer(self.explainer.scenes.under(self.rules))
        return self._of_violations

    def _running(self, name: str) -> RunningQuery:
        for running in self.queries():
            if running.name == name:
                if isinstance(running, EventQuery):
                    what = (
                        f"query '{name}' is about events, and what an event held is dropped as it is answered"
                    )
                    raise UsageError(what, hint="ask over a window of time that holds the same statements")
                return running
        known = [running.name for running in self.queries()]
        hint = did_you_mean(name, known) or f"registered: {', '.join(known) or 'none'}"
        raise UsageError(f"no query '{name}' is registered", hint=hint)
