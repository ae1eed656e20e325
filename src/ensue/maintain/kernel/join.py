"""The rule interpreter: joins a row with the others, plan by plan. Compiled once, for all rules.

A plan says how one rule fires when one of its premises (or, backwards, one of its conclusions) is
given: which premises to look up next, in which index, and which guards to ask on the way. Plans
are tables (see `plans.py`), so nothing is compiled per rule.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"

from __future__ import annotations

import numpy as np
from numba import njit

from ensue.maintain.kernel.facts import doubt, put
from ensue.maintain.kernel.layout import (
    CONTEXT,
    DERIVATIONS,
    END,
    FRESH,
    FULL,
    GROUND,
    LINKS,
    PROBES,
    QUEUE_HEAD,
    QUEUE_LENGTH,
    QUEUED,
    SOLUTION_COUNT,
    SOLUTIONS_FULL,
    SUSPECT_COUNT,
    THRESHOLD,
    O,
    P,
    S,
)
from ensue.maintain.kernel.plans import (
    ALPHA,
    CUT,
    EQUAL,
    FIRST_GUARD,
    FIRST_HEAD,
    FIRST_STEP,
    GIVEN_CUT,
    GUARDS,
    HEADS,
    INDEX,
    MASK,
    NATIVE,
    NOT_EQUAL,
    PLAN_GUARD,
    PLAN_GUARDS,
    REPEATED,
    RULE,
    STEPS,
)
from ensue.maintain.kernel.tables import first_row

PUT, DOUBT = 0, 1
"""What is done with a conclusion: the fact holds, or the fact is doubted."""

ROW, SIDE, SO_FAR = 0, 1, 2

_NEVER = np.int64(np.iinfo(np.int64).min)
_FOREVER = np.int64(np.iinfo(np.int64).max)


@njit(cache=True)
def run(store, plans):
    """Join queued rows until none is left (or an array is full): insertion, semi-naive."""
    meta = store.meta
    while meta[QUEUE_LENGTH]:
        row = np.int64(store.queue[meta[QUEUE_HEAD]])
        derivations, probes, solutions = meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT]
        flags = store.flags[row]
        store.flags[row] &= ~np.uint8(QUEUED | FRESH)
        _fire(store, plans, row, store.queue_old[meta[QUEUE_HEAD]], PUT)
        if meta[FULL]:  # This row again, when there is room: so its counts must not stay.
            meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT] = derivations, probes, solutions
            store.flags[row] |= flags & (QUEUED | FRESH)
            return
        meta[QUEUE_HEAD] += 1
        meta[QUEUE_LENGTH] -= 1
        if meta[QUEUE_HEAD] == len(store.queue) or not meta[QUEUE_LENGTH]:
            meta[QUEUE_HEAD] = 0


@njit(cache=True)
def doubt_consequences(store, plans, start):
    """Doubt what rests on the suspects from `start` on; where it stopped (overdeletion)."""
    meta = store.meta
    at = start
    while at < meta[SUSPECT_COUNT]:
        solutions = meta[SOLUTION_COUNT]
        _fire(store, plans, np.int64(store.suspects[at]), _NEVER, DOUBT)
        if meta[FULL]:
            meta[SOLUTION_COUNT] = solutions
            return at
        at += 1
    return at


@njit(cache=True)
def rederive(store, plans, start):
    """Look for derivations of the suspects from `start` on in what is left; where it stopped."""
    meta = store.meta
    for at in range(start, meta[SUSPECT_COUNT]):
        solutions = meta[SOLUTION_COUNT]
        r = store.rows[store.suspects[at]]
        lo, hi = _listed(plans.backward_starts, r[P])
        for i in range(lo, hi):
            _fire_plan(store, plans, plans.backward[i], r[S], r[P], r[O], r[CONTEXT], _FOREVER, _NEVER, PUT)
            if meta[FULL]:
                meta[SOLUTION_COUNT] = solutions
                return at
    return meta[SUSPECT_COUNT]


@njit(cache=True)
def _listed(starts, predicate):
    """Where the plans for a predicate are: the last entry is for predicates no rule names."""
    if predicate + 2 < len(starts):
        return starts[predicate], starts[predicate + 1]
    return starts[len(starts) - 2], starts[len(starts) - 1]


@njit(cache=True)
def _fire(store, plans, row, old, action):
    r = store.rows[row]
    stamp = store.stamps[row]
    lo, hi = _listed(plans.forward_starts, r[P])
    for i in range(lo, hi):
        _fire_plan(store, plans, plans.forward[i], r[S], r[P], r[O], r[CONTEXT], stamp, old, action)
        if store.meta[FULL]:
            return


@njit(cache=True)
def _fire_plan(store, plans, plan_number, s, p, o, context, stamp, old, action):
    plan = plans.plans[plan_number]
    if context != 0 and plan[GIVEN_CUT]:
        return
    if not _bind(store, plan, 0, s, p, o):
        return
    for j in range(plan[FIRST_STEP], plan[FIRST_STEP] + plan[STEPS]):
        alpha = plans.steps[j, ALPHA]
        if alpha >= 0 and store.alpha_counts[alpha, 0] + store.alpha_counts[alpha, 1] == 0:
            return  # A premise that nothing matches: this is where most plans end.
    if not _guarded(store, plans, plan[PLAN_GUARD], plan[PLAN_GUARDS]):
        return
    if plan[STEPS] == 0:
        _conclude(store, plans, plan, context, stamp, action)
    else:
        _join(store, plans, plan, context, stamp, old, action)


@njit(cache=True)
def _bind(store, pattern, mask, s, p, o):
    """Bind a pattern's variables outside `mask` to a triple; False if a constant differs."""
    if not mask & 1:
        if pattern[S] < 0:
            store.binding[~pattern[S]] = s
        elif pattern[S] != s:
            return False
    if not mask & 2:
        if pattern[P] < 0:
            store.binding[~pattern[P]] = p
        elif pattern[P] != p:
            return False
    if not mask & 4:
        if pattern[O] < 0:
            store.binding[~pattern[O]] = o
        elif pattern[O] != o:
            return False
    same = pattern[REPEATED]
    return same == 0 or not (
        (same & 1 and s != p) or (same & 2 and s != o) or (same & 4 and p != o)
    )


