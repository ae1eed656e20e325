"""Facts come, rise, are doubted and go: the only functions that change the store. Compiled.

A function that finds an array full writes which one into the FULL register and leaves everything
as it was; the caller lets Python make it larger and does the piece of work again. That is safe
because putting a fact twice is putting it once.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"

from __future__ import annotations

import numpy as np
from numba import njit

from ensue.maintain.kernel.layout import (
    BORN,
    BORN_COUNT,
    BORN_FULL,
    CONTEXT,
    DEAD,
    END,
    FRESH,
    FULL,
    GONE,
    GONE_COUNT,
    GROUND,
    HANGING,
    KEEP_ALL,
    LINKS,
    LIVE,
    PANE_NEXT,
    PANES,
    PANES_FULL,
    QUEUE_FULL,
    QUEUE_HEAD,
    QUEUE_LENGTH,
    QUEUED,
    ROOM,
    ROOM_FULL,
    SUSPECT,
    SUSPECT_COUNT,
    SUSPECTS_FULL,
    THRESHOLD,
    USE_PANES,
    WHOLE,
    O,
    P,
    S,
)
from ensue.maintain.kernel.tables import (
    fact_hash,
    fill_slot,
    first_row,
    give_row,
    hang_in_pane,
    hash_key,
    link,
    locate,
    locate_stamped,
    panes_are_full,
    put_pane_back,
    row_in,
    take_oldest_pane,
    take_row,
    unlink,
)

_NEVER = np.int64(np.iinfo(np.int64).min)


@njit(cache=True)
def put(store, plans, context, s, p, o, stamp):
    """Let the store know that a fact holds until `stamp`: a new fact, a rise, or no news."""
    meta = store.meta
    if stamp <= meta[THRESHOLD]:
        return
    h = hash_key(WHOLE, s, p, o, 0)
    if context != 0:
        if meta[GROUND] and locate(store, 1, WHOLE, h, s, p, o, 0) >= 0:
            return  # Background is never replaced by anything that can expire.
        h = fact_hash(store, s, p, o, context, stamp)
    if meta[KEEP_ALL] and context != 0:
        at = locate_stamped(store, h, s, p, o, context, stamp)
    else:
        at = locate(store, np.int64(context == 0), WHOLE, h, s, p, o, context)
    if at >= 0:
        row = row_in(store.slots[at])
        if stamp > store.stamps[row] and _queue(store, row, store.stamps[row]):
            store.stamps[row] = stamp
        return
    _put_new(store, plans, at, h, context, s, p, o, stamp)


@njit(cache=True)
def _put_new(store, plans, at, h, context, s, p, o, stamp):
    meta = store.meta
    if meta[ROOM] == 0:
        meta[FULL] = ROOM_FULL
        return
    if meta[BORN_COUNT] == len(store.born):
        meta[FULL] = BORN_FULL
        return
    if panes_are_full(store):
        meta[FULL] = PANES_FULL
        return
    if meta[QUEUE_LENGTH] == len(store.queue):
        meta[FULL] = QUEUE_FULL
        return
    meta[ROOM] -= 1
    row = take_row(store)
    r = store.rows[row]
    r[S], r[P], r[O], r[CONTEXT] = s, p, o, context
    store.stamps[row] = stamp
    store.flags[row] = FRESH
    side = np.int64(context == 0)
    fill_slot(store, side, at, h, row)
    link(store, side, row)
    _count(store, plans, side, s, p, o, 1)
    _queue(store, row, _NEVER)
    if side:
        meta[GROUND] += 1
        return
    meta[LIVE] += 1
    if meta[USE_PANES]:
        hang_in_pane(store, row)
    store.flags[row] |= BORN
    store.born[meta[BORN_COUNT]] = row
    meta[BORN_COUNT] += 1


@njit(cache=True)
def _queue(store, row, old):
    """Queue a row to be joined; `old` is the stamp up to which that was done before."""
    if store.flags[row] & QUEUED:
        return True
    meta = store.meta
    size = len(store.queue)
    if meta[QUEUE_LENGTH] == size:
        meta[FULL] = QUEUE_FULL
        return False
    at = meta[QUEUE_HEAD] + meta[QUEUE_LENGTH]
    if at >= size:
        at -= size
    store.queue[at] = row
    store.queue_old[at] = old
    meta[QUEUE_LENGTH] += 1
    store.flags[row] |= QUEUED
    return True


@njit(cache=True)
def _count(store, plans, side, s, p, o, by):
    """Keep count of the facts that match the constants of each premise, in and out of background."""
    if p + 1 < len(plans.alpha_starts):
        for i in range(plans.alpha_starts[p], plans.alpha_starts[p + 1]):
            a = plans.alphas[i]
            if (a[0] < 0 or a[0] == s) and (a[2] < 0 or a[2] == o):
                store.alpha_counts[i, side] += by


@njit(cache=True)
def put_all(store, plans, start, context, s, p, o, stamp):
    """Put facts from `start` on; where it stopped (the end, unless an array was full)."""
    for i in range(start, len(stamp)):
        put(store, plans, context[i], s[i], p[i], o[i], stamp[i])
        if store.meta[FULL]:
            return i
    return len(stamp)


@njit(cache=True)
def doubt(store, context, s, p, o, stamp):
    """Suspect a fact if its stamp rests on a derivation with this one."""
    meta = store.meta
    row = first_row(store, 0, WHOLE, s, p, o, context)
    if row == END or store.flags[row] & SUSPECT or store.stamps[row] != stamp:
        return
    if meta[SUSPECT_COUNT] == len(store.suspects):
        meta[FULL] = SUSPECTS_FULL
        return
    store.flags[row] |= SUSPECT
    store.suspects[meta[SUSPECT_COUNT]] = row
    meta[SUSPECT_COUNT] += 1


@njit(cache=True)
def doubt_all(store, start, context, s, p, o, stamp):
    """Doubt facts from `start` on; where it stopped."""
    for i in range(start, len(stamp)):
        doubt(store, context[i], s[i], p[i], o[i], stamp[i])
        if store.meta[FULL]:
            return i
    return len(stamp)


@njit(cache=True)
def remove_suspects(store, plans):
    """Take every suspect out of the store; their rows keep their text until the next step."""
    for i in range(store.meta[SUSPECT_COUNT]):
        _remove(store, plans, np.int64(store.suspects[i]))


@njit(cache=True)
def _remove(store, plans, row):
    meta = store.meta
    r = store.rows[row]
    unlink(store, row)
    _count(store, plans, 0, r[S], r[P], r[O], -1)
    meta[LIVE] -= 1
    store.flags[row] = (store.flags[row] & (BORN | HANGING)) | DEAD | GONE
    store.gone[meta[GONE_COUNT]] = row
    meta[GONE_COUNT] += 1


@njit(cache=True)
def expire(store, plans):
    """Remove what has a stamp at or below the threshold.

    A row hangs in the pane of the stamp it had when it came; one that has risen since is hung into
    the pane of its present stamp only now. So a rise costs nothing, however often it happens.
    """
    meta = store.meta
    threshold = meta[THRESHOLD]
    while meta[PANES] and store.heap[0] <= threshold:
        stamp = store.heap[0]
        row = take_oldest_pane(store)
        while row != END:
            following = np.int64(store.rows[row, PANE_NEXT])
            if store.stamps[row] > threshold and not store.flags[row] & DEAD:
                if panes_are_full(store):
                    put_pane_back(store, stamp, row)
                    meta[FULL] = PANES_FULL
                    return
                hang_in_pane(store, row)
            else:
                _leave_pane(store, plans, row)
            row = following


@njit(cache=True)
def _leave_pane(store, plans, row):
    store.flags[row] &= ~np.uint8(HANGING)
    if not store.flags[row] & DEAD:
        _remove(store, plans, row)
    elif not store.flags[row] & GONE:
        give_row(store, row)


@njit(cache=True)
def begin_step(store):
    """Forget the last step's comings and goings, and give back the rows that nothing holds."""
    meta = store.meta
    for i in range(meta[BORN_COUNT]):
        store.flags[store.born[i]] &= ~np.uint8(BORN)
    for i in range(meta[GONE_COUNT]):
        row = np.int64(store.gone[i])
        store.flags[row] &= ~np.uint8(GONE)
        if not store.flags[row] & HANGING:
            give_row(store, row)
    meta[BORN_COUNT] = 0
    meta[GONE_COUNT] = 0
    meta[SUSPECT_COUNT] = 0


@njit(cache=True)
def held(store, rows, but):
    """Whether each row's fact has another live row without the flags `but` (keep-all only).

    The index over whole facts is the first join index there, for this and for joins.
    """
    found = np.zeros(len(rows), np.bool_)
    for i in range(len(rows)):
        r = store.rows[rows[i]]
        row = first_row(store, 2, WHOLE, r[S], r[P], r[O], r[CONTEXT])
        while row != END:
            if not store.flags[row] & but:
                found[i] = True
            row = np.int64(store.rows[row, LINKS])
    return found
