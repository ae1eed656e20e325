"""What the generator draws: dates, choices by weight, numbers around a mean, texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from itertools import accumulate
from statistics import NormalDist
from typing import Generic, TypeVar

from ensue.bench.javarandom import JavaRandom

T = TypeVar("T")

DAY = 86_400_000
"""Milliseconds of a day."""
TODAY = date(2008, 6, 20)

_NORMAL = NormalDist()


def ms(day: date) -> int:
    """When a day begins, in ms since 1970."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def day(at: int) -> str:
    """The day of a time in ms.

    >>> day(ms(TODAY) + DAY - 1)
    '2008-06-20'
    """
    return datetime.fromtimestamp(at // 1000, UTC).date().isoformat()


def moment(random: JavaRandom, begin: int, end: int) -> int:
    """A time between two times, all in ms."""
    return int(random.double() * (end - begin) + begin)


def dates(seed: int, begin: date, end: date) -> Callable[[], int]:
    """Draws times between two days."""
    random, first, last = JavaRandom(seed), ms(begin), ms(end)
    return lambda: moment(random, first, last)


class Choice(Generic[T]):
    """Draws one of some values, by weight.

    >>> choose = Choice(JavaRandom(1), {"a": 75, "b": 25})
    >>> "".join(choose() for _ in range(8))
    'aaaababb'
    """

    def __init__(self, random: JavaRandom, weights: dict[T, int]) -> None:
        self._random = random
        total = sum(weights.values())
        self._steps = list(zip(accumulate(w / total for w in weights.values()), weights, strict=True))

    def __call__(self) -> T:
        """The next one."""
        drawn = self._random.double()
        return next((value for upto, value in self._steps if upto >= drawn), self._steps[-1][1])


def around(seed: int, average: int) -> Callable[[], int]:
    """Draws whole numbers from 0 on, about `average` in the middle."""
    random, mu = JavaRandom(seed), 3.0

    def draw() -> int:
        while True:
            x = _NORMAL.inv_cdf(random.double()) + mu
            if x >= 0:
                return int(x / mu * average)

    return draw


def ranged(seed: int, mu: float, most: int, limit: float) -> Callable[[], int]:
    """Draws whole numbers from 1 to `most`, of which `limit` deviations above 0 are spread over all."""
    random = JavaRandom(seed)

    def draw() -> int:
        while True:
            x = _NORMAL.inv_cdf(random.double()) + mu
            if 0 <= x <= limit:
                return int(x / limit * most + 1)

    return draw


class Texts:
    """Draws texts of so many words."""

    def __init__(self, seed: int, words: Sequence[str]) -> None:
        self._random, self._words = JavaRandom(seed), words

    def __call__(self, count: int) -> str:
        """The next text."""
        below, size, words = self._random.below, len(self._words), self._words
        return " ".join([words[below(size)] for _ in range(count)])
