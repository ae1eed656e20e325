"""Hash tables: finding rows, linking them and taking them out. Compiled.

Linear probing with the hash's upper half beside the row's number, so a look-up touches a row only
when it is almost certainly the right one; removal shifts back what follows, so there are no
tombstones and a table does not wear out however long the stream is.

Functions take the arrays they need into local names first and index them with plain numbers: numba
makes an object of each view of a row.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel import view
from ensue.maintain.kernel.compiling import compiled, inlined, part
from ensue.maintain.kernel.layout import (
    CAPACITY,
    CONTEXT,
    END,
    FLAGS,
    FREE,
    FREE_COUNT,
    HANG_ALL,
    KEEP_ALL,
    OBJECT,
    OFFSET,
    PANE_NEXT,
    PREDICATE,
    ROWS,
    STAMP,
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
AHEAD = 12
"""How far ahead in a list of rows memory is asked for."""


@inlined
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


@inlined
def hash_row(rows, row):
    """Thirty-two bits of hash over all columns of a row."""
    h = np.uint64(0)
    for k in range(rows.shape[1]):
        h = (h + np.uint64(rows[row, k])) * _A
        h ^= h >> _HALF
    h *= _E
    return h >> _HALF


@inlined
def home_of(h, capacity):
    """Where the search for a hash begins in a table of this capacity."""
    return np.int64((h * np.uint64(capacity)) >> _HALF)


@inlined
def row_in(slot):
    """The row that a slot holds."""
    return np.int64(slot & _LOW) - 1


@inlined
def slot_of(h, row):
    """A slot that holds a row of this hash."""
    return (h << _HALF) | np.uint64(row + 1)


@inlined
def locate(store, table, mask, h, s, p, o, context):
    """Where the key is in a table: the slot's position, or `~position` of the slot for it."""
    tables = view.tables(store)
    return _probe(
        view.rows(store),
        view.slots(store),
        tables[table, OFFSET],
        tables[table, CAPACITY],
        mask,
        h,
        s,
        p,
        o,
        context,
    )


@part
def _probe(rows, slots, offset, capacity, mask, h, s, p, o, context):
    at = home_of(h, capacity)
    while True:
        slot = slots[offset + at]
        if slot == _FREE_SLOT:
            return ~(offset + at)
        if slot >> _HALF == h:
            row = row_in(slot)
            if (
                rows[row, CONTEXT] == context
                and (not mask & SUBJECT or rows[row, S] == s)
                and (not mask & PREDICATE or rows[row, P] == p)
                and (not mask & OBJECT or rows[row, O] == o)
            ):
                return offset + at
        at += 1
        if at == capacity:
            at = 0


@part
def locate_stamped(store, h, s, p, o, context, stamp):
    """Like `locate` for a whole fact, where each stamp makes a fact of its own (keep-all)."""
    rows, slots, stamps = view.rows(store), view.slots(store), view.stamps(store)
    offset, capacity = view.tables(store)[0, OFFSET], view.tables(store)[0, CAPACITY]
    at = home_of(h, capacity)
    while True:
        slot = slots[offset + at]
        if slot == _FREE_SLOT:
            return ~(offset + at)
        if slot >> _HALF == h:
            row = row_in(slot)
            same = rows[row, S] == s and rows[row, P] == p and rows[row, O] == o
            if same and rows[row, CONTEXT] == context and stamps[row, STAMP] == stamp:
                return offset + at
        at += 1
        if at == capacity:
            at = 0


@inlined
def expect(store, table, h):
    """Ask for the memory where a hash is looked up in a table soon: it is there by then."""
    tables = view.tables(store)
    view.prefetch(view.slots(store), tables[table, OFFSET] + home_of(h, tables[table, CAPACITY]))


@inlined
def expect_row(store, row):
    """Ask for the memory of a row."""
    rows = view.rows(store)
    view.prefetch(rows, row * rows.shape[1])


