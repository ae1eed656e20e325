"""The rule interpreter: joins a row with the others, plan by plan. Compiled once, for all rules.

A plan says how one rule fires when one of its premises (or, backwards, one of its conclusions) is
given: which premises to look up next, in which index, and which guards to ask on the way. Plans
are tables (see `plans.py`), so nothing is compiled per rule.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel import view
from ensue.maintain.kernel.compiling import compiled, inlined, part
from ensue.maintain.kernel.facts import doubt, has_constants, put, put_all
from ensue.maintain.kernel.layout import (
    ACTIVE_UNKNOWN,
    ACTIVE_USED,
    CLOSED,
    CONTEXT,
    DERIVATIONS,
    END,
    FLAGS,
    FRESH,
    FULL,
    GROUND,
    HALF_DONE,
    HALF_JOINED,
    HALF_PUT,
    INDEX_UNBUILT,
    KEEP_ALL,
    LIVE,
    OBJECT,
    OBJECT_KINDS,
    OBJECTS,
    PAUSE,
    PAUSE_AT,
    PLAN,
    PREDICATE,
    PROBES,
    PUT_FULLY,
    QUEUE_HEAD,
    QUEUE_LENGTH,
    QUEUED,
    SOLUTION_COUNT,
    SOLUTIONS_FULL,
    STALE,
    STAMP,
    SUBJECT,
    SUSPECT_COUNT,
    TABLE_STALE,
    THRESHOLD,
    WANTED,
    WANTED_INDEX,
    WHOLE,
    O,
    P,
    S,
)
from ensue.maintain.kernel.links import ANY, THE_PREDICATE, THE_SUBJECT
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
from ensue.maintain.kernel.tables import expect, expect_listed, first_row, hash_key, hung, next_row

CHUNK = 256
"""Facts put before the rules run: what they imply is still in the processor's cache then."""

MANY = 1 << 14
"""So many solutions are taken over while facts are still being put: what is waiting stays small."""

SELDOM = (1 << 12) - 1
"""One probe in so many looks whether it is time for a pause."""

PUT, DOUBT = 0, 1
"""What is done with a conclusion: the fact holds, or the fact is doubted."""

ROW, SIDE, SO_FAR = 0, 1, 2

_NEVER = np.int64(np.iinfo(np.int64).min)
_FOREVER = np.int64(np.iinfo(np.int64).max)


@compiled
def run(store, plans, start, needed, context, s, p, o, stamp):
    """Put facts from `start` on and join what is queued until nothing is left; how far it came.

    It stops early where there are many solutions, or where an array is full. `needed`: of facts that nobody
    asks for only what follows is put.
    """
    meta = view.meta(store)
    at = start
    while True:
        end = min(at + CHUNK, len(stamp))
        if needed:
            at = _put_needed(store, plans, at, end, context, s, p, o, stamp)
        else:
            at = put_all(store, plans, at, end, context, s, p, o, stamp)
        if not meta[FULL]:
            _join_queued(store, plans)
        if meta[FULL] or meta[SOLUTION_COUNT] > MANY or at == len(stamp):
            return at


@part
def _join_queued(store, plans):
    """Join queued rows until none is left (or an array is full): insertion, semi-naive.

    A table that is stale must still put all that follows from a row once it has begun: what it put of that
    is looked at by no linear rule again, those included that are none under the next table.
    """
    meta = view.meta(store)
    while meta[QUEUE_LENGTH]:
        if meta[STALE] and not meta[HALF_DONE] & HALF_JOINED:
            _forget_active(store)
            meta[FULL] = TABLE_STALE
            return
        if meta[PROBES] + meta[DERIVATIONS] >= meta[PAUSE_AT]:
            meta[FULL] = PAUSE
            return
        row = np.int64(view.queue(store)[meta[QUEUE_HEAD]])
        expect_listed(store, view.queue(store), meta[QUEUE_HEAD])
        derivations, probes, solutions = meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT]
        flags = view.rows(store)[row, FLAGS]
        view.rows(store)[row, FLAGS] &= ~(QUEUED | FRESH | CLOSED)
        if not flags & CLOSED:
            _imply_row(store, plans, row)
        if not meta[FULL]:
            _fire(store, plans, row, view.queue_old(store)[meta[QUEUE_HEAD]], PUT)
        if meta[FULL]:  # This row again, when there is room: so its counts must not stay.
            meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT] = derivations, probes, solutions
            view.rows(store)[row, FLAGS] |= flags & (QUEUED | FRESH | CLOSED)
            meta[HALF_DONE] |= HALF_JOINED
            return
        meta[HALF_DONE] &= ~HALF_JOINED
        meta[QUEUE_HEAD] += 1
        meta[QUEUE_LENGTH] -= 1
        if meta[QUEUE_HEAD] == len(view.queue(store)) or not meta[QUEUE_LENGTH]:
            meta[QUEUE_HEAD] = 0


