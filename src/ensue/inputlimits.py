"""Limits on what is read: the length of a line, and how deep a document nests.

A line that is longer than the limit is passed over without being held, and becomes a dead letter with its
beginning and its length. The parser behind N-Quads, TriG and the rest holds no term of 16 MiB or more, calls
itself for each level of nested triple terms, and takes quadratic memory in the depth of JSON-LD and quadratic
time in that of RDF/XML; so these are looked at before. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ensue.errors import UsageError

MAX_LINE = 16_000_000
"""Bytes of a line, its end not counted: what the parser of lines takes, whatever is in the line."""

MAX_DEVICE_LINE = 1 << 20
"""Bytes of a line on a small device, unless told."""

LEAST_MAX_LINE = 100
"""A smaller limit would refuse every statement."""

MAX_NESTED = 100
"""How deep triple terms, JSON and XML may nest."""

_LONGEST_TAIL = 1 << 20

SHOWN = 1_000
"""So much of a line that is too long is shown."""


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line that was passed over: how it begins, and how many bytes it has with its end."""

    head: bytes
    length: int
    ended: bool = True
    """Whether a line feed was at its end."""

    def reason(self, longest: int) -> str:
        """What a dead letter says of it."""
        return too_long(self.length - self.ended, longest)

    @property
    def shown(self) -> str:
        """How it begins, for people."""
        return self.head[:SHOWN].rstrip(b"\r\n").decode(errors="replace")


def too_long(length: int, longest: int) -> str:
    """The reason why a line is a dead letter.

    >>> too_long(20, 10)
    'the line has 20 bytes, and 10 are the most'
    """
    return f"the line has {length} bytes, and {longest} are the most"


def check_max_line(longest: int) -> int:
    """The same number; an error if it cannot be the limit of a line."""
    if not LEAST_MAX_LINE <= longest <= MAX_LINE:
        hint = f"a number of bytes from {LEAST_MAX_LINE} to {MAX_LINE}"
        raise UsageError(f"max line {longest}", hint=hint)
    return longest


@dataclass(slots=True)
class LineCutter:
    r"""Cuts bytes that come in pieces into runs of whole lines, and passes over those that are too long.

    >>> cutter = LineCutter(5)
    >>> [*cutter.take(b"a\nbc"), *cutter.take(b"defgh"), *cutter.take(b"i\nj"), *cutter.rest()]
    [b'a\n', LongLine(head=b'bcdefgh', length=9, ended=True), b'j']
    """

    longest: int
    _parts: list[bytes] = field(default_factory=list)
    _held: int = 0
    _passed: int = 0
    """Bytes of a line that is being passed over; 0: there is none."""

    def take(self, data: bytes) -> Iterator[bytes | LongLine]:
        """What is complete with these bytes. A line that is whole may still be too long."""
        if self._passed:
            end = data.find(b"\n") + 1
            self._passed += end or len(data)
            if not end:
                return
            yield self._passed_over(ended=True)
            data = data[end:]
        end = data.rfind(b"\n") + 1
        if end:
            first = data.find(b"\n") + 1
            if self._held + first - 1 > self.longest:
                self._keep(data[: first - 1])
                self._passed += 1
                yield self._passed_over(ended=True)
                whole = data[first:end]
            else:
                whole = b"".join((*self._parts, data[:end]))
                self._parts, self._held = [], 0
            if whole:
                yield whole
        self._keep(data[end:])

    def rest(self) -> Iterator[bytes | LongLine]:
        """What is left at the end: a line without a line feed."""
        if self._passed:
            yield self._passed_over(ended=False)
        elif rest := b"".join(self._parts):
            self._parts, self._held = [], 0
            yield rest

    def _keep(self, part: bytes) -> None:
        self._parts.append(part)
        self._held += len(part)
        if self._held > self.longest:
            self._passed = self._held
            self._parts = [b"".join(self._parts)[:SHOWN]]
            self._held = 0

    def _passed_over(self, *, ended: bool) -> LongLine:
        found = LongLine(b"".join(self._parts)[:SHOWN], self._passed, ended)
        self._parts, self._held, self._passed = [], 0, 0
        return found


