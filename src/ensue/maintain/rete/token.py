"""What flows through the network and rests in it, and the buckets it rests in."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeVar

from ensue.model import NEVER, Triple

if TYPE_CHECKING:
    from ensue.maintain.rete.network import Join

Values = tuple[int, ...]
Key = Hashable


class Fact:
    """A timed fact. `settled` is the stamp up to which its consequences have been drawn."""

    __slots__ = ("settled", "stamp", "values")

    def __init__(self, triple: Triple, stamp: int) -> None:
        self.values = triple
        self.stamp = stamp
        self.settled = NEVER


class Token:
    """A binding that waits at a join for a further fact; as old as the oldest fact in it."""

    __slots__ = ("join", "stamp", "values")

    def __init__(self, join: Join, values: Values, stamp: int) -> None:
        self.join = join
        self.values = values
        self.stamp = stamp


Item = TypeVar("Item", Fact, Token)
Index = dict[Key, Item | dict[Values, Item]]
"""Facts or tokens by key. Most keys have one item, and a dictionary of one would be four times its size."""


def put(index: Index[Item], key: Key, item: Item) -> None:
    """Add an item that is not there yet."""
    found = index.get(key)
    if found is None:
        index[key] = item
    elif isinstance(found, dict):
        found[item.values] = item
    else:
        index[key] = {found.values: found, item.values: item}


def drop(index: Index[Item], key: Key, values: Values) -> None:
    """Take out the item with these values, which is there."""
    found = index[key]
    if not isinstance(found, dict):
        del index[key]
        return
    del found[values]
    if len(found) == 1:
        (index[key],) = found.values()


def size(index: Index[Item]) -> int:
    """How many items there are."""
    return sum(len(found) if isinstance(found, dict) else 1 for found in index.values())
