"""The epsilon table: everything that one fact implies by linear rules, each once (seed: Sparkwave).

A rule is linear if all its premises but one match background alone. With these filled in from the
background, which does not change, it says: a fact of this predicate (and this object) implies that
fact. Closed under each other such rules become a table from a predicate, or a predicate and an
object, to templates of all that follows. Facts put from the table need not be looked at again by
linear rules, and if no other rule wants them, not at all: that is what makes hierarchies cheap.

Premises marked as cut match background alone for ever. Others are taken to as long as nothing outside
the background has matched their constants; the first such match makes the table anew without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from ensue.maintain.kernel.echoes import is_difference
from ensue.maintain.kernel.layout import END, PUT_ALONE, PUT_CLOSED, PUT_FULLY, Array, O, Store
from ensue.maintain.kernel.needed import Needed
from ensue.maintain.kernel.plans import EVERY_KIND, GIVEN_CUT, PlanSet, kinds_of_guard
from ensue.maintain.oracle import Lookup
from ensue.maintain.program import UNBOUND, Binding, CompiledRule, Program, match
from ensue.model import FOREVER, Triple
from ensue.terms import Kind

THE_SUBJECT, THE_PREDICATE, THE_OBJECT = -1, -2, -3
"""Slots of a template that stand for the parts of the fact it is filled from."""

ANY = -1
"""In a key: the predicate, or the object, does not matter."""

_MOST_MATCHES = 2_000
"""A premise with more matches than this is data, not schema: then joining is the better way."""

Key = tuple[int, int]
Guarded = tuple[Triple, int, int]
"""A template, and the kinds that the given fact's subject and object may have, as bits."""


@dataclass(slots=True)
class Epsilon:
    """Linear rules with their other premises filled in, by predicate and object."""

    implied: dict[Key, set[Guarded]] = field(default_factory=dict)
    plans: set[int] = field(default_factory=set)
    """The plans that the table stands for."""
    assumed: set[int] = field(default_factory=set)
    """The premises (by alpha) that must not match anything outside the background."""

    def closed(self, key: Key, kinds: bytes | bytearray = b"") -> dict[Guarded, bool]:
        """All that follows from a fact of this key; True for what may imply more for some objects."""
        start = _start(key)
        by_object = {predicate for predicate, o in self.implied if o != ANY}
        found: dict[Guarded, bool] = {}
        waiting = list(self._next((start, EVERY_KIND, EVERY_KIND), key, kinds))
        while waiting:
            guarded = waiting.pop()
            template = guarded[0]
            if guarded in found or template == start:
                continue
            found[guarded] = template[2] < 0 and template[1] in by_object
            waiting.extend(self._next(guarded, (template[1], template[2]), kinds))
        return found

    def _next(self, guarded: Guarded, key: Key, kinds: bytes | bytearray) -> Iterator[Guarded]:
        """What a template implies in one step, with what the given fact must be for it."""
        keys = {(ANY, ANY), (key[0], ANY), *([key] if key[1] >= 0 else [])}
        (s, p, o), of_subject, of_object = guarded
        for k in keys:
            for template, wanted_s, wanted_o in self.implied.get(k, ()):
                subject_kinds, object_kinds = of_subject, of_object
                for slot, wanted in ((s, wanted_s), (o, wanted_o)):
                    if slot == THE_SUBJECT:
                        subject_kinds &= wanted
                    elif slot == THE_OBJECT:
                        object_kinds &= wanted
                    elif wanted != EVERY_KIND and not wanted >> _kind(slot, kinds) & 1:
                        subject_kinds = 0
                if subject_kinds and object_kinds:
                    yield _fill(template, s, p, o), subject_kinds, object_kinds


def _start(key: Key) -> Triple:
    return (THE_SUBJECT, THE_PREDICATE if key[0] == ANY else key[0], THE_OBJECT if key[1] == ANY else key[1])


def _kind(slot: int, kinds: bytes | bytearray) -> int:
    return Kind.IRI if slot == THE_PREDICATE else kinds[slot]


def _fill(template: Triple, s: int, p: int, o: int) -> Triple:
    parts = {THE_SUBJECT: s, THE_PREDICATE: p, THE_OBJECT: o}
    a, b, c = (parts.get(slot, slot) for slot in template)
    return a, b, c


def make_epsilon(program: Program, planned: PlanSet, background: Array, matched: set[int]) -> Epsilon:
    """The table over a closed background; `matched` are alphas that the stream has matched."""
    epsilon = Epsilon()
    candidates = [
        (number, rule, at)
        for number, rule in enumerate(program.rules)
        for at in _live_premises(rule, number, planned, matched)
        if all(_count(premise, background) <= _MOST_MATCHES for premise in _others(rule, at))
    ]
    schema = {premise[1] for _, rule, at in candidates for premise in _others(rule, at)}
    # A premise with a variable for a predicate may match any of it.
    rows = background if min(schema, default=0) < 0 else background[np.isin(background[:, 1], list(schema))]
    lookup = Lookup(dict.fromkeys(map(tuple, rows.tolist()), FOREVER))
    done: set[int] = set()
    for number, rule, at in candidates:
        ground = _ground(rule, at, lookup) if number not in done else None
        if ground is not None:
            done.add(number)
            epsilon.plans.add(planned.given[number, at])
            epsilon.assumed.update(_alphas(rule, number, at, planned))
            for key, guarded in ground:
                epsilon.implied.setdefault(key, set()).add(guarded)
    return epsilon


