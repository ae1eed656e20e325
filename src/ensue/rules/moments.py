"""The values of xsd:dateTime, each with one spelling. Standard library only."""

from __future__ import annotations

import re
from datetime import date, timedelta

_TEXT = re.compile(
    r"(?P<year>-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
    r"T(?P<hour>[01][0-9]|2[0-4]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9])(?:\.(?P<fraction>[0-9]+))?"
    r"(?P<zone>Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
)
_CYCLE = 400
"""After so many years the calendar repeats."""


def spelling(text: str) -> str | None:
    """The simplest text for the same value, None if there is none. A zone is part of the value.

    >>> spelling("2024-02-28T24:00:00.50+00:00"), spelling("2024-02-28T24:00:00.0+00:00")
    (None, '2024-02-29T00:00:00Z')
    >>> spelling("2023-02-29T00:00:00"), spelling("0000-01-01T00:00:00.250+01:00")
    (None, '0000-01-01T00:00:00.25+01:00')
    """
    found = _TEXT.fullmatch(text)
    if found is None or len(text) > 1_000:
        return None
    year, month, day = int(found["year"]), int(found["month"]), int(found["day"])
    fraction = (found["fraction"] or "").rstrip("0")
    try:
        there = date(year % _CYCLE + _CYCLE, month, day)
    except ValueError:
        return None
    clock = f"{found['hour']}:{found['minute']}:{found['second']}"
    if found["hour"] == "24":
        if clock != "24:00:00" or fraction:
            return None
        there, clock = there + timedelta(days=1), "00:00:00"
        year += there.year - (year % _CYCLE + _CYCLE)
    zone = "Z" if found["zone"] in ("+00:00", "-00:00") else found["zone"] or ""
    written = f"{'-' * (year < 0)}{abs(year):04d}-{there.month:02d}-{there.day:02d}T{clock}"
    return f"{written}{'.' * bool(fraction)}{fraction}{zone}"


def has_zone(text: str) -> bool:
    """Whether a text that has a value says in which zone it is.

    >>> has_zone("2024-02-29T00:00:00-05:00"), has_zone("2024-02-29T00:00:00")
    (True, False)
    """
    return text.endswith("Z") or text[-6] in "+-"
