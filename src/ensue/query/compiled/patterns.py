"""Basic graph patterns over the columns of a graph, joined pattern by pattern."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ensue.query.compiled.operators import joined
from ensue.query.compiled.relation import Relation, concatenated
from ensue.query.dataset import Columns, Graph, Integers, Pattern, Slot


@dataclass(slots=True)
class Remembered:
    """What single patterns match among facts that never change: found once, kept while they are in use."""

    _known: dict[int, tuple[Columns, dict[Pattern, Relation]]] = field(default_factory=dict)
    _used: set[int] = field(default_factory=set)

    def matches(self, facts: Columns, pattern: Pattern) -> Relation:
        """The matches of a pattern among facts that never change."""
        number = id(facts)  # They stay alive in here, so the number stays theirs.
        self._used.add(number)
        _, found = self._known.setdefault(number, (facts, {}))
        if pattern not in found:
            found[pattern] = matches(facts, pattern)
        return found[pattern]

    def forget(self) -> None:
        """Drop what was not asked for since the last call: its facts may be gone."""
        self._known = {number: self._known[number] for number in self._used}
        self._used.clear()


def solve(graph: Graph, patterns: tuple[Pattern, ...], remembered: Remembered) -> Relation:
    """The solutions of a basic graph pattern, blank nodes of the query among its variables."""
    maintained = graph.solutions(patterns) if patterns else None
    if maintained is not None:
        return Relation(maintained.columns, len(maintained.stamps), maintained.stamps)
    return joined(_in_graph(graph, pattern, remembered) for pattern in patterns)


def _in_graph(graph: Graph, pattern: Pattern, remembered: Remembered) -> Relation:
    still, live = remembered.matches(graph.still, pattern), matches(graph.live, pattern)
    return concatenated([part for part in (still, live) if part.length] or [live])


def matches(facts: Columns, pattern: Pattern) -> Relation:
    """The facts that match one pattern, as solutions.

    >>> facts = Columns(*(np.array(column) for column in ([1, 2], [3, 3], [1, 4], [10, 11])))
    >>> found = matches(facts, ("x", 3, "x"))
    >>> found.columns["x"].tolist(), found.stamps.tolist()
    ([1], [10])
    """
    mask = np.ones(len(facts), np.bool_)
    columns: dict[str, Integers] = {}
    for slot, column in _slots(facts, pattern):
        if isinstance(slot, int):
            mask &= column == slot
        elif slot in columns:
            mask &= column == columns[slot]
        else:
            columns[slot] = column
    return Relation(columns, len(facts), facts.stamp).where(mask)


def _slots(facts: Columns, pattern: Pattern) -> list[tuple[Slot, Integers]]:
    return list(zip(pattern, (facts.s, facts.p, facts.o), strict=True))
