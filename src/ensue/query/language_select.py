"""SELECT clauses among a query's tokens: what each item is called, and which variables are grouped.

SPARQL lets a select expression use the names that expressions before it introduce (section 16.1.2). oxigraph
and rdflib know such a name where nothing is aggregated; where something is, `written_out` puts the expression
in its place: `(COUNT(?r) AS ?c) (?c + 1 AS ?d)` becomes `(COUNT(?r) AS ?c) ((COUNT(?r)) + 1 AS ?d)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ensue.errors import QueryError
from ensue.rules.lexer import Source, Token

_AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
_CHANGING = ("RAND", "NOW", "UUID", "STRUUID", "BNODE")
"""What gives another value at each call cannot be called twice instead of once."""
MAX_WRITTEN_OUT = 4_000
"""How long an expression may become: names that use each other could double it with each."""
_AFTER_GROUPS = ("HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")


@dataclass(frozen=True, slots=True)
class Item:
    """A variable that is selected, and the tokens of its expression if it has one."""

    variable: Token
    expression: tuple[Token, ...] | None

    @property
    def name(self) -> str:
        """Without its mark."""
        return self.variable.text[1:]


@dataclass(frozen=True, slots=True)
class Clause:
    """A SELECT, with what its level is grouped by; `aggregates` says whether it has groups at all."""

    items: tuple[Item, ...]
    grouped: frozenset[str]
    aggregates: bool


def clauses(tokens: Sequence[Token]) -> Iterator[Clause]:
    """Those of a query and of its subqueries, in order of the text.

    >>> from ensue.query.language_cursor import Cursor
    >>> from ensue.rules.lexer import Source
    >>> text = "SELECT ?s (COUNT(?o) AS ?n) { ?s ?p ?o } GROUP BY ?s (STR(?p) AS ?t)"
    >>> [found] = clauses(Cursor(Source(text, "q.rq")).tokens)
    >>> [item.name for item in found.items], sorted(found.grouped), found.aggregates
    (['s', 'n'], ['s', 't'], True)
    """
    for at, token in enumerate(tokens):
        if token.is_word("SELECT"):
            yield _clause(tokens, at + 1)


def written_out(source: Source, tokens: Sequence[Token], text_of: Callable[[Token], str]) -> dict[Token, str]:
    """What stands in place of names that earlier items of the same SELECT introduce, where it aggregates.

    `text_of` is what a token is to the parser. Raises QueryError where an expression becomes too long.
    """
    found: dict[Token, str] = {}
    for clause in clauses(tokens):
        texts: dict[str, str] = {}
        for item in clause.items if clause.aggregates else ():
            used = [token for token in _outside_aggregates(item.expression or ()) if token.text[1:] in texts]
            found |= {token: texts[token.text[1:]] for token in used if token.kind == "var"}
            whole = _joined(item.expression or (), found, text_of)
            if used and len(whole) > MAX_WRITTEN_OUT:
                what = f"{item.variable.text} is more than {MAX_WRITTEN_OUT:,} characters when written out"
                hint = "name parts of it in a subquery"
                raise QueryError(what, place=source.place(item.variable.start), hint=hint)
            if item.expression and not any(token.is_word(*_CHANGING) for token in item.expression):
                texts[item.name] = f"({whole})"
    return found


def _joined(tokens: Sequence[Token], found: Mapping[Token, str], text_of: Callable[[Token], str]) -> str:
    parts = [found.get(token) or text_of(token) for token in tokens[:1]]
    for left, right in pairwise(tokens):
        # A tag stays at its string.
        apart = left.start + len(left.text) < right.start
        parts += [" " if apart else "", found.get(right) or text_of(right)]
    return "".join(parts)


def ungrouped(tokens: Sequence[Token]) -> Token | None:
    """The first variable that a SELECT asks of its groups though it has a value in their members only."""
    for clause in clauses(tokens):
        known = set(clause.grouped)
        for item in clause.items if clause.aggregates else ():
            used = [item.variable] if item.expression is None else _outside_aggregates(item.expression)
            for token in used:
                if token.kind == "var" and token.text[1:] not in known:
                    return token
            known.add(item.name)
    return None


def overridden(tokens: Sequence[Token]) -> Token | None:
    """The first name of a select expression that stands in the query otherwise, too."""
    for item in (item for clause in clauses(tokens) for item in clause.items if item.expression is not None):
        others = (token for token in tokens if token.kind == "var" and token != item.variable)
        if any(token.text[1:] == item.name for token in others):
            return item.variable
    return None


def _clause(tokens: Sequence[Token], at: int) -> Clause:
    items: list[Item] = []
    while at < len(tokens) and tokens[at].is_word("DISTINCT", "REDUCED"):
        at += 1
    while at < len(tokens) and (tokens[at].kind == "var" or tokens[at].is_op("(")):
        end = closing_of(tokens, at)
        inner = tokens[at + 1 : end]
        if tokens[at].kind == "var":
            items.append(Item(tokens[at], None))
        elif len(inner) > 2 and inner[-2].is_word("AS") and inner[-1].kind == "var":
            items.append(Item(inner[-1], tuple(inner[:-2])))
        at = end + 1
    while at < len(tokens) and not tokens[at].is_op("{"):
        at += 1
    at = closing_of(tokens, at) + 1
    grouped, groups, rest = _modifiers(tokens, at)
    asked = [*(token for item in items for token in item.expression or ()), *rest]
    return Clause(
        tuple(items), frozenset(grouped), groups or any(each.is_word(*_AGGREGATES) for each in asked)
    )


def _modifiers(tokens: Sequence[Token], at: int) -> tuple[set[str], bool, list[Token]]:
    """What GROUP BY names, whether there is one, and the tokens of what follows: HAVING and ORDER BY."""
    grouped: set[str] = set()
    end = at
    while end < len(tokens) and not tokens[end].is_op("}"):
        end = closing_of(tokens, end) + 1
    level = tokens[at:end]
    start = next((number for number, token in enumerate(level) if token.is_word("GROUP")), None)
    if start is None:
        return grouped, False, list(level)
    number = start + 2
    while number < len(level) and not level[number].is_word(*_AFTER_GROUPS):
        behind = closing_of(level, number) + 1
        part = level[number:behind]
        if len(part) == 1 and part[0].kind == "var":
            grouped.add(part[0].text[1:])
        elif len(part) == 3 or (len(part) > 3 and part[-3].is_word("AS")):  # (?x), (... AS ?x)
            grouped.add(part[-2].text[1:])
        number = behind
    return grouped, True, list(level[number:])


def _outside_aggregates(tokens: Sequence[Token]) -> Iterator[Token]:
    at = 0
    while at < len(tokens):
        if tokens[at].is_word(*_AGGREGATES) and at + 1 < len(tokens):
            at = closing_of(tokens, at + 1)
        elif tokens[at].is_op("{"):  # EXISTS { }, which has variables of its own
            at = closing_of(tokens, at)
        else:
            yield tokens[at]
        at += 1


def closing_of(tokens: Sequence[Token], at: int) -> int:
    """The bracket that closes the one at `at`, or `at` if there is none."""
    depth = 0
    for number in range(at, len(tokens)):
        if tokens[number].kind == "op":
            depth += (tokens[number].text in "([{") - (tokens[number].text in ")]}")
        if depth <= 0:
            return number
    return len(tokens)