@part
def _put_needed(store, plans, start, end, context, s, p, o, stamp):
    """Put facts from `start` on, of those that nobody asks for only what follows; where it stopped."""
    meta = view.meta(store)
    for i in range(start, end):
        derivations = meta[DERIVATIONS]
        fully = context[i] == 0 or meta[STALE] or _is_wanted(store, plans, s[i], p[i], o[i])
        if fully and not meta[HALF_DONE] & HALF_PUT:
            put(store, plans, context[i], s[i], p[i], o[i], stamp[i], PUT_FULLY)
            if meta[FULL]:
                return i
            continue
        _imply(store, plans, s[i], p[i], o[i], context[i], stamp[i])
        if meta[FULL]:
            meta[DERIVATIONS] = derivations
            meta[HALF_DONE] |= HALF_PUT
            return i
        meta[HALF_DONE] &= ~HALF_PUT
    return end


@inlined
def _is_wanted(store, plans, s, p, o):
    """Whether a fact matches what somebody may ask for (see `needed.py`)."""
    starts, alphas, wanted = view.alpha_starts(plans), view.alphas(plans), view.wanted(store)
    if p + 1 < len(starts):
        for i in range(starts[p], starts[p + 1]):
            if wanted[i] and has_constants(alphas, i, s, o):
                return True
    return False


@part
def _imply_row(store, plans, row):
    rows = view.rows(store)
    s, p, o, context = rows[row, S], rows[row, P], rows[row, O], rows[row, CONTEXT]
    if context != 0:
        _imply(store, plans, s, p, o, context, view.stamps(store)[row, STAMP])


@part
def _imply(store, plans, s, p, o, context, stamp):
    """Put all that follows from a fact by linear rules (see `epsilon.py`)."""
    if len(view.epsilon(store)) == 0:
        return
    meta, made = view.meta(store), view.made(store)
    held = meta[LIVE] + meta[GROUND]
    at = _entry(store, p, np.int32(ANY))
    if at == END:
        at = _entry(store, np.int32(ANY), np.int32(ANY))
    if at != END:
        _put_implied(store, plans, at, s, p, o, context, stamp)
    at = _entry(store, p, o)
    if at != END and not meta[FULL]:
        _put_implied(store, plans, at, s, p, o, context, stamp)
    made[len(made) - 1] += meta[LIVE] + meta[GROUND] - held


@inlined
def _entry(store, predicate, o):
    """Where the table has a key, or END."""
    keys = view.epsilon_keys(store)
    last = len(keys) - 1
    mixed = np.int64(predicate) * 40_503 + np.int64(o) * 30_011
    at = (mixed ^ mixed >> 16) & last
    while keys[at, 0] != predicate or keys[at, 1] != o:
        if keys[at, 0] == END - 1:
            return np.int64(END)
        at = (at + 1) & last
    return at


