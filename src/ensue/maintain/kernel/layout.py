"""The kernel's state: flat arrays, so that it can be compiled for, memory-mapped and copied.

A row is a timed fact: subject, predicate, object and context, stamp and flags, then the links of the
lists it hangs in, side by side: most often one cache line. Rows hang in

- two hash tables per index, one for the background and one for everything else: the background is
  small and stays in the processor's cache. Index 0 finds a fact, the others find what joins. Outside
  the background the facts of a predicate hang in an index from when it is first asked for them: most
  never are (some indexes serve retraction alone, or schema that arrives on a stream). Only then do
  rows get columns for the index's links. The background's links are in `ground_links`, since
  background comes first and so has the first rows;
- one list per stamp (a *pane*), which is how expiry finds what has to go without searching.

A table is open addressing over 64-bit slots: 32 bits of the hash, and the row's number plus one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.pages import zeros

Array = NDArray[Any]

# Columns of a row. The links (next, previous) of the join indexes built so far begin at LINKS.
S, P, O, CONTEXT, _, _, FLAGS, PANE_NEXT, LINKS = range(9)  # noqa: E741 (everyone says S, P, O)
STAMP = 2
"""The column of a row's stamp, which is twice as wide as the others, where rows are read as such."""

# Bits of a mask: which positions of a triple an index is keyed on.
SUBJECT, PREDICATE, OBJECT = 1, 2, 4
WHOLE = SUBJECT | PREDICATE | OBJECT

# Bits of a row's flag.
QUEUED = 1
"""Waiting to be joined with the others."""
FRESH = 64
"""Waiting, and never joined before."""
BORN = 2
"""Came in this step."""
DEAD = 4
"""Not a fact any more; the row is given back with the next step, or when its pane expires."""
SUSPECT = 8
"""May have lost the derivation that its stamp rests on."""
HANGING = 16
"""In the list of a pane."""
GONE = 32
"""In the list of what left in this step."""
CLOSED = 128
"""Waiting, but all that follows by linear rules is there already."""

# Registers and counters, in one array because compiled code cannot change the fields of a tuple.
ROWS = 0
"""How many rows were ever used: beyond it they are blank."""
FREE, FREE_COUNT = 1, 2
"""The list of rows given back, linked through PANE_NEXT, and its length."""
ROOM = 3
"""How many more rows can come before something is too full: the hot path's one check. Two
registers, the second for the background's tables."""
LIVE, GROUND = 5, 6
"""Facts outside the background, and in it."""
THRESHOLD = 7
FULL = 8
"""Which array has to grow before work can go on: one of the names below, or 0."""
QUEUE_HEAD, QUEUE_LENGTH = 9, 10
BORN_COUNT, GONE_COUNT, SUSPECT_COUNT, SOLUTION_COUNT = 11, 12, 13, 14
PANES = 15
DERIVATIONS, PROBES = 16, 17
USE_PANES, KEEP_ALL = 18, 19
WANTED, WANTED_INDEX = 20, 21
"""The predicate whose active plans are not known yet, or which an index was asked for that has it not
(-1: all of them), and that index."""
ACTIVE_USED, STALE = 22, 23
"""How many predicates' active plans are known, and whether a premise that nothing matched when
they were listed has got its first match since."""
HANG_ALL = 24
"""The join indexes that all facts hang in, as bits."""
HALF_DONE = 25
"""What was interrupted while the table put what follows from a fact, as bits: HALF_PUT, HALF_JOINED."""
MOST = 26
"""How many facts may be held, the background included."""
PAUSE_AT = 27
"""The number of probes and derivations at which compiled code returns to Python, which looks at the memory
and at signals."""
REGISTERS = 28

HALF_PUT, HALF_JOINED = 1, 2
"""A fact that nobody asks for was being put, or a queued row was being joined."""

(
    ROOM_FULL,
    GROUND_FULL,
    QUEUE_FULL,
    BORN_FULL,
    SUSPECTS_FULL,
    SOLUTIONS_FULL,
    PANES_FULL,
    ACTIVE_UNKNOWN,
    INDEX_UNBUILT,
    TABLE_STALE,
    PAUSE,
) = range(1, 12)

END = -1
"""The end of a linked list."""

# How a fact is put: joined with the others by every rule, by all but linear ones, or by none.
PUT_FULLY, PUT_CLOSED, PUT_ALONE = range(3)

# Columns of `active`: a plan, and for which objects it is tried: their kinds, and numbers modulo 64.
PLAN, OBJECT_KINDS, OBJECTS = range(3)

# Columns of `tables`: table 2k is index k over everything else, table 2k + 1 over the background.
OFFSET, CAPACITY, USED = range(3)


