"""Patterns with linear rules folded in, matched against facts and a closed background."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ensue.dictionary import Dictionary
from ensue.maintain.rewrite.tables import Keys, Table, tables
from ensue.model import FOREVER
from ensue.plan.known import Closed
from ensue.plan.rewrite import Rewriter, slots_of
from ensue.plan.wider import Reading, Slots
from ensue.query.compiled.patterns import matches
from ensue.query.compiled.relation import Relation, concatenated, numbered
from ensue.query.dataset import Columns, Pattern, are_visible, visible
from ensue.rules.tree import Rule


class Folded:
    """Linear rules over a closed background, to match patterns as if what they conclude were there."""

    def __init__(self, rules: Sequence[Rule], background: Closed, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._rewriter = Rewriter(tuple(rules), background)
        s, p, o = background.columns
        self.background = Columns(s, p, o, np.full(len(s), FOREVER, np.int64))
        """What holds for ever, whether or not a query would see it."""
        self._seen = visible(self.background, dictionary)
        self._readings: dict[Slots, tuple[Reading, ...]] = {}
        self._tables: dict[tuple[Slots, bool], list[list[Table]]] = {}
        self._still: dict[Pattern, _Still] = {}

    @property
    def is_empty(self) -> bool:
        """Whether there are no rules to fold in."""
        return not self._rewriter.rules

    def readings(self, pattern: Pattern) -> tuple[Reading, ...]:
        """The alternatives of a pattern. Raises NotRewritable, as all that matches it does."""
        return self._of(self._goal(pattern))

    def match(self, pattern: Pattern, facts: Columns) -> Relation:
        """The solutions of a pattern over facts and background, each once with its highest stamp."""
        if pattern not in self._still:
            self._still[pattern] = _Still(matches(self._seen, pattern))
        [every] = self._found(pattern, facts, apart=False)
        return self._still[pattern].and_of(freshest(every))

    def match_apart(self, pattern: Pattern, facts: Columns) -> list[Relation]:
        """The solutions of each alternative of a pattern, one by one; none twice within one."""
        every = Columns.joined([facts, self.background])
        return [freshest(found) for found in self._found(pattern, every, apart=True)]

    def is_alone(self, pattern: Pattern) -> bool:
        """Whether nothing is folded into a pattern."""
        goal = self._goal(pattern)
        return self._of(goal) == (Reading(goal, goal),)

    def _found(self, pattern: Pattern, facts: Columns, *, apart: bool) -> list[Relation]:
        """The solutions by all tables, or by those of each alternative; some perhaps more than once."""
        variables = [*dict.fromkeys(slot for slot in pattern if isinstance(slot, str))]
        found = []
        for some in self._tables_of(self._goal(pattern), apart=apart):
            parts = []
            for table in some:
                rows, columns = table.read((facts.s, facts.p, facts.o))
                parts.append(
                    Relation(dict(zip(variables, columns, strict=True)), len(rows), facts.stamp[rows])
                )
            found.append(self._visible(pattern, concatenated(parts)))
        return found

    def _visible(self, pattern: Pattern, found: Relation) -> Relation:
        """The solutions by facts that a query sees."""
        length = found.length
        cells = (found.columns[x] if isinstance(x, str) else np.full(length, x, np.int32) for x in pattern)
        s, p, o = cells
        return found.where(are_visible(s, p, o, self._dictionary))

    def _goal(self, pattern: Pattern) -> Slots:
        terms = [self._dictionary.decode(slot) if isinstance(slot, int) else (slot,) for slot in pattern]
        return slots_of(terms)

    def _of(self, goal: Slots) -> tuple[Reading, ...]:
        if goal not in self._readings:
            self._readings[goal] = self._rewriter.alternatives(goal)
        return self._readings[goal]

    def _tables_of(self, goal: Slots, *, apart: bool) -> list[list[Table]]:
        """The tables of all alternatives together, or of each `apart`. They give the goal's variables."""
        if (goal, apart) not in self._tables:
            wanted = [at for at, slot in enumerate(goal) if slot == at]
            readings = self._of(goal)
            groups = [[reading] for reading in readings] if apart else [readings]
            self._tables[goal, apart] = [tables(group, wanted, self._dictionary) for group in groups]
        return self._tables[goal, apart]


class _Still:
    """The solutions of a pattern that hold for ever: many, where every type has a label, so sorted once.

    >>> still = _Still(Relation({"x": np.array([4, 5])}, 2, np.array([FOREVER, FOREVER])))
    >>> every = still.and_of(Relation({"x": np.array([5, 6])}, 2, np.array([10, 11])))
    >>> every.columns["x"].tolist(), every.stamps.tolist() == [FOREVER, FOREVER, 11]
    ([4, 5, 6], True)
    """

    def __init__(self, found: Relation) -> None:
        self._found = found
        rows = np.array([*found.columns.values()], np.int32).reshape(len(found.columns), found.length).T
        self._keys = Keys(range(rows.shape[1]), rows) if found.length else None

    def and_of(self, others: Relation) -> Relation:
        """These and others, but for those of the others that are among these."""
        if self._keys is None:
            return others
        columns = tuple(others.columns[variable] for variable in self._found.columns)
        again, _ = self._keys.find(columns, np.arange(others.length))
        new = np.ones(others.length, np.bool_)
        new[again] = False
        return concatenated([self._found, others.where(new)])


def freshest(found: Relation) -> Relation:
    """Each solution once, with its highest stamp.

    >>> twice = Relation({"x": np.array([5, 4, 5])}, 3, np.array([10, 11, 12]))
    >>> once = freshest(twice)
    >>> once.columns["x"].tolist(), once.stamps.tolist()
    ([4, 5], [11, 12])
    """
    assert found.stamps is not None
    if found.length < 2:
        return found
    numbers = numbered(found.columns.values(), found.length)
    order = np.argsort(numbers)
    ordered = numbers[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    stamps = np.maximum.reduceat(found.stamps[order], begins)
    kept = found.take(order[begins])
    return Relation(kept.columns, kept.length, stamps)
