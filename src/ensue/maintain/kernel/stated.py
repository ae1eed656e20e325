"""What is stated, and until when, in a column beside the rows: for facts without stamps. Compiled."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"

from __future__ import annotations

import numpy as np
from numba import njit

from ensue.maintain.kernel.layout import CONTEXT, DEAD, END, ROWS, WHOLE, O, P, S
from ensue.maintain.kernel.tables import first_row

_NEVER = np.int64(np.iinfo(np.int64).min)


@njit(cache=True)
def state(store, stated, context, s, p, o, stamp):
    """Note that facts that are there are stated until these stamps."""
    for i in range(len(stamp)):
        row = first_row(store, 0, WHOLE, s[i], p[i], o[i], context[i])
        if row != END and stamp[i] > stated[row]:
            stated[row] = stamp[i]


@njit(cache=True)
def unstated(store, stated, context, s, p, o, threshold):
    """The rows of those facts that were stated until `threshold` at the latest; now they are not."""
    rows = np.empty(len(s), np.int64)
    count = 0
    for i in range(len(s)):
        row = first_row(store, 0, WHOLE, s[i], p[i], o[i], context[i])
        if row != END and stated[row] != _NEVER and stated[row] <= threshold:
            stated[row] = _NEVER
            rows[count] = row
            count += 1
    return rows[:count]


@njit(cache=True)
def absent(store, other, ground):
    """The rows outside the background whose facts neither `other` nor the background of `ground` has."""
    rows = np.empty(store.meta[ROWS], np.int64)
    count = 0
    for row in range(store.meta[ROWS]):
        r = store.rows[row]
        if r[CONTEXT] <= 0 or store.flags[row] & DEAD:
            continue
        if first_row(other, 0, WHOLE, r[S], r[P], r[O], r[CONTEXT]) != END:
            continue
        if first_row(ground, 1, WHOLE, r[S], r[P], r[O], 0) == END:
            rows[count] = row
            count += 1
    return rows[:count]
