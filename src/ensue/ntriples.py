r"""N-Triples and N-Quads, a line at a time: validated, and in canonical text. Standard library only.

What pyoxigraph does for the rest of Ensue, for a device that has no room for it. Escapes are read
and written anew (see `ensue.terms`), so that one term has one text however it was spelled.
"""

from __future__ import annotations

import re
from typing import NoReturn

from ensue.errors import InputError, Place
from ensue.terms import literal

Line = tuple[str, str, str, str | None]
"""Subject, predicate, object and graph name (None: the default graph)."""

_NAME_START = (
    r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C-\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF_"
)
_NAME = _NAME_START + r"0-9\-\u00B7\u0300-\u036F\u203F-\u2040"
_LABEL = rf"_:[{_NAME_START}0-9](?:[{_NAME}.]*[{_NAME}])?"
_HEX = r"[0-9A-Fa-f]"
_ESCAPED_CHARACTER = rf"\\u{_HEX}{{4}}|\\U{_HEX}{{8}}"
_IRI = rf'<(?:[^\x00-\x20<>"{{}}|^`\\]|{_ESCAPED_CHARACTER})*>'
_STRING = rf'"(?:[^"\\\n\r]|\\[tbnrf"\'\\]|{_ESCAPED_CHARACTER})*"'
_LANGUAGE = r"@[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*"

_SPACE = re.compile(r"[ \t]*")
_TERM = re.compile(rf"({_IRI})|({_LABEL})|({_STRING})(?:({_LANGUAGE})|\^\^({_IRI}))?")
_END = re.compile(r"[ \t]*\.[ \t]*(?:\#.*)?[\r\n]*\Z")
_NOTHING = re.compile(r"\s*(?:\#.*)?\s*\Z")
_ESCAPE = re.compile(rf"{_ESCAPED_CHARACTER}|\\.")
_PLAIN_IRI = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:[!#$&-;=?@A-Z\[\]_a-z~]*>\Z")
_SCHEME = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:")
_BAD_PERCENT = re.compile(rf"%(?!{_HEX}{{2}})")
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_NEEDS_ESCAPE = re.compile(r"[\x00-\x1F\x7F]")

_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}

_SURROGATES = range(0xD800, 0xE000)


def parse_line(line: str, file: str, number: int) -> Line | None:
    r"""The statement on a line, None for an empty line or a comment. Raises InputError.

    >>> parse_line(r'<urn:a> <urn:p> "\u0041"@EN . # a comment', "a.nt", 1)
    ('<urn:a>', '<urn:p>', '"A"@en', None)
    >>> parse_line("<urn:a> <urn:p> .", "a.nt", 7)
    Traceback (most recent call last):
    ensue.errors.InputError: a.nt:7:17: expected an object (hint: an IRI in < >, a node _:b or a "literal")
    """
    return _Reader(line, file, number).read()


class _Reader:
    """One line, and how far it has been read."""

    __slots__ = ("_at", "_file", "_line", "_number")

    def __init__(self, line: str, file: str, number: int) -> None:
        self._line = line
        self._file = file
        self._number = number
        self._at = 0

    def read(self) -> Line | None:
        if _NOTHING.match(self._line):
            return None
        subject = self._term("a subject", "an IRI in < > or a node _:b", '"')
        predicate = self._term("a predicate", "an IRI in < >", '"_')
        object_ = self._term("an object", 'an IRI in < >, a node _:b or a "literal"', "")
        graph = None
        if not _END.match(self._line, self._at):
            graph = self._term("'.' or a graph name", "a statement ends with ' .'", '"')
            if not _END.match(self._line, self._at):
                self._skip_space()
                self._fail("expected '.' and the end of the line", "one statement a line", self._at)
        return subject, predicate, object_, graph

    def _skip_space(self) -> None:
        self._at = _SPACE.match(self._line, self._at).end()  # type: ignore[union-attr]  # it always matches

    def _term(self, what: str, hint: str, refused: str) -> str:
        self._skip_space()
        start = self._at
        first = self._line[start : start + 1]
        match = _TERM.match(self._line, start)
        if match is None or first in refused.strip() and first:
            self._explain(what, hint, first)
        assert match is not None
        self._at = match.end()
        iri, label, text, language, datatype = match.groups()
        if iri:
            return self._iri(iri, start)
        if label:
            return str(label)
        return self._literal(text, language, datatype, start)

    def _explain(self, what: str, hint: str, first: str) -> NoReturn:
        if first == "<":
            self._fail("this IRI does not end, or has a character that it must escape", "no spaces or quotes")
        if first == '"' and "object" in what:
            self._fail("this literal does not end, or has a wrong escape", r'\" \\ \n \r \t \b \f \uXXXX')
        self._fail(f"expected {what}", hint)

    def _iri(self, text: str, start: int) -> str:
        if _PLAIN_IRI.match(text):
            return text
        if "\\" in text:
            text = f"<{self._unescape(text[1:-1], start + 1)}>"
            if _FORBIDDEN.search(text, 1, len(text) - 1):
                self._fail("an escape in this IRI stands for a character that no IRI has", None, start)
        if not _SCHEME.match(text):
            self._fail("this IRI has no scheme", "write the IRI in full: there are no relative ones here", start)
        if bad := _BAD_PERCENT.search(text):
            self._fail("'%' is not followed by two hexadecimal digits", "a '%' itself is '%25'", start + bad.start())
        return text

    def _literal(self, text: str, language: str | None, datatype: str | None, start: int) -> str:
        body = text[1:-1]
        if language is None and datatype is None and "\\" not in body and not _NEEDS_ESCAPE.search(body):
            return text
        plain = self._unescape(body, start + 1) if "\\" in body else body
        if datatype is None:
            return literal(plain, language=language[1:] if language else None)
        return literal(plain, datatype=self._iri(datatype, start + len(text) + 2)[1:-1])

    def _unescape(self, text: str, start: int) -> str:
        def character(match: re.Match[str]) -> str:
            escape = match.group()
            if len(escape) == 2:
                return _CHARACTERS[escape[1]]
            code = int(escape[2:], 16)
            if code > 0x10FFFF or code in _SURROGATES:
                self._fail(f"{escape} is no character", None, start + match.start())
            return chr(code)

        return _ESCAPE.sub(character, text)

    def _fail(self, what: str, hint: str | None = None, at: int | None = None) -> NoReturn:
        column = (self._at if at is None else at) + 1
        raise InputError(what, place=Place(self._file, self._number, column), hint=hint)
