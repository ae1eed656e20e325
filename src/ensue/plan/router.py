"""Shards of terms: a fixed function of a term's text, the same in every process and after a restart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ensue.errors import UsageError
from ensue.plan.matches import Matches, Numbers, distinct
from ensue.plan.parted import ByKey, owners
from ensue.plan.shapes import Shape
from ensue.query.apart import NO_KEY

MOST_SHARDS = 62
"""Bits of a signed number, with one to spare."""


def shard_of(term: str, shards: int) -> int:
    """The shard that owns a term.

    >>> shard_of("<urn:a>", 4)
    2
    """
    return _checksum(term) % shards


def _checksum(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))


def check_shards(shards: int) -> None:
    """Raise UsageError where there cannot be so many shards."""
    if not 1 <= shards <= MOST_SHARDS:
        raise UsageError(f"there cannot be {shards} shards", hint=f"from 1 to {MOST_SHARDS}")


@dataclass(frozen=True, slots=True)
class Owns:
    """Whether a shard owns a term: it accepts only solutions whose key it owns."""

    shards: int
    shard: int

    def __call__(self, term: str) -> bool:
        """Whether the shard owns a term, given as its canonical text."""
        return shard_of(term, self.shards) == self.shard

    def each(self, checksums: Numbers) -> NDArray[np.bool_]:
        """The same of many terms, by the checksums of their texts.

        >>> Owns(4, 2).each(np.array([_checksum("<urn:a>"), 3])).tolist()
        [True, False]
        """
        owned: NDArray[np.bool_] = np.asarray(checksums, np.int64) % self.shards == self.shard
        return owned


class Router:
    """Says for each statement of a block which shards need it, as bits."""

    def __init__(
        self, keyed: Mapping[int, Iterable[Shape]] | None, shards: int, by_key: ByKey | None = None
    ) -> None:
        """`keyed` has the needed shapes by the position of their key; None: all goes to the first shard.

        `by_key`: partitioned queries, which need every statement where its partition is.
        """
        check_shards(shards)
        self._shards = shards
        self._by_key = by_key or ByKey()
        keys = {key for table in self._by_key.tables for found in table.keys.values() for key in found}
        self._owners = {key: 1 << shard_of(key, shards) for key in keys}
        self._nobody = 1 << shard_of(NO_KEY, shards)
        self._keyed = None if keyed is None else {at: Matches(shapes) for at, shapes in keyed.items()}

    def route(
        self,
        terms: Sequence[str],
        s: Numbers,
        p: Numbers,
        o: Numbers,
        checksums: Callable[[Numbers], NDArray[np.uint32]] | None = None,
        graph: Numbers | None = None,
    ) -> NDArray[np.int64]:
        """Bit k: shard k needs the statement. No bit: nobody does.

        `graph` are the names of graphs, less than 0 where there is none; None: there is none anywhere.
        `checksums` gives those of many terms at once, by their numbers, for who can do that.
        """
        if checksums is None:
            checksums = partial(_checksums, terms)
        if self._keyed is None:
            return np.ones(len(p), np.int64)
        bits = np.zeros(len(p), np.int64)
        columns = (s, p, o)
        for at, matches in self._keyed.items():
            found = matches(terms, s, p, o)
            rows = slice(None) if found.all() else np.flatnonzero(found)
            keys = columns[at][rows]
            table = np.zeros(len(terms), np.int64)
            there = distinct(keys, len(terms))
            table[there] = 1 << (checksums(there) % np.uint32(self._shards)).astype(np.int64)
            bits[rows] |= table[keys]
        if self._by_key.by_graph:
            bits |= self._by_graph(len(terms), np.full(len(p), -1) if graph is None else graph, checksums)
        for keys_of in self._by_key.tables:
            there = distinct(s, len(terms))
            table = np.zeros(len(terms), np.int64)
            subjects = [terms[number] for number in there.tolist()]
            table[there] = owners(keys_of, subjects, self._owners, self._nobody)
            bits |= table[s]
        return bits

    def _by_graph(
        self, count: int, graph: Numbers, checksums: Callable[[Numbers], NDArray[np.uint32]]
    ) -> NDArray[np.int64]:
        """Who owns the graph's name; the last place of the table is for those without one."""
        table = np.full(count + 1, self._nobody, np.int64)
        there = distinct(graph[graph >= 0], count)
        table[there] = 1 << (checksums(there) % np.uint32(self._shards)).astype(np.int64)
        return table[np.where(graph < 0, count, graph)]


def _checksums(terms: Sequence[str], numbers: Numbers) -> NDArray[np.uint32]:
    return np.array([_checksum(terms[number]) for number in numbers.tolist()], np.uint32)
