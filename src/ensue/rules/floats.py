"""The values of xsd:float and xsd:double, each with one spelling. Standard library only."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from fractions import Fraction

_TEXT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORDS = {"INF": "INF", "+INF": "INF", "-INF": "-INF", "NaN": "NaN"}
_LONGEST = 4_000
"""Longer texts have no value here: exact arithmetic on them takes long."""


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of so many bits: how they are packed, and how many digits always tell them apart."""

    number: str
    bits: str
    digits: int

    def spelling(self, text: str) -> str | None:
        """The simplest text for the value of a text; None if it has none.

        As most programs write them: with a point, and with an exponent only if very large or small.

        >>> [FLOAT.spelling(text) for text in ("1", "1.0E0", "16777217", "-0", "1e10", "one")]
        ['1.0', '1.0', '1.6777216E7', '-0.0', '1.0E10', None]
        """
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > _LONGEST or not _TEXT.fullmatch(text):
            return None
        value = self._nearest(text)
        if math.isinf(value):
            return "INF" if value > 0 else "-INF"
        return self._written(value)

    def _nearest(self, text: str) -> float:
        """The number of this size that is nearest to what is written, exactly; of two, the even one."""
        double = float(text)
        near = self._rounded(double)
        if near == double or not math.isfinite(double) or math.isinf(near):
            return near
        # Rounded twice, it may be the neighbour of what it should be.
        exact = Fraction(text)
        pattern = self._pattern(near)
        around = [self._number(pattern + step) for step in (-1, 0, 1) if pattern + step >= 0]
        finite = [each for each in around if math.isfinite(each)]
        return min(finite, key=lambda each: (abs(Fraction(each) - exact), self._pattern(each) & 1))

    def _written(self, value: float) -> str:
        digits = next(
            written
            for count in range(self.digits)
            if self._rounded(float(written := f"{value:.{count}e}")) == value
        )
        mantissa, _, exponent = digits.partition("e")
        if value == 0 or 1e-3 <= abs(value) < 1e7:
            places = max(len(mantissa.lstrip("-")) - 2 - int(exponent), 1)
            return f"{float(digits):.{places}f}"
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"

    def _rounded(self, value: float) -> float:
        try:
            return float(struct.unpack(self.number, struct.pack(self.number, value))[0])
        except OverflowError:
            return math.copysign(math.inf, value)

    def _pattern(self, value: float) -> int:
        return int(struct.unpack(self.bits, struct.pack(self.number, value))[0])

    def _number(self, pattern: int) -> float:
        return float(struct.unpack(self.number, struct.pack(self.bits, pattern))[0])


FLOAT = Size("<f", "<I", 9)
DOUBLE = Size("<d", "<Q", 17)
