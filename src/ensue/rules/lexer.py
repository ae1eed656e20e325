r"""The tokens that both rule syntaxes and queries are made of, each with its place. Standard library only.

The two differ in their comments (`//` too, in the bracketed one) and in their arrows; IRIs, names,
variables, literals and numbers are the same, and become terms (`ensue.terms`) here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from ensue import terms
from ensue.errors import EnsueError, Place, RuleSyntaxError, did_you_mean

_RETYPE = "retype what is here"

_HEX = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"

_TOKEN = rf"""
  (?P<space>\s+)
| (?P<comment>COMMENT)
| (?P<iri><(?:[^<>"{{}}|^`\\\x00-\x20]|{_HEX})*>)
| (?P<string>\"\"\"(?:"{{0,2}}(?:[^"\\]|\\.))*\"\"\"|'''(?:'{{0,2}}(?:[^'\\]|\\.))*'''
            |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
| (?P<var>[?$]\w+)
| (?P<blank>_:\w(?:[\w.\-]*[\w\-])?)
| (?P<pname>(?:[^\W\d_](?:[\w.\-]*[\w\-])?)?:
            (?:(?:[\w:]|{_PLX})(?:(?:[\w.:\-]|{_PLX})*(?:[\w:\-]|{_PLX}))?)?)
| (?P<number>[+-]?(?:\d+\.\d*[eE][+-]?\d+|\.?\d+[eE][+-]?\d+|\d*\.\d+|\d+))
| (?P<word>[^\W\d]\w*)
| (?P<lang>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
| (?P<op>OPERATOR)
"""


def _compiled(comment: str, operator: str) -> re.Pattern[str]:
    text = _TOKEN.replace("COMMENT", comment).replace("OPERATOR", operator)
    return re.compile(text, re.VERBOSE | re.DOTALL)


BRACKETED = _compiled(r"(?:\#|//)[^\n\r]*", r"->|<-|\^\^|.")
SPARQL = _compiled(r"\#[^\n\r]*", r"&&|\|\||[!<>]=|\^\^|.")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text that stands for itself; `start` counts characters from the file's beginning."""

    kind: str
    text: str
    start: int

    def is_op(self, text: str) -> bool:
        """Whether this is that punctuation."""
        return self.kind == "op" and self.text == text

    def is_word(self, *texts: str) -> bool:
        """Whether this is one of these words (upper case), in any case."""
        return self.kind == "word" and self.text.upper() in texts


class Source:
    r"""The text of a file of rules, and where in it things are.

    >>> source = Source("[r: (?a <urn:p> ?b)\n -> (?b <urn:p> ?a)]", "r.rules")
    >>> print(source.place(21))
    r.rules:2:2
    """

    def __init__(self, text: str, file: str, fault: type[EnsueError] = RuleSyntaxError) -> None:
        """`fault` is what is raised for a text that does not parse."""
        self.text = text
        self.file = file
        self._fault = fault
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        if surrogate := re.search("[\ud800-\udfff]", text):
            raise self.error("this is half a character (a lone surrogate)", surrogate.start(), _RETYPE)

    def place(self, start: int) -> Place:
        """The line and column of a character."""
        line = bisect_right(self._lines, start)
        return Place(self.file, line, start - self._lines[line - 1] + 1)

    def offset(self, line: int, column: int) -> int:
        """The character at a line and column: `place` the other way round."""
        return self._lines[line - 1] + column - 1

    def error(self, what: str, at: Token | int, hint: str | None = None) -> EnsueError:
        """A syntax error at a token, to be raised."""
        start = at if isinstance(at, int) else at.start
        return self._fault(what, place=self.place(start), hint=hint)

    def tokens(self, syntax: re.Pattern[str]) -> Iterator[Token]:
        """All tokens but white space. Comments are among them: a rule's name can be in one."""
        for match in syntax.finditer(self.text):
            kind = match.lastgroup or "op"
            if kind != "space":
                yield Token(kind, match.group(), match.start())


MAX_DEPTH = 50
"""How deep brackets may nest: the parsers behind SPARQL call themselves at each bracket."""


def follow_brackets(source: Source, token: Token, opened: list[Token], whole: str) -> None:
    """Keep account of the brackets that are open; `whole` is what the text is, a rule or a query."""
    if token.kind != "op":
        return
    if token.text in "([{":
        opened.append(token)
        if len(opened) > MAX_DEPTH:
            raise source.error(f"brackets nest more than {MAX_DEPTH} deep", token, f"split the {whole}")
    elif token.text in ")]}":
        expected = closing(opened.pop()) if opened else None
        if token.text != expected:
            hint = f"'{expected}' comes first" if expected else "leave it out, or open it"
            raise source.error(f"'{token.text}' closes nothing here", token, hint)


def closing(bracket: Token) -> str:
    """The bracket that closes one."""
    return ")]}"["([{".index(bracket.text)]


_ESCAPE = re.compile(rf"{_HEX}|\\(.)", re.DOTALL)
_PLAIN_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_LANGUAGE = re.compile(r"@[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def _unescape(source: Source, token: Token, body: str, start: int) -> str:
    def character(match: re.Match[str]) -> str:
        plain = match.group(1)
        if plain in _PLAIN_ESCAPES:
            return _PLAIN_ESCAPES[plain]
        code = -1 if plain else int(match.group()[2:], 16)
        if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            at = token.start + start + match.start()
            raise source.error(f"'{match.group()}' is no character", at, r"a backslash itself is written \\")
        return chr(code)

    return _ESCAPE.sub(character, body) if "\\" in body else body


WELL_KNOWN = {
    **{"rdf": terms.RDF, "rdfs": terms.RDFS, "owl": terms.OWL, "xsd": terms.XSD},
    "violation": terms.VIOLATION,
}
"""Prefixes that need no declaration."""


@dataclass(slots=True)
class Names:
    """What prefixed names and relative IRIs mean at some point of a file."""

    source: Source
    prefixes: dict[str, str] = field(default_factory=WELL_KNOWN.copy)
    base: str | None = None
    declaration: str = "PREFIX {}: <...>"
    """How the language declares a prefix."""

    def iri(self, token: Token, *, relative: bool = False) -> str:
        """The IRI, without brackets, of an `iri` or `pname` token."""
        if token.kind == "pname":
            return self._prefixed(token)
        iri = _unescape(self.source, token, token.text[1:-1], 1)
        if re.search(r'[<>"{}|^`\\\x00-\x20]', iri):
            raise self.source.error(f"{token.text} holds a character that no IRI can have", token, _RETYPE)
        if self.base is not None:
            try:
                urlsplit(iri)  # Some of what looks absolute is no IRI either.
                if not _ABSOLUTE.match(iri):
                    # urljoin drops a `#` that nothing follows.
                    iri = urljoin(self.base, iri) + ("#" if iri.endswith("#") else "")
            except ValueError as problem:
                raise self.source.error(f"{token.text} is no IRI: {problem}", token, _RETYPE) from problem
        if not relative and not _ABSOLUTE.match(iri):
            raise self.source.error(f"{token.text} is a relative IRI", token, "write the whole IRI")
        return iri

    def _prefixed(self, token: Token) -> str:
        prefix, _, local = token.text.partition(":")
        if prefix not in self.prefixes:
            close = did_you_mean(f"{prefix}:", [f"{known}:" for known in self.prefixes]) if prefix else None
            declare = f"declare it: {self.declaration.format(prefix)}"
            hint = f"{close} Or {declare}" if close else declare
            raise self.source.error(f"the prefix '{prefix}:' is not declared", token, hint)
        return self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)

    def literal(self, string: Token, tail: Token | None = None) -> str:
        """The term of a `string` token; `tail` is its language tag or its datatype's name."""
        quotes = 3 if string.text[:3] in ('"""', "'''") and len(string.text) >= 6 else 1
        text = _unescape(self.source, string, string.text[quotes:-quotes], quotes)
        if tail is None:
            return terms.literal(text)
        if tail.kind != "lang":
            return terms.literal(text, datatype=self.iri(tail))
        if not _LANGUAGE.fullmatch(tail.text):
            raise self.source.error(f"'{tail.text}' is no language tag", tail, "such as @en or @pt-br")
        return terms.literal(text, language=tail.text[1:])


def number(text: str) -> str:
    """The term that a number stands for.

    >>> number("-5"), number("01.50")[:7], number("1e0")[-7:]
    ('"-5"^^<http://www.w3.org/2001/XMLSchema#integer>', '"01.50"', 'double>')
    """
    datatype = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
    return terms.literal(text, datatype=terms.XSD + datatype)
