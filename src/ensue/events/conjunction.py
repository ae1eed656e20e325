"""A basic graph pattern over a stream and a background: joined pattern by pattern, as statements come.

The background has no interval. What it matches is there once, beside what is remembered of the stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ensue.events.batch import Batch
from ensue.events.bound import Bound
from ensue.events.memory import Memory, Tally
from ensue.events.occurrences import KEY, Column, Occurrences, Times, agree, keyed, ranges
from ensue.model import FOREVER
from ensue.query.compiled.operators import join
from ensue.query.compiled.patterns import matches
from ensue.query.compiled.relation import Relation
from ensue.query.dataset import Columns, Pattern

NO_COPY = -1
"""The number of the copy of what is background."""
_NO_START, _NO_END = FOREVER, -FOREVER
"""The interval of what is background: with it, the least start and the greatest end are the other's."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A triple pattern, as a part of which pattern of the group it is looked for."""

    pattern: Pattern
    of: int
    cut: bool = False
    """Whether background alone matches it."""

    @property
    def variables(self) -> tuple[str, ...]:
        """Its variables, each once."""
        return tuple(dict.fromkeys(slot for slot in self.pattern if isinstance(slot, str)))


@dataclass(frozen=True, slots=True, eq=False)
class _Still:
    """Rows of the background by key."""

    rows: Occurrences
    key: tuple[str, ...]
    keys: Times

    @classmethod
    def of(cls, found: Relation, key: tuple[str, ...], copies: Sequence[str]) -> _Still:
        keys = keyed([found.columns[name] for name in key], found.length)
        order = np.argsort(keys, kind="stable")
        columns = {name: found.columns[name][order] for name in found.columns}
        columns |= {name: np.full(found.length, NO_COPY, np.int64) for name in copies}
        start, end = (np.full(found.length, time, np.int64) for time in (_NO_START, _NO_END))
        return cls(Occurrences(columns, start, end, np.arange(found.length)), key, keys[order])

    def places(self, rows: Occurrences) -> tuple[Column, Column]:
        keys = keyed([rows.columns[name] for name in self.key], len(rows))
        return np.searchsorted(self.keys, keys, "left"), np.searchsorted(self.keys, keys, "right")


class _Matcher:
    """One atom: which facts of a batch it matches, and which of the background."""

    def __init__(self, atom: Atom, number: int, background: Columns, *, parted: bool) -> None:
        self.atom = atom
        self.copies = f"#{number}"
        self.names = (*([KEY] if parted else []), *atom.variables, self.copies)
        self.still = matches(background, atom.pattern)
        self._known = _known(atom, background)

    def rows(self, batch: Batch) -> Occurrences:
        """Its matches. A copy of something that the background holds changes nothing."""
        if self.atom.cut:
            return Occurrences.none(self.names)
        mask = np.ones(len(batch), np.bool_)
        columns: dict[str, Column] = {}
        for slot, column in zip(self.atom.pattern, (batch.s, batch.p, batch.o), strict=True):
            if isinstance(slot, int):
                mask &= column == slot
            elif slot in columns:
                mask &= column == columns[slot]
            else:
                columns[slot] = column
        at = np.flatnonzero(mask)
        taken = {} if batch.key is None else {KEY: batch.key[at]}
        taken |= {name: column[at] for name, column in columns.items()} | {self.copies: batch.copy[at]}
        found = Occurrences(taken, batch.time[at], batch.time[at], batch.copy[at])
        return found if self._known is None else found.take(_is_new(self._known, found))


def _known(atom: Atom, background: Columns) -> _Still | None:
    """What the background holds of an atom; None: nothing."""
    still = matches(background, atom.pattern)
    return _Still.of(still, atom.variables, ()) if still.length else None


def _is_new(known: _Still, rows: Occurrences) -> Column:
    """Which rows say something that the background does not hold."""
    at, still = ranges(*known.places(rows))
    sides = ((rows, at), (known.rows, still))
    same = agree(*([each.columns[name][of] for name in known.key] for each, of in sides))
    is_new = np.ones(len(rows), np.bool_)
    is_new[at if same is None else at[same]] = False
    return is_new


