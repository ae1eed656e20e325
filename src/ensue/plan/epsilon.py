"""The epsilon table as data: all that a statement implies by linear rules, each once (seed: Sparkwave).

The same network as the kernel's (`maintain/kernel/network.py`), for whoever is to look statements up before
they are joined with anything: in terms of its own, and without what nobody needs. A statement is looked up by
predicate and object, else by its predicate, else among what follows from any; each entry is complete. What an
entry makes may still imply more where it takes its object from the statement: such rows are *open*, and what
they make is looked up once more.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.links import ANY
from ensue.maintain.kernel.network import Guarded, Key, Network, covers
from ensue.maintain.kernel.plans import EVERY_KIND
from ensue.plan.shapes import Shape, Shapes

Numbers = NDArray[np.int32]

S, P, O, OF_SUBJECT, OF_OBJECT, MARKS = range(6)  # noqa: E741 - as everywhere
"""The columns of a row: three slots, the kinds that the statement's ends may have, and marks."""


class Mark(IntFlag):
    """What there is to know of a row of the table."""

    OPEN = 1
    """What it makes is looked up once more."""
    CHECKED = 2
    """What it makes may or may not be needed."""
    SILENT = 4
    """What it makes is not needed, but may imply what is."""
    TWICE = 8
    """Another row of the entry makes the same, for other kinds of ends: both may apply."""


@dataclass(frozen=True, slots=True, eq=False)
class EpsilonTable:
    """Entries by key. A slot is a term's number or, if negative, a part of the statement (see `links.py`)."""

    terms: tuple[str, ...]
    keys: Numbers
    """Predicate and object of each entry; ANY where it does not matter."""
    starts: Numbers
    """Where in the rows each entry begins, and the last one ends."""
    rows: Numbers
    needed: tuple[Shape, ...] | None = None
    """The shapes of what is needed; None: everything is."""

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The room that it takes, without the texts of terms."""
        return self.keys.nbytes + self.starts.nbytes + self.rows.nbytes


def make_table(network: Network, texts: Sequence[str]) -> EpsilonTable:
    """The table of a closed network, whose constants have these texts by number."""
    of_some = {(p, ANY) for p, o in network.implied if o != ANY}
    keys = sorted({(ANY, ANY), *of_some, *network.implied})
    rows, starts = array("i"), array("i", [0])
    for key in keys:
        for (template, *kinds), mark in _entry(network, key):
            rows.extend((*template, *kinds, mark))
        starts.append(len(rows) // (MARKS + 1))
    return _in_own_terms(
        np.array(keys, np.int32).reshape(-1, 2),
        np.frombuffer(starts, np.int32),
        np.frombuffer(rows, np.int32).reshape(-1, MARKS + 1).copy(),
        texts,
    )


def _entry(network: Network, key: Key) -> Iterable[tuple[Guarded, int]]:
    """What follows from a fact of a key, without what another row makes whenever this one does."""
    reached = [network.nodes[node] for node in network.reached(key)]
    by_template: dict[object, list[Guarded]] = {}
    if any(kinds != [EVERY_KIND, EVERY_KIND] for _, *kinds in reached):
        for guarded in reached:
            by_template.setdefault(guarded[0], []).append(guarded)
    for guarded in reached:
        alike = by_template.get(guarded[0], [])
        if not any(covers(other, guarded) for other in alike if other != guarded):
            twice = any(not covers(guarded, other) for other in alike)
            yield guarded, Mark.OPEN * network.is_open(guarded) | Mark.TWICE * twice


def _in_own_terms(keys: Numbers, starts: Numbers, rows: Numbers, texts: Sequence[str]) -> EpsilonTable:
    slots = rows[:, S : O + 1]
    used = np.unique(np.concatenate([keys.ravel(), slots.ravel()]))
    used = used[used >= 0]
    rows[:, S : O + 1] = np.where(slots < 0, slots, np.searchsorted(used, slots))
    own = np.where(keys < 0, keys, np.searchsorted(used, keys)).astype(np.int32)
    return EpsilonTable(tuple(texts[number] for number in used.tolist()), own, starts, rows)


def restricted(table: EpsilonTable, needed: Iterable[Shape]) -> EpsilonTable:
    """The table that makes only what has one of these shapes."""
    shapes = tuple(needed)
    wanted, overlaps = Shapes(shapes), _Overlaps(shapes)
    slots, which = np.unique(table.rows[:, S : O + 1], axis=0, return_inverse=True)
    marks = np.array([_mark(table, row, wanted, overlaps) for row in slots.tolist()], np.int32)
    rows = table.rows.copy()
    rows[:, MARKS] |= marks[which.reshape(-1)] if len(rows) else 0
    kept = (rows[:, MARKS] & (Mark.SILENT | Mark.OPEN)) != Mark.SILENT
    before = np.concatenate(([0], np.cumsum(kept)))
    return replace(table, starts=before[table.starts].astype(np.int32), rows=rows[kept], needed=shapes)


def _mark(table: EpsilonTable, slots: Sequence[int], wanted: Shapes, overlaps: _Overlaps) -> int:
    s, p, o = (None if slot < 0 else table.terms[slot] for slot in slots)
    if wanted.covers((s, p, o)):
        return 0
    return Mark.CHECKED if overlaps((s, p, o)) else Mark.SILENT


class _Overlaps:
    """Whether some statement of a shape has one of many others."""

    def __init__(self, shapes: Iterable[Shape]) -> None:
        self._known: dict[tuple[int, int], set[Shape]] = {}
        for shape in shapes:
            for part in range(8):
                self._known.setdefault((_named(shape), part), set()).add(_part(shape, part))

    def __call__(self, shape: Shape) -> bool:
        here = _named(shape)
        return any(
            part == named & here and _part(shape, part) in known
            for (named, part), known in self._known.items()
        )


def _named(shape: Shape) -> int:
    """The positions at which a shape has terms, as bits."""
    return sum(1 << at for at, term in enumerate(shape) if term is not None)


def _part(shape: Shape, positions: int) -> Shape:
    s, p, o = (term if positions >> at & 1 else None for at, term in enumerate(shape))
    return s, p, o


def made_by(table: EpsilonTable, entries: Iterable[int]) -> set[Shape]:
    """The shapes of what some entries make."""
    found: set[Shape] = set()
    for entry in entries:
        rows = table.rows[table.starts[entry] : table.starts[entry + 1], S : O + 1]
        for slots in rows.tolist():
            s, p, o = (None if slot < 0 else table.terms[slot] for slot in slots)
            found.add((s, p, o))
    return found