@inlined
def expect_listed(store, listed, i):
    """Ask for a row that comes later in a list that is at position i."""
    expect_row(store, np.int64(listed[min(i + AHEAD, len(listed) - 1)]))


@inlined
def first_row(store, table, mask, s, p, o, context):
    """The first row with this key, or END."""
    at = locate(store, table, mask, hash_key(mask, s, p, o, context), s, p, o, context)
    if at < 0:
        return np.int64(END)
    return row_in(view.slots(store)[at])


@inlined
def fill_slot(store, table, at, h, row):
    """Put a row into the free slot at `~at`."""
    view.slots(store)[~at] = slot_of(h, row)
    view.tables(store)[table, USED] += 1


@inlined
def find_slot_of(slots, offset, capacity, h, row):
    """Where a row that is there has its slot, from `offset` on."""
    wanted = slot_of(h, row)
    at = home_of(h, capacity)
    while slots[offset + at] != wanted:
        at += 1
        if at == capacity:
            at = 0
    return at


@part
def empty_slot(slots, offset, capacity, hole):
    """Take a slot out and shift back those behind it that may move nearer to their home."""
    at = hole
    while True:
        at += 1
        if at == capacity:
            at = 0
        slot = slots[offset + at]
        if slot == _FREE_SLOT:
            break
        home = home_of(slot >> _HALF, capacity)
        from_home = at - home if at >= home else at - home + capacity
        from_hole = at - hole if at >= hole else at - hole + capacity
        if from_home >= from_hole:
            slots[offset + hole] = slot
            hole = at
    slots[offset + hole] = _FREE_SLOT


@part
def link(store, side, row):
    """Hang a row into its join indexes; `side` is 1 for the background, else 0."""
    indexes = -1 if side else hung(store, view.rows(store)[row, P])
    for k in range(1, len(view.links(store))):
        if indexes >> k & 1:
            _hang(store, side, k, row)


@inlined
def hung(store, predicate):
    """The join indexes that the facts of a predicate hang in, as bits."""
    hangs, everything = view.hangs(store), view.meta(store)[HANG_ALL]
    return everything | np.int64(hangs[predicate]) if 0 <= predicate < len(hangs) else everything


@part
def _hang(store, side, k, row):
    """Hang a row into one join index, at the front of its list."""
    rows, slots, tables = view.rows(store), view.slots(store), view.tables(store)
    s, p, o, context = rows[row, S], rows[row, P], rows[row, O], rows[row, CONTEXT]
    mask = view.masks(store)[k]
    table = 2 * k + side
    h = hash_key(mask, s, p, o, context)
    at = _probe(rows, slots, tables[table, OFFSET], tables[table, CAPACITY], mask, h, s, p, o, context)
    head = np.int64(END)
    if at < 0:
        at = ~at
        tables[table, USED] += 1
    else:
        head = row_in(slots[at])
    slots[at] = slot_of(h, row)
    if side:
        _push(view.ground_links(store), 2 * (k - 1), row, head)
    else:
        _push(rows, view.links(store)[k], row, head)


@compiled
def hang_all(store, k, chosen):
    """Hang chosen rows into an index."""
    for i in range(len(chosen)):
        _hang(store, 0, k, np.int64(chosen[i]))


@inlined
def _push(links, column, row, head):
    links[row, column] = head
    links[row, column + 1] = END
    if head != END:
        links[head, column + 1] = row


@inlined
def next_row(store, side, index, row):
    """The row after this one in the list of a join index, or END."""
    if side:
        return np.int64(view.ground_links(store)[row, 2 * (index - 1)])
    return np.int64(view.rows(store)[row, view.links(store)[index]])


