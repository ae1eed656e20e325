"""Variables of a query that nothing gives a value to: mostly spelling mistakes, and no fault to SPARQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ensue.errors import Warned, did_you_mean
from ensue.query.language_clauses import outline
from ensue.query.language_cursor import Cursor
from ensue.query.language_select import closing_of
from ensue.query.tree import ContinuousQuery
from ensue.rules.lexer import Source, Token

_MODIFIERS = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET")


def unbound(query: ContinuousQuery) -> Iterator[Warned]:
    """A warning for each variable that stands in no pattern, where it stands first.

    >>> from ensue.query.language import parse_query
    >>> text = "SELECT ?whoo FROM STREAM <urn:s> [RANGE 1s] { ?who ?p ?o } ORDER BY ?woh"
    >>> for warned in unbound(parse_query(text, "q.rq")):
    ...     print(warned)
    q.rq:1:8: ?whoo is in no pattern, so it never has a value (hint: did you mean '?who'?)
    q.rq:1:69: ?woh is in no pattern, so it never has a value (hint: did you mean '?who'?)
    """
    source = Source(query.text, query.place.file)
    cursor = Cursor(source)
    ours = outline(cursor).ours
    tokens = [token for token in cursor.tokens if token not in ours]
    bound = {token.text[1:] for token in _Binding(tokens).all()}
    seen: set[str] = set()
    for token in _meant(tokens):
        name = token.text[1:]
        if name not in bound | seen:
            seen.add(name)
            what = f"?{name} is in no pattern, so it never has a value"
            hint = did_you_mean(f"?{name}", [f"?{known}" for known in sorted(bound)])
            yield Warned(what, source.place(token.start), hint)


def _meant(tokens: Sequence[Token]) -> Iterator[Token]:
    """The variables, but for those that are expected to have no value: in BOUND and COALESCE."""
    at = 0
    while at < len(tokens):
        if tokens[at].is_word("BOUND", "COALESCE") and at + 1 < len(tokens):
            at = closing_of(tokens, at + 1)
        elif tokens[at].kind == "var":
            yield tokens[at]
        at += 1


class _Binding:
    """Finds the variables that patterns, BIND, VALUES and AS give values to."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens

    def all(self) -> Iterator[Token]:
        """Their tokens."""
        return self._group(0, len(self._tokens))

    def _group(self, at: int, end: int) -> Iterator[Token]:
        """Those of patterns, and of the groups in them."""
        while at < end:
            token = self._tokens[at]
            behind = at + 1
            if token.is_word("SELECT", "DESCRIBE", *_MODIFIERS):
                behind = self._head_end(at + 1, end)
                yield from self._expression(at + 1, behind)
            elif token.is_word("CONSTRUCT") and at + 1 < end and self._tokens[at + 1].is_op("{"):
                behind = closing_of(self._tokens, at + 1) + 1
            elif token.is_word("FILTER", "BIND") and (opening := self._opening(at + 1, end)) is not None:
                behind = closing_of(self._tokens, opening) + 1
                yield from self._expression(opening + 1, behind)
            elif token.kind == "var":
                yield token
            at = behind

    def _head_end(self, at: int, end: int) -> int:
        """Where patterns begin again behind the head of a SELECT, or behind GROUP BY and the like."""
        while (
            at < end and not self._tokens[at].is_op("{") and not self._tokens[at].is_word("VALUES", "WHERE")
        ):
            at = closing_of(self._tokens, at) + 1 if self._tokens[at].is_op("(") else at + 1
            if at < end and self._tokens[at].is_op("}"):
                break
        return at

    def _opening(self, at: int, end: int) -> int | None:
        """The bracket of the expression of a FILTER or BIND; None for one of EXISTS { }."""
        if at < end and self._tokens[at].is_op("("):
            return at
        return at + 1 if at + 1 < end and self._tokens[at + 1].is_op("(") else None

    def _expression(self, at: int, end: int) -> Iterator[Token]:
        """Those that AS names, and those of patterns inside EXISTS { }."""
        while at < end:
            if self._tokens[at].is_op("{"):
                behind = closing_of(self._tokens, at)
                yield from self._group(at + 1, behind)
                at = behind
            elif self._tokens[at - 1].is_word("AS") and self._tokens[at].kind == "var":
                yield self._tokens[at]
            at += 1
