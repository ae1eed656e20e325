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
_LANGUAGE = r"@[A-Za-z0-9\-]+"

_SPACE = re.compile(r"[ \t]*")
_TERM = re.compile(rf"({_IRI})|({_LABEL})|({_STRING})(?:({_LANGUAGE})|\^\^({_IRI}))?")
_END = re.compile(r"[ \t]*\.[ \t]*(?:\#.*)?[\r\n]*\Z")
_NOTHING = re.compile(r"\s*(?:\#.*)?\s*\Z")
_WELL_FORMED_LANGUAGE = re.compile(  # As BCP 47 has it: language, script, region, variants, extensions.
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+"
    # Tags from before there was a grammar.
    r"|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)"
    r"|en-gb-oed|sgn-(?:be-(?:fr|nl)|ch-de)|zh-min-nan",
    re.IGNORECASE,
)
_ESCAPE = re.compile(rf"{_ESCAPED_CHARACTER}|\\.")

# IRIs as RFC 3987 has them, from the characters up.
_BEYOND_ASCII = r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF" + "".join(
    rf"\U000{plane:X}{'1000' if plane == 14 else '0000'}-\U000{plane:X}FFFD" for plane in range(1, 15)
)
_PERCENT = rf"%{_HEX}{{2}}"
_NAMED = rf"A-Za-z0-9\-._~!$&'()*+,;={_BEYOND_ASCII}"
_PRIVATE = r"\uE000-\uF8FF\U000F0000-\U000FFFFD\U00100000-\U0010FFFD"
_SCHEME_PART = r"<[A-Za-z][A-Za-z0-9+.\-]*:"
_BRACKETED_HOST = rf"\[(?:[0-9A-Fa-f:.]{{2,}}|[vV]{_HEX}+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+)\]"
_AUTHORITY = (
    rf"//(?:(?:[{_NAMED}:]|{_PERCENT})*@)?(?:{_BRACKETED_HOST}|(?:[{_NAMED}]|{_PERCENT})*)(?::[0-9]*)?"
)
_PATH = rf"(?:[{_NAMED}:@/]|{_PERCENT})*"
_QUERY = rf"(?:\?(?:[{_NAMED}:@/?{_PRIVATE}]|{_PERCENT})*)?"
_FRAGMENT = rf"(?:\#(?:[{_NAMED}:@/?]|{_PERCENT})*)?"
_WHOLE_IRI = re.compile(rf"{_SCHEME_PART}(?:{_AUTHORITY}(?=[/?#>])|(?!//)){_PATH}{_QUERY}{_FRAGMENT}>\Z")
_SCHEME = re.compile(_SCHEME_PART)
_BAD_PERCENT = re.compile(rf"%(?!{_HEX}{{2}})")
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


def split_literal(term: str) -> tuple[str, str | None, str | None]:
    r"""The text, language and datatype (an IRI without brackets) of a literal in canonical form.

    >>> split_literal(r'"a\"b"@en'), split_literal('"1"^^<urn:int>')
    (('a"b', 'en', None), ('1', None, 'urn:int'))
    """
    end = term.rindex('"')
    text = _ESCAPE.sub(lambda match: _character(match.group()), term[1:end])
    rest = term[end + 1 :]
    if rest.startswith("@"):
        return text, rest[1:], None
    return text, None, rest[3:-1] or None


def _character(escape: str) -> str:
    return _CHARACTERS[escape[1]] if len(escape) == 2 else chr(int(escape[2:], 16))


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
        subject = self._term("a subject", "an IRI in < > or a node _:b", ('"',))
        predicate = self._term("a predicate", "an IRI in < >", ('"', "_"))
        object_ = self._term("an object", 'an IRI in < >, a node _:b or a "literal"', ())
        graph = None
        if not _END.match(self._line, self._at):
            graph = self._term("'.' or a graph name", "a statement and its line end with '.'", ('"',))
            if not _END.match(self._line, self._at):
                self._skip_space()
                self._fail("expected '.' and the end of the line", "one statement a line")
        return subject, predicate, object_, graph

    def _skip_space(self) -> None:
        self._at = _SPACE.match(self._line, self._at).end()  # type: ignore[union-attr]  # it always matches

    def _term(self, what: str, hint: str, refused: tuple[str, ...]) -> str:
        self._skip_space()
        start = self._at
        first = self._line[start : start + 1]
        match = _TERM.match(self._line, start)
        if match is None or first in refused:
            self._explain(what, hint, first)
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
            self._fail("this literal does not end, or has a wrong escape", r"\" \\ \n \r \t \b \f \uXXXX")
        self._fail(f"expected {what}", hint)

    def _iri(self, text: str, start: int) -> str:
        if "\\" in text:
            text = f"<{self._unescape(text[1:-1], start + 1)}>"
        if not _WHOLE_IRI.match(text):
            self._explain_iri(text, start)
        return text

    def _explain_iri(self, text: str, start: int) -> NoReturn:
        if not _SCHEME.match(text):
            self._fail("this IRI has no scheme", "write it in full: none is relative here", start)
        if bad := _BAD_PERCENT.search(text):
            hint = "a '%' itself is '%25'"
            self._fail("'%' is not followed by two hexadecimal digits", hint, start + bad.start())
        self._fail("this IRI has a character where none like it may be", "write it as %XX", start)

    def _literal(self, text: str, language: str | None, datatype: str | None, start: int) -> str:
        body = text[1:-1]
        if language is None and datatype is None and "\\" not in body and not _NEEDS_ESCAPE.search(body):
            return text
        plain = self._unescape(body, start + 1) if "\\" in body else body
        if language is not None and not _WELL_FORMED_LANGUAGE.fullmatch(language, 1):
            hint = "a language has two letters or more: @en, @de-CH"
            self._fail(f"'{language}' is no language", hint, start + len(text))
        if datatype is None:
            return literal(plain, language=language[1:] if language else None)
        return literal(plain, datatype=self._iri(datatype, start + len(text) + 2)[1:-1])

    def _unescape(self, text: str, start: int) -> str:
        def character(match: re.Match[str]) -> str:
            escape = match.group()
            if len(escape) > 2 and ((code := int(escape[2:], 16)) > 0x10FFFF or code in _SURROGATES):
                self._fail(f"{escape} is no character", None, start + match.start())
            return _character(escape)

        return _ESCAPE.sub(character, text)

    def _fail(self, what: str, hint: str | None = None, at: int | None = None) -> NoReturn:
        column = (self._at if at is None else at) + 1
        raise InputError(what, place=Place(self._file, self._number, column), hint=hint)
