"""How long: `10 sec`, `PT10S`, `TRIPLES 100`. Time is counted in whole milliseconds."""

from __future__ import annotations

import re
from fractions import Fraction

from ensue.errors import did_you_mean
from ensue.query.language_cursor import Cursor
from ensue.query.language_markers import EventClause, event_clause
from ensue.query.tree import WindowSpec
from ensue.rules.lexer import Token
from ensue.windows.spec import CountWindow, Landmark, TimeWindow

MAX_SPAN = 1 << 62
"""The longest length of time, or count, that can be added to a stamp that is one."""

_SPELLINGS = {
    1: "ms msec msecs milli millis millisecond milliseconds",
    1_000: "s sec secs second seconds",
    60_000: "m min mins minute minutes",
    3_600_000: "h hr hrs hour hours",
    86_400_000: "d day days",
}
UNITS = {name: size for size, names in _SPELLINGS.items() for name in names.split()}
"""The names of units of time, and their milliseconds."""

_ISO = re.compile(
    r"P(?:(?P<w>N)W)?(?:(?P<d>N)D)?(?:T(?:(?P<h>N)H)?(?:(?P<m>N)M)?(?:(?P<s>N)S)?)?".replace(
        "N", r"\d+(?:\.\d+)?"
    ),
    re.IGNORECASE,
)
_ISO_UNITS = {"w": 7 * 86_400_000, **{unit: UNITS[unit] for unit in "dhms"}}
_LENGTH_HINT = "such as 10s, 5 min or PT10S"
_WINDOW_HINT = (
    "[RANGE 10s STEP 1s], [RANGE 10s TUMBLING], [RANGE TRIPLES 100 STEP 10], [ELEMENTS 100 STEP 10], "
    "[LANDMARK STEP 10s], [EVENT GRAPH] or [EVENT STARTS { pattern }]"
)


def window_spec(cursor: Cursor) -> WindowSpec | EventClause:
    """What stands between the brackets behind a stream, and the brackets.

    >>> from ensue.rules.lexer import Source
    >>> window_spec(Cursor(Source("[RANGE 1 min STEP PT0.5S]", "q.rq")))
    TimeWindow(range_ms=60000, step_ms=500, t0=0, bounds='(]')
    """
    cursor.expect("[", f"a stream is read through a window: {_WINDOW_HINT}")
    if cursor.skip_word("ELEMENTS"):
        spec: WindowSpec | EventClause = _count_window(cursor, sliding=False)
    elif cursor.skip_word("EVENT"):
        spec = event_clause(cursor)
    elif cursor.skip_word("LANDMARK"):
        cursor.expect("STEP", "say how often to look: [LANDMARK STEP 10s]")
        spec = Landmark(t0=0, step_ms=time_span(cursor))
    else:
        cursor.expect("RANGE", f"a window is {_WINDOW_HINT}")
        triples = cursor.skip_word("TRIPLES")
        spec = _count_window(cursor, sliding=True) if triples else _time_window(cursor)
    cursor.expect("]", f"close the window with ']': {_WINDOW_HINT}")
    return spec


def _time_window(cursor: Cursor) -> TimeWindow:
    size = time_span(cursor)
    return TimeWindow(size, size if _tumbles(cursor) else time_span(cursor))


def _count_window(cursor: Cursor, *, sliding: bool) -> CountWindow:
    """`sliding`: without STEP it moves with each statement, as the last n triples do in C-SPARQL."""
    size = _count(cursor)
    if sliding and cursor.token.is_op("]"):
        return CountWindow(size, 1)
    return CountWindow(size, size if _tumbles(cursor) else _count(cursor))


def _tumbles(cursor: Cursor) -> bool:
    """Whether no step follows; if one does, go to its length."""
    if cursor.skip_word("STEP"):
        return False
    if cursor.token.kind == "word" and not cursor.skip_word("TUMBLING"):
        hint = did_you_mean(cursor.token.text.upper(), ["STEP", "TUMBLING"]) or _WINDOW_HINT
        raise cursor.unexpected("STEP, TUMBLING or ']'", hint)
    return True


def time_span(cursor: Cursor) -> int:
    """A length of time, in milliseconds: a number and a unit, or an ISO 8601 duration.

    >>> from ensue.rules.lexer import Source
    >>> [time_span(Cursor(Source(text, "q.rq"))) for text in ("2h", "1.5 SEC", "P1DT1M")]
    [7200000, 1500, 86460000]
    """
    token = cursor.token
    if token.kind == "word" and re.match(r"P[T\d]", token.text, re.IGNORECASE):
        return _checked(cursor, _iso(cursor), token)
    number = _number(cursor, "a length of time", _LENGTH_HINT)
    return _checked(cursor, number * _unit(cursor), token)


def _count(cursor: Cursor) -> int:
    token = cursor.token
    number = _number(
        cursor, "a number of statements", "such as [RANGE TRIPLES 100] or [ELEMENTS 100 STEP 10]"
    )
    if cursor.token.kind == "word" and cursor.token.text.lower() in UNITS:
        raise cursor.error(
            "a count has no unit", cursor.token, "for a length of time: RANGE 10s or RANGE PT10S"
        )
    return _checked(cursor, number, token)


def _number(cursor: Cursor, wanted: str, hint: str) -> Fraction:
    token = cursor.token
    if token.is_op("-"):
        raise cursor.error("this is not above zero", token, hint)
    if token.kind != "number":
        raise cursor.unexpected(wanted, hint)
    cursor.take()
    return _fraction(cursor, token.text, token)


def _fraction(cursor: Cursor, text: str, at: Token) -> Fraction:
    # No length of time that can be used takes so many digits, and Python refuses to read very long ones.
    if len(text) > 40 or "e" in text.lower():
        raise cursor.error("this number is not written plainly", at, "digits only, such as 10 or 0.5")
    return Fraction(text)


def _unit(cursor: Cursor) -> int:
    token = cursor.token
    if token.kind != "word" or token.is_word("STEP", "TUMBLING", "AS"):
        raise cursor.unexpected("a unit of time", "ms, s, min, h or d: 10s, 5 min")
    size = UNITS.get(token.text.lower())
    if size is None:
        hint = did_you_mean(token.text.lower(), list(UNITS)) or "ms, s, min, h or d"
        raise cursor.error(f"'{token.text[:40]}' is no unit of time", token, hint)
    cursor.take()
    return size


def _iso(cursor: Cursor) -> Fraction:
    token = cursor.take_run()
    found = _ISO.fullmatch(token.text)
    if found is None and re.match(r"P[^T]*[YM]", token.text, re.IGNORECASE):
        what = "years and months have no fixed length in milliseconds"
        raise cursor.error(what, token, "say it in days: P30D, P365D")
    parts = {unit: text for unit, text in found.groupdict().items() if text} if found else {}
    if not parts or token.text[-1] in "Tt":
        what = f"'{token.text[:40]}' is no ISO 8601 duration"
        raise cursor.error(what, token, "such as PT10S, PT1H30M or P1D")
    lengths = (_fraction(cursor, text, token) * _ISO_UNITS[unit] for unit, text in parts.items())
    return sum(lengths, Fraction())


def _checked(cursor: Cursor, size: Fraction, at: Token) -> int:
    if size <= 0:
        raise cursor.error("this is not above zero", at, "a window and a step have a length")
    if size.denominator != 1:
        raise cursor.error("this is not whole", at, "time is counted in milliseconds, statements one by one")
    if size > MAX_SPAN:
        raise cursor.error("this is too long", at, f"at most {MAX_SPAN} milliseconds or statements")
    return int(size)
