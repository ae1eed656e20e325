"""Links: what is left of linear rules once their other premises are filled in (seed: Sparkwave, section 3.1).

A rule is linear if all its premises but one match background alone. With these filled in from the
background, which does not change, it says: a fact of this predicate (and this object) implies that fact,
which is made of parts of the given one and of constants. Sparkwave's S-links, O-links and SO-links are such,
and so are those that turn a statement around.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ensue.maintain.kernel.echoes import is_difference
from ensue.maintain.kernel.layout import Array
from ensue.maintain.kernel.plans import EVERY_KIND, kinds_of_guard
from ensue.maintain.program import CompiledRule
from ensue.model import Triple

THE_SUBJECT, THE_PREDICATE, THE_OBJECT = -1, -2, -3
"""Slots of a template that stand for the parts of the fact it is filled from."""

ANY = -1
"""In a key: the predicate, or the object, does not matter."""

KEY, TEMPLATE, OF_SUBJECT, OF_OBJECT = slice(0, 2), slice(2, 5), 5, 6
"""The columns of links: predicate and object of what is given, what follows from it, and the kinds that the
given fact's subject and object may have, as bits."""

WIDTH = 7

_Bound = dict[int, Array]
"""Columns of terms by the slots of variables: a row for each match."""


def ground(rule: CompiledRule, at: int, background: Array, kinds: Array, most: int) -> Array | None:
    """A link for each match of a rule's premises other than `at`; None: more than so many, or none can be.

    It cannot be a link where a condition looks at more than the kinds of terms, where the premise has a
    variable twice or asks for a subject, or where the rule makes something new.
    """
    if not _fits(rule, at):
        return None
    bound = _matches([premise for k, premise in enumerate(rule.premises) if k != at], background, most)
    return None if bound is None else _residual(rule, rule.premises[at], *bound, kinds)


def _fits(rule: CompiledRule, at: int) -> bool:
    """Whether what is left of a rule is a link, whatever its other premises match."""
    others = {slot for k, premise in enumerate(rule.premises) if k != at for slot in premise if slot < 0}
    s, p, o = ((slot if slot < 0 and slot not in others else None) for slot in rule.premises[at])
    if s is None or (p is None) < (o is None) or len({s, p, o} - {None}) < 3 - [s, p, o].count(None):
        return False
    for condition in rule.conditions:
        free = [slot for slot in condition.args if slot < 0 and slot not in others]
        if not is_difference(condition):
            if kinds_of_guard(condition, rule) is None or not {*free} <= {s, o}:
                return False
        elif free and len({*condition.args}) == 2:
            return False
    made = (others | {s, p, o}) - {None}
    concluded = [slot for conclusion in rule.conclusions for slot in conclusion if slot < 0]
    predicates = {conclusion[1] for conclusion in rule.conclusions}
    return {*concluded} <= made and not predicates & ({s, o} - {None})


def _matches(premises: Iterable[Triple], background: Array, most: int) -> tuple[_Bound, int] | None:
    """All ways to match some premises, and how many there are; None: more than so many."""
    bound: _Bound = {}
    count = 1
    for premise in premises:
        rows = _having(premise, background)
        mine = {slot: rows[:, place] for place, slot in enumerate(premise) if slot < 0}
        shared = [slot for slot in mine if slot in bound]
        left, right = _pairs([bound[s] for s in shared], count, [mine[s] for s in shared], len(rows), most)
        if len(left) > most:
            return None
        bound = {slot: column[left] for slot, column in bound.items()}
        bound |= {slot: column[right] for slot, column in mine.items()}
        count = len(left)
    return bound, count


def _having(premise: Triple, background: Array) -> Array:
    """The background facts that match one premise."""
    rows = background
    for place, slot in enumerate(premise):
        if slot >= 0:
            rows = rows[rows[:, place] == slot]
        elif slot in premise[:place]:
            rows = rows[rows[:, place] == rows[:, premise.index(slot)]]
    return rows


def _pairs(
    left: Sequence[Array], lefts: int, right: Sequence[Array], rights: int, most: int
) -> tuple[Array, Array]:
    """The numbers of the rows on both sides that agree: up to one more pair than `most`."""
    a, b = np.zeros(lefts, np.int64), np.zeros(rights, np.int64)
    for one, other in zip(left, right, strict=True):
        # Numbered anew column by column, so that two always fit into one.
        _, same = np.unique(np.concatenate([one, other]), return_inverse=True)
        _, both = np.unique(np.concatenate([a, b]) * (len(same) + 1) + same, return_inverse=True)
        a, b = both[:lefts], both[lefts:]
    order = np.argsort(b, kind="stable")
    starts, ends = (np.searchsorted(b[order], a, side) for side in ("left", "right"))
    counts = ends - starts
    total = int(counts.sum())
    if total > most:
        return np.zeros(most + 1, np.int64), np.zeros(0, np.int64)
    rows = np.repeat(np.arange(lefts), counts)
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[np.repeat(starts, counts) + within]


def _residual(rule: CompiledRule, given: Triple, bound: _Bound, count: int, kinds: Array) -> Array:
    """The links of a rule, one for each conclusion and row of what is bound."""
    s, p, o = given
    free = {slot: code for slot, code in ((s, THE_SUBJECT), (p, THE_PREDICATE), (o, THE_OBJECT)) if slot < 0}
    codes = {slot: code for slot, code in free.items() if slot not in bound}

    def filled(slot: int) -> Array:
        if slot in bound:
            return bound[slot]
        return np.full(count, slot if slot >= 0 else codes[slot], np.int64)

    keep = np.ones(count, np.bool_)
    wanted = {THE_SUBJECT: EVERY_KIND, THE_OBJECT: EVERY_KIND}
    for condition in rule.conditions:
        if is_difference(condition):
            keep &= filled(condition.args[0]) != filled(condition.args[1])
            continue
        slot, allowed = condition.args[0], kinds_of_guard(condition, rule)
        assert allowed is not None
        if slot in codes:
            wanted[codes[slot]] &= allowed
        else:
            keep &= (allowed >> kinds[filled(slot)]) & 1 == 1
    links = np.empty((len(rule.conclusions), count, WIDTH), np.int32)
    for made, conclusion in zip(links, rule.conclusions, strict=True):
        made[:, 0], made[:, 1] = np.maximum(filled(p), ANY), np.maximum(filled(o), ANY)
        for place, slot in enumerate(conclusion):
            made[:, 2 + place] = filled(slot)
        made[:, OF_SUBJECT], made[:, OF_OBJECT] = wanted[THE_SUBJECT], wanted[THE_OBJECT]
    return links[:, keep].reshape(-1, WIDTH)
