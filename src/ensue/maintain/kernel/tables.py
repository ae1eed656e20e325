"""Hash tables and panes: finding rows, linking them and taking them out. Compiled.

Linear probing with the hash's upper half beside the row's number, so a look-up touches a row only
when it is almost certainly the right one; removal shifts back what follows, so there are no
tombstones and a table does not wear out however long the stream is.
"""

# The compiled functions are typed by numba from their arguments.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"

from __future__ import annotations

import numpy as np
from numba import njit

from ensue.maintain.kernel.layout import (
    CAPACITY,
    CONTEXT,
    END,
    FREE,
    FREE_COUNT,
    HANGING,
    KEEP_ALL,
    LINKS,
    OBJECT,
    OFFSET,
    PANE_NEXT,
    PANES,
    PREDICATE,
    ROWS,
    SUBJECT,
    USED,
    WHOLE,
    O,
    P,
    S,
)

_A = np.uint64(0x9E3779B97F4A7C15)
_B = np.uint64(0xC2B2AE3D27D4EB4F)
_C = np.uint64(0x165667B19E3779F9)
_D = np.uint64(0xD6E8FEB86659FD93)
_E = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_FREE_SLOT = np.uint64(0)
_PANE_SALT = np.uint64(0xA0761D6478BD642F)


@njit(cache=True)
def hash_key(mask, s, p, o, context):
    """Thirty-two bits of hash over the positions in `mask`, and the context."""
    h = np.uint64(context) * _D
    if mask & SUBJECT:
        h += np.uint64(s) * _A
    if mask & PREDICATE:
        h += np.uint64(p) * _B
    if mask & OBJECT:
        h += np.uint64(o) * _C
    h ^= h >> _HALF
    h *= _E
    return h >> _HALF


@njit(cache=True)
def _home(h, capacity):
    return np.int64((h * np.uint64(capacity)) >> _HALF)


@njit(cache=True)
def row_in(slot):
    """The row that a slot holds."""
    return np.int64(slot & _LOW) - 1


@njit(cache=True)
def _slot(h, row):
    return (h << _HALF) | np.uint64(row + 1)


@njit(cache=True)
def locate(store, table, mask, h, s, p, o, context):
    """Where the key is in a table: the slot's position, or `~position` of the slot for it."""
    offset = store.tables[table, OFFSET]
    capacity = store.tables[table, CAPACITY]
    at = _home(h, capacity)
    while True:
        slot = store.slots[offset + at]
        if slot == _FREE_SLOT:
            return ~(offset + at)
        if slot >> _HALF == h:
            row = row_in(slot)
            if (
                store.rows[row, CONTEXT] == context
                and (not mask & SUBJECT or store.rows[row, S] == s)
                and (not mask & PREDICATE or store.rows[row, P] == p)
                and (not mask & OBJECT or store.rows[row, O] == o)
            ):
                return offset + at
        at += 1
        if at == capacity:
            at = 0


@njit(cache=True)
def locate_stamped(store, h, s, p, o, context, stamp):
    """Like `locate` for a whole fact, where each stamp makes a fact of its own (keep-all)."""
    offset = store.tables[0, OFFSET]
    capacity = store.tables[0, CAPACITY]
    at = _home(h, capacity)
    while True:
        slot = store.slots[offset + at]
        if slot == _FREE_SLOT:
            return ~(offset + at)
        if slot >> _HALF == h:
            row = row_in(slot)
            r = store.rows[row]
            if r[S] == s and r[P] == p and r[O] == o and r[CONTEXT] == context and store.stamps[row] == stamp:
                return offset + at
        at += 1
        if at == capacity:
            at = 0


@njit(cache=True)
def first_row(store, table, mask, s, p, o, context):
    """The first row with this key, or END."""
    at = locate(store, table, mask, hash_key(mask, s, p, o, context), s, p, o, context)
    if at < 0:
        return np.int64(END)
    return row_in(store.slots[at])


