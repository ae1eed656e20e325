"""CRC-32 of many texts at once: the same as `zlib.crc32` gives for each. Compiled."""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from zlib import crc32

import numpy as np

from ensue.maintain.kernel.compiling import compiled
from ensue.maintain.kernel.layout import Array

_BYTE, _LAST, _ALL = np.uint32(8), np.uint32(0xFF), np.uint32(0xFFFFFFFF)
_AT_ONCE = 4


def _tables() -> Array:
    """What each byte does to a checksum, read off zlib: the checksum of a byte alone is known.

    In the n-th row what it does if n more follow, so that several are done at once.
    """
    ones = 0xFFFFFFFF
    start = ones >> 8
    found = np.empty((_AT_ONCE, 256), np.uint32)
    found[0] = [crc32(bytes([byte ^ 0xFF])) ^ ones ^ start for byte in range(256)]
    for more in range(1, _AT_ONCE):
        found[more] = found[0][found[more - 1] & _LAST] ^ (found[more - 1] >> _BYTE)
    return found


_TABLES = _tables()


def checksums(text: Array, cuts: Array, numbers: Array) -> Array:
    """The checksums of those texts, of the ones between `cuts`, that have these numbers.

    >>> text, cuts = np.frombuffer(b"<urn:b><urn:a>", np.uint8), np.array([0, 7, 14], np.int32)
    >>> checksums(text, cuts, np.array([1])).tolist() == [crc32(b"<urn:a>")]
    True
    """
    found = np.empty(len(numbers), np.uint32)
    _checksums(text, cuts, np.ascontiguousarray(numbers, np.int64), _TABLES, found)
    return found


@compiled
def _checksums(text, cuts, numbers, tables, found):
    for i in range(len(numbers)):
        crc = _ALL
        at, end = cuts[numbers[i]], cuts[numbers[i] + 1]
        while at + _AT_ONCE <= end:
            # The first byte meets the lowest byte of the checksum, and has three to follow.
            word = crc
            crc = np.uint32(0)
            for k in range(_AT_ONCE):
                crc ^= tables[_AT_ONCE - 1 - k, (word ^ text[at + k]) & _LAST]
                word >>= _BYTE
            at += _AT_ONCE
        while at < end:
            crc = tables[0, (crc ^ text[at]) & _LAST] ^ (crc >> _BYTE)
            at += 1
        found[i] = crc ^ _ALL
