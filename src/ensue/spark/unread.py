"""What could not be read, as a line of its own among the lines of statements.

A document is parsed where its lines are cut, a line that is too long is passed over there, and dead letters
are made where lines are decoded: so the reason travels as a line, which no time and no tab make a statement
of.
"""

from __future__ import annotations

import json

from ensue.badlines import BadLine
from ensue.inputlimits import LongLine

_MARK = "not read: "


def as_line(bad: BadLine) -> str:
    r"""The line, with its line feed.

    >>> as_line(BadLine("s.trig", 3, 7, None, "", "no dot", "end it with one"))
    'not read: ["line 3, column 7: no dot (hint: end it with one)", ""]\n'
    """
    places = (("line", bad.line), ("column", bad.column))
    place = ", ".join(f"{name} {number}" for name, number in places if number is not None)
    hint = "" if bad.hint is None else f" (hint: {bad.hint})"
    reason = f"{place}: {bad.reason}{hint}" if place else f"{bad.reason}{hint}"
    # JSON has neither tabs nor line feeds in it.
    return f"{_MARK}{json.dumps([reason, bad.text])}\n"


class PassedOver(bytes):
    """A line that stands for one that was passed over, and how many bytes that has in its file."""

    length: int


def as_long_line(line: LongLine, longest: int) -> PassedOver:
    r"""The line that stands for one that is too long; unlike others it has an offset in its file.

    >>> found = as_long_line(LongLine(b"5\t<urn:", 200), 100)
    >>> bytes(found), found.length
    (b'not read: ["the line has 199 bytes, and 100 are the most", "5\\t<urn:", true]\n', 200)
    """
    found = PassedOver(f"{_MARK}{json.dumps([line.reason(longest), line.shown, True])}\n".encode())
    found.length = line.length
    return found


def length_of(lines: bytes) -> int:
    """How many bytes some lines have in their file."""
    return lines.length if isinstance(lines, PassedOver) else len(lines)


def of_line(line: bytes) -> tuple[str, str, bool] | None:
    """The reason and the text of what could not be read, and whether its offset is known.

    None for any other line, whatever it looks like.

    >>> of_line(as_line(BadLine("s.trig", None, None, None, "<urn:g>", "no time")).encode())
    ('no time', '<urn:g>', False)
    >>> of_line(b"not read: yet"), of_line(b'not read: ["a"]')
    (None, None)
    """
    if not line.startswith(_MARK.encode()):
        return None
    # A stream may bring just such a line, and must not stop the job with it.
    try:
        match json.loads(line[len(_MARK) :]):
            case [str(reason), str(text), *placed] if placed in ([], [True]):
                (reason + text).encode()  # JSON can spell half a character, and Arrow takes none.
                return reason, text, bool(placed)
    except (ValueError, RecursionError):
        pass
    return None