def _others(rule: CompiledRule, at: int) -> list[Triple]:
    return [premise for k, premise in enumerate(rule.premises) if k != at]


def _count(premise: Triple, background: Array) -> int:
    """How many background facts have a premise's constants."""
    matches = np.ones(len(background), np.bool_)
    for position, slot in enumerate(premise):
        if slot >= 0:
            matches &= background[:, position] == slot
    return int(matches.sum())


def _live_premises(rule: CompiledRule, number: int, planned: PlanSet, matched: set[int]) -> Iterator[int]:
    """The premises that the stream may match while the others match background alone."""
    if not rule.conclusions:
        return  # A watched pattern: each solution of it is wanted.
    if not all(is_difference(c) or kinds_of_guard(c, rule) is not None for c in rule.conditions):
        return
    for at, premise in enumerate(rule.premises):
        others = [q for k, q in enumerate(rule.premises) if k != at and not rule.cut[k]]
        apart = all(q[1] >= 0 and (premise[1] < 0 or _differ(q, premise)) for q in others)
        if not rule.cut[at] and apart and not matched & set(_alphas(rule, number, at, planned)):
            yield at


def _differ(a: Iterable[int], b: Iterable[int]) -> bool:
    """Whether no fact can match both patterns: then one is schema to the other."""
    return any(x >= 0 and y >= 0 and x != y for x, y in zip(a, b, strict=True))


def _alphas(rule: CompiledRule, number: int, at: int, planned: PlanSet) -> Iterable[int]:
    return [planned.alpha[number, k] for k in range(len(rule.premises)) if k != at and not rule.cut[k]]


def _ground(rule: CompiledRule, at: int, background: Lookup) -> list[tuple[Key, Guarded]] | None:
    """The rule for each match of its other premises; None if that does not fit the table."""
    matches: list[Binding] = [[UNBOUND] * rule.variables]
    for premise in _others(rule, at):
        extended = _extended(matches, premise, background)
        matches = list(islice(extended, _MOST_MATCHES + 1))
        if len(matches) > _MOST_MATCHES:
            return None
    found: list[tuple[Key, Guarded]] = []
    for binding in matches:
        implied = _residual(rule, at, binding)
        if implied is None:
            return None
        found += implied
    return found


def _extended(matches: list[Binding], premise: Triple, background: Lookup) -> Iterator[Binding]:
    for binding in matches:
        for triple in background.candidates(premise, binding):
            extended = list(binding)
            if match(premise, triple, extended):
                yield extended


def _residual(rule: CompiledRule, at: int, binding: Binding) -> list[tuple[Key, Guarded]] | None:
    """What is left of a rule once its other premises are bound: keys and templates."""
    s, p, o = (_filled(slot, binding) for slot in rule.premises[at])
    if s >= 0 or (p < 0 and o >= 0) or len({s, p, o}) < 3:
        return None
    kinds = {s: EVERY_KIND, o: EVERY_KIND}
    for condition in rule.conditions:
        slot, allowed = _filled(condition.args[0], binding), kinds_of_guard(condition, rule)
        if is_difference(condition):
            other = _filled(condition.args[1], binding)
            if slot == other:
                return []
            if min(slot, other) < 0:
                return None
            continue
        if slot >= 0 or slot not in kinds or allowed is None:
            return None
        kinds[slot] &= allowed
    codes = {s: THE_SUBJECT, p: THE_PREDICATE if p < 0 else p, o: THE_OBJECT if o < 0 else o}
    key = (p if p >= 0 else ANY, o if o >= 0 else ANY)
    found: list[tuple[Key, Guarded]] = []
    for conclusion in rule.conclusions:
        a, b, c = (codes.get(slot, slot) for slot in (_filled(slot, binding) for slot in conclusion))
        if (b < 0 and b != THE_PREDICATE) or min(a, b, c) < THE_OBJECT:
            return None
        found.append((key, ((a, b, c), kinds[s], kinds[o])))
    return found


def _filled(slot: int, binding: Binding) -> int:
    """A term; or the slot, moved out of the way of the codes of templates, if it is not bound."""
    if slot >= 0:
        return slot
    return binding[~slot] if binding[~slot] != UNBOUND else slot - 10


@dataclass(frozen=True, slots=True)
class Table:
    """The closed rules as compiled code reads them: keys, where their templates are, and these."""

    keys: Array
    starts: Array
    rows: Array


