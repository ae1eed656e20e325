"""A sieve: which lines can matter, told from the bytes of predicate and object before they have numbers.

It is coarse. It holds back no statement that has one of its shapes, but lets through some that have none:
subjects are not looked at, and of texts the hashes alone. Whoever wants to be exact looks at what is left.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ensue.maintain.kernel.bytewise import hash_of, mixed_of
from ensue.maintain.kernel.columns import to_read
from ensue.maintain.kernel.compiling import compiled, inlined

Sieve = NDArray[np.uint64]
"""An open hash table of hashes: of predicates whose every statement passes, of those of which some do
(marked), and of predicate and object of these. An empty one lets everything through."""

EVERYTHING: Sieve = np.empty(0, np.uint64)

_NOTHING = np.uint64(0)
"""Of a slot. A hash that happens to be this passes."""
_MARK, _ONE = np.uint64(0x5851F42D4C957F2D), np.uint64(1)


def sieve_of(shapes: Iterable[tuple[str | None, str | None, str | None]]) -> Sieve:
    """The sieve for statements of these shapes: subject, predicate and object, each None for any.

    >>> sieve_of([(None, "<urn:p>", None), (None, "<urn:q>", "<urn:a>")]).nonzero()[0].size
    3
    >>> sieve_of([(None, "<urn:p>", None), (None, None, "<urn:a>")]) is EVERYTHING
    True
    """
    pairs: set[tuple[str, str]] = set()
    for _, predicate, object_ in shapes:
        if predicate is None:
            return EVERYTHING
        # A blank node has another label in a line than it will have: any may be the one.
        pairs.add((predicate, "" if object_ is None or object_.startswith("_:") else object_))
    texts = [text.encode("utf-8", "surrogatepass") for pair in pairs for text in pair]
    cuts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    # At most a quarter is used: nearly every look-up of what is not there ends at once.
    table = np.zeros(1 << (8 * len(pairs)).bit_length(), np.uint64)
    _fill(table, to_read(np.frombuffer(b"".join(texts), np.uint8)), cuts)
    return table


@compiled
def _fill(table, text, cuts):
    """Put in what lets these pass: predicates and objects by turns, of which an empty one is any."""
    for i in range(0, len(cuts) - 1, 2):
        hashed = hash_of(text, cuts[i], cuts[i + 1])
        if cuts[i + 1] == cuts[i + 2]:
            _put(table, hashed)
        else:
            _put(table, hashed ^ _MARK)
            _put(table, _both(hashed, text, cuts[i + 1], cuts[i + 2]))


@inlined
def _put(table, key):
    if not _has(table, key):
        slot = key & np.uint64(len(table) - 1)
        while table[slot] != _NOTHING:
            slot = (slot + _ONE) & np.uint64(len(table) - 1)
        table[slot] = key


@inlined
def passes(sieve, data, predicate, predicate_end, object_, object_end):
    """Whether a statement passes whose predicate and object are here."""
    hashed = hash_of(data, predicate, predicate_end)
    if _has(sieve, hashed):
        return True
    return _has(sieve, hashed ^ _MARK) and _has(sieve, _both(hashed, data, object_, object_end))


@inlined
def _both(hashed, data, begin, end):
    return mixed_of(hashed + hash_of(data, begin, end))


@inlined
def _has(sieve, key):
    last = np.uint64(len(sieve) - 1)
    slot = key & last
    while sieve[slot] != key:
        if sieve[slot] == _NOTHING:
            return False
        slot = (slot + _ONE) & last
    return True