@part
def _put_implied(store, plans, at, s, p, o, context, stamp):
    table, meta, kinds = view.epsilon(store), view.meta(store), view.kinds(store)
    of_subject, of_object = kinds[s], kinds[o]
    first, end = view.epsilon_starts(store)[at, 0], view.epsilon_starts(store)[at, 1]
    if not view.meta(store)[KEEP_ALL]:
        for i in range(first, end):
            a, b, c = _part(table[i, 0], s, p, o), _part(table[i, 1], s, p, o), _part(table[i, 2], s, p, o)
            expect(store, 0, hash_key(WHOLE, a, b, c, context))
    for i in range(first, end):
        if not (table[i, 4] >> of_subject & 1 and table[i, 5] >> of_object & 1):
            continue
        meta[DERIVATIONS] += 1
        a, b, c = _part(table[i, 0], s, p, o), _part(table[i, 1], s, p, o), _part(table[i, 2], s, p, o)
        put(store, plans, context, a, b, c, stamp, table[i, 3])
        if meta[FULL]:
            return


@inlined
def _part(slot, s, p, o):
    if slot >= 0:
        return slot
    if slot == THE_SUBJECT:
        return s
    return p if slot == THE_PREDICATE else o


@compiled
def doubt_consequences(store, plans, start):
    """Doubt what rests on the suspects from `start` on; where it stopped (overdeletion)."""
    meta = view.meta(store)
    at = start
    while at < meta[SUSPECT_COUNT]:
        derivations, probes, solutions = meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT]
        _fire(store, plans, np.int64(view.suspects(store)[at]), _NEVER, DOUBT)
        if meta[FULL]:
            meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT] = derivations, probes, solutions
            return at
        at += 1
    return at


@compiled
def rederive(store, plans, start):
    """Look for derivations of the suspects from `start` on in what is left; where it stopped."""
    meta, rows, suspects, backward = (
        view.meta(store),
        view.rows(store),
        view.suspects(store),
        view.backward(plans),
    )
    for at in range(start, meta[SUSPECT_COUNT]):
        derivations, probes, solutions = meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT]
        row = suspects[at]
        s, p, o, context = rows[row, S], rows[row, P], rows[row, O], rows[row, CONTEXT]
        lo, hi = _listed(view.backward_starts(plans), p)
        for i in range(lo, hi):
            _fire_plan(store, plans, np.int64(backward[i]), s, p, o, context, _FOREVER, _NEVER, PUT)
            if meta[FULL]:
                meta[DERIVATIONS], meta[PROBES], meta[SOLUTION_COUNT] = derivations, probes, solutions
                return at
    return meta[SUSPECT_COUNT]


@inlined
def _listed(starts, predicate):
    """Where the plans for a predicate are: the last entry is for predicates no rule names."""
    if predicate + 2 < len(starts):
        return starts[predicate], starts[predicate + 1]
    return starts[len(starts) - 2], starts[len(starts) - 1]


@part
def _fire(store, plans, row, old, action):
    rows, meta = view.rows(store), view.meta(store)
    s, p, o, context = rows[row, S], rows[row, P], rows[row, O], rows[row, CONTEXT]
    stamp = view.stamps(store)[row, STAMP]
    if context != 0 and action == PUT:
        active, (lo, hi) = view.active(store), _active(store, p, o)
        kind = view.kinds(store)[o]
        for i in range(lo, hi):
            if active[i, OBJECT_KINDS] >> kind & 1 and active[i, OBJECTS] >> (o & 63) & 1:
                _fire_plan(store, plans, active[i, PLAN], s, p, o, context, stamp, old, PUT)
                if meta[FULL]:
                    return
        return
    forward, (lo, hi) = view.forward(plans), _listed(view.forward_starts(plans), p)
    for i in range(lo, hi):
        _fire_plan(store, plans, np.int64(forward[i]), s, p, o, context, stamp, old, action)
        if meta[FULL]:
            return


@inlined
def _active(store, predicate, o):
    """Where the plans are that facts with a predicate can fire (see `active.py`)."""
    keys, starts = view.active_keys(store), view.active_starts(store)
    at = predicate & (len(keys) - 1)
    while keys[at] != predicate:
        if keys[at] == END:
            view.meta(store)[WANTED] = predicate
            view.meta(store)[FULL] = ACTIVE_UNKNOWN
            return np.int32(0), np.int32(0)
        at = (at + 1) & (len(keys) - 1)
    if view.active_objects(store)[at] >> (o & 63) & 1:
        return starts[at, 0], starts[at, 2]
    return starts[at, 0], starts[at, 1]


