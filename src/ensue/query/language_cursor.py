"""A query as a row of tokens, and a finger on one of them.

Keywords are looked for among tokens, never in text: the `STEP` of `<urn:STEP>`, of `"STEP"`, of
`?STEP`, of `ex:STEP` and of a comment is none.
"""

from __future__ import annotations

import re
from collections.abc import Container

from ensue.errors import QuerySyntaxError, did_you_mean
from ensue.rules.lexer import SPARQL, Source, Token


class Cursor:
    """The tokens of a query without its comments; after the last one comes a token of kind `end`.

    >>> cursor = Cursor(Source("FROM stream <urn:s> # FROM", "q.rq"))
    >>> cursor.take().text, cursor.skip_word("STREAM"), cursor.token.kind
    ('FROM', True, 'iri')
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = [token for token in source.tokens(SPARQL) if token.kind != "comment"]
        last = self.tokens[-1] if self.tokens else Token("end", "", 0)
        self._end = Token("end", "", last.start + len(last.text))
        self.at = 0

    @property
    def token(self) -> Token:
        """The token under the finger."""
        return self.ahead(0)

    def ahead(self, steps: int) -> Token:
        """The token that many steps further on."""
        return self.tokens[self.at + steps] if self.at + steps < len(self.tokens) else self._end

    def take(self) -> Token:
        """The token under the finger, and go on."""
        token = self.token
        self.at += 1
        return token

    def skip_word(self, *words: str) -> bool:
        """Go on if this is one of these words (upper case)."""
        found = self.token.is_word(*words)
        self.at += found
        return found

    def take_run(self, operators: Container[str] = ()) -> Token:
        """Words, numbers and these operators with nothing between them, as one word: `Step-2.b`."""
        token = self.take()
        text = token.text
        while self.token.start == token.start + len(text) and (
            self.token.kind in ("word", "number")
            or (self.token.kind == "op" and self.token.text in operators)
        ):
            text += self.take().text
        return Token("word", text, token.start)

    def expect(self, wanted: str, hint: str) -> Token:
        """The keyword or punctuation that must be here, and go on."""
        if not (self.token.is_word(wanted) or self.token.is_op(wanted)):
            close = self.token.kind == "word" and did_you_mean(self.token.text.upper(), [wanted])
            raise self.unexpected(f"'{wanted}'", close or hint)
        return self.take()

    def expect_iri(self, what: str, hint: str) -> Token:
        """The IRI or prefixed name that must be here, and go on."""
        if self.token.kind not in ("iri", "pname"):
            raise self.unexpected(what, hint)
        return self.take()

    def unexpected(self, wanted: str, hint: str) -> QuerySyntaxError:
        """An error: something else is under the finger."""
        found = "the query ends" if self.token.kind == "end" else f"found '{self.token.text[:40]}'"
        return self.error(f"expected {wanted}, but {found}", self.token, hint)

    def error(self, what: str, at: Token, hint: str) -> QuerySyntaxError:
        """An error at a token, to be raised."""
        return QuerySyntaxError(what, place=self.source.place(at.start), hint=hint)


def blank(text: str) -> str:
    r"""As many spaces; lines stay lines.

    >>> blank("a\n b")
    ' \n  '
    """
    return re.sub(r"[^\n]", " ", text)
