"""rdflib's grammar of SPARQL, as it reads fastest.

Ours have no comments left in them, and rdflib's grammar looks for some at every token, twice. And where
another library has told pyparsing to remember everything it has tried (matplotlib does), that holds for all
grammars of the process, and takes this one twice as long. So it is copied: the original stays as others
expect it to be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from threading import Lock
from typing import Any

from pyparsing import ParserElement, ParseResults

_copied: dict[int, Any] = {}
"""What is part of several grammars is copied once."""


@cache
def quick(grammar: ParserElement) -> ParserElement:
    """A grammar for texts without comments.

    >>> from rdflib.plugins.sparql.parser import Query
    >>> quick(Query).parse_string("ASK { ?s ?p ?o }", parse_all=True)[1].name
    'AskQuery'
    >>> quick(Query) is quick(Query) is not Query
    True
    """
    for part in _parts(grammar):
        # What stands for "not there" is told by its identity.
        nothing = getattr(part, "defaultValue", None)
        _copied[id(nothing)] = nothing
    found: ParserElement = deepcopy(grammar, _copied)
    for part in _parts(found):
        part.ignoreExprs = []
        part._parse = part._parseNoCache  # type: ignore[method-assign]
    return found


def _parts(grammar: ParserElement) -> Iterator[ParserElement]:
    seen: set[int] = set()
    waiting: list[Any] = [grammar]
    while waiting:
        part = waiting.pop()
        if part is not None and id(part) not in seen:
            seen.add(id(part))
            waiting += [
                *getattr(part, "exprs", ()),
                getattr(part, "expr", None),
                getattr(part, "not_ender", None),
            ]
            yield part


_FRAMES = 10_000
"""Frames that a text within `ensue.rules.textlimits` never needs: up to 14 for a triple, 25 for a bracket."""

_depth_lock = Lock()
_users = 0
_usual = sys.getrecursionlimit()


def parsed(grammar: ParserElement, text: str) -> ParseResults:
    """What the grammar makes of all of a text.

    >>> from rdflib.plugins.sparql.parser import Query
    >>> parsed(Query, "ASK { " + "{ " * 30 + "} " * 30 + "}")[1].name
    'AskQuery'
    """
    with deep_calls():
        return quick(grammar).parse_string(text, parse_all=True)


@contextmanager
def deep_calls() -> Iterator[None]:
    """Let rdflib call itself more deeply than Python's limit has it: its texts are bounded instead."""
    global _users, _usual
    with _depth_lock:
        if not _users:
            _usual = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_usual, _FRAMES))
        _users += 1
    try:
        yield
    finally:
        with _depth_lock:
            _users -= 1
            if not _users:
                sys.setrecursionlimit(_usual)
