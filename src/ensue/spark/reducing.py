"""What comes and goes within one step of a shard, and is of no use meanwhile: it is left out.

A shard that has fallen behind is brought more at once than its windows hold. What of it will be out of all
windows after the step is looked at in this step alone; and everything that can be together with it in a
window has come before, and is known, or comes now. So if a value of a query's key lacks a pattern that its
answers need (`ensue.plan.semijoin`), among what comes now, and was not known before, then there will be no
answer about it before all that is said of it now is gone.

Which values these are is told by hashes of their texts: where two meet, more is kept than has to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce

import numpy as np

from ensue.maintain.kernel.flatdictionary import FlatDictionary, hashes_of
from ensue.maintain.kernel.marks import mark
from ensue.maintain.kernel.occasions import Occasions
from ensue.model import NEVER
from ensue.plan.matches import Mask, Roles
from ensue.plan.semijoin import MOST, SemiJoin
from ensue.spark.blocks import Block, Texts, text_of

_WANTED = 1 << MOST
"""The bit of a statement that a query can use."""


class Reducer:
    """Leaves out what is of no use to any of some queries. It remembers nothing."""

    def __init__(self, semijoins: Sequence[SemiJoin]) -> None:
        self._queries = [_Query(each) for each in semijoins]
        self._positions = sorted({at for query in self._queries for at in query.roles})

    def __call__(
        self, blocks: Sequence[tuple[str, Block]], over: Mapping[str, int], known: FlatDictionary
    ) -> list[tuple[str, Block]]:
        """The same blocks of streams without that.

        `over`: for each stream the time at or below which nothing matters after the step; `known` are
        the terms of all that has come before and still matters, and of the background.
        """
        if not any(over[stream] > NEVER and block.times.oldest <= over[stream] for stream, block in blocks):
            return list(blocks)
        looks = [_Look(block, self._positions, known) for _, block in blocks]
        kept = [block.stamps > over[stream] for stream, block in blocks]
        for query in self._queries:
            for keep, of_use in zip(kept, query.of_use(looks), strict=True):
                keep |= of_use
        return [
            (stream, block.only(np.flatnonzero(keep)))
            for (stream, block), keep in zip(blocks, kept, strict=True)
        ]


class _Look:
    """A block as semi-joins look at it: by the hashes of its terms."""

    def __init__(self, block: Block, positions: Iterable[int], known: FlatDictionary) -> None:
        self.columns, self.texts = block.columns[:3], Texts(block.terms)
        cuts, text = text_of(block.terms)
        whole = np.frombuffer(text, np.uint8)
        self.hashes = hashes_of(whole, cuts)
        asked = np.zeros(len(block.terms), np.bool_)
        for at in positions:
            mark(asked, self.columns[at])
        self.keys = int(np.count_nonzero(asked))
        self.known = known.knows_texts(whole, cuts, self.hashes, asked)


class _Query:
    """A semi-join: bits for the patterns that it needs, and one for whatever it can use."""

    def __init__(self, semijoin: SemiJoin) -> None:
        bits = [(keyed, _WANTED) for keyed in semijoin.wanted]
        for number, required in enumerate(semijoin.required):
            bits += [(keyed, 1 << number) for keyed in required]
        positions = {at for (_, at), _ in bits}
        self.roles = {
            at: Roles((shape, bit) for (shape, place), bit in bits if place == at) for at in positions
        }
        self._needed = (1 << len(semijoin.required)) - 1

    def of_use(self, looks: Sequence[_Look]) -> Iterator[Mask]:
        """Which statements of each block have a key that may match all that is needed."""
        said = Occasions(sum(look.keys for look in looks))
        bits = [{at: roles(look.texts, *look.columns) for at, roles in self.roles.items()} for look in looks]
        for look, found in zip(looks, bits, strict=True):
            said.add_all(look.hashes, look.known)
            for at, each in found.items():
                said.add(look.hashes, look.columns[at], each)
        for look, found in zip(looks, bits, strict=True):
            masks = [
                said.have(self._needed, look.hashes, look.columns[at], each) for at, each in found.items()
            ]
            yield reduce(np.logical_or, masks)


@lru_cache(maxsize=16)
def reducer_of(semijoins: tuple[SemiJoin, ...]) -> Reducer:
    """Made once a worker."""
    return Reducer(semijoins)
