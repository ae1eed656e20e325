"""Which numbers a column has, marked in a table over all numbers: what numpy does one by one. Compiled."""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.columns import to_read
from ensue.maintain.kernel.compiling import compiled


def mark(there: NDArray[np.bool_], column: NDArray[Any]) -> None:
    """Mark the numbers that a column has; -1 is the last place, as in any array.

    >>> there = np.zeros(4, np.bool_)
    >>> mark(there, np.array([2, 0, 2, -1], np.int32))
    >>> there.tolist()
    [True, False, True, True]
    """
    _mark(there, to_read(np.ascontiguousarray(column, np.int32)))


@compiled
def _mark(there, column):
    for i in range(len(column)):
        there[column[i]] = True
