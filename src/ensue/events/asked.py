"""What a query asks of occurrences: start, end and duration as terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from ensue.events.occurrences import UNKNOWN_TIME, Column, Times
from ensue.events.tree import Of
from ensue.terms import XSD, literal

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_VALUES: dict[Of, Callable[[Times, Times], Times]] = {
    Of.START: lambda start, end: start,
    Of.END: lambda start, end: end,
    Of.DURATION: lambda start, end: end - start,
    Of.STARTTIME: lambda start, end: start,
    Of.ENDTIME: lambda start, end: end,
    Of.DURATIONTIME: lambda start, end: end - start,
}


def column_of(of: Of, start: Times, end: Times, encode: Callable[[Sequence[str]], list[int]]) -> Column:
    """The integers of the terms that are asked for; 0 where the occurrence has no one interval.

    >>> terms = []
    >>> encode = lambda texts: terms.extend(texts) or [2, 1]
    >>> column_of(Of.DURATION, np.array([5, 5]), np.array([9, 5]), encode)
    array([1, 2], dtype=int32)
    >>> terms[1][:3]
    '"4"'
    """
    known = start != UNKNOWN_TIME
    distinct, places = np.unique(np.where(known, _VALUES[of](start, end), 0), return_inverse=True)
    numbers = np.array(encode([_term(of, value) for value in distinct.tolist()]), np.int32)
    return np.where(known, numbers[places], 0).astype(np.int32) if len(numbers) else numbers


def _term(of: Of, value: int) -> str:
    """A time in ms as a term.

    >>> _term(Of.STARTTIME, 1500), _term(Of.DURATIONTIME, 90_500)[:10]
    ('"1970-01-01T00:00:01.500Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>', '"PT90.5S"^')
    """
    match of:
        case Of.STARTTIME | Of.ENDTIME:
            at = (_EPOCH + timedelta(milliseconds=value)).isoformat(timespec="milliseconds")
            return literal(at.replace("+00:00", "Z"), datatype=f"{XSD}dateTime")
        case Of.DURATIONTIME:
            seconds = f"{value / 1000:.3f}".rstrip("0").rstrip(".")
            return literal(f"PT{seconds}S", datatype=f"{XSD}duration")
        case _:
            return literal(str(value), datatype=f"{XSD}long")
