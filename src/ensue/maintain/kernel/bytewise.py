"""Texts as bytes: their hashes, and whether two are the same. Eight bytes at a time, and compiled."""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from ensue.maintain.kernel.compiling import inlined

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_HALF, _TURN = np.uint64(32), np.uint64(29)


@inlined
def _word(data, at):
    """Eight bytes from here on. The compiler makes one load of it."""
    first = np.uint64(at)
    word = np.uint64(0)
    for k in (0, 1, 2, 3, 4, 5, 6, 7):
        word |= np.uint64(data[first + np.uint64(k)]) << np.uint64(8 * k)
    return word


@inlined
def hash_of(data, begin, end):
    """Sixty-four bits. What differs in high bits alone is turned down before it is multiplied away."""
    mixed = np.uint64(end - begin)
    at = begin
    while at + 8 <= end:
        mixed = (mixed ^ _word(data, at)) * _PRIME
        mixed ^= mixed >> _TURN
        at += 8
    while at < end:
        mixed = (mixed ^ np.uint64(data[np.uint64(at)])) * _PRIME
        at += 1
    return mixed_of(mixed)


@inlined
def mixed_of(number):
    """All bits of a number, in all bits of another."""
    number = (number ^ number >> _HALF) * _PRIME
    return number ^ number >> _HALF


@inlined
def same(one, begin, end, other, other_begin, other_end):
    """Whether the bytes of one and those of another are the same."""
    if end - begin != other_end - other_begin:
        return False
    at, to = begin, other_begin
    while at + 8 <= end:
        if _word(one, at) != _word(other, to):
            return False
        at += 8
        to += 8
    while at < end:
        if one[np.uint64(at)] != other[np.uint64(to)]:
            return False
        at += 1
        to += 1
    return True
