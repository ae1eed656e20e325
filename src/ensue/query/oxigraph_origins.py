"""Where the terms in the answers of a query come from: from the data, or out of an expression.

A term from the data comes out as the data spells it (see `oxigraph_terms.py`), a computed one as
oxigraph spells it: the COUNT of 1 is `"1"` even where the data has `"01"`.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Literal, URIRef, Variable

from ensue.query.algebra import nodes
from ensue.query.compiled.unparse import term_text
from ensue.query.evaluator import TIMESTAMP
from ensue.query.tree import ContinuousQuery

_CHOOSING = ("Aggregate_Sample", "Aggregate_Min", "Aggregate_Max")


class Origin(Enum):
    """Where the terms of a column come from."""

    DATA = auto()
    COMPUTED = auto()
    STAMP = auto()
    """f:timestamp: xsd:long, of which oxigraph makes xsd:integer."""


class Origins:
    """The origins of a query's columns.

    >>> from ensue.query.language import parse_query
    >>> text = "SELECT ?s (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 1s] { ?s ?p ?o } GROUP BY ?s"
    >>> [Origins(parse_query(text)).of(name).name for name in ("s", "n")]
    ['DATA', 'COMPUTED']
    """

    def __init__(self, query: ContinuousQuery) -> None:
        self._assigned: dict[str, list[Any]] = {}
        for node in nodes(query.algebra):
            if node.name == "Extend":
                self._assigned.setdefault(str(node.var), []).append(node.expr)
            elif node.name.startswith("Aggregate_"):
                source = node.vars if node.name in _CHOOSING else None
                self._assigned.setdefault(str(node.res), []).append(source)
        self._template: list[tuple[Any, Any, Any]] = query.algebra.template or []
        self._by_predicate = self._predicates()

    def of(self, variable: str) -> Origin:
        """The origin of a variable; one that is computed anywhere is computed."""
        return self._variable(variable, frozenset())

    def of_object(self, predicate: str) -> Origin:
        """The origin of the objects that CONSTRUCT makes for a predicate (text of an IRI)."""
        return self._by_predicate.get(predicate, self._by_predicate.get(None, Origin.DATA))

    def _variable(self, name: str, seen: frozenset[str]) -> Origin:
        # rdflib has a grouped ?x be the sample of ?x: what was seen on the way here says nothing new.
        if name in seen or name not in self._assigned:
            return Origin.DATA
        found = {self._expression(expr, seen | {name}) for expr in self._assigned[name]}
        return found.pop() if len(found) == 1 else Origin.COMPUTED

    def _expression(self, expr: Any, seen: frozenset[str]) -> Origin:
        if isinstance(expr, Variable):
            return self._variable(str(expr), seen)
        if isinstance(expr, CompValue) and expr.name == "Function" and str(expr.iri) == TIMESTAMP:
            return Origin.STAMP
        return Origin.COMPUTED

    def _predicates(self) -> dict[str | None, Origin]:
        """By predicate, None for any; objects of two origins count as computed."""
        found: dict[str | None, set[Origin]] = {}
        for _, predicate, object_ in self._template:
            if not isinstance(object_, URIRef | BNode | Literal):
                key = term_text(predicate) if isinstance(predicate, URIRef) else None
                found.setdefault(key, set()).add(self.of(str(object_)))
        anywhere = found.get(None, set())
        return {
            key: next(iter(origins | anywhere)) if len(origins | anywhere) == 1 else Origin.COMPUTED
            for key, origins in found.items()
        }


def constants(query: ContinuousQuery) -> tuple[str, ...]:
    """The literals that can be in an answer although they are not in the data: of VALUES and a template.

    >>> from ensue.query.language import parse_query
    >>> constants(parse_query("SELECT * FROM STREAM <urn:s> [RANGE 1s] { VALUES ?x { <urn:a> 'b' UNDEF } }"))
    ('"b"',)
    """
    found = [o for _, _, o in query.algebra.template or [] if isinstance(o, Literal)]
    for node in nodes(query.algebra):
        if node.name == "values":
            found += [term for row in node.res for term in row.values() if isinstance(term, Literal)]
    return tuple(sorted({term_text(term) for term in found}))
