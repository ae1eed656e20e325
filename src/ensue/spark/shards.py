"""The keys of shards: one for each partition, by construction.

Spark puts a row where the hash of its key says. Keys 0 and 1 both hash to partition 1 of 2, and then one
worker does the work of two while the other waits: so for each partition a key is looked for that hashes
there.
"""

from __future__ import annotations

from itertools import count

_SEED = 42
_WORD = 0xFFFFFFFF


def shard_keys(shards: int) -> list[int]:
    """For each partition of so many a key that Spark sends there.

    >>> shard_keys(2)
    [2, 0]
    """
    found: dict[int, int] = {}
    for key in count():
        found.setdefault(_hash(key) % shards, key)
        if len(found) == shards:
            return [found[shard] for shard in range(shards)]
    raise AssertionError("there is always one more key")


def _hash(key: int) -> int:
    """Spark's hash of a 32-bit integer: Murmur3 of four bytes, as a signed integer."""
    word = _rotated(key * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    word = (_rotated(_SEED ^ word, 13) * 5 + 0xE6546B64) & _WORD
    word ^= 4
    word = (word ^ word >> 16) * 0x85EBCA6B & _WORD
    word = (word ^ word >> 13) * 0xC2B2AE35 & _WORD
    word ^= word >> 16
    return word - (1 << 32) if word >> 31 else word


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _WORD
