"""Times, and statements with times, as users of the Python interface have them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, SupportsIndex, cast

import pyoxigraph as ox
import rdflib

from ensue.errors import EnsueError, InputError, UsageError
from ensue.files import Timed
from ensue.model import FOREVER, NEVER
from ensue.query.terms_in import (
    OneStatement,
    Statements,
    Term,
    checked_statement,
    shown,
    statements_text,
    term_text,
)
from ensue.streamtimes import time_of
from ensue.times import TIME_HINT, parse_time

Time = SupportsIndex | datetime | str | rdflib.Literal | ox.Literal
"""Milliseconds since 1970, a datetime with a zone, ISO 8601 text with a zone, or a literal of such a time."""

TimedStatement = (
    tuple[Time | None, Term, Term, Term]
    | tuple[Time | None, Term, Term, Term, Any]
    | tuple[Time | None, OneStatement | Statements]
)
"""A time (None: now, by the clock) and the terms of a statement, perhaps with its graph; or a statement or
several in one.
"""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_WANTED = f"whole milliseconds, a datetime with a zone, or text {TIME_HINT}"
_ROW_HINT = "give (time, s, p, o), (time, s, p, o, graph), or (time, triple, quad or graph)"


def time_in(value: Time, what: str = "the time", *, promise: bool = False) -> int:
    """The milliseconds of a time; UsageError, which says `what` it is, for anything else.

    A `promise` that nothing will follow can reach to the end of time. Digits finer than a millisecond are cut
    off.

    >>> time_in(5), time_in(datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)), time_in("1970-01-01T00:00:05Z")
    (5, 5000, 5000)
    >>> time_in(1.5, "the argument `to`")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ensue.errors.UsageError: the argument `to` is 1.5, not a time in milliseconds (hint: whole ...
    """
    time = _milliseconds(value, what)
    last = FOREVER if promise else FOREVER - 1
    if not NEVER < time <= last:
        raise UsageError(f"{what} is {time}, not a time in milliseconds", hint="it must fit into 64 bits")
    return time


def timed_in(rows: Iterable[TimedStatement], now: Callable[[], int] | None) -> Iterator[Timed]:
    """Statements with times as canonical text; InputError, with the row's number, for what is none.

    `now` is the time of those that come without one; None: each needs its own.

    >>> list(timed_in([("1970-01-01T00:00:01Z", ("<urn:a>", "<urn:p>", rdflib.Literal("x")))], now=lambda: 0))
    [(1000, '<urn:a>', '<urn:p>', '"x"', None)]
    """
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes | Mapping | rdflib.Graph):
        raise UsageError(f"{shown(rows)} is no list of statements with times", hint=_ROW_HINT)
    for number, row in enumerate(rows, start=1):
        try:
            if not isinstance(row, Sequence) or isinstance(row, str | bytes) or len(row) not in (2, 4, 5):
                raise InputError(f"{shown(row)} is no statement with a time", hint=_ROW_HINT)
            time = now() if row[0] is None and now is not None else time_in(cast("Time", row[0]))
            if len(row) == 2:
                yield from ((time, *statement) for statement in statements_text(row[1]))
            else:
                yield time, *checked_statement(*row[1:])
        except EnsueError as problem:
            raise InputError(f"statement {number}: {problem.what}", hint=problem.hint) from problem


def _milliseconds(value: Time, what: str) -> int:
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            hint = "give it one: value.replace(tzinfo=datetime.UTC), say"
            raise UsageError(f"{what} is {shown(value)}, without a time zone", hint=hint)
        return int((value - _EPOCH) // _MILLISECOND)
    if isinstance(value, rdflib.Literal | ox.Literal):
        time = time_of(term_text(value))
        if time is not None:
            return time
    elif isinstance(value, str):
        try:
            return parse_time(str(value))
        except InputError as problem:
            raise UsageError(f"{what}: {problem.what}", hint=problem.hint) from problem
    elif not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise UsageError(f"{what} is {shown(value)}, not a time in milliseconds", hint=_WANTED)
