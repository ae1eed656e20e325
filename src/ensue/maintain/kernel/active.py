"""Which plans can fire at all for facts with a given predicate.

Of the plans that start from any fact (`?v ?p ?w`) most need something about the predicate that few
predicates have: a domain, being transitive, ... That is looked up once per predicate. A plan is
left out if one of its premises, with the predicate filled in, matches nothing in the background,
and no fact outside it has matched the premise's constants so far. Background does not change; as
soon as the stream brings a first match, every list is made anew (`join._forget_active`). So schema
may arrive on the stream, and costs only where it does. Left out as well: a plan that concludes what
the background holds (`?p a rdf:Property`).

Plans that want certain objects (`?p a owl:TransitiveProperty`, `?u a ?v` where `?v` must be a
restriction) come last in a list, behind a filter of 64 bits, and each has one of its own: facts with
other objects, which is most of them, do not try these plans at all. Nor do those with an object of
the wrong kind.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from ensue.maintain.kernel.layout import ACTIVE_USED, END, OBJECTS, Array, Store, grown
from ensue.maintain.kernel.plans import (
    ALPHA,
    CUT,
    DISTINCT,
    EVERY_KIND,
    FIRST_HEAD,
    FIRST_STEP,
    GIVEN_CUT,
    HEADS,
    NATIVE,
    PLAN_GUARD,
    PLAN_GUARDS,
    STEPS,
    Plans,
)
from ensue.model import Triple

_SUBJECT, _PREDICATE, _OBJECT = range(3)
_END = 2
"""The column of `active_starts` with the end of a list; before it its start, and where the filter begins."""

_EVERY = (1 << 64) - 1
_NOTHING = np.zeros((0, 3), np.int32)


class ActivePlans:
    """Lists active plans for the predicates that are asked for."""

    def __init__(self, plans: Plans, background: Array, done: set[int]) -> None:
        self._plans = plans
        self.done = done
        """Plans that the epsilon table stands for."""
        by_predicate = background[np.argsort(background[:, _PREDICATE], kind="stable")]
        predicates, starts = np.unique(by_predicate[:, _PREDICATE], return_index=True)
        pieces = np.split(by_predicate, starts[1:])
        self._background = dict(zip(predicates.tolist(), pieces, strict=False))
        self.matched: set[int] = set()
        """Premises that something outside the background has matched at some time."""

    def copy(self) -> ActivePlans:
        """Another that knows the same."""
        made = copy(self)
        made.matched, made.done = set(self.matched), set(self.done)
        return made

    def look(self, store: Store) -> None:
        """Note which premises something outside the background matches now."""
        self.matched.update(np.nonzero(store.alpha_counts[:, 0])[0].tolist())

    def state(self) -> dict[str, list[int]]:
        """What it knows besides what is in the store, as plain data: for `resume`."""
        return {"matched": sorted(self.matched), "done": sorted(self.done)}

    def resume(self, state: dict[str, list[int]]) -> None:
        """Go on from a state."""
        self.matched, self.done = set(state["matched"]), set(state["done"])

    def enter(self, store: Store, predicate: int) -> Store:
        """Write the plans of a predicate into the store."""
        self.look(store)
        if 2 * (store.meta[ACTIVE_USED] + 1) > len(store.active_keys):
            return _larger(store)
        tried = [
            (plan, *wanted)
            for plan in self._listed(predicate)
            if (wanted := self._wants(store, plan, predicate))
        ]
        of_any = [entry for entry in tried if entry[OBJECTS] == _EVERY]
        of_some = [entry for entry in tried if entry[OBJECTS] != _EVERY]
        first = int(store.active_starts[:, _END].max()) if store.meta[ACTIVE_USED] else 0
        end = first + len(tried)
        while end > len(store.active):
            store = store._replace(active=grown(store.active, 2 * len(store.active)))
        store.active[first:end] = np.array(of_any + of_some, np.uint64).astype(np.int64).reshape(-1, 3)
        at = predicate & (len(store.active_keys) - 1)
        while store.active_keys[at] != END:
            at = (at + 1) & (len(store.active_keys) - 1)
        store.active_keys[at] = predicate
        store.active_starts[at] = first, first + len(of_any), end
        store.active_objects[at] = np.bitwise_or.reduce(store.active[first + len(of_any) : end, OBJECTS])
        store.meta[ACTIVE_USED] += 1
        return store

    def _listed(self, predicate: int) -> list[int]:
        starts = self._plans.forward_starts
        at = min(predicate, len(starts) - 2)
        return self._plans.forward[starts[at] : starts[at + 1]].tolist()  # type: ignore[no-any-return]

    def _wants(self, store: Store, plan: int, predicate: int) -> tuple[int, int] | None:
        """The objects that a plan can fire for: kinds, and numbers modulo 64; None if for none."""
        row = self._plans.plans[plan].tolist()
        if row[GIVEN_CUT] or plan in self.done:
            return None
        given = row[_OBJECT]
        objects = _EVERY if given < 0 else 1 << (given & 63)
        steps = self._plans.steps[row[FIRST_STEP] : row[FIRST_STEP] + row[STEPS]].tolist()
        for step in steps:
            known = [predicate if slot == row[_PREDICATE] else slot for slot in step[:3]]
            if known[_PREDICATE] < 0 or (not step[CUT] and (step[ALPHA] < 0 or step[ALPHA] in self.matched)):
                continue
            matches = self._in_background((known[0], known[1], known[2]))
            if step[ALPHA] >= 0 and self._plans.alphas[step[ALPHA], DISTINCT]:
                matches = matches[matches[:, _SUBJECT] != matches[:, _OBJECT]]
            if not step[CUT]:
                store.assumed[step[ALPHA]] = 1
            for position in (_SUBJECT, _OBJECT):
                if given < 0 and step[position] == given:
                    objects &= _bits(matches[:, position])
            if not len(matches) or not objects:
                return None
        if not steps and self._concludes_background(row, predicate):
            return None
        return self._kinds(row), objects

    def _kinds(self, row: list[int]) -> int:
        """The kinds of objects that a plan's own guards let pass."""
        kinds = EVERY_KIND
        guards = self._plans.guards[row[PLAN_GUARD] : row[PLAN_GUARD] + row[PLAN_GUARDS]].tolist()
        for allowed, slot, _ in guards:
            if allowed >= 0 and slot == row[_OBJECT]:
                kinds &= allowed
        return kinds

    def _in_background(self, known: Triple) -> Array:
        """The background facts that match a pattern (a negative slot matches anything)."""
        rows: Array = self._background.get(known[_PREDICATE], _NOTHING)
        for position, term in enumerate(known):
            if term >= 0 and len(rows):
                rows = rows[rows[:, position] == term]
        return rows

    def _concludes_background(self, row: list[int], predicate: int) -> bool:
        """Whether a plan without look-ups concludes only what the background holds anyway."""
        for head in self._heads(row):
            filled = [predicate if slot == row[_PREDICATE] else slot for slot in head]
            if min(filled) < 0 or not len(self._in_background((filled[0], filled[1], filled[2]))):
                return False
        return bool(row[NATIVE])

    def _heads(self, row: list[int]) -> list[list[int]]:
        return self._plans.heads[row[FIRST_HEAD] : row[FIRST_HEAD] + row[HEADS], :3].tolist()  # type: ignore[no-any-return]


def _bits(terms: Array) -> int:
    """The numbers of terms modulo 64, as bits."""
    return sum(1 << bit for bit in np.unique(terms & 63).tolist())


def _larger(store: Store) -> Store:
    """Room for twice as many predicates; those that are listed stay so."""
    size = 2 * len(store.active_keys)
    keys = np.full(size, END, np.int32)
    starts, objects = np.zeros((size, 3), np.int32), np.zeros(size, np.int64)
    for old in np.flatnonzero(store.active_keys != END).tolist():
        at = int(store.active_keys[old]) & (size - 1)
        while keys[at] != END:
            at = (at + 1) & (size - 1)
        keys[at], starts[at], objects[at] = (
            store.active_keys[old],
            store.active_starts[old],
            store.active_objects[old],
        )
    return store._replace(active_keys=keys, active_starts=starts, active_objects=objects)
