"""Trees of isIn: the synthetic data of the IMaRS evaluation.

Every statement says that a place is in the place above it. A tree of depth d makes each place
derive its d ancestors and no more, so the closure grows with the statements, not with their square.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Statement = tuple[str, str, str]

IS_IN = "<http://example.org/isIn>"


@dataclass(frozen=True, slots=True)
class Trees:
    """How many trees, how deep, and how many children each place has.

    >>> Trees(count=2, depth=3, fanout=2).statements
    28
    >>> Trees(count=1, depth=3, fanout=2).closed
    34
    """

    count: int
    depth: int
    fanout: int

    @property
    def statements(self) -> int:
        """How many statements the trees have."""
        return self.count * sum(self._level(level) for level in range(1, self.depth + 1))

    @property
    def closed(self) -> int:
        """How many facts their closure has: one for each place and each of its ancestors."""
        return self.count * sum(level * self._level(level) for level in range(1, self.depth + 1))

    def _level(self, level: int) -> int:
        return int(self.fanout**level)


def place(tree: int, node: int) -> str:
    """The IRI of a place: the root of a tree is its node 0, a child of k is k * fanout + 1 + j."""
    return f"<http://example.org/place/{tree}-{node}>"


def isin_statements(trees: Trees, seed: int, *, mixed: int = 8, first: int = 0) -> list[Statement]:
    """All statements of the trees in the order in which they are streamed.

    The statements of `mixed` neighbouring trees are shuffled together: so a window holds most of
    a tree at a time, as a window over moving things does, and its parts come in any order. Trees
    are numbered from `first` on.

    >>> pool = isin_statements(Trees(2, 2, 2), seed=1)
    >>> len(pool), len(set(pool)), pool == isin_statements(Trees(2, 2, 2), seed=1)
    (12, 12, True)
    """
    rng = random.Random(seed)
    pool: list[Statement] = []
    for start in range(0, trees.count, mixed):
        block = [
            (place(first + tree, node), IS_IN, place(first + tree, (node - 1) // trees.fanout))
            for tree in range(start, min(start + mixed, trees.count))
            for node in range(1, trees.statements // trees.count + 1)
        ]
        rng.shuffle(block)
        pool += block
    return pool


def split_background(
    pool: list[Statement], background: int, seed: int
) -> tuple[list[Statement], list[Statement]]:
    """Take `background` statements out of the pool at random; the rest is the stream, in order.

    >>> ground, stream = split_background(isin_statements(Trees(2, 2, 2), seed=1), 5, seed=2)
    >>> len(ground), len(stream), set(ground) & set(stream)
    (5, 7, set())
    """
    chosen = set(random.Random(seed).sample(range(len(pool)), min(background, len(pool))))
    ground = [statement for k, statement in enumerate(pool) if k in chosen]
    return ground, [statement for k, statement in enumerate(pool) if k not in chosen]


def at_rate(statements: Iterable[Statement], rate: float) -> Iterator[tuple[int, Statement]]:
    """Each statement with its time in ms, `rate` statements a second, from 0.

    >>> [ms for ms, _ in at_rate([("s", "p", "o")] * 3, rate=400)]
    [0, 2, 5]
    """
    for k, statement in enumerate(statements):
        yield int(k * 1000 / rate), statement