class NestingError(ValueError):
    """What is read nests too deeply."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(f"{what} nest more than {MAX_NESTED} deep")
        self.line = line
        """How many line feeds came before, and one."""


_BLANK = rb"(?:\s|\#[^\n]*+\n)*+"
_NAME = rb"(?:<[^<>\s\"]*+>|[^\s<\"\#]++)"
_LINK = re.compile(rb"<<\(" + _BLANK + _NAME + _BLANK + _NAME + _BLANK)
"""A triple term as far as its object: where that is one, too, the next begins right behind."""
_BRACKET = re.compile(rb"[\[\]{}]")
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")


def check_nested_terms(lines: bytes) -> bool:
    """Whether lines have no triple terms that nest too deeply.

    >>> check_nested_terms(b"<<( _:a <urn:p> " * 100), check_nested_terms(b"<<( _:a <urn:p> " * 101)
    (True, False)
    """
    if lines.count(b"<<(") <= MAX_NESTED:
        return True
    depth = end = 0
    for link in _LINK.finditer(lines):
        depth = depth + 1 if link.start() == end else 1
        end = link.end()
        if depth > MAX_NESTED:
            return False
    return True


@dataclass(slots=True)
class TermNesting:
    """Follows how deep triple terms nest in a document that comes in pieces."""

    _depth: int = 0
    _line: int = 1
    _tail: bytes = b""
    """What may be the beginning of a triple term that goes on in the next piece."""

    def take(self, data: bytes) -> None:
        """Some more bytes; NestingError if they are too deep."""
        text = self._tail + data
        depth, end, last = self._depth, 0, None
        for link in _LINK.finditer(text):
            depth = depth + 1 if link.start() == end else 1
            end, last = link.end(), link
            if depth > MAX_NESTED:
                raise NestingError("triple terms", self._line)
        if last is not None and end == len(text):  # its name may be cut off
            self._tail, self._depth = text[last.start() :], depth - 1
        else:
            begin = text.rfind(b"<<", end)
            self._tail, self._depth = (b"", 0) if begin < 0 else (text[begin:], depth if begin == end else 0)
        if len(self._tail) > _LONGEST_TAIL:
            self._tail, self._depth = b"", 0
        self._line += data.count(b"\n")


@dataclass(slots=True)
class JsonNesting:
    r"""Follows how deep JSON nests that comes in pieces.

    >>> nesting = JsonNesting()
    >>> for piece in (b'["[[', b'\\\\', b'"[', b"[" * 98):
    ...     nesting.take(piece)
    >>> nesting.take(b"\n[")
    Traceback (most recent call last):
    ensue.inputlimits.NestingError: arrays and objects nest more than 100 deep
    """

    _depth: int = 0
    _line: int = 1
    _inside: bool = False
    """Whether it is within a string."""
    _backslash: bytes = b""

    def take(self, data: bytes) -> None:
        """Some more bytes; NestingError if they are too deep."""
        data = self._backslash + data
        odd = (len(data) - len(data.rstrip(b"\\"))) % 2
        self._backslash, data = data[len(data) - odd :], data[: len(data) - odd]
        parts = _ESCAPED.sub(b"", data).split(b'"')
        self._follow(b"".join(parts[self._inside :: 2]))
        self._inside ^= len(parts) % 2 == 0
        self._line += data.count(b"\n")

    def _follow(self, outside: bytes) -> None:
        for at, sign in enumerate(outside.translate(None, _NO_BRACKETS)):
            self._depth += 1 if sign in b"[{" else -1
            if self._depth > MAX_NESTED:
                before = [each.end() for each in _BRACKET.finditer(outside)][at]
                raise NestingError("arrays and objects", self._line + outside.count(b"\n", 0, before))