@part
def unlink(store, row):
    """Take a row that is not background out of every index."""
    rows, slots, tables, masks = view.rows(store), view.slots(store), view.tables(store), view.masks(store)
    s, p, o, context = rows[row, S], rows[row, P], rows[row, O], rows[row, CONTEXT]
    columns, indexes = view.links(store), hung(store, p)
    for k in range(1, len(columns)):
        if not indexes >> k & 1:
            continue
        links = columns[k]
        following, before = rows[row, links], rows[row, links + 1]
        if following != END:
            rows[following, links + 1] = before
        if before != END:
            rows[before, links] = following
            continue
        offset, capacity = tables[2 * k, OFFSET], tables[2 * k, CAPACITY]
        h = hash_key(masks[k], s, p, o, context)
        at = find_slot_of(slots, offset, capacity, h, row)
        if following != END:
            slots[offset + at] = slot_of(h, following)
        else:
            empty_slot(slots, offset, capacity, at)
            tables[2 * k, USED] -= 1
    offset, capacity = tables[0, OFFSET], tables[0, CAPACITY]
    h = fact_hash(store, s, p, o, context, view.stamps(store)[row, STAMP])
    empty_slot(slots, offset, capacity, find_slot_of(slots, offset, capacity, h, row))
    tables[0, USED] -= 1


@inlined
def expect_unlink(store, row):
    """Ask for the memory that `unlink` needs of a row."""
    rows, masks, columns = view.rows(store), view.masks(store), view.links(store)
    s, p, o, context = rows[row, S], rows[row, P], rows[row, O], rows[row, CONTEXT]
    expect(store, 0, fact_hash(store, s, p, o, context, view.stamps(store)[row, STAMP]))
    indexes = hung(store, p)
    for k in range(1, len(columns)):
        if indexes >> k & 1 and rows[row, columns[k] + 1] == END:
            expect(store, 2 * k, hash_key(masks[k], s, p, o, context))


@inlined
def expect_link(store, context, s, p, o):
    """Ask for the memory that `link` needs for a fact outside the background."""
    masks, indexes = view.masks(store), hung(store, p)
    for k in range(1, len(masks)):
        if indexes >> k & 1:
            expect(store, 2 * k, hash_key(masks[k], s, p, o, context))


@inlined
def fact_hash(store, s, p, o, context, stamp):
    """The hash under which index 0 has a fact."""
    h = hash_key(WHOLE, s, p, o, context)
    if view.meta(store)[KEEP_ALL]:
        h = (h ^ (np.uint64(stamp) * _A) >> _HALF) & _LOW
    return h


@compiled
def rebuild_tables(store, tables, slots):
    """Fill new tables with the heads of the old: their rows hang together as they are."""
    old_slots, old_tables = view.slots(store), view.tables(store)
    for table in range(len(tables)):
        first, end = old_tables[table, OFFSET], old_tables[table, OFFSET] + old_tables[table, CAPACITY]
        move_slots(old_slots, first, end, slots, tables[table, OFFSET], tables[table, CAPACITY])


@part
def move_slots(old, first, end, slots, offset, capacity):
    """Copy the slots of a table from `first` to `end` into a larger one."""
    for at in range(first, end):
        slot = old[at]
        if slot != _FREE_SLOT:
            to = home_of(slot >> _HALF, capacity)
            while slots[offset + to] != _FREE_SLOT:
                to += 1
                if to == capacity:
                    to = 0
            slots[offset + to] = slot


@compiled
def move_all(old, slots):
    """Put what is in the only table of some slots into larger ones."""
    move_slots(old, 0, len(old), slots, 0, len(slots))


@inlined
def take_row(store):
    """A row to write to: one that was given back, or a blank one."""
    meta = view.meta(store)
    row = meta[FREE]
    if row != END:
        meta[FREE] = view.rows(store)[row, PANE_NEXT]
        meta[FREE_COUNT] -= 1
        expect_row(store, max(0, meta[FREE]))
        return row
    row = meta[ROWS]
    meta[ROWS] += 1
    return row


@part
def give_row(store, row):
    """Give a row back. No context has the number -1, so a free row is never read as a fact."""
    view.rows(store)[row, CONTEXT] = -1
    view.rows(store)[row, PANE_NEXT] = view.meta(store)[FREE]
    view.meta(store)[FREE] = row
    view.meta(store)[FREE_COUNT] += 1
    view.rows(store)[row, FLAGS] = 0
