"""Passes over rdflib's parse tree of a query that keep its algebra from being deep.

Walks over the algebra, rdflib's own among them, call themselves at each level. A long UNION would become one
level for each branch, and an expression has some ten for each bracket, one for each rule of the grammar.
"""

from __future__ import annotations

from typing import Any

from pyparsing import ParseResults
from rdflib.plugins.sparql.parserutils import CompValue

_WIDE = 16
"""Branches of a UNION that stay as they are."""

_LEVELS = frozenset(
    (
        *("ConditionalOrExpression", "ConditionalAndExpression", "RelationalExpression"),
        *("AdditiveExpression", "MultiplicativeExpression"),
    )
)
"""Rules of the grammar that mostly hand on one expression."""


def narrow(tree: Any) -> None:
    """Divide long UNIONs into halves, and drop what only hands on an expression; in place.

    >>> from ensue.rdflib_grammar import parsed
    >>> from rdflib.plugins.sparql.parser import Query
    >>> tree = parsed(Query, "ASK { " + " UNION ".join(["{ ?s ?p ?o }"] * 40) + " FILTER((?s)) }")
    >>> narrow(tree)
    >>> union, condition = tree[1].where.part
    >>> len(union.graph), len(union.graph[0].part[0].graph), condition.expr
    (2, 2, rdflib.term.Variable('s'))
    """
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node, CompValue) and node.name == "GroupOrUnionGraphPattern":
                _divide(node)
            for key, part in node.items():
                dict.__setitem__(node, key, core(part))
            waiting.extend(node.values())
        elif isinstance(node, list | ParseResults):
            for at, part in enumerate(node):
                node[at] = core(part)
            waiting.extend(node)
        elif isinstance(node, tuple):
            waiting.extend(node)


def core(node: Any) -> Any:
    """What a node only hands on."""
    while isinstance(node, CompValue) and node.name in _LEVELS and "other" not in node:
        node = node["expr"]
    return node


def _divide(union: CompValue) -> None:
    """A UNION of many branches as one of two groups that are UNIONs; it is associative."""
    branches = list(union["graph"])
    if len(branches) > _WIDE:
        middle = len(branches) // 2
        union["graph"] = [_group(branches[:middle]), _group(branches[middle:])]


def _group(branches: list[Any]) -> CompValue:
    return CompValue("GroupGraphPatternSub", part=[CompValue("GroupOrUnionGraphPattern", graph=branches)])
