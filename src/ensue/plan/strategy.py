"""Which strategy a scope gets if nobody says: by what it would cost to keep its windows and to read them.

`expiration` takes in what is new and keeps answers as they come, so what it costs follows what changes from
one evaluation to the next. `rewrite` derives nothing and looks at the whole window at each evaluation, once
for each query. So it pays where windows hardly overlap, few queries ask, and every rule left is linear, or
none is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ensue.plan.rewrite import NotRewritable, check_linear
from ensue.plan.specialise import Specialised
from ensue.rules.tree import Rule

_LOGGED = 0.015
_TAKEN = 0.03
_KEPT = 0.3
_MADE = 0.15
"""Microseconds for a statement that is new: to log it, to hold it against all patterns; for one that some
pattern asks for, to keep it with the answers it is in, and what follows from it."""

_READ = 0.008
_LOOKED_AT = 0.013
"""The same for a statement of the window, at each evaluation: to read it, and for each pattern of a query.
All as fitted to BSBM, one core (docs/decisions/2026-11-17-what-rewriting-costs.md)."""

_RELEVANT = 0.25
"""The share of statements that some pattern asks for, which nobody knows before they come."""

_MOST_SHAPES = 50_000
"""A query that rests on statements of more shapes than this is not rewritten."""

_SURELY = 1.1
"""A strategy that could refuse must be better than the default by more than this."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How queries read a scope."""

    change: float
    """The share of the window that is new at an evaluation; of several windows, the least."""
    patterns: int
    """Triple patterns of all queries together."""
    only_answers: bool
    """Whether solutions of patterns are all that is read."""


@dataclass(frozen=True, slots=True)
class StrategyChoice:
    """A strategy, what it is estimated to cost, the next best, and why."""

    strategy: str
    why: str

    def __str__(self) -> str:
        return f"{self.strategy} ({self.why})"


def choose(plan: Specialised, reading: Reading) -> StrategyChoice:
    """The strategy for a plan whose scope is read so.

    >>> from ensue.rules.tree import Pattern, Premise, Rule, RuleSet, Var
    >>> one, other = (Pattern(Var("x"), "<urn:p>", name) for name in ("<urn:A>", "<urn:B>"))
    >>> up = Rule("up", (Premise(one),), (other,))
    >>> plan = Specialised(RuleSet("up", (up,)), None, needed=((None, "<urn:p>", None),))
    >>> choose(plan, Reading(1.0, 3, only_answers=True)).strategy
    'rewrite'
    >>> print(choose(plan, Reading(0.1, 3, only_answers=True)))
    expiration (0.02 µs a statement of the window at each evaluation, rewrite 0.05; 10% of the window are new)
    """
    kept = _RELEVANT * (_KEPT + (_MADE if plan.rules.rules else 0.0))
    costs = {"expiration": reading.change * (_LOGGED + _TAKEN + kept)}
    refused = _why_not_rewrite(plan, reading)
    if refused is not None:
        return StrategyChoice("expiration", f"rewrite is out of the question: {refused}")
    costs["rewrite"] = reading.change * _LOGGED + _READ + _LOOKED_AT * reading.patterns
    best = "rewrite" if _SURELY * costs["rewrite"] < costs["expiration"] else "expiration"
    [other] = costs.keys() - {best}
    return StrategyChoice(
        best,
        f"{costs[best]:.2f} µs a statement of the window at each evaluation, {other} {costs[other]:.2f}; "
        f"{reading.change:.0%} of the window are new",
    )


def _why_not_rewrite(plan: Specialised, reading: Reading) -> str | None:
    if plan.everything_because is not None:
        return "any statement can matter"
    if len(plan.needed) > _MOST_SHAPES:
        return f"the query's patterns would become {len(plan.needed):,}"
    if not reading.only_answers:
        return "a query reads more than solutions of patterns"
    return _first_that_joins(plan.rules.rules)


def _first_that_joins(rules: Iterable[Rule]) -> str | None:
    for rule in rules:
        try:
            check_linear(rule)
        except NotRewritable as reason:
            return str(reason)
    return None
