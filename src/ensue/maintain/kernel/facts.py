"""Facts come, rise, are doubted and go: the only functions that change the store. Compiled.

A function that finds an array full writes which one into the FULL register and leaves everything
as it was; the caller lets Python make it larger and does the piece of work again. That is safe
because putting a fact twice is putting it once.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel import view
from ensue.maintain.kernel.compiling import allocating, compiled, inlined, part
from ensue.maintain.kernel.layout import (
    BORN,
    BORN_COUNT,
    BORN_FULL,
    CLOSED,
    CONTEXT,
    DEAD,
    END,
    FLAGS,
    FRESH,
    FULL,
    GONE,
    GONE_COUNT,
    GROUND,
    HANGING,
    KEEP_ALL,
    LIVE,
    PANE_NEXT,
    PANES,
    PANES_FULL,
    PUT_ALONE,
    PUT_CLOSED,
    PUT_FULLY,
    QUEUE_FULL,
    QUEUE_HEAD,
    QUEUE_LENGTH,
    QUEUED,
    ROOM,
    ROOM_FULL,
    STALE,
    STAMP,
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
from ensue.maintain.kernel.panes import hang_in_pane, panes_are_full, put_pane_back, take_oldest_pane
from ensue.maintain.kernel.plans import DISTINCT
from ensue.maintain.kernel.tables import (
    AHEAD,
    expect,
    expect_link,
    expect_listed,
    expect_row,
    expect_unlink,
    fact_hash,
    fill_slot,
    first_row,
    give_row,
    hash_key,
    link,
    locate,
    locate_stamped,
    row_in,
    take_row,
    unlink,
)

_NEVER = np.int64(np.iinfo(np.int64).min)


@inlined
def put(store, plans, context, s, p, o, stamp, how):
    """Let the store know that a fact holds until `stamp`: a new fact, a rise, or no news."""
    meta = view.meta(store)
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
        row = row_in(view.slots(store)[at])
        if stamp > view.stamps(store)[row, STAMP] and _queue(store, row, view.stamps(store)[row, STAMP], how):
            view.stamps(store)[row, STAMP] = stamp
        return
    _put_new(store, plans, at, h, context, s, p, o, stamp, how)


@part
def _put_new(store, plans, at, h, context, s, p, o, stamp, how):
    expect_link(store, context, s, p, o)
    meta = view.meta(store)
    side = np.int64(context == 0)
    if meta[ROOM + side] <= 0:
        meta[FULL] = ROOM_FULL + side
        return
    if meta[BORN_COUNT] == len(view.born(store)):
        meta[FULL] = BORN_FULL
        return
    if panes_are_full(store):
        meta[FULL] = PANES_FULL
        return
    if meta[QUEUE_LENGTH] == len(view.queue(store)):
        meta[FULL] = QUEUE_FULL
        return
    meta[ROOM] -= 1
    meta[ROOM + 1] -= 1
    row = take_row(store)
    rows = view.rows(store)
    rows[row, S], rows[row, P], rows[row, O], rows[row, CONTEXT] = s, p, o, context
    view.stamps(store)[row, STAMP] = stamp
    view.rows(store)[row, FLAGS] = 0 if how == PUT_ALONE else FRESH
    fill_slot(store, side, at, h, row)
    link(store, side, row)
    _count(store, plans, side, s, p, o, 1)
    _queue(store, row, _NEVER, how)
    if side:
        meta[GROUND] += 1
        return
    meta[LIVE] += 1
    if meta[USE_PANES]:
        hang_in_pane(store, row)
    view.rows(store)[row, FLAGS] |= BORN
    view.born(store)[meta[BORN_COUNT]] = row
    meta[BORN_COUNT] += 1


@inlined
def _queue(store, row, old, how):
    """Queue a row to be joined; `old` is the stamp up to which that was done before."""
    if how == PUT_ALONE:
        return True
    rows = view.rows(store)
    if rows[row, FLAGS] & QUEUED:
        if how == PUT_FULLY:
            rows[row, FLAGS] &= ~CLOSED
        return True
    meta = view.meta(store)
    size = len(view.queue(store))
    if meta[QUEUE_LENGTH] == size:
        meta[FULL] = QUEUE_FULL
        return False
    at = meta[QUEUE_HEAD] + meta[QUEUE_LENGTH]
    if at >= size:
        at -= size
    view.queue(store)[at] = row
    view.queue_old(store)[at] = old
    meta[QUEUE_LENGTH] += 1
    rows[row, FLAGS] |= QUEUED | (CLOSED if how == PUT_CLOSED else 0)
    return True


@inlined
def has_constants(alphas, i, s, o):
    """Whether subject and object of a fact are those of an alpha, where it has any."""
    return (alphas[i, S] < 0 or alphas[i, S] == s) and (alphas[i, O] < 0 or alphas[i, O] == o)


@inlined
def _count(store, plans, side, s, p, o, by):
    """Keep count of the facts that can match each premise, in and out of the background."""
    starts, alphas, counts = view.alpha_starts(plans), view.alphas(plans), view.alpha_counts(store)
    if p + 1 < len(starts):
        for i in range(starts[p], starts[p + 1]):
            if has_constants(alphas, i, s, o) and not (alphas[i, DISTINCT] and s == o):
                if counts[i, 0] == 0 and view.assumed(store)[i]:
                    view.meta(store)[STALE] = 1
                counts[i, side] += by


@part
def put_all(store, plans, start, end, context, s, p, o, stamp):
    """Put facts from `start` on; where it stopped (the end, unless an array was full)."""
    for i in range(start, end):
        k = min(i + AHEAD, end - 1)
        expect(store, np.int64(context[k] == 0), hash_key(WHOLE, s[k], p[k], o[k], context[k]))
        put(store, plans, context[i], s[i], p[i], o[i], stamp[i], PUT_FULLY)
        if view.meta(store)[FULL]:
            return i
    return end


@part
def doubt(store, context, s, p, o, stamp):
    """Suspect a fact if its stamp rests on a derivation with this one."""
    meta = view.meta(store)
    row = first_row(store, 0, WHOLE, s, p, o, context)
    if row == END or view.rows(store)[row, FLAGS] & SUSPECT or view.stamps(store)[row, STAMP] != stamp:
        return
    if meta[SUSPECT_COUNT] == len(view.suspects(store)):
        meta[FULL] = SUSPECTS_FULL
        return
    view.rows(store)[row, FLAGS] |= SUSPECT
    view.suspects(store)[meta[SUSPECT_COUNT]] = row
    meta[SUSPECT_COUNT] += 1


@compiled
def doubt_all(store, start, context, s, p, o, stamp):
    """Doubt facts from `start` on; where it stopped."""
    for i in range(start, len(stamp)):
        doubt(store, context[i], s[i], p[i], o[i], stamp[i])
        if view.meta(store)[FULL]:
            return i
    return len(stamp)


@compiled
def remove_suspects(store, plans):
    """Take every suspect out of the store; their rows keep their text until the next step."""
    for i in range(view.meta(store)[SUSPECT_COUNT]):
        _remove(store, plans, np.int64(view.suspects(store)[i]))


@part
def _remove(store, plans, row):
    meta = view.meta(store)
    rows = view.rows(store)
    unlink(store, row)
    _count(store, plans, 0, rows[row, S], rows[row, P], rows[row, O], -1)
    meta[LIVE] -= 1
    view.rows(store)[row, FLAGS] = (view.rows(store)[row, FLAGS] & (BORN | HANGING)) | DEAD | GONE
    view.gone(store)[meta[GONE_COUNT]] = row
    meta[GONE_COUNT] += 1


@compiled
def expire(store, plans):
    """Remove what has a stamp at or below the threshold.

    A row hangs in the pane of the stamp it had when it came; one that has risen since is hung into
    the pane of its present stamp only now. So a rise costs nothing, however often it happens.
    """
    meta = view.meta(store)
    threshold = meta[THRESHOLD]
    while meta[PANES] and view.heap(store)[0] <= threshold:
        stamp = view.heap(store)[0]
        row = take_oldest_pane(store)
        while row != END:
            following = np.int64(view.rows(store)[row, PANE_NEXT])
            if following != END:
                expect_row(store, max(0, np.int64(view.rows(store)[following, PANE_NEXT])))
                expect_unlink(store, following)
            if view.stamps(store)[row, STAMP] > threshold and not view.rows(store)[row, FLAGS] & DEAD:
                if panes_are_full(store):
                    put_pane_back(store, stamp, row)
                    meta[FULL] = PANES_FULL
                    return
                hang_in_pane(store, row)
            else:
                _leave_pane(store, plans, row)
            row = following


@part
def _leave_pane(store, plans, row):
    view.rows(store)[row, FLAGS] &= ~HANGING
    if not view.rows(store)[row, FLAGS] & DEAD:
        _remove(store, plans, row)
    elif not view.rows(store)[row, FLAGS] & GONE:
        give_row(store, row)


@compiled
def begin_step(store):
    """Forget the last step's comings and goings, and give back the rows that nothing holds."""
    meta = view.meta(store)
    for i in range(meta[BORN_COUNT]):
        expect_listed(store, view.born(store), i)
        view.rows(store)[view.born(store)[i], FLAGS] &= ~BORN
    for i in range(meta[GONE_COUNT]):
        expect_listed(store, view.gone(store), i)
        row = np.int64(view.gone(store)[i])
        view.rows(store)[row, FLAGS] &= ~GONE
        if not view.rows(store)[row, FLAGS] & HANGING:
            give_row(store, row)
    meta[BORN_COUNT] = 0
    meta[GONE_COUNT] = 0
    meta[SUSPECT_COUNT] = 0


