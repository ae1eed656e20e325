"""A group of a query at work: the occurrences of its basic graph pattern, whatever rules derive it by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ensue.events.batch import Batch
from ensue.events.bound import Bound
from ensue.events.conjunction import NO_COPY, Atom, Conjunction
from ensue.events.memory import Memory, Tally
from ensue.events.occurrences import KEY, Column, Occurrences
from ensue.events.operator import Counter
from ensue.query.compiled.expressions import Expression, Values
from ensue.query.dataset import Columns, Pattern, Slot


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to match a group: atoms, and what each variable of the group is in their terms."""

    atoms: tuple[Atom, ...]
    values: Mapping[str, Slot]
    """For a variable, the variable of the atoms or the term that it stands for."""
    derived: tuple[Pattern, ...] = ()
    """What rules conclude then: where the background holds it, that changes nothing."""


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """A group, compiled: its variables, how it can be matched, and the filters on what that binds."""

    variables: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    patterns: int
    """How many patterns it has."""
    conditions: tuple[Expression, ...]
    streams: frozenset[int]
    """The numbers of the streams that it is matched in."""
    parted: bool = False
    """Whether the query is partitioned."""


class Leaf:
    """Finds the occurrences of a group."""

    def __init__(
        self, plan: GroupPlan, background: Columns, values: Values, bound: Bound, tally: Tally
    ) -> None:
        self.names = ((KEY,) if plan.parted else ()) + plan.variables
        self.is_instant = all(len(each.atoms) == 1 for each in plan.alternatives)
        self.counter = Counter()
        self._plan = plan
        self._values = values
        self._bound = bound
        self._streams = np.array(sorted(plan.streams))
        self._ways = [
            Conjunction(each.atoms, each.derived, background, bound, tally, parted=plan.parted)
            for each in plan.alternatives
        ]

    def memories(self) -> Iterator[Memory]:
        """The parts that are remembered."""
        for way in self._ways:
            yield from way.memories()

    def step(self, batch: Batch, streams: int) -> Occurrences:
        """The occurrences that end with this batch, of a query over so many streams."""
        if len(self._streams) < streams:
            batch = batch.take(np.isin(batch.stream, self._streams))
        ways = zip(self._plan.alternatives, self._ways, strict=True)
        if len(self._ways) == 1:
            [(alternative, way)] = ways
            found = way.step(batch)
            copies = [found.columns[f"#{number}"] for number in range(len(way.atoms))]
            rows = self._seen(found, alternative)
        else:
            parts = [
                (self._seen(found := way.step(batch), each), self._copies(found, way)) for each, way in ways
            ]
            rows = Occurrences.joined([seen for seen, _ in parts])
            copies = list(np.concatenate([copies for _, copies in parts]).T)
            once = _firsts([*rows.columns.values(), *copies], len(rows))
            rows, copies = rows.take(once), [column[once] for column in copies]
        return self.counter.ordered(*self._filtered(rows, copies))

    def _seen(self, found: Occurrences, alternative: Alternative) -> Occurrences:
        columns: dict[str, Column] = {}
        for name in self.names:
            slot = name if name == KEY else alternative.values[name]
            fixed = isinstance(slot, int)
            columns[name] = np.full(len(found), slot, np.int32) if fixed else found.columns[str(slot)]
        return Occurrences(columns, found.start, found.end, found.order)

    def _copies(self, found: Occurrences, way: Conjunction) -> Column:
        """The copies that each pattern rests on, as a set: in order, each once, padded in front."""
        width = max(len(each.atoms) for each in self._plan.alternatives)
        every = np.full((len(found), self._plan.patterns * width), NO_COPY, np.int64)
        for of in range(self._plan.patterns):
            numbers = [number for number, atom in enumerate(way.atoms) if atom.of == of]
            own = np.full((len(found), width), NO_COPY, np.int64)
            for place, number in enumerate(numbers):
                own[:, place] = found.columns[f"#{number}"]
            own.sort(axis=1)
            own[:, 1:][own[:, 1:] == own[:, :-1]] = NO_COPY
            own.sort(axis=1)
            every[:, of * width : (of + 1) * width] = own
        return every

    def _filtered(self, rows: Occurrences, copies: Sequence[Column]) -> tuple[Occurrences, list[Column]]:
        kept = self._bound.holds(rows.start, rows.end)
        for condition in self._plan.conditions:
            if len(rows):
                kept &= self._values.holds(condition, rows.columns, len(rows))
        if kept.all():
            return rows, list(copies)
        return rows.take(kept), [column[kept] for column in copies]


def _firsts(columns: Sequence[Column], length: int) -> Column:
    """The first row of each kind of equal rows."""
    if not columns or not length:
        return np.arange(min(length, 1))
    order = np.lexsort(columns)
    new = np.ones(length, np.bool_)
    new[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    return np.sort(order[new])