@njit(cache=True)
def fill_slot(store, table, at, h, row):
    """Put a row into the free slot at `~at`."""
    store.slots[~at] = _slot(h, row)
    store.tables[table, USED] += 1


@njit(cache=True)
def _find_slot_of(store, table, h, row):
    offset = store.tables[table, OFFSET]
    capacity = store.tables[table, CAPACITY]
    wanted = _slot(h, row)
    at = _home(h, capacity)
    while store.slots[offset + at] != wanted:
        at += 1
        if at == capacity:
            at = 0
    return at


@njit(cache=True)
def _empty_slot(store, table, hole):
    """Take a slot out and shift back those behind it that may move nearer to their home."""
    offset = store.tables[table, OFFSET]
    capacity = store.tables[table, CAPACITY]
    at = hole
    while True:
        at += 1
        if at == capacity:
            at = 0
        slot = store.slots[offset + at]
        if slot == _FREE_SLOT:
            break
        home = _home(slot >> _HALF, capacity)
        from_home = at - home if at >= home else at - home + capacity
        from_hole = at - hole if at >= hole else at - hole + capacity
        if from_home >= from_hole:
            store.slots[offset + hole] = slot
            hole = at
    store.slots[offset + hole] = _FREE_SLOT
    store.tables[table, USED] -= 1


@njit(cache=True)
def link(store, side, row):
    """Hang a row into every join index, at the front; `side` is 1 for the background, else 0."""
    r = store.rows[row]
    for k in range(1, len(store.masks)):
        mask = store.masks[k]
        table = 2 * k + side
        h = hash_key(mask, r[S], r[P], r[O], r[CONTEXT])
        at = locate(store, table, mask, h, r[S], r[P], r[O], r[CONTEXT])
        links = LINKS + 2 * (k - 1)
        r[links + 1] = END
        if at < 0:
            r[links] = END
            fill_slot(store, table, at, h, row)
        else:
            head = row_in(store.slots[at])
            r[links] = head
            store.rows[head, links + 1] = row
            store.slots[at] = _slot(h, row)


@njit(cache=True)
def unlink(store, row):
    """Take a row that is not background out of every index."""
    r = store.rows[row]
    for k in range(1, len(store.masks)):
        links = LINKS + 2 * (k - 1)
        following, before = r[links], r[links + 1]
        if following != END:
            store.rows[following, links + 1] = before
        if before != END:
            store.rows[before, links] = following
            continue
        h = hash_key(store.masks[k], r[S], r[P], r[O], r[CONTEXT])
        at = _find_slot_of(store, 2 * k, h, row)
        if following != END:
            store.slots[store.tables[2 * k, OFFSET] + at] = _slot(h, following)
        else:
            _empty_slot(store, 2 * k, at)
    h = fact_hash(store, r[S], r[P], r[O], r[CONTEXT], store.stamps[row])
    _empty_slot(store, 0, _find_slot_of(store, 0, h, row))


@njit(cache=True)
def fact_hash(store, s, p, o, context, stamp):
    """The hash under which index 0 has a fact."""
    h = hash_key(WHOLE, s, p, o, context)
    if store.meta[KEEP_ALL]:
        h = (h ^ (np.uint64(stamp) * _A) >> _HALF) & _LOW
    return h


@njit(cache=True)
def rebuild_tables(store, tables, slots):
    """Fill new tables with the heads of the old: their rows hang together as they are."""
    for table in range(len(tables)):
        old = store.tables[table, OFFSET]
        offset, capacity = tables[table, OFFSET], tables[table, CAPACITY]
        for at in range(store.tables[table, CAPACITY]):
            slot = store.slots[old + at]
            if slot != _FREE_SLOT:
                to = _home(slot >> _HALF, capacity)
                while slots[offset + to] != _FREE_SLOT:
                    to += 1
                    if to == capacity:
                        to = 0
                slots[offset + to] = slot


