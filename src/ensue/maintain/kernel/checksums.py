"""CRC-32 of many texts at once: the same as `zlib.crc32` gives for each. Compiled."""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from zlib import crc32

import numpy as np

from ensue.maintain.kernel.compiling import compiled
from ensue.maintain.kernel.layout import Array

_BYTE, _ALL = np.uint32(8), np.uint32(0xFFFFFFFF)


def _table() -> Array:
    """What each byte does to a checksum, read off zlib: the checksum of a byte alone is known."""
    ones = 0xFFFFFFFF
    start = ones >> 8
    return np.array([crc32(bytes([byte ^ 0xFF])) ^ ones ^ start for byte in range(256)], np.uint32)


_TABLE = _table()


def checksums(text: Array, cuts: Array, numbers: Array) -> Array:
    """The checksums of those texts, of the ones between `cuts`, that have these numbers.

    >>> text, cuts = np.frombuffer(b"<urn:b><urn:a>", np.uint8), np.array([0, 7, 14], np.int32)
    >>> checksums(text, cuts, np.array([1])).tolist() == [crc32(b"<urn:a>")]
    True
    """
    found = np.empty(len(numbers), np.uint32)
    _checksums(text, cuts, np.ascontiguousarray(numbers, np.int64), _TABLE, found)
    return found


@compiled
def _checksums(text, cuts, numbers, table, found):
    for i in range(len(numbers)):
        crc = _ALL
        for at in range(cuts[numbers[i]], cuts[numbers[i] + 1]):
            crc = table[(crc ^ text[at]) & np.uint32(0xFF)] ^ (crc >> _BYTE)
        found[i] = crc ^ _ALL