@part
def _forget_active(store):
    """List active plans anew: what they assumed does not hold any more."""
    keys, assumed = view.active_keys(store), view.assumed(store)
    for i in range(len(keys)):
        keys[i] = END
    for i in range(len(assumed)):
        assumed[i] = 0
    view.meta(store)[ACTIVE_USED] = 0
    view.meta(store)[STALE] = 0


@part
def _fire_plan(store, plans, plan, s, p, o, context, stamp, old, action):
    table, steps, counts = view.plans(plans), view.steps(plans), view.alpha_counts(store)
    if context != 0 and table[plan, GIVEN_CUT]:
        return
    if not _bind(view.binding(store), table, plan, 0, s, p, o):
        return
    first, count = table[plan, FIRST_STEP], table[plan, STEPS]
    for j in range(first, first + count):
        alpha = steps[j, ALPHA]
        if alpha >= 0 and counts[alpha, 0] + counts[alpha, 1] == 0:
            return  # A premise that nothing matches: this is where most plans end.
    if not _guarded(
        view.binding(store),
        view.kinds(store),
        view.guards(plans),
        table[plan, PLAN_GUARD],
        table[plan, PLAN_GUARDS],
    ):
        return
    meta = view.meta(store)
    held = meta[LIVE] + meta[GROUND]
    if count == 0:
        _conclude(store, plans, plan, context, stamp, action)
    else:
        _join(store, plans, plan, context, stamp, old, action)
    view.made(store)[table[plan, RULE]] += meta[LIVE] + meta[GROUND] - held


@inlined
def _bind(binding, patterns, k, mask, s, p, o):
    """Bind the variables of a pattern outside `mask` to a triple; False if a constant differs."""
    if not mask & SUBJECT:
        if patterns[k, S] < 0:
            binding[~patterns[k, S]] = s
        elif patterns[k, S] != s:
            return False
    if not mask & PREDICATE:
        if patterns[k, P] < 0:
            binding[~patterns[k, P]] = p
        elif patterns[k, P] != p:
            return False
    if not mask & OBJECT:
        if patterns[k, O] < 0:
            binding[~patterns[k, O]] = o
        elif patterns[k, O] != o:
            return False
    same = patterns[k, REPEATED]
    return same == 0 or not ((same & 1 and s != p) or (same & 2 and s != o) or (same & 4 and p != o))


@inlined
def _value(binding, slot):
    if slot < 0:
        return binding[~slot]
    return slot


@inlined
def _guarded(binding, kinds, guards, first, count):
    for i in range(first, first + count):
        op = guards[i, 0]
        a = _value(binding, guards[i, 1])
        if op in (EQUAL, NOT_EQUAL):
            if (a == _value(binding, guards[i, 2])) != (op == EQUAL):
                return False
        elif not op >> kinds[a] & 1:
            return False  # Any other operation is a set of kinds, a bit for each kind that passes.
    return True


@part
def _join(store, plans, plan, context, stamp, old, action):
    """Depth first over the steps; `cursor` has the row each step is at, and the stamp so far."""
    meta, cursor, stamps, rows = view.meta(store), view.cursor(store), view.stamps(store), view.rows(store)
    binding, kinds, steps, guards = (
        view.binding(store),
        view.kinds(store),
        view.steps(plans),
        view.guards(plans),
    )
    first = view.plans(plans)[plan, FIRST_STEP]
    last = view.plans(plans)[plan, STEPS] - 1
    oldest = max(old, meta[THRESHOLD])
    depth = 0
    _open(store, steps, first, 0, context)
    while not meta[FULL]:
        step = first + depth
        row = cursor[depth, ROW]
        if row == END:
            depth -= 1
            if depth < 0:
                return
            _next(store, steps, first + depth, depth)
            continue
        meta[PROBES] += 1
        if meta[PROBES] & SELDOM == 0 and meta[PROBES] + meta[DERIVATIONS] >= meta[PAUSE_AT]:
            meta[FULL] = PAUSE  # This row again afterwards, with twice as much time.
            return
        # A fresh partner will find this row itself when its turn comes. One whose stamp is no higher
        # than the one this row had when last joined cannot raise anything: the minimum was its own.
        if (
            stamps[row, STAMP] > oldest
            and not (action == PUT and rows[row, FLAGS] & FRESH)
            and _bind(binding, steps, step, steps[step, MASK], rows[row, S], rows[row, P], rows[row, O])
            and _guarded(binding, kinds, guards, steps[step, FIRST_GUARD], steps[step, GUARDS])
        ):
            so_far = min(stamp if depth == 0 else cursor[depth - 1, SO_FAR], stamps[row, STAMP])
            if depth == last:
                _conclude(store, plans, plan, context, so_far, action)
            else:
                cursor[depth, SO_FAR] = so_far
                depth += 1
                _open(store, steps, first + depth, depth, context)
                continue
        _next(store, steps, step, depth)