@allocating
def without(store, listed, flags):
    """Those of the listed rows that have none of the flags."""
    rows = view.rows(store)
    found = np.empty(len(listed), np.int32)
    count = 0
    for i in range(len(listed)):
        expect_listed(store, listed, i)
        if not rows[listed[i], FLAGS] & flags:
            found[count] = listed[i]
            count += 1
    return found[:count]


@allocating
def gather(store, rows):
    """The facts in some rows, as columns: S, P, O, CONTEXT; and their stamps."""
    table, stamps = view.rows(store), view.stamps(store)
    columns, found = np.empty((CONTEXT + 1, len(rows)), np.int32), np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        expect_listed(store, rows, i)
        row = rows[i]
        for k in range(CONTEXT + 1):
            columns[k, i] = table[row, k]
        found[i] = stamps[row, STAMP]
    return columns, found


@allocating
def held(store, rows, but):
    """Whether each row's fact has another live row without the flags `but` (keep-all only).

    The index over whole facts is the first join index there, for this and for joins.
    """
    found = np.zeros(len(rows), np.bool_)
    all_rows, links = view.rows(store), view.links(store)[1]
    for i in range(len(rows)):
        r = rows[i]
        row = first_row(store, 2, WHOLE, all_rows[r, S], all_rows[r, P], all_rows[r, O], all_rows[r, CONTEXT])
        while row != END:
            if not all_rows[row, FLAGS] & but:
                found[i] = True
            row = np.int64(all_rows[row, links])
    return found