@njit(cache=True)
def _value(store, slot):
    if slot < 0:
        return store.binding[~slot]
    return slot


@njit(cache=True)
def _guarded(store, plans, first, count):
    for i in range(first, first + count):
        guard = plans.guards[i]
        a = _value(store, guard[1])
        op = guard[0]
        if op == EQUAL or op == NOT_EQUAL:
            if (a == _value(store, guard[2])) != (op == EQUAL):
                return False
        elif not op >> store.kinds[a] & 1:
            return False  # Any other operation is a set of kinds, a bit for each kind that passes.
    return True


@njit(cache=True)
def _join(store, plans, plan, context, stamp, old, action):
    """Depth first over the steps; `cursor` has the row each step is at, and the stamp so far."""
    meta, cursor, stamps = store.meta, store.cursor, store.stamps
    first, last = plan[FIRST_STEP], plan[STEPS] - 1
    oldest = max(old, meta[THRESHOLD])
    depth = 0
    _open(store, plans.steps[first], cursor[0], context)
    so_far = stamp
    while True:
        step = plans.steps[first + depth]
        row = cursor[depth, ROW]
        if row == END:
            depth -= 1
            if depth < 0:
                return
            _next(store, plans.steps[first + depth], cursor[depth], context)
            continue
        meta[PROBES] += 1
        so_far = stamp if depth == 0 else cursor[depth - 1, SO_FAR]
        r = store.rows[row]
        # A fresh partner will find this row itself when its turn comes. One whose stamp is no higher
        # than the one this row had when last joined cannot raise anything: the minimum was its own.
        if (
            stamps[row] > oldest
            and not (action == PUT and store.flags[row] & FRESH)
            and _bind(store, step, step[MASK], r[S], r[P], r[O])
            and _guarded(store, plans, step[FIRST_GUARD], step[GUARDS])
        ):
            so_far = min(so_far, stamps[row])
            if depth == last:
                _conclude(store, plans, plan, context, so_far, action)
                if meta[FULL]:
                    return
            else:
                cursor[depth, SO_FAR] = so_far
                depth += 1
                _open(store, plans.steps[first + depth], cursor[depth], context)
                continue
        _next(store, step, cursor[depth], context)


@njit(cache=True)
def _open(store, step, cursor, context):
    """Set a cursor to the first row that a step may match: the context's own, then background."""
    row = np.int64(END)
    cursor[SIDE] = 0
    alpha = step[ALPHA]
    if context != 0 and not step[CUT] and (alpha < 0 or store.alpha_counts[alpha, 0]):
        row = first_row(
            store,
            2 * step[INDEX],
            step[MASK],
            _value(store, step[S]),
            _value(store, step[P]),
            _value(store, step[O]),
            context,
        )
    if row == END:
        row = _open_background(store, step, cursor)
    cursor[ROW] = row


@njit(cache=True)
def _open_background(store, step, cursor):
    cursor[SIDE] = 1
    alpha = step[ALPHA]
    if store.meta[GROUND] == 0 or (alpha >= 0 and store.alpha_counts[alpha, 1] == 0):
        return np.int64(END)
    return first_row(
        store,
        2 * step[INDEX] + 1,
        step[MASK],
        _value(store, step[S]),
        _value(store, step[P]),
        _value(store, step[O]),
        0,
    )


@njit(cache=True)
def _next(store, step, cursor, context):
    row = np.int64(END)
    if step[INDEX]:
        row = np.int64(store.rows[cursor[ROW], LINKS + 2 * (step[INDEX] - 1)])
    if row == END and cursor[SIDE] == 0:
        row = _open_background(store, step, cursor)
    cursor[ROW] = row


@njit(cache=True)
def _conclude(store, plans, plan, context, stamp, action):
    meta = store.meta
    if not plan[NATIVE]:
        _hand_over(store, plan, context, stamp)
        return
    for i in range(plan[FIRST_HEAD], plan[FIRST_HEAD] + plan[HEADS]):
        head = plans.heads[i]
        s, p, o = _value(store, head[S]), _value(store, head[P]), _value(store, head[O])
        meta[DERIVATIONS] += 1
        if action == PUT:
            put(store, plans, context, s, p, o, stamp)
        else:
            doubt(store, context, s, p, o, stamp)
        if meta[FULL]:
            return


@njit(cache=True)
def _hand_over(store, plan, context, stamp):
    """Write a solution down for Python, which mints nodes and evaluates expressions."""
    meta = store.meta
    at = meta[SOLUTION_COUNT]
    if at == len(store.solution_stamps):
        meta[FULL] = SOLUTIONS_FULL
        return
    store.solutions[at, 0] = plan[RULE]
    store.solutions[at, 1] = context
    for v in range(len(store.binding)):
        store.solutions[at, 2 + v] = store.binding[v]
    store.solution_stamps[at] = stamp
    meta[SOLUTION_COUNT] += 1


