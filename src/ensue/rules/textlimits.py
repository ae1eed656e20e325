"""Limits on the texts of queries, rules and networks, checked on their tokens before any recursive parser.

The parsers behind SPARQL (rdflib's grammar, oxigraph) and the walks over their trees call themselves once for
each level of nesting and for each link of a chain, and the optimiser of oxigraph takes cubic time in the
patterns of a group. So depth and length are counted here, in one pass without recursion, and what goes beyond
a limit is refused with its place. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ensue.errors import EnsueError
from ensue.rules.lexer import Source, Token

MAX_TOKENS = 200_000
"""Tokens of one query or rule."""

MAX_GROUPS = 32
"""How deep `{ }` may nest."""

MAX_OPERATORS = 1000
"""Operators of one expression: oxigraph calls itself for each."""

MAX_UNIONS = 2000
"""Branches that UNION adds, in one query or rule."""

MAX_PARTS = 100
"""Patterns, OPTIONAL, BIND, FILTER ... that are joined, from the outermost group to any innermost one."""

MAX_PREMISES = 64
"""Premises of one rule: the kernel has a join plan for each."""

MAX_TEMPLATE = 500
"""Triples of a template."""

_OPERATORS = frozenset(("||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "!", "|", "^"))
_SEPARATORS = frozenset((".", ";", ","))
_CLAUSES = ("FILTER", "BIND", "VALUES", "MINUS", "OPTIONAL", "GRAPH", "WINDOW", "SERVICE")
_TEMPLATES = ("INSERT", "DELETE", "CONSTRUCT", "DATA")


@dataclass(slots=True)
class _Level:
    """What was counted within one open bracket: joined parts here, and at most below; operators."""

    bracket: str
    template: bool = False
    path: bool = False
    parts: int = 0
    below: int = 0
    operators: int = 0


def check_limits(source: Source, tokens: Iterable[Token], whole: str) -> None:
    """Raise the error of the source at the token that goes beyond a limit; its brackets must match.

    >>> from ensue.rules.lexer import SPARQL
    >>> source = Source("ASK { ?s ?p ?o FILTER(" + "1+" * 1001 + "1) }", "q.rq")
    >>> check_limits(source, list(source.tokens(SPARQL)), "query")
    Traceback (most recent call last):
    ensue.errors.RuleSyntaxError: q.rq:1:2024: more than 1000 operators in an expression (hint: ...)
    """
    counter = _Counter(source, whole)
    for token in tokens:
        counter.take(token)


class _Counter:
    """Goes over the tokens once, with a level for each open bracket."""

    def __init__(self, source: Source, whole: str) -> None:
        self._source = source
        self._whole = whole
        self._levels = [_Level("")]
        self._before: Token | None = None
        self._tokens = 0
        self._unions = 0

    def take(self, token: Token) -> None:
        self._tokens += 1
        if self._tokens > MAX_TOKENS:
            raise self._error(f"more than {MAX_TOKENS} words and signs", token)
        if token.kind == "op":
            self._sign(token)
        elif token.kind == "word":
            self._word(token)
        elif token.kind == "number" and token.text[0] in "+-":
            self._operator(token)  # the sign of `1 +1` may be an operator
        self._before = token

    def _sign(self, token: Token) -> None:
        if token.text in "([{":
            self._open(token)
        elif token.text in ")]}":
            self._close()
        elif token.text in _OPERATORS:
            self._operator(token)
        elif token.text in _SEPARATORS and self._levels[-1].bracket != "(":
            self._part(token)

    def _word(self, token: Token) -> None:
        if token.is_word("UNION"):
            self._unions += 1
            if self._unions > MAX_UNIONS:
                hint = "a list of terms is written with IN or VALUES; or split it"
                raise self._error(f"more than {MAX_UNIONS} UNION branches", token, hint)
        elif token.is_word("IN"):
            self._operator(token)
        elif token.is_word(*_CLAUSES):
            self._part(token)

    def _open(self, token: Token) -> None:
        outer, before = self._levels[-1], self._before
        level = _Level(token.text)
        if token.text == "{":
            groups = sum(each.bracket == "{" for each in self._levels)
            if groups >= MAX_GROUPS:
                what = f"groups nest more than {MAX_GROUPS} deep: nested too deeply"
                raise self._error(what, token)
            level.template = outer.template or (before is not None and before.is_word(*_TEMPLATES))
            if before is None or not before.is_word("UNION", *_CLAUSES):
                self._part(token)
        elif token.text == "(" and (outer.path or outer.bracket in ("{", "[")):
            level.path = self._is_path()
        elif token.text == "[":
            level.template = outer.template
            self._part(token)
        self._levels.append(level)

    def _is_path(self) -> bool:
        """Whether a round bracket in a group may hold a path: a function or a FILTER has a name before it."""
        before = self._before
        return before is None or before.kind not in ("word", "pname", "iri")

    def _close(self) -> None:
        level = self._levels.pop()
        outer = self._levels[-1]
        outer.below = max(outer.below, level.parts + level.below)
        if outer.bracket in ("(", "["):
            outer.operators += level.operators

    def _operator(self, token: Token) -> None:
        level = self._levels[-1]
        if token.text == "/" and (level.path or level.bracket != "("):
            self._part(token)  # a path of several steps is as many patterns
        if level.bracket != "(" and token.text not in ("|", "^"):
            return  # the modifier of a path
        level.operators += 1
        count = level.operators
        for outer in reversed(self._levels[:-1]):
            if outer.bracket == "{" or level.bracket == "{":
                break
            count += outer.operators
        if count > MAX_OPERATORS:
            what = f"more than {MAX_OPERATORS} operators in an expression"
            raise self._error(what, token, f"name alternatives with IN, or split the {self._whole}")

    def _part(self, token: Token) -> None:
        level = self._levels[-1]
        level.parts += 1
        if level.template:
            if level.parts > MAX_TEMPLATE:
                hint = f"split the {self._whole}, or load the data as background"
                raise self._error(f"more than {MAX_TEMPLATE} triples in a template", token, hint)
        elif sum(each.parts for each in self._levels[1:]) + level.below > MAX_PARTS:
            raise self._error(f"more than {MAX_PARTS} patterns and clauses are joined here", token)

    def _error(self, what: str, token: Token, hint: str | None = None) -> EnsueError:
        return self._source.error(what, token, hint or f"split the {self._whole}")
