"""When an element of a stream was: a literal of XML Schema as milliseconds."""

from __future__ import annotations

import re

from ensue.model import FOREVER, NEVER
from ensue.terms import XSD, datatype_of
from ensue.times import milliseconds

_INTEGERS = (f"<{XSD}integer>", f"<{XSD}long>")
_DATE_TIME = f"<{XSD}dateTime>"
_STAMP = f"<{XSD}dateTimeStamp>"

_INTEGER_FORM = re.compile(r"[+-]?[0-9]{1,20}")


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
        time = milliseconds(_lexical(term), needs_zone=datatype == _STAMP)
    else:
        return None
    return time if time is not None and NEVER < time < FOREVER else None


def _lexical(term: str) -> str:
    return term[1 : term.rindex('"')].strip(" ")
