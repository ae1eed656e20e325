"""What is stated, and until when, in a column beside the rows: for facts without stamps. Compiled."""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel import view
from ensue.maintain.kernel.compiling import allocating, compiled
from ensue.maintain.kernel.layout import CONTEXT, DEAD, END, FLAGS, ROWS, WHOLE, O, P, S
from ensue.maintain.kernel.tables import first_row

_NEVER = np.int64(np.iinfo(np.int64).min)


@compiled
def state(store, stated, context, s, p, o, stamp):
    """Note that facts that are there are stated until these stamps."""
    for i in range(len(stamp)):
        row = first_row(store, 0, WHOLE, s[i], p[i], o[i], context[i])
        if row != END and stamp[i] > stated[row]:
            stated[row] = stamp[i]


@allocating
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


@allocating
def absent(store, other, ground):
    """The rows outside the background whose facts neither `other` nor the background of `ground` has."""
    rows = np.empty(view.meta(store)[ROWS], np.int64)
    count = 0
    table = view.rows(store)
    for row in range(view.meta(store)[ROWS]):
        s, p, o, context = table[row, S], table[row, P], table[row, O], table[row, CONTEXT]
        if context <= 0 or table[row, FLAGS] & DEAD:
            continue
        if first_row(other, 0, WHOLE, s, p, o, context) != END:
            continue
        if first_row(ground, 1, WHOLE, s, p, o, 0) == END:
            rows[count] = row
            count += 1
    return rows[:count]