@njit(cache=True)
def take_row(store):
    """A row to write to: one that was given back, or a blank one."""
    meta = store.meta
    row = meta[FREE]
    if row != END:
        meta[FREE] = store.rows[row, PANE_NEXT]
        meta[FREE_COUNT] -= 1
        return row
    row = meta[ROWS]
    meta[ROWS] += 1
    return row


@njit(cache=True)
def give_row(store, row):
    """Give a row back. No context has the number -1, so a free row is never read as a fact."""
    store.rows[row, CONTEXT] = -1
    store.rows[row, PANE_NEXT] = store.meta[FREE]
    store.meta[FREE] = row
    store.meta[FREE_COUNT] += 1
    store.flags[row] = 0


@njit(cache=True)
def _pane_home(stamp, capacity):
    h = np.uint64(stamp) * _PANE_SALT
    return _home(h >> _HALF, capacity)


@njit(cache=True)
def _locate_pane(store, stamp):
    capacity = len(store.pane_stamps)
    at = _pane_home(stamp, capacity)
    while store.pane_heads[at] != END and store.pane_stamps[at] != stamp:
        at += 1
        if at == capacity:
            at = 0
    return at


@njit(cache=True)
def panes_are_full(store):
    """Whether a pane more would crowd the table of panes."""
    return 2 * store.meta[PANES] >= len(store.pane_stamps)


@njit(cache=True)
def hang_in_pane(store, row):
    """Hang a row into the pane of its stamp; a new stamp goes onto the heap of stamps."""
    stamp = store.stamps[row]
    at = _locate_pane(store, stamp)
    if store.pane_heads[at] == END:
        store.pane_stamps[at] = stamp
        _push_stamp(store, stamp)
    store.rows[row, PANE_NEXT] = store.pane_heads[at]
    store.pane_heads[at] = row
    store.flags[row] |= HANGING


@njit(cache=True)
def put_pane_back(store, stamp, first):
    """Put back what is left of a pane that `take_oldest_pane` took."""
    at = _locate_pane(store, stamp)
    store.pane_stamps[at] = stamp
    store.pane_heads[at] = first
    _push_stamp(store, stamp)


@njit(cache=True)
def _push_stamp(store, stamp):
    at = store.meta[PANES]
    store.meta[PANES] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if store.heap[parent] <= stamp:
            break
        store.heap[at] = store.heap[parent]
        at = parent
    store.heap[at] = stamp


@njit(cache=True)
def take_oldest_pane(store):
    """Remove the pane with the smallest stamp; the first of its rows."""
    stamp = store.heap[0]
    store.meta[PANES] -= 1
    count = store.meta[PANES]
    last = store.heap[count]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and store.heap[child + 1] < store.heap[child]:
            child += 1
        if store.heap[child] >= last:
            break
        store.heap[at] = store.heap[child]
        at = child
    store.heap[at] = last
    hole = _locate_pane(store, stamp)
    first = np.int64(store.pane_heads[hole])
    _empty_pane(store, hole)
    return first


@njit(cache=True)
def _empty_pane(store, hole):
    capacity = len(store.pane_stamps)
    at = hole
    while True:
        at += 1
        if at == capacity:
            at = 0
        if store.pane_heads[at] == END:
            break
        home = _pane_home(store.pane_stamps[at], capacity)
        from_home = at - home if at >= home else at - home + capacity
        from_hole = at - hole if at >= hole else at - hole + capacity
        if from_home >= from_hole:
            store.pane_stamps[hole] = store.pane_stamps[at]
            store.pane_heads[hole] = store.pane_heads[at]
            hole = at
    store.pane_heads[hole] = END


@njit(cache=True)
def rebuild_panes(store, pane_stamps, pane_heads):
    """Move the panes into larger arrays."""
    capacity = len(pane_stamps)
    for old in range(len(store.pane_stamps)):
        if store.pane_heads[old] != END:
            at = _pane_home(store.pane_stamps[old], capacity)
            while pane_heads[at] != END:
                at += 1
                if at == capacity:
                    at = 0
            pane_stamps[at] = store.pane_stamps[old]
            pane_heads[at] = store.pane_heads[old]