def make_table(
    epsilon: Epsilon,
    planned: PlanSet,
    kinds: bytes | bytearray,
    background: Array,
    needed: Needed | None = None,
) -> Table:
    """Everything that follows from a fact of each key, without what the background holds.

    `needed`: and without what nobody asks for.
    """
    ground = set(map(tuple, background.tolist()))
    size = 16
    keys_wanted = [*epsilon.implied.keys() | _known_predicates(epsilon, kinds, background)]
    while size < 2 * len(keys_wanted):
        size *= 2
    keys, starts = np.full((size, 2), END - 1, np.int32), np.zeros((size, 2), np.int32)
    rows: list[tuple[int, ...]] = []
    of_any: dict[int, dict[Guarded, bool]] = {}
    for key in keys_wanted:
        first = len(rows)
        if key[0] not in of_any:
            of_any[key[0]] = epsilon.closed((key[0], ANY), kinds)
        closed = of_any[key[0]] if key[1] == ANY else epsilon.closed(key, kinds)
        known = _at_object(of_any[key[0]], key[1]) if key[1] != ANY else set()
        strongest = _strongest([*closed, *known])
        for guarded, open_ended in closed.items():
            template, subject_kinds, object_kinds = guarded
            if template in ground or guarded in known or guarded not in strongest[template]:
                continue
            how = _how(template, open_ended, epsilon, planned, needed)
            if how is not None:
                rows.append((*template, how, subject_kinds, object_kinds))
        at = epsilon_home(key[0], key[1], size)
        while keys[at, 0] != END - 1:
            at = (at + 1) & (size - 1)
        keys[at], starts[at] = key, (first, len(rows))
    return Table(keys, starts, np.array(rows, np.int32).reshape(-1, 6))


def _known_predicates(epsilon: Epsilon, kinds: bytes | bytearray, background: Array) -> set[Key]:
    """Keys for any predicate, and for each of which the background holds all that follows anyway."""
    if not epsilon.implied:
        return set()
    about = [
        t for t, _, _ in epsilon.closed((ANY, ANY), kinds) if t[0] == THE_PREDICATE and t[2] != THE_OBJECT
    ]
    known: set[int] | None = None
    for _, p, o in about:
        rows = background[background[:, 1] == p]
        rows = rows[rows[:, 2] == (rows[:, 0] if o == THE_PREDICATE else o)]
        known = set(rows[:, 0].tolist()) if known is None else known & set(rows[:, 0].tolist())
    few = known or set() if len(known or ()) <= _MOST_MATCHES else set()
    return {(ANY, ANY), *((predicate, ANY) for predicate in few)}


def install(store: Store, epsilon: Epsilon, table: Table) -> Store:
    """The store with the table in it; what it assumes is watched from now on."""
    store.assumed[list(epsilon.assumed)] = 1
    return store._replace(epsilon_keys=table.keys, epsilon_starts=table.starts, epsilon=table.rows)


def _at_object(closed: Iterable[Guarded], o: int) -> set[Guarded]:
    """What the entry for any object puts in the case of this one, whatever its kind."""
    return {
        (_fill(template, THE_SUBJECT, THE_PREDICATE, o), subject_kinds, object_kinds)
        for template, subject_kinds, object_kinds in closed
        if object_kinds == EVERY_KIND
    }


def _strongest(entries: Iterable[Guarded]) -> dict[Triple, list[Guarded]]:
    """For each template the entries that no other entry of it makes superfluous."""
    by_template: dict[Triple, list[Guarded]] = {}
    for guarded in entries:
        by_template.setdefault(guarded[0], []).append(guarded)
    return {
        template: [g for g in alike if not any(h != g and _covers(h, g) for h in alike)]
        for template, alike in by_template.items()
    }


def _covers(one: Guarded, other: Guarded) -> bool:
    """Whether one entry puts its fact whenever the other does."""
    return one[1] & other[1] == other[1] and one[2] & other[2] == other[2]


def epsilon_home(predicate: int, o: int, size: int) -> int:
    """Where a key's search in the table begins; `join.py` computes the same, compiled."""
    return (predicate * 31 + o) & (size - 1)


def _how(
    template: Triple, open_ended: bool, epsilon: Epsilon, planned: PlanSet, needed: Needed | None
) -> int | None:
    """What has to be done with a fact that this template makes once it is put; None: it need not be."""
    tables, predicate = planned.tables, template[1]
    if open_ended or predicate < 0:
        return PUT_FULLY
    at = min(predicate, len(tables.forward_starts) - 2)
    listed = tables.forward[tables.forward_starts[at] : tables.forward_starts[at + 1]]
    # By the column: rules over lists become thousands of plans that ask for the same predicate.
    given, wanted = tables.plans[listed, : O + 1], np.array(template)
    differ = ((given >= 0) & (wanted >= 0) & (given != wanted)).any(axis=1)
    asking = set(listed[(tables.plans[listed, GIVEN_CUT] == 0) & ~differ].tolist())
    if needed is not None and asking <= needed.done:
        return None
    return PUT_ALONE if asking <= epsilon.plans else PUT_CLOSED
