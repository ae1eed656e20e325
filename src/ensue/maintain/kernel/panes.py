"""Panes: the rows of one stamp hang together, and a heap knows the oldest. Compiled.

Expiry takes whole panes off the heap, so it costs what goes and not what there is.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel import view
from ensue.maintain.kernel.compiling import compiled, inlined, part
from ensue.maintain.kernel.layout import END, FLAGS, HANGING, PANE_NEXT, PANES, STAMP
from ensue.maintain.kernel.tables import home_of

_HALF = np.uint64(32)
_PANE_SALT = np.uint64(0xA0761D6478BD642F)


@inlined
def _pane_home(stamp, capacity):
    h = np.uint64(stamp) * _PANE_SALT
    return home_of(h >> _HALF, capacity)


@part
def _locate_pane(store, stamp):
    pane_stamps, pane_heads = view.pane_stamps(store), view.pane_heads(store)
    capacity = len(pane_stamps)
    at = _pane_home(stamp, capacity)
    while pane_heads[at] != END and pane_stamps[at] != stamp:
        at += 1
        if at == capacity:
            at = 0
    return at


@inlined
def panes_are_full(store):
    """Whether a pane more would crowd the table of panes."""
    return 2 * view.meta(store)[PANES] >= len(view.pane_stamps(store))


@part
def hang_in_pane(store, row):
    """Hang a row into the pane of its stamp; a new stamp goes onto the heap of stamps."""
    stamp = view.stamps(store)[row, STAMP]
    at = _locate_pane(store, stamp)
    if view.pane_heads(store)[at] == END:
        view.pane_stamps(store)[at] = stamp
        _push_stamp(store, stamp)
    view.rows(store)[row, PANE_NEXT] = view.pane_heads(store)[at]
    view.pane_heads(store)[at] = row
    view.rows(store)[row, FLAGS] |= HANGING


@part
def put_pane_back(store, stamp, first):
    """Put back what is left of a pane that `take_oldest_pane` took."""
    at = _locate_pane(store, stamp)
    view.pane_stamps(store)[at] = stamp
    view.pane_heads(store)[at] = first
    _push_stamp(store, stamp)


@part
def _push_stamp(store, stamp):
    heap = view.heap(store)
    at = view.meta(store)[PANES]
    view.meta(store)[PANES] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if heap[parent] <= stamp:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = stamp


@part
def take_oldest_pane(store):
    """Remove the pane with the smallest stamp; the first of its rows."""
    stamp = view.heap(store)[0]
    view.meta(store)[PANES] -= 1
    _sift_down(view.heap(store), view.meta(store)[PANES])
    hole = _locate_pane(store, stamp)
    first = np.int64(view.pane_heads(store)[hole])
    _empty_pane(view.pane_stamps(store), view.pane_heads(store), hole)
    return first


@part
def _sift_down(heap, count):
    """Put the last stamp of the heap where the first was, and down to its place."""
    last = heap[count]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            break
        if child + 1 < count and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= last:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last


@part
def _empty_pane(pane_stamps, pane_heads, hole):
    capacity = len(pane_stamps)
    at = hole
    while True:
        at += 1
        if at == capacity:
            at = 0
        if pane_heads[at] == END:
            break
        home = _pane_home(pane_stamps[at], capacity)
        from_home = at - home if at >= home else at - home + capacity
        from_hole = at - hole if at >= hole else at - hole + capacity
        if from_home >= from_hole:
            pane_stamps[hole] = pane_stamps[at]
            pane_heads[hole] = pane_heads[at]
            hole = at
    pane_heads[hole] = END


@compiled
def rebuild_panes(store, pane_stamps, pane_heads):
    """Move the panes into larger arrays."""
    capacity = len(pane_stamps)
    for old in range(len(view.pane_stamps(store))):
        if view.pane_heads(store)[old] != END:
            at = _pane_home(view.pane_stamps(store)[old], capacity)
            while pane_heads[at] != END:
                at += 1
                if at == capacity:
                    at = 0
            pane_stamps[at] = view.pane_stamps(store)[old]
            pane_heads[at] = view.pane_heads(store)[old]