class Store(NamedTuple):
    """Everything the compiled functions read and write."""

    rows: Array
    ground_links: Array
    slots: Array
    tables: Array
    masks: Array
    links: Array
    """For each index the column of its links in `rows`; 0 if nothing hangs in it yet."""
    hangs: Array
    """For each predicate the join indexes that its facts hang in, as bits."""
    pane_stamps: Array
    pane_heads: Array
    heap: Array
    queue: Array
    queue_old: Array
    born: Array
    gone: Array
    suspects: Array
    solutions: Array
    solution_stamps: Array
    alpha_counts: Array
    assumed: Array
    wanted: Array
    """For each alpha whether somebody may ask for the facts that match it."""
    active_keys: Array
    active_starts: Array
    active_objects: Array
    active: Array
    epsilon_keys: Array
    epsilon_starts: Array
    epsilon: Array
    kinds: Array
    binding: Array
    cursor: Array
    made: Array
    """For each rule how many new facts it derived; what linear rules derived together comes last."""
    meta: Array

    @property
    def stamps(self) -> Array:
        """The rows' stamps."""
        return self.rows.view(np.int64)[:, STAMP]

    @property
    def flags(self) -> Array:
        """The rows' flags."""
        return self.rows[:, FLAGS]


_PREDICATES = 64
"""Room for the active plans of so many predicates, at first (a power of two)."""

FULLEST = 0.72
"""The load at which a table grows."""
_GROWTH = 2
_ROWS_GROWTH = (4, 2, 1.25)


def new_store(
    masks: list[int],
    variables: int,
    steps: int,
    alphas: int,
    *,
    keep_all: bool = False,
    panes: bool = True,
    ground: int = 0,
    rules: int = 0,
) -> Store:
    """An empty store with one join index per mask, and room for so many facts of the background."""
    indexes = [WHOLE, *masks]
    tables = np.zeros((2 * len(indexes), 3), np.int64)
    tables[:, CAPACITY] = 64
    tables[1::2, CAPACITY] += int(ground / FULLEST)
    tables, slots = laid_out(tables)
    meta = np.zeros(REGISTERS, np.int64)
    meta[FREE] = END
    meta[THRESHOLD] = np.iinfo(np.int64).min
    meta[USE_PANES], meta[KEEP_ALL] = panes, keep_all
    meta[MOST] = meta[PAUSE_AT] = np.iinfo(np.int64).max
    store = Store(
        rows=zeros((32 + ground, LINKS), np.int32),
        ground_links=zeros((32 + ground, 2 * len(masks)), np.int32),
        slots=slots,
        tables=tables,
        masks=np.array(indexes, np.int64),
        links=np.zeros(len(indexes), np.int64),
        hangs=np.zeros(64, np.uint16),
        pane_stamps=np.zeros(16, np.int64),
        pane_heads=np.full(16, END, np.int32),
        heap=np.zeros(16, np.int64),
        queue=np.zeros(64, np.int32),
        queue_old=np.zeros(64, np.int64),
        born=np.zeros(64, np.int32),
        gone=np.zeros(64, np.int32),
        suspects=np.zeros(64, np.int32),
        solutions=np.zeros((16, 2 + max(1, variables)), np.int32),
        solution_stamps=np.zeros(16, np.int64),
        alpha_counts=np.zeros((max(1, alphas), 2), np.int64),
        assumed=np.zeros(max(1, alphas), np.uint8),
        wanted=np.ones(max(1, alphas), np.uint8),
        active_keys=np.full(_PREDICATES, END, np.int32),
        active_starts=np.zeros((_PREDICATES, 3), np.int32),
        active_objects=np.zeros(_PREDICATES, np.int64),
        active=np.zeros((64, 3), np.int64),
        epsilon_keys=np.full((1, 2), END - 1, np.int32),
        epsilon_starts=np.zeros((1, 2), np.int32),
        epsilon=np.zeros((0, 6), np.int32),
        kinds=np.zeros(1, np.uint8),
        binding=np.zeros(max(1, variables), np.int32),
        cursor=np.zeros((max(1, steps), 3), np.int64),
        made=np.zeros(rules + 1, np.int64),
        meta=meta,
    )
    set_room(store)
    return store


def set_room(store: Store) -> None:
    """Count how many rows can still come before something has to grow, or there are too many."""
    allowed = int(store.meta[MOST] - store.meta[LIVE] - store.meta[GROUND])
    for side in (0, 1):
        store.meta[ROOM + side] = max(0, min(room_in(store, side), allowed))


