"""Java's random numbers: workloads that were defined by a program in Java come out the same here."""

from __future__ import annotations

_MULTIPLIER, _INCREMENT, _MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1
_LEAST_INT = 1 << 31
_DOUBLE = 1.0 / (1 << 53)


class JavaRandom:
    """`java.util.Random`.

    >>> random = JavaRandom(42)
    >>> random.below(10), random.int32(), random.long(), round(random.double(), 6)
    (0, 234785527, -5843495416241995736, 0.308719)
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def bits(self, count: int) -> int:
        """The next so many bits."""
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> (48 - count)

    def below(self, bound: int) -> int:
        """A number from 0 on, below a bound."""
        if bound & (bound - 1) == 0:
            return (bound * self.bits(31)) >> 31
        while True:
            drawn = self.bits(31)
            found = drawn % bound
            # The last numbers, which do not fill a whole round, would come too often.
            if drawn - found + bound - 1 < _LEAST_INT:
                return found

    def between(self, least: int, most: int) -> int:
        """A number from `least` to `most`."""
        return self.below(most - least + 1) + least

    def int32(self) -> int:
        """Any number of 32 bits."""
        drawn = self.bits(32)
        return drawn - (1 << 32) if drawn >= _LEAST_INT else drawn

    def long(self) -> int:
        """Any number of 64 bits."""
        found = (self.int32() << 32) + self.int32()
        return (found + (1 << 63)) % (1 << 64) - (1 << 63)

    def double(self) -> float:
        """A number from 0 to 1."""
        return ((self.bits(26) << 27) + self.bits(27)) * _DOUBLE
