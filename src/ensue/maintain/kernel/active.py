"""Which plans can fire at all for facts with a given predicate.

Of the plans that start from any fact (`?v ?p ?w`) most need something about the predicate that few
predicates have: a domain, being transitive, ... That is looked up once per predicate. A plan is
left out if one of its premises, with the predicate filled in, matches nothing in the background,
and no fact outside it has matched the premise's constants so far. Background does not change; as
soon as the stream brings a first match, every list is made anew (`join._forget_active`). So schema
may arrive on the stream, and costs only where it does. Left out on the same terms: a plan whose one
look-up finds only what makes it conclude the given fact itself (`?p rdfs:subPropertyOf ?p`), and one
that concludes what the background holds (`?p a rdf:Property`).

Plans that want one certain object (`?p a owl:TransitiveProperty`) come last in a list, behind a
filter of 64 bits: facts with other objects, which is most of them, do not try these plans at all.
"""

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel.layout import ACTIVE_USED, END, Array, Store, grown
from ensue.maintain.kernel.plans import (
    ALPHA,
    CUT,
    FIRST_HEAD,
    FIRST_STEP,
    GIVEN_CUT,
    HEADS,
    NATIVE,
    STEPS,
    Plans,
)
from ensue.model import Triple

_PREDICATE, _OBJECT = 1, 2
_END = 2
"""The column of `active_starts` with the end of a list; before it its start, and where the filter begins."""

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

    def look(self, store: Store) -> None:
        """Note which premises something outside the background matches now."""
        self.matched.update(np.nonzero(store.alpha_counts[:, 0])[0].tolist())

    def enter(self, store: Store, predicate: int) -> Store:
        """Write the plans of a predicate into the store."""
        self.look(store)
        if 2 * (store.meta[ACTIVE_USED] + 1) > len(store.active_keys):
            return _larger(store)
        active = [plan for plan in self._listed(predicate) if self._can_fire(store, plan, predicate)]
        of_any = [plan for plan in active if self._plans.plans[plan, _OBJECT] < 0]
        of_one = [plan for plan in active if self._plans.plans[plan, _OBJECT] >= 0]
        first = int(store.active_starts[:, _END].max()) if store.meta[ACTIVE_USED] else 0
        end = first + len(active)
        while end > len(store.active):
            store = store._replace(active=grown(store.active, 2 * len(store.active)))
        store.active[first:end] = of_any + of_one
        at = predicate & (len(store.active_keys) - 1)
        while store.active_keys[at] != END:
            at = (at + 1) & (len(store.active_keys) - 1)
        store.active_keys[at] = predicate
        store.active_starts[at] = first, first + len(of_any), end
        objects = {int(self._plans.plans[plan, _OBJECT]) & 63 for plan in of_one}
        store.active_objects[at] = np.array(sum(1 << bit for bit in objects), np.uint64).astype(np.int64)
        store.meta[ACTIVE_USED] += 1
        return store

    def _listed(self, predicate: int) -> list[int]:
        starts = self._plans.forward_starts
        at = min(predicate, len(starts) - 2)
        return self._plans.forward[starts[at] : starts[at + 1]].tolist()  # type: ignore[no-any-return]

    def _can_fire(self, store: Store, plan: int, predicate: int) -> bool:
        row = self._plans.plans[plan].tolist()
        if row[GIVEN_CUT] or plan in self.done:
            return False
        steps = self._plans.steps[row[FIRST_STEP] : row[FIRST_STEP] + row[STEPS]].tolist()
        for step in steps:
            known = [predicate if slot == row[_PREDICATE] else slot for slot in step[:3]]
            if known[_PREDICATE] < 0:
                continue
            matches = self._in_background((known[0], known[1], known[2]))
            if len(matches) and not (len(steps) == 1 and self._echo(row, step, matches, predicate)):
                continue
            if step[CUT]:
                return False
            if step[ALPHA] not in self.matched:
                if step[ALPHA] < 0:
                    continue
                store.assumed[step[ALPHA]] = 1
                return False
        return bool(steps) or not self._concludes_background(row, predicate)

    def _in_background(self, known: Triple) -> Array:
        """The background facts that match a pattern (a negative slot matches anything)."""
        rows: Array = self._background.get(known[_PREDICATE], _NOTHING)
        for position, term in enumerate(known):
            if term >= 0 and len(rows):
                rows = rows[rows[:, position] == term]
        return rows

    def _echo(self, row: list[int], step: list[int], matches: Array, predicate: int) -> bool:
        """Whether each of these matches makes the plan conclude what it was given."""
        given = row[:3]
        for match in matches.tolist():
            bound = {given[_PREDICATE]: predicate} | dict(zip(step[:3], match, strict=True))
            filled = [predicate if k == _PREDICATE else bound.get(slot, slot) for k, slot in enumerate(given)]
            for head in self._heads(row):
                if [bound.get(slot, slot) for slot in head] != filled:
                    return False
        return bool(row[NATIVE])

    def _concludes_background(self, row: list[int], predicate: int) -> bool:
        """Whether a plan without look-ups concludes only what the background holds anyway."""
        for head in self._heads(row):
            filled = [predicate if slot == row[_PREDICATE] else slot for slot in head]
            if min(filled) < 0 or not len(self._in_background((filled[0], filled[1], filled[2]))):
                return False
        return bool(row[NATIVE])

    def _heads(self, row: list[int]) -> list[list[int]]:
        return self._plans.heads[row[FIRST_HEAD] : row[FIRST_HEAD] + row[HEADS], :3].tolist()  # type: ignore[no-any-return]


def _larger(store: Store) -> Store:
    """Room for twice as many predicates; they are listed anew as they come."""
    size = 2 * len(store.active_keys)
    store.meta[ACTIVE_USED] = 0
    return store._replace(
        active_keys=np.full(size, END, np.int32),
        active_starts=np.zeros((size, 3), np.int32),
        active_objects=np.zeros(size, np.int64),
    )
