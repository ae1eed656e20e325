"""ISO 8601 dates with times as milliseconds since 1970, in exact integer arithmetic.

The form is that of XML Schema: `2024-01-01T00:00:10.250Z`, `...+01:00`, years of four to nine digits, with a
minus sign before the year 0. Digits of a second beyond the third are cut off. There is no second 60.
"""

from __future__ import annotations

import re
from datetime import date

from ensue.errors import InputError
from ensue.model import FOREVER, NEVER

TIME_HINT = "as in 2024-01-01T00:00:10.250Z or 2024-01-01T01:00:10+01:00"

_FORM = re.compile(
    r"(-?(?:0[0-9]{3}|[1-9][0-9]{3,8}))-([0-9]{2})-([0-9]{2})"
    r"T([01][0-9]|2[0-4]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]+))?"
    r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?",
)
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE = 400
"""After so many years the calendar repeats, and `date` knows the years 1 to 9999 only."""
_DAYS_IN_CYCLE = 146_097
_MINUTE = 60_000
_SHOWN = 40


def parse_time(text: str) -> int:
    """The milliseconds since 1970 of a date and time with a zone; InputError for anything else.

    >>> parse_time("1970-01-01T01:00:00.2509+01:00"), parse_time("1969-12-31T23:59:59.999Z")
    (250, -1)
    >>> parse_time("2024-01-01T00:00:10")
    Traceback (most recent call last):
    ensue.errors.InputError: '2024-01-01T00:00:10' has no time zone (hint: end it with Z or +01:00)
    """
    time = milliseconds(text, needs_zone=True)
    if time is not None:
        return time
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    shown = shown.encode("utf-8", "backslashreplace").decode()
    if milliseconds(text, needs_zone=False) is not None:
        raise InputError(f"'{shown}' has no time zone", hint="end it with Z or +01:00")
    raise InputError(f"'{shown}' is not a time", hint=TIME_HINT)


def milliseconds(text: str, *, needs_zone: bool) -> int | None:
    """The same, or None; without a zone it is UTC, where none is needed.

    >>> milliseconds("1970-01-01T00:00:01", needs_zone=False)
    1000
    >>> milliseconds("1970-02-30T00:00:00Z", needs_zone=True)
    """
    found = _FORM.fullmatch(text)
    if found is None or (needs_zone and not found[8]):
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    cycles, within = divmod(year, _CYCLE)
    fraction = int((found[7] or "").ljust(3, "0")[:3])
    if hour == 24 and (minute, second, (found[7] or "").strip("0")) != (0, 0, ""):
        return None
    try:
        ordinal = date(_CYCLE + within, month, day).toordinal()
    except ValueError:
        return None
    days = ordinal - _EPOCH + (cycles - 1) * _DAYS_IN_CYCLE
    minutes = (days * 24 + hour) * 60 + minute - _zone_minutes(found[8])
    time = minutes * _MINUTE + second * 1000 + fraction
    return time if NEVER < time < FOREVER else None


def _zone_minutes(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    hours, minutes = zone[1:].split(":")
    return (-1 if zone[0] == "-" else 1) * (int(hours) * 60 + int(minutes))
