"""A maximal length for the terms that expressions make: beyond it the expression has an error.

Every other function of SPARQL gives something at most about as long as its arguments, but CONCAT, REPLACE,
ENCODE_FOR_URI and GROUP_CONCAT can double a text or more, and 35 doublings are what no memory holds. Oxigraph
cannot be stopped inside one of them. So where the terms are long enough for it to matter, functions of ours
stand in their place: they look at the lengths of the arguments first, and let oxigraph do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store, Triple, Variable

from ensue.rules.lexer import SPARQL, Source, Token
from ensue.terms import XSD

MAX_TERM = 1 << 20
"""Characters of a term that an expression makes: more than that is an error of the expression."""

MAX_REPLACED = 1 << 28
"""Characters that REPLACE could give for such arguments at worst: it is not tried beyond that."""

_GROWING = ("CONCAT", "REPLACE", "ENCODE_FOR_URI")
_NAMESPACE = "urn:ensue:bounded:"
_EMPTY = Store()

_Term = NamedNode | BlankNode | Literal | Triple


@dataclass(frozen=True, slots=True)
class Bounded:
    """An expression or a query with bounded functions in it, and what oxigraph needs to know them."""

    text: str
    functions: Mapping[NamedNode, Callable[..., Any]] = field(default_factory=dict)
    aggregates: Mapping[NamedNode, Callable[[], Any]] = field(default_factory=dict)


@lru_cache(maxsize=1000)
def bounded(text: str) -> Bounded:
    """The same expression or query, with bounded functions in place of SPARQL's.

    >>> bounded("CONCAT(?a, 'concat(')").text
    "<urn:ensue:bounded:CONCAT>(?a, 'concat(')"
    >>> bounded("STR(?a)").functions
    {}
    """
    rewriter = _Rewriter(text)
    return Bounded(rewriter.text(), rewriter.functions, rewriter.aggregates)


def fits(text: str, longest: int) -> bool:
    """Whether what an expression makes of terms of this length cannot be too long, however it goes.

    >>> fits("CONCAT(?a, ?b)", 1000), fits("REPLACE(?a, ?b, ?c)", 1000), fits("STR(?a)", MAX_TERM)
    (True, False, True)
    """
    mentions, calls = _growth(text)
    if not calls:
        return True
    most = len(text) + mentions * longest
    for name in calls:
        most = {"CONCAT": most, "REPLACE": _replaced(most, most), "ENCODE_FOR_URI": 9 * most}[name]
        if most > MAX_TERM:
            return False
    return most <= MAX_TERM


@lru_cache(maxsize=1000)
def _growth(text: str) -> tuple[int, tuple[str, ...]]:
    """How many variables an expression mentions, and its calls of functions that make texts longer."""
    found = [token for token in Source(text, "").tokens(SPARQL) if token.kind in ("var", "word")]
    calls = tuple(token.text.upper() for token in found if token.is_word(*_GROWING))
    return sum(token.kind == "var" for token in found), calls


def _replaced(text: int, replacement: int) -> int:
    """How long what REPLACE gives is at worst: a match at each place, and `$0` in the replacement."""
    return (2 * text + 1) * max(1, replacement) + text


class _Rewriter:
    def __init__(self, text: str) -> None:
        self._source = text
        self._tokens = list(Source(text, "").tokens(SPARQL))
        self._left_out: set[int] = set()
        self.functions: dict[NamedNode, Callable[..., Any]] = {}
        self.aggregates: dict[NamedNode, Callable[[], Any]] = {}

    def text(self) -> str:
        parts, end = [], 0
        for at, token in enumerate(self._tokens):
            parts.append(self._source[end : token.start])
            end = token.start + len(token.text)
            if at not in self._left_out:
                parts.append(self._of(at, token))
        return "".join(parts) + self._source[end:]

    def _of(self, at: int, token: Token) -> str:
        called = at + 1 < len(self._tokens) and self._tokens[at + 1].is_op("(")
        if called and token.is_word(*_GROWING):
            name = NamedNode(_NAMESPACE + token.text.upper())
            self.functions[name] = _FUNCTIONS[token.text.upper()]
            return str(name)
        return self._aggregate(at) if called and token.is_word("GROUP_CONCAT") else token.text

    def _aggregate(self, at: int) -> str:
        """GROUP_CONCAT as an aggregate of ours, which takes no DISTINCT and no SEPARATOR in the text."""
        distinct = at + 2 < len(self._tokens) and self._tokens[at + 2].is_word("DISTINCT")
        end = self._closing(at + 1)
        separator = " "
        if end >= 5 and self._tokens[end - 3].is_word("SEPARATOR") and self._tokens[end - 4].is_op(";"):
            separator = _string(self._tokens[end - 1].text)
            self._left_out.update(range(end - 4, end))
        if distinct:
            self._left_out.add(at + 2)
        name = NamedNode(f"{_NAMESPACE}GROUP_CONCAT:{len(self.aggregates)}")
        self.aggregates[name] = lambda: _GroupConcat(separator, distinct)
        return str(name)

    def _closing(self, opening: int) -> int:
        depth = 0
        for at in range(opening, len(self._tokens)):
            depth += self._tokens[at].is_op("(") - self._tokens[at].is_op(")")
            if not depth:
                return at
        return 0


def _string(token: str) -> str:
    (row,) = _run(f"SELECT ({token} AS ?value) {{}}", {})
    return str(row[0].value)


def _run(query: str, given: Mapping[Variable, Any]) -> QuerySolutions:
    found = _EMPTY.query(query, substitutions=dict(given))
    assert isinstance(found, QuerySolutions)
    return found


def _called(name: str, terms: Iterable[_Term]) -> _Term | None:
    """What SPARQL's own function gives for these terms, None for an error or a text that is too long."""
    given = {Variable(f"a{at}"): term for at, term in enumerate(terms)}
    # A variable that no pattern holds would be taken for one without a value: see `rules.expressions`.
    held = " ".join(f"OPTIONAL {{ [] <urn:ensue:nothing> {each} }}" for each in given)
    names = [str(each) for each in given]
    selected = f"{' '.join(names)} ({name}({', '.join(names)}) AS ?value)"
    (row,) = _run(f"SELECT {selected} {{ {held} }}", given)
    value: _Term | None = row["value"]
    return None if isinstance(value, Literal) and len(value.value) > MAX_TERM else value


