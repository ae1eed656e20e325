"""Looking through the algebra that rdflib makes of a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue

from ensue.query.evaluator import TIMESTAMP
from ensue.query.tree import ContinuousQuery


def nodes(tree: Any) -> Iterator[CompValue]:
    """The nodes of rdflib's algebra, from the top down."""
    if isinstance(tree, CompValue):
        yield tree
        # What EXISTS is about is an attribute besides the items, which are as they were parsed.
        yield from nodes(vars(tree).get("graph"))
    if isinstance(tree, dict):  # a node is one, too
        for part in tree.values():
            yield from nodes(part)
    elif isinstance(tree, list | tuple):
        for part in tree:
            yield from nodes(part)


def uses_timestamps(query: ContinuousQuery) -> bool:
    """Whether a query asks for f:timestamp.

    >>> from ensue.query.language import parse_query
    >>> text = f"SELECT (<{TIMESTAMP}>(?s, ?p, ?o) AS ?t) FROM STREAM <urn:s> [RANGE 1s] {{ ?s ?p ?o }}"
    >>> uses_timestamps(parse_query(text))
    True
    """
    return any(True for _ in timestamps(query))


def timestamps(query: ContinuousQuery) -> Iterator[list[Any]]:
    """The arguments of each f:timestamp in a query."""
    for node in nodes(query.algebra):
        if node.name == "Function" and str(node.iri) == TIMESTAMP:
            yield list(node.expr or ())
