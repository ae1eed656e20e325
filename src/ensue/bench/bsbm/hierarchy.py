"""Product types in a tree, and the features that products of a type may have."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from ensue.errors import UsageError


@dataclass(frozen=True, slots=True)
class Shape:
    """How many children the types of each level have; leaves are below the last."""

    branching: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.branching or min(self.branching) < 1:
            raise UsageError("a hierarchy of types needs a level below its root", hint="--depth and --fanout")

    @classmethod
    def of(cls, products: int) -> Shape:
        """As the benchmark has it for so many products.

        >>> Shape.of(100).branching, Shape.of(1000).branching, Shape.of(1000).types
        ((4, 4), (6, 8, 2), 151)
        """
        # As a number of 32 bits, as the original has it.
        (log,) = struct.unpack("f", struct.pack("f", math.log10(max(products, 10))))
        depth = _rounded(log / 2) + 1
        branching = [2 * _rounded(log), *[8] * (depth - 1)]
        if depth > 1:
            branching[-1] = (2, 4, 8)[_rounded(log * 3 / 2 + 1) % 3]
        return cls(tuple(branching))

    @property
    def depth(self) -> int:
        """How far leaves are from the root."""
        return len(self.branching)

    @property
    def types(self) -> int:
        """How many types there are."""
        return 1 + sum(math.prod(self.branching[: k + 1]) for k in range(self.depth))

    def features(self, level: int) -> tuple[int, int]:
        """How many features a type at least and at most has, that is so far from the root."""
        if self.depth == 1:
            return 5, 5
        parts, here = self.depth * (self.depth + 1) // 2 - 1, min(level, self.depth - 1) + 1
        return 35 * here // parts, 75 * here // parts


def _rounded(number: float) -> int:
    return math.floor(number + 0.5)


@dataclass(slots=True)
class Type:
    """A product type."""

    number: int
    parent: Type | None
    level: int
    features: list[int] = field(default_factory=list)

    def up_to_the_root(self) -> Iterator[Type]:
        """This type and those above it, without the root."""
        here = self
        while here.parent is not None:
            yield here
            here = here.parent


def types(shape: Shape) -> list[Type]:
    """All types, level by level from the root.

    >>> [(type.number, type.parent and type.parent.number) for type in types(Shape((2, 1)))]
    [(1, None), (2, 1), (3, 1), (4, 2), (5, 3)]
    """
    found = [Type(1, None, 0)]
    level = found[:]
    for branching in shape.branching:
        below: list[Type] = []
        for parent in level:
            for _ in range(branching):
                below.append(Type(len(found) + len(below) + 1, parent, parent.level + 1))
        found += below
        level = below
    return found
