"""When an element of a stream was: a literal of XML Schema as milliseconds."""

from __future__ import annotations

import re
from datetime import date

from ensue.model import FOREVER, NEVER
from ensue.terms import XSD, datatype_of

_INTEGERS = (f"<{XSD}integer>", f"<{XSD}long>")
_DATE_TIME = f"<{XSD}dateTime>"
_STAMP = f"<{XSD}dateTimeStamp>"

_INTEGER_FORM = re.compile(r"[+-]?[0-9]{1,20}")
_DATE_TIME_FORM = re.compile(
    r"(-?(?:0[0-9]{3}|[1-9][0-9]{3,8}))-([0-9]{2})-([0-9]{2})"
    r"T([01][0-9]|2[0-4]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]+))?"
    r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
)
_MINUTE = 60_000
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE = 400
"""After so many years the calendar repeats, and `date` knows the years 1 to 9999 only."""
_DAYS_IN_CYCLE = 146_097


def time_of(term: str) -> int | None:
    """The time that a literal says, in ms since 1970; None if it says none that a stream can have.

    xsd:dateTime without a zone is taken as UTC. Digits finer than a millisecond are cut off.

    >>> time_of('"1970-01-01T01:00:00.25+01:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>')
    250
    >>> time_of('"-5"^^<http://www.w3.org/2001/XMLSchema#integer>'), time_of('"-5"')
    (-5, None)
    """
    datatype = datatype_of(term)
    if datatype in _INTEGERS:
        text = _lexical(term)
        time = int(text) if _INTEGER_FORM.fullmatch(text) else None
    elif datatype in (_DATE_TIME, _STAMP):
        time = _date_time(_lexical(term), needs_zone=datatype == _STAMP)
    else:
        return None
    return time if time is not None and NEVER < time < FOREVER else None


def moment_of(text: str) -> int | None:
    """The time that an ISO 8601 text says, spelt as xsd:dateTime is, in ms since 1970; None if it says none.

    >>> moment_of("2024-01-01T00:00:10Z"), moment_of("2024-01-01T00:00:10"), moment_of("2024-01-01")
    (1704067210000, 1704067210000, None)
    """
    time = _date_time(text, needs_zone=False)
    return time if time is not None and NEVER < time < FOREVER else None


def _lexical(term: str) -> str:
    return term[1 : term.rindex('"')].strip(" ")


def _date_time(text: str, *, needs_zone: bool) -> int | None:
    found = _DATE_TIME_FORM.fullmatch(text)
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
    return minutes * _MINUTE + second * 1000 + fraction


def _zone_minutes(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    hours, minutes = zone[1:].split(":")
    return (-1 if zone[0] == "-" else 1) * (int(hours) * 60 + int(minutes))
