"""Event windows as they are written: `[EVENT STARTS { ?x a ex:Order } BACKGROUND UNTIL { ?y a ex:Start }]`.

What is inside the braces is SPARQL, and goes to rdflib once all prefixes are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Variable

from ensue.errors import QueryError
from ensue.query.compiled.unparse import NotCompiled, term_text
from ensue.query.language_cursor import Cursor
from ensue.query.language_sparql import algebra, inner
from ensue.rules.lexer import Names, Source, Token
from ensue.windows.events import EventWindow, Marker

EVENT_HINT = "[EVENT STARTS { pattern }], [EVENT ENDS { pattern }], both, or [EVENT GRAPH]"
_BACKGROUND = (
    "BACKGROUND UNTIL { pattern } for what comes first; if it comes again, FROM { pattern } behind that, or "
    "before it if events come first; ANEW FROM { pattern } if that is to replace what came before"
)
_BASIC = "a basic graph pattern: triple patterns of terms and variables, without FILTER and the like"


@dataclass(frozen=True, slots=True)
class EventClause:
    """An event window whose markers are still tokens."""

    word: Token
    starts: tuple[Token, ...] | None
    ends: tuple[Token, ...] | None
    until: tuple[Token, ...] | None
    again: tuple[Token, ...] | None
    anew: bool
    background_first: bool


def event_clause(cursor: Cursor) -> EventClause:
    """What stands behind EVENT, up to the bracket."""
    word = cursor.token
    starts = ends = None
    if not cursor.skip_word("GRAPH"):
        starts = _braces(cursor) if cursor.skip_word("STARTS") else None
        ends = _braces(cursor) if cursor.skip_word("ENDS") else None
        if starts is None and ends is None:
            raise cursor.unexpected("STARTS, ENDS or GRAPH", f"an event is {EVENT_HINT}")
    return EventClause(word, starts, ends, *_background(cursor))


def _background(
    cursor: Cursor,
) -> tuple[tuple[Token, ...] | None, tuple[Token, ...] | None, bool, bool]:
    """Where the stream brings background: until when, from when on again, anew or not, and whether first."""
    if not cursor.skip_word("BACKGROUND"):
        return None, None, False, True
    first = not cursor.token.is_word("ANEW", "FROM")
    again, anew = (None, False) if first else _again(cursor)
    cursor.expect("UNTIL", _BACKGROUND)
    until = _braces(cursor)
    if first and cursor.token.is_word("ANEW", "FROM"):
        again, anew = _again(cursor)
    return until, again, anew, first


def _again(cursor: Cursor) -> tuple[tuple[Token, ...], bool]:
    anew = cursor.skip_word("ANEW")
    cursor.expect("FROM", _BACKGROUND)
    return _braces(cursor), anew


def _braces(cursor: Cursor) -> tuple[Token, ...]:
    """A group in braces, with them."""
    first = cursor.at
    cursor.expect("{", f"a marker is {_BASIC}: {EVENT_HINT}")
    depth = 1
    while depth:
        token = cursor.token
        if token.kind == "end":
            raise cursor.error("'{' is never closed", cursor.tokens[first], "write '}' where it ends")
        depth += token.is_op("{") - token.is_op("}")
        cursor.take()
    return tuple(cursor.tokens[first : cursor.at])


def event_window(source: Source, names: Names, clause: EventClause, base: str) -> EventWindow:
    """The window that a clause means.

    >>> source = Source("STARTS { ?x a <urn:C> } ]", "q.rq")
    >>> str(event_window(source, Names(source), event_clause(Cursor(source)), "file:///"))
    'EVENT STARTS { ?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C> }'
    """

    def marker(tokens: tuple[Token, ...] | None) -> Marker | None:
        return None if tokens is None else _marker(source, names, tokens, base)

    return EventWindow(
        starts=marker(clause.starts),
        ends=marker(clause.ends),
        until=marker(clause.until),
        again=marker(clause.again),
        anew=clause.anew,
        background_first=clause.background_first,
    )


def _marker(source: Source, names: Names, tokens: tuple[Token, ...], base: str) -> Marker:
    for token in tokens:
        if token.kind in ("iri", "pname"):
            names.iri(token, relative=True)  # Says where it is if it has no meaning.
    tree = algebra(inner(source, list(tokens), set(), lead="ASK "), names.prefixes, base).p
    while isinstance(tree, CompValue) and tree.name in ("Project", "AskQuery"):
        tree = tree.p
    place = source.place(tokens[0].start)
    if tree.name != "BGP":
        raise QueryError("a marker is more than a basic graph pattern", place=place, hint=_BASIC)
    if not tree.triples:
        raise QueryError("a marker has no triple pattern", place=place, hint=_BASIC)
    try:
        return Marker(tuple((_slot(s), _slot(p), _slot(o)) for s, p, o in tree.triples))
    except NotCompiled:
        raise QueryError("a marker is no property path", place=place, hint=_BASIC) from None


def _slot(term: object) -> str:
    return f"?{term}" if isinstance(term, Variable | BNode) else term_text(term)
