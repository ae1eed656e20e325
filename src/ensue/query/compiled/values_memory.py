"""What was evaluated once is looked up afterwards: a number per distinct binding, a result per number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ensue.query.dataset import Integers

UNKNOWN = -1


class Numbering:
    """Gives each distinct pair of integers a number, from 0 on, and the same one ever after.

    >>> pairs = Numbering()
    >>> pairs.number(np.array([1, 2, 1]), np.array([5, 5, 5])).tolist()
    [0, 1, 0]
    >>> pairs.number(np.array([2, 0]), np.array([5, 1])).tolist(), len(pairs)
    ([1, 2], 3)
    >>> pairs.number(np.array([0, 1]), np.array([1, 5])).tolist()
    [2, 0]
    """

    def __init__(self) -> None:
        self._keys = np.empty(0, np.int64)
        self._numbers = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._keys)

    def number(self, left: Integers, right: Integers) -> Integers:
        """The number of each pair."""
        keys, first, inverse = np.unique(_packed(left, right), return_index=True, return_inverse=True)
        at = np.searchsorted(self._keys, keys)
        new = np.ones(len(keys), bool)
        inside = at < len(self._keys)
        new[inside] = self._keys[at[inside]] != keys[inside]
        numbers = np.empty(len(keys), np.int64)
        numbers[~new] = self._numbers[at[~new]]
        # In the order in which they came, so that numbers do not depend on what they pack into.
        numbers[new] = len(self) + np.argsort(np.argsort(first[new]))
        self._keys = np.insert(self._keys, at[new], keys[new])
        self._numbers = np.insert(self._numbers, at[new], numbers[new])
        return numbers[inverse]


def _packed(left: Integers, right: Integers) -> NDArray[np.int64]:
    packed: NDArray[np.int64] = left.astype(np.int64) << 32 | right.astype(np.int64)
    return packed


class Memory:
    """Results by binding. A binding of one variable is its own number; others are numbered pair by pair."""

    def __init__(self, width: int) -> None:
        self._pairs = [Numbering() for _ in range(width - 1)]
        self._results = np.empty(0, np.int32)

    def __len__(self) -> int:
        return max((len(numbering) for numbering in self._pairs), default=0)

    def numbers(self, columns: list[Integers], length: int) -> Integers:
        """The number of each row's binding."""
        if not columns:
            return np.zeros(length, np.int64)
        found = columns[0]
        for column, numbering in zip(columns[1:], self._pairs, strict=True):
            found = numbering.number(found, column)
        return found

    def results(self, numbers: Integers) -> NDArray[np.int32]:
        """What is remembered of each number; UNKNOWN where nothing is."""
        highest = int(numbers.max(initial=-1))
        if highest >= len(self._results):
            more = np.full(max(highest + 1, 2 * len(self._results)) - len(self._results), UNKNOWN, np.int32)
            self._results = np.concatenate([self._results, more])
        return self._results[numbers]

    def remember(self, numbers: Integers, results: Integers) -> None:
        """Keep results for numbers that were asked for."""
        self._results[numbers] = results
