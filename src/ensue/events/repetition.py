"""Repetition: occurrences of one operand in a row, with none of it left out between."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ensue.events import allen
from ensue.events.between import cut_off, lies_between
from ensue.events.bound import Bound
from ensue.events.memory import Memory, Tally
from ensue.events.occurrences import Occurrences, Times, agree, is_exact, ranges
from ensue.events.operator import Counter, Operand
from ensue.events.tree import Allen

_LENGTH = "#length"


class Repetition:
    """Finds runs, step by step."""

    is_instant = False

    def __init__(
        self, operand: Operand, key: tuple[str, ...], least: int, most: int | None, bound: Bound, tally: Tally
    ) -> None:
        """`key` are the columns that are the same in all of a run."""
        self.names = key
        self._least, self._most, self._bound = least, most, bound
        self._cuts_off = operand.is_instant and is_exact(key)
        self._runs = Memory(key, (*key, _LENGTH), tally)
        self._single = Memory(key, key, tally)
        self.counter = Counter()

    def memories(self) -> Iterator[Memory]:
        """The runs that can go on, and what they are made of."""
        yield self._runs
        yield self._single

    def step(self, new: Occurrences) -> Occurrences:
        """The runs that end with one of the new occurrences."""
        new = new.only(self.names)
        self._single.add(new, self._bound.until(new.start - 1))
        fresh = _with_length(new, np.ones(len(new), np.int64))
        found = [fresh]
        self._remember(fresh)
        old: Memory | None = self._runs
        while len(fresh):
            # Those that were there, and the new ones of each round, go on with what is new.
            fresh = self._longer(self._apart(fresh) if old is None else old, new)
            old = None
            found.append(fresh)
            self._remember(fresh)
        if self._cuts_off:
            self._runs.drop(cut_off(self._runs, self.names, new))
        return self._given(Occurrences.joined(found))

    def _apart(self, runs: Occurrences) -> Memory:
        """Runs that can go on, by themselves."""
        memory, runs = Memory(self.names, (*self.names, _LENGTH), Tally()), self._open(runs)
        memory.add(runs, runs.end)
        return memory

    def _open(self, runs: Occurrences) -> Occurrences:
        return runs if self._most is None else runs.take(runs.columns[_LENGTH] < self._most)

    def _longer(self, runs: Memory, new: Occurrences) -> Occurrences:
        """Runs with one of the new occurrences at their end."""
        least, most = allen.ends_between(Allen.BEFORE, new.start, new.end, self._bound.span)
        at, run = ranges(*runs.places(runs.keys_of(new), least, most))
        rows = runs.rows
        fits = (rows.end[run] < new.start[at]) & self._bound.holds(rows.start[run], new.end[at])
        same = agree(
            [rows.columns[name][run] for name in self.names], [new.columns[name][at] for name in self.names]
        )
        at, run = (column[fits if same is None else fits & same] for column in (at, run))
        given = [new.columns[name][at] for name in self.names]
        free = ~lies_between(self._single, given, rows.end[run], new.start[at])
        at, run = at[free], run[free]
        longer = Occurrences(
            {name: new.columns[name][at] for name in self.names},
            rows.start[run],
            new.end[at],
            new.order[at],
        )
        return _with_length(longer, rows.columns[_LENGTH][run] + 1)

    def _remember(self, runs: Occurrences) -> None:
        runs = self._open(runs)
        self._runs.add(runs, self._bound.until(runs.start))

    def _given(self, runs: Occurrences) -> Occurrences:
        lengths = runs.columns[_LENGTH]
        enough = lengths >= self._least
        return self.counter.ordered(runs.take(enough).only(self.names), [runs.order[enough], lengths[enough]])


def _with_length(rows: Occurrences, lengths: Times) -> Occurrences:
    return Occurrences({**rows.columns, _LENGTH: lengths}, rows.start, rows.end, rows.order)