@part
def _open(store, steps, step, depth, context):
    """Set a cursor to the first row that a step may match: the context's own, then background."""
    cursor = view.cursor(store)
    row = np.int64(END)
    cursor[depth, SIDE] = 0
    alpha = steps[step, ALPHA]
    if context != 0 and not steps[step, CUT] and (alpha < 0 or view.alpha_counts(store)[alpha, 0]):
        meta, index = view.meta(store), steps[step, INDEX]
        p = _value(view.binding(store), steps[step, P]) if steps[step, MASK] & PREDICATE else np.int32(-1)
        if index and not hung(store, p) >> index & 1:
            meta[WANTED], meta[WANTED_INDEX], meta[FULL] = p, index, INDEX_UNBUILT
        else:
            row = _first(store, steps, step, 0, context)
    if row == END:
        row = _open_background(store, steps, step, depth)
    cursor[depth, ROW] = row


@inlined
def _open_background(store, steps, step, depth):
    view.cursor(store)[depth, SIDE] = 1
    alpha = steps[step, ALPHA]
    if view.meta(store)[GROUND] == 0 or (alpha >= 0 and view.alpha_counts(store)[alpha, 1] == 0):
        return np.int64(END)
    return _first(store, steps, step, 1, 0)


@inlined
def _first(store, steps, step, side, context):
    binding = view.binding(store)
    s, p, o = (
        _value(binding, steps[step, S]),
        _value(binding, steps[step, P]),
        _value(binding, steps[step, O]),
    )
    return first_row(store, 2 * steps[step, INDEX] + side, steps[step, MASK], s, p, o, context)


@inlined
def _next(store, steps, step, depth):
    cursor = view.cursor(store)
    row = np.int64(END)
    index = steps[step, INDEX]
    if index:
        row = next_row(store, cursor[depth, SIDE], index, cursor[depth, ROW])
    if row == END and cursor[depth, SIDE] == 0:
        row = _open_background(store, steps, step, depth)
    cursor[depth, ROW] = row


@part
def _conclude(store, plans, plan, context, stamp, action):
    meta, binding, table, heads = view.meta(store), view.binding(store), view.plans(plans), view.heads(plans)
    if not table[plan, NATIVE]:
        _hand_over(store, table[plan, RULE], context, stamp)
        return
    first = table[plan, FIRST_HEAD]
    for i in range(first, first + table[plan, HEADS]):
        s, p, o = _value(binding, heads[i, S]), _value(binding, heads[i, P]), _value(binding, heads[i, O])
        meta[DERIVATIONS] += 1
        if action == PUT:
            put(store, plans, context, s, p, o, stamp, PUT_FULLY)
        else:
            doubt(store, context, s, p, o, stamp)
        if meta[FULL]:
            return


@part
def _hand_over(store, rule, context, stamp):
    """Write a solution down for Python, which mints nodes and evaluates expressions."""
    meta, solutions, binding = view.meta(store), view.solutions(store), view.binding(store)
    at = meta[SOLUTION_COUNT]
    if at == len(view.solution_stamps(store)):
        meta[FULL] = SOLUTIONS_FULL
        return
    solutions[at, 0] = rule
    solutions[at, 1] = context
    for v in range(len(binding)):
        solutions[at, 2 + v] = binding[v]
    view.solution_stamps(store)[at] = stamp
    meta[SOLUTION_COUNT] += 1