def room_in(store: Store, side: int) -> int:
    """How many rows the arrays still have room for."""
    meta, tables = store.meta, store.tables
    in_tables = (tables[:, CAPACITY] * FULLEST).astype(np.int64) - tables[:, USED]
    in_rows = len(store.rows) - int(meta[ROWS]) + int(meta[FREE_COUNT])
    return min(int(in_tables[_tables_in_use(store, side)].min()), in_rows)


PARKED = (
    *("rows", "ground_links", "slots", "tables", "masks", "links", "hangs"),
    *("pane_stamps", "pane_heads", "heap", "alpha_counts", "assumed"),
    *("active_keys", "active_starts", "active_objects", "active"),
    *("epsilon_keys", "epsilon_starts", "epsilon", "meta"),
)
"""What there is to put away between steps: the other arrays are empty then, or somebody else's."""


def fitted(store: Store) -> Store:
    """The store with no more than twice the rows that are in use."""
    size = 2 * max(32, int(store.meta[ROWS]))
    if len(store.rows) > size:
        store = store._replace(rows=store.rows[:size])
        set_room(store)
    return store


def _tables_in_use(store: Store, side: int) -> list[int]:
    """The tables of one side that rows are hung into."""
    return [2 * k + side for k in range(len(store.masks)) if side or k == 0 or store.links[k]]


def bytes_of(store: Store) -> int:
    """What the facts and all their indexes take. Rows never written to take no memory yet."""
    whole = (store.ground_links, store.slots, store.tables, store.pane_stamps, store.pane_heads, store.heap)
    return int(store.meta[ROWS]) * store.rows.strides[0] + sum(int(array.nbytes) for array in whole)


def grown(array: Array, size: int, fill: int = 0) -> Array:
    """A copy of `array` with room for `size` entries."""
    larger = np.full((size, *array.shape[1:]), fill, array.dtype) if fill else _blank(array, size)
    larger[: len(array)] = array
    return larger


def _blank(array: Array, size: int) -> Array:
    return zeros((size, *array.shape[1:]), array.dtype)


def grow_rows(store: Store, side: int) -> Store:
    """Four times as many rows (those never written to take no memory), or fewer where that is refused."""
    for growth in _ROWS_GROWTH[:-1]:
        try:
            return _with_rows(store, side, int(len(store.rows) * growth))
        except (MemoryError, OSError):
            continue
    return _with_rows(store, side, int(len(store.rows) * _ROWS_GROWTH[-1]))


def _with_rows(store: Store, side: int, size: int) -> Store:
    if side:
        store = store._replace(ground_links=grown(store.ground_links, size))
    return store._replace(rows=grown(store.rows, size))


_MOST_PREDICATES = 64
"""If an index is asked for more predicates than this, all facts hang in it."""


def hang_from_now(store: Store, k: int, predicate: int) -> tuple[Store, int]:
    """Let facts of a predicate (-1: all) hang in index k; and for which predicate that is to be."""
    if not store.links[k]:
        store = _add_links(store, k)
    bit = 1 << k
    if predicate < 0 or int((store.hangs & bit > 0).sum()) >= _MOST_PREDICATES:
        store.meta[HANG_ALL] |= bit
        return store, -1
    if predicate >= len(store.hangs):
        store = store._replace(hangs=grown(store.hangs, 2 * predicate))
    store.hangs[predicate] |= bit
    return store, predicate


def _add_links(store: Store, k: int) -> Store:
    """The rows with columns for the links of index k."""
    size, width = store.rows.shape
    rows = zeros((size, width + 2), np.int32)
    rows[: store.meta[ROWS], :width] = store.rows[: store.meta[ROWS]]
    store.links[k] = width
    return store._replace(rows=rows)


def an_eighth(store: Store) -> int:
    """An eighth of the rows in use: what there should be room for."""
    return 4 + int(store.meta[ROWS]) // 8


def new_tables(store: Store, side: int) -> tuple[Array, Array]:
    """Empty tables and slots; those of one side have room for an eighth more rows, and then some."""
    tables = store.tables.copy()
    need = an_eighth(store)
    for table in (tables[k] for k in _tables_in_use(store, side)):
        if table[CAPACITY] * FULLEST - table[USED] <= need:
            table[CAPACITY] = int((table[USED] * _GROWTH + need) / FULLEST)
    return laid_out(tables)


def laid_out(tables: Array) -> tuple[Array, Array]:
    """The tables one after another, and empty slots for them."""
    # Slots are looked up all over, so here numpy's huge pages pay; see `pages.py` for where they do not.
    tables[:, OFFSET] = np.concatenate(([0], np.cumsum(tables[:-1, CAPACITY])))
    return tables, np.zeros(int(tables[:, CAPACITY].sum()), np.uint64)
