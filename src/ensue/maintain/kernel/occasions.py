"""Bits about keys, told by the hashes of their texts: what has been said of each key so far. Compiled.

Keys whose hashes meet share their bits, so what is asked of one may be true of the other: whoever uses this
must be on the safe side then.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.columns import to_read
from ensue.maintain.kernel.compiling import compiled
from ensue.maintain.kernel.tables import home_of

Bits = NDArray[np.uint8]

ALL = np.uint8(0xFF)
_ROOM = 8
"""So many bytes for each key, or half of it: hashes seldom meet then."""


class Occasions:
    """The bits of keys.

    >>> said = Occasions(2)
    >>> hashes = np.array([7, 1 << 31], np.uint32)
    >>> said.add(hashes, np.array([0, 1, 0], np.int32), np.array([1, 1, 2], np.uint8))
    >>> said.have(3, hashes, np.array([0, 1, 0], np.int32), np.array([1, 1, 0], np.uint8)).tolist()
    [True, False, False]
    """

    def __init__(self, keys: int) -> None:
        """For about so many keys."""
        self._bits = np.zeros(1 << max(6, (_ROOM * keys).bit_length() - 1), np.uint8)

    def add(self, hashes: NDArray[np.uint32], column: NDArray[Any], bits: Bits) -> None:
        """Note the bits of each row for its key: the number in a column, of which `hashes` has the hash."""
        _add(self._bits, to_read(hashes), to_read(column), to_read(bits))

    def add_all(self, hashes: NDArray[np.uint32], which: NDArray[np.bool_]) -> None:
        """Note all bits of some keys."""
        _add_all(self._bits, to_read(hashes), to_read(which))

    def have(self, wanted: int, hashes: NDArray[np.uint32], column: NDArray[Any], bits: Bits) -> Any:
        """Which rows have a bit, and a key that has all wanted ones."""
        found = np.empty(len(column), np.bool_)
        _have(self._bits, np.uint8(wanted), to_read(hashes), to_read(column), to_read(bits), found)
        return found


@compiled
def _add(table, hashes, column, bits):
    for i in range(len(column)):
        if bits[i]:
            table[home_of(np.uint64(hashes[column[i]]), len(table))] |= bits[i]


@compiled
def _add_all(table, hashes, which):
    for i in range(len(hashes)):
        if which[i]:
            table[home_of(np.uint64(hashes[i]), len(table))] = ALL


@compiled
def _have(table, wanted, hashes, column, bits, found):
    for i in range(len(column)):
        there = table[home_of(np.uint64(hashes[column[i]]), len(table))]
        found[i] = bits[i] != 0 and there & wanted == wanted
