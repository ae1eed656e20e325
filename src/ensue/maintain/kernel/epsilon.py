"""The epsilon table: everything that one fact implies by linear rules, each once (seed: Sparkwave).

A rule is linear if all its premises but one are cut. With these filled in from the background, which
does not change, it says: a fact of this predicate (and this object) implies that fact. Closed under
each other such rules become a table from a predicate, or a predicate and an object, to templates of
all that follows. Facts put from the table need not be looked at again by linear rules, and if no
other rule wants them, not at all: that is what makes hierarchies cheap.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ensue.maintain.kernel.layout import END, PUT_ALONE, PUT_CLOSED, PUT_FULLY, Array, Store
from ensue.maintain.kernel.plans import GIVEN_CUT, NATIVE, RULE, Plans
from ensue.maintain.oracle import Lookup, bindings
from ensue.maintain.program import UNBOUND, Binding, CompiledRule, Program
from ensue.model import FOREVER, Triple

THE_SUBJECT, THE_OBJECT = -1, -2
"""Slots of a template that stand for the subject and the object of the fact it is filled from."""

ANY = -1
"""In a key: the object does not matter."""

_MOST_GROUND_RULES = 200_000
"""More than this is data, not schema: then joining is the better way."""

Key = tuple[int, int]


@dataclass(slots=True)
class Epsilon:
    """Linear rules with their cut premises filled in, by predicate and object."""

    implied: dict[Key, set[Triple]] = field(default_factory=dict)
    rules: set[int] = field(default_factory=set)
    """The numbers of the rules that are in the table."""

    def closed(self, key: Key) -> dict[Triple, bool]:
        """All that follows from a fact of this key; True for what may imply more for some objects."""
        start = (THE_SUBJECT, key[0], THE_OBJECT if key[1] == ANY else key[1])
        found: dict[Triple, bool] = {}
        waiting = list(self.implied.get(key, ()))
        while waiting:
            template = waiting.pop()
            if template in found or template == start:
                continue
            s, p, o = template
            found[template] = o < 0 and any(k[0] == p and k[1] != ANY for k in self.implied)
            for k in ((p, ANY), (p, o)):
                for implied in self.implied.get(k, ()) if k[1] == ANY or o >= 0 else ():
                    waiting.append(_fill(implied, s, o))
        return found


def _fill(template: Triple, s: int, o: int) -> Triple:
    a, p, b = (s if slot == THE_SUBJECT else o if slot == THE_OBJECT else slot for slot in template)
    return a, p, b


def make_epsilon(program: Program, plans: Plans, background: Array) -> Epsilon:
    """The table for a program over a closed background."""
    epsilon = Epsilon()
    native = {int(plan[RULE]) for plan in plans.plans if plan[NATIVE]}
    candidates = [k for k, rule in enumerate(program.rules) if k in native and _is_linear(rule)]
    if not candidates:
        return epsilon
    lookup = Lookup(dict.fromkeys(map(tuple, background.tolist()), FOREVER))
    for number in candidates:
        ground = _ground(program.rules[number], lookup)
        if ground is not None and sum(map(len, epsilon.implied.values())) + len(ground) <= _MOST_GROUND_RULES:
            epsilon.rules.add(number)
            for key, template in ground:
                epsilon.implied.setdefault(key, set()).add(template)
    return epsilon


def _is_linear(rule: CompiledRule) -> bool:
    return any(rule.cut) and rule.cut.count(False) == 1 and not rule.conditions


def _ground(rule: CompiledRule, background: Lookup) -> list[tuple[Key, Triple]] | None:
    """The rule for each match of its cut premises; None if one does not fit the table."""
    live = rule.premises[rule.cut.index(False)]
    cut = [premise for premise, is_cut in zip(rule.premises, rule.cut, strict=True) if is_cut]
    found = []
    for binding, _ in bindings(rule, cut, [background] * len(cut)):
        s, p, o = (_filled(slot, binding) for slot in live)
        if s >= 0 or p < 0 or s == o:
            return None
        for conclusion in rule.conclusions:
            head = [_filled(slot, binding) for slot in conclusion]
            template = [THE_SUBJECT if slot == s else THE_OBJECT if slot == o else slot for slot in head]
            if template[1] < 0:
                return None
            found.append(((p, o if o >= 0 else ANY), (template[0], template[1], template[2])))
    return found


def _filled(slot: int, binding: Binding) -> int:
    """A term; or the slot, moved out of the way of the codes of templates, if it is not bound."""
    if slot >= 0:
        return slot
    return binding[~slot] if binding[~slot] != UNBOUND else slot - 2


def write_epsilon(store: Store, epsilon: Epsilon, plans: Plans) -> Store:
    """The table in the store, as compiled code reads it."""
    size = 16
    while size < 2 * len(epsilon.implied):
        size *= 2
    keys, starts = np.full((size, 2), END, np.int32), np.zeros((size, 2), np.int32)
    rows: list[tuple[int, int, int, int]] = []
    for predicate, o in epsilon.implied:
        first = len(rows)
        for template, open_ended in epsilon.closed((predicate, o)).items():
            rows.append((*template, _how(template[1], open_ended, epsilon, plans)))
        at = epsilon_home(predicate, o, size)
        while keys[at, 0] != END:
            at = (at + 1) & (size - 1)
        keys[at], starts[at] = (predicate, o), (first, len(rows))
    table = np.array(rows, np.int32).reshape(-1, 4)
    return store._replace(epsilon_keys=keys, epsilon_starts=starts, epsilon=table)


def epsilon_home(predicate: int, o: int, size: int) -> int:
    """Where a key's search in the table begins; `join.py` computes the same, compiled."""
    return (predicate * 31 + o) & (size - 1)


def _how(predicate: int, open_ended: bool, epsilon: Epsilon, plans: Plans) -> int:
    """What has to be done with a fact of this predicate once it is put."""
    if open_ended:
        return PUT_FULLY
    at = min(predicate, len(plans.forward_starts) - 2)
    listed = plans.forward[plans.forward_starts[at] : plans.forward_starts[at + 1]]
    others = [plan for plan in plans.plans[listed].tolist() if plan[RULE] not in epsilon.rules]
    return PUT_CLOSED if any(not plan[GIVEN_CUT] for plan in others) else PUT_ALONE
