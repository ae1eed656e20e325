"""Plans are data: what was found for some readers in one process need not be found again in another.

To follow rules backwards takes seconds over a schema of some size. Whoever is sent a plan looks whether it
was made for the same rules and whether all the background that it needs is there; or else plans for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ensue.plan.asked import Graphs
from ensue.plan.known import Closed, Rows, Statement
from ensue.plan.specialise import Reader, Specialised, specialise
from ensue.rules.tree import RuleSet

Key = tuple[frozenset[str], tuple[tuple[str, Graphs], ...]]
"""Graphs of the background; and queries by name, each with which of its graphs it reads."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan in words that any process understands: the numbers of statements are its own."""

    rules: RuleSet
    """What it was made of."""
    size: int
    """How many statements the background had."""
    plan: Specialised
    kept: tuple[Statement, ...] | None
    """The statements of the background that are needed; None: all that was stated."""

    @classmethod
    def of(cls, plan: Specialised, rules: RuleSet, background: Closed) -> Planned:
        """A plan that was found here."""
        kept = None if plan.background is None else tuple(background.statements(plan.background))
        return cls(rules, len(background), replace(plan, background=None), kept)

    def over(self, rules: RuleSet, background: Closed) -> Specialised | None:
        """The plan as this process has it; None: it was made for something else."""
        of = self.rules
        if set(of.rules) != set(rules.rules) or of.axioms != rules.axioms or len(background) != self.size:
            return None
        if self.kept is None:
            return self.plan
        rows = _rows_of(self.kept, background)
        return None if rows is None else replace(self.plan, background=rows)


def _rows_of(statements: Iterable[Statement], background: Closed) -> Rows | None:
    """The numbers of statements, in order; None if one is not there."""
    s, p, o = (column.tolist() for column in background.columns)
    numbers = {triple: row for row, triple in enumerate(zip(s, p, o, strict=True))}
    known, encode = background.dictionary, background.dictionary.encode
    rows = [
        numbers.get((encode(s), encode(p), encode(o))) if s in known and p in known and o in known else None
        for s, p, o in statements
    ]
    found = [row for row in rows if row is not None]
    return np.array(sorted(found), np.int64) if len(found) == len(rows) else None


class Plans:
    """The plans that were made here, and those that were sent."""

    def __init__(self) -> None:
        self._sent: Mapping[Key, Planned] = {}
        self._own: Mapping[Key, Specialised] = {}
        self._made: dict[Key, tuple[Specialised, RuleSet, Closed]] = {}

    def take(self, sent: Mapping[Key, Planned]) -> None:
        """Go by these plans from now on, where they fit."""
        self._sent = sent

    def restore(self, own: Mapping[Key, Specialised]) -> None:
        """Go by these plans from now on: they are over this very background, in its integers."""
        self._own = own

    def image(self) -> dict[Key, Specialised]:
        """The plans that were made, for a process that has the same background in the same integers."""
        return {key: plan for key, (plan, _, _) in self._made.items()}

    def give(self) -> dict[Key, Planned]:
        """The plans that were made, to be sent."""
        return {key: Planned.of(*made) for key, made in self._made.items()}

    def find(
        self, readers: Iterable[Reader], graphs: frozenset[str], rules: RuleSet, background: Closed
    ) -> Specialised:
        """What some readers need of rules and background: as it was sent, or else found now."""
        every = list(readers)
        key: Key = graphs, tuple((query.name, read) for query, read in every)
        sent, found = self._sent.get(key), self._own.get(key)
        if found is None and sent is not None:
            found = sent.over(rules, background)
        if found is None:
            found = specialise(every, rules, background)
            self._made[key] = found, rules, background
        return found
