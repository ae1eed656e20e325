"""Making larger what was full: each way takes a store and gives one with room."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ensue.maintain.kernel.layout import (
    BORN_FULL,
    CAPACITY,
    CONTEXT,
    DEAD,
    END,
    FLAGS,
    FREE_COUNT,
    FULLEST,
    GROUND_FULL,
    INDEX_UNBUILT,
    PANES_FULL,
    QUEUE_FULL,
    QUEUE_HEAD,
    QUEUE_LENGTH,
    ROOM_FULL,
    ROWS,
    SOLUTIONS_FULL,
    SUSPECTS_FULL,
    USED,
    WANTED,
    WANTED_INDEX,
    Array,
    P,
    Store,
    an_eighth,
    grow_rows,
    grown,
    hang_from_now,
    laid_out,
    new_tables,
    room_in,
    set_room,
)
from ensue.maintain.kernel.panes import rebuild_panes
from ensue.maintain.kernel.tables import hang_all, rebuild_tables
from ensue.maintain.kernel.view import address_of, book_of


def _more_room(store: Store, side: int) -> Store:
    set_room(store)
    if room_in(store, side) > an_eighth(store):
        return store  # Rows have left since room was last counted.
    if len(store.rows) - store.meta[ROWS] + store.meta[FREE_COUNT] <= an_eighth(store):
        store = grow_rows(store, side)
    tables, slots = new_tables(store, side)
    if len(slots) > len(store.slots):
        _refill(store, tables, slots)
        store = store._replace(tables=tables, slots=slots)
    set_room(store)
    return store


def _refill(store: Store, tables: Array, slots: Array) -> None:
    pages = book_of(store)
    rebuild_tables(address_of(pages), tables, slots)


def _hang(store: Store, k: int, predicate: int) -> Store:
    """Hang the facts of a predicate that are there (-1: of all) into an index, and from now on."""
    used = store.rows[: store.meta[ROWS]]
    chosen = (used[:, CONTEXT] > 0) & (used[:, FLAGS] & DEAD == 0)
    hanging = store.hangs >> k & 1
    store, predicate = hang_from_now(store, k, predicate)
    used = store.rows[: store.meta[ROWS]]
    if predicate >= 0:
        chosen &= used[:, P] == predicate
    else:
        chosen &= ~np.isin(used[:, P], np.nonzero(hanging)[0])
    rows = np.nonzero(chosen)[0].astype(np.int32)
    table = store.tables[2 * k]
    if table[CAPACITY] * FULLEST - table[USED] <= len(rows):
        tables = store.tables.copy()
        tables[2 * k, CAPACITY] = int(((table[USED] + len(rows)) * 1.25 + 64) / FULLEST)
        tables, slots = laid_out(tables)
        _refill(store, tables, slots)
        store = store._replace(tables=tables, slots=slots)
    pages = book_of(store)
    hang_all(address_of(pages), k, rows)
    set_room(store)
    return store


def _more_queue(store: Store) -> Store:
    """A longer queue, with what waits in it moved to its front."""
    head, length, size = int(store.meta[QUEUE_HEAD]), int(store.meta[QUEUE_LENGTH]), len(store.queue)
    waiting = (head + np.arange(length)) % size
    queue, old = np.zeros(2 * size, np.int32), np.zeros(2 * size, np.int64)
    queue[:length], old[:length] = store.queue[waiting], store.queue_old[waiting]
    store.meta[QUEUE_HEAD] = 0
    return store._replace(queue=queue, queue_old=old)


def _more_panes(store: Store) -> Store:
    size = 2 * len(store.pane_stamps)
    stamps, heads = np.zeros(size, np.int64), np.full(size, END, np.int32)
    pages = book_of(store)
    rebuild_panes(address_of(pages), stamps, heads)
    return store._replace(pane_stamps=stamps, pane_heads=heads, heap=grown(store.heap, size))


def _more_solutions(store: Store) -> Store:
    size = 2 * len(store.solution_stamps)
    return store._replace(
        solutions=grown(store.solutions, size), solution_stamps=grown(store.solution_stamps, size)
    )


GROW: dict[int, Callable[[Store], Store]] = {
    ROOM_FULL: lambda store: _more_room(store, 0),
    GROUND_FULL: lambda store: _more_room(store, 1),
    QUEUE_FULL: _more_queue,
    BORN_FULL: lambda store: store._replace(born=grown(store.born, 2 * len(store.born))),
    SUSPECTS_FULL: lambda store: store._replace(suspects=grown(store.suspects, 2 * len(store.suspects))),
    SOLUTIONS_FULL: _more_solutions,
    PANES_FULL: _more_panes,
    INDEX_UNBUILT: lambda store: _hang(store, int(store.meta[WANTED_INDEX]), int(store.meta[WANTED])),
}