def _length(term: _Term) -> int:
    return len(term.value) if isinstance(term, Literal) else 0


def _concat(*terms: _Term) -> _Term | None:
    return _called("CONCAT", terms) if sum(map(_length, terms)) <= MAX_TERM else None


def _replace(text: _Term, pattern: _Term, replacement: _Term, *flags: _Term) -> _Term | None:
    if _replaced(_length(text), _length(replacement)) > MAX_REPLACED:
        return None
    return _called("REPLACE", (text, pattern, replacement, *flags))


def _encode_for_uri(text: _Term) -> _Term | None:
    return _called("ENCODE_FOR_URI", (text,)) if _length(text) <= MAX_TERM else None


_FUNCTIONS: Mapping[str, Callable[..., _Term | None]] = {
    "CONCAT": _concat,
    "REPLACE": _replace,
    "ENCODE_FOR_URI": _encode_for_uri,
}


class _GroupConcat:
    """GROUP_CONCAT of one group, as oxigraph has it."""

    def __init__(self, separator: str, distinct: bool) -> None:
        self._separator = separator
        self._seen: set[_Term] | None = set() if distinct else None
        self._parts: list[_Term] = []
        self._length = 0

    def accumulate(self, term: _Term) -> None:
        """Take one more value."""
        if self._seen is not None:
            if term in self._seen:
                return
            self._seen.add(term)
        self._length += _length(term) + len(self._separator)
        if self._length <= MAX_TERM + len(self._separator):
            self._parts.append(term)

    def finish(self) -> _Term | None:
        """The values in one text."""
        if self._length > MAX_TERM + len(self._separator):
            return None
        if not all(isinstance(term, Literal) and _is_text(term) for term in self._parts):
            return None
        texts = " ".join(map(str, self._parts))
        joined = f"GROUP_CONCAT(?part; SEPARATOR = {Literal(self._separator)})"
        (row,) = _run(f"SELECT ({joined} AS ?value) {{ VALUES ?part {{ {texts} }} }}", {})
        value: _Term | None = row["value"]
        return value


def _is_text(term: Literal) -> bool:
    return term.language is not None or term.datatype.value == XSD + "string"