class _Stage:
    """One more atom joined to those before."""

    def __init__(
        self, names: tuple[str, ...], still: Relation, matcher: _Matcher, bound: Bound, tally: Tally
    ) -> None:
        """`names` and `still` are what the atoms before give, and what the background gives of them."""
        key = tuple(name for name in matcher.atom.variables if name in names)
        # The background is in every partition.
        live_key = (KEY, *key) if KEY in names else key
        self.names = tuple(dict.fromkeys((*names, *matcher.names)))
        self.matcher = matcher
        self.left, self.right = Memory(live_key, names, tally), Memory(live_key, matcher.names, tally)
        copies = [name for name in names if name[0] == "#"]
        self._still_left = _Still.of(still, key, copies)
        self._still_right = _Still.of(matcher.still, key, [matcher.copies])
        self.still = join(still, matcher.still)
        self._bound = bound

    def step(self, left: Occurrences, batch: Batch) -> Occurrences:
        right = self.matcher.rows(batch)
        found = [self._with_memory(self.left, right)]
        self.right.add(right, self._bound.until(right.start))
        self.left.add(left, self._bound.until(left.start))
        found.append(self._with_memory(self.right, left))
        found += [self._with_background(self._still_left, right)]
        found += [self._with_background(self._still_right, left)]
        return Occurrences.joined(found)

    def _with_memory(self, memory: Memory, rows: Occurrences) -> Occurrences:
        span = self._bound.span
        if span is None:
            least, most = np.full(len(rows), _NO_END), np.full(len(rows), _NO_START)
        else:
            least, most = rows.end - span, rows.start + span
        places = memory.places(memory.keys_of(rows), least, most)
        return self._joined(memory.rows, rows, memory.key, places)

    def _with_background(self, still: _Still, rows: Occurrences) -> Occurrences:
        return self._joined(still.rows, rows, still.key, still.places(rows))

    def _joined(
        self, one: Occurrences, other: Occurrences, key: tuple[str, ...], places: tuple[Column, Column]
    ) -> Occurrences:
        at, of = ranges(*places)
        fits = agree([one.columns[name][of] for name in key], [other.columns[name][at] for name in key])
        start, end = np.minimum(one.start[of], other.start[at]), np.maximum(one.end[of], other.end[at])
        short = self._bound.holds(start, end)
        fits = short if fits is None else fits & short
        at, of, start, end = (column[fits] for column in (at, of, start, end))
        columns = {
            name: one.columns[name][of] if name in one.columns else other.columns[name][at]
            for name in self.names
        }
        return Occurrences(columns, start, end, end)


class Conjunction:
    """All atoms together. Rows have a column `#n` for each atom: the copy that it is matched by."""

    def __init__(
        self,
        atoms: Sequence[Atom],
        derived: Sequence[Pattern],
        background: Columns,
        bound: Bound,
        tally: Tally,
        *,
        parted: bool = False,
    ) -> None:
        """`derived` is what the atoms together stand for, beside themselves; `parted`: keys tell apart."""
        matchers = [_Matcher(atom, number, background, parted=parted) for number, atom in enumerate(atoms)]
        first, *others = _in_good_order(matchers)
        self.atoms = tuple(atoms)
        self._first = first
        self._stages: list[_Stage] = []
        names, still = first.names, first.still
        for matcher in others:
            stage = _Stage(names, still, matcher, bound, tally)
            names, still = stage.names, stage.still
            self._stages.append(stage)
        self.names = names
        known = (_known(Atom(pattern, 0), background) for pattern in derived)
        self._known = [each for each in known if each is not None]

    def memories(self) -> Iterator[Memory]:
        """The parts that are remembered."""
        for stage in self._stages:
            yield stage.left
            yield stage.right

    def step(self, batch: Batch) -> Occurrences:
        """The occurrences that end with this batch, in no order."""
        found = self._first.rows(batch)
        for stage in self._stages:
            found = stage.step(found, batch)
        for known in self._known:
            found = found.take(_is_new(known, found))
        return found


def _in_good_order(matchers: list[_Matcher]) -> list[_Matcher]:
    """Those with less background first, each with something in common with those before if that can be."""
    waiting, found, known = list(matchers), [], set[str]()
    while waiting:
        best = min(
            waiting,
            key=lambda each: (known.isdisjoint(each.atom.variables), each.atom.cut, each.still.length),
        )
        waiting.remove(best)
        found.append(best)
        known.update(best.atom.variables)
    return found
