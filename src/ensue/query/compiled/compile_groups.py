"""GROUP BY and aggregates as rdflib's algebra has them, and what has to be mended there.

rdflib replaces every plain variable in SELECT, HAVING and ORDER BY of a query with aggregates by a SAMPLE
of it. That is right for a key of GROUP BY, which is the same in all of its group, and wrong for
`SELECT (COUNT(*) AS ?n) ... ORDER BY ?n SUM(?x)`, where ?n has a value only after the aggregates. So these
samples are undone: the variable stands for itself. And the keys of `GROUP BY (?x + 1)` have no name there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Variable

Names = Mapping[str, str]
"""The variables that rdflib made up for samples, and what they are samples of."""


def samples(tree: Any) -> Names:
    """What rdflib sampled in the SELECT whose pattern this is.

    >>> from ensue.query.language import parse_query
    >>> query = "SELECT ?s (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 1s] { ?s ?p ?o } GROUP BY ?s"
    >>> samples(parse_query(query).algebra.p.p)
    {'__agg_2__': 's'}
    """
    aggregates = _aggregate_join(tree)
    if aggregates is None:
        return {}
    return {str(call.res): str(call.vars) for call in aggregates.A if is_sampled(call)}


def is_sampled(call: CompValue) -> bool:
    """Whether rdflib, not the user, asked for this aggregate: then it has no place for DISTINCT."""
    return call.name == "Aggregate_Sample" and "distinct" not in call


def _aggregate_join(tree: Any) -> CompValue | None:
    """The aggregates right below the clauses of one SELECT: ORDER BY, expressions, VALUES, HAVING."""
    while isinstance(tree, CompValue) and tree.name in ("OrderBy", "Extend", "Filter", "Join"):
        tree = tree.p1 if tree.name == "Join" else tree.p
    return tree if isinstance(tree, CompValue) and tree.name == "AggregateJoin" else None


def renamed(tree: Any, names: Names) -> Any:
    """An expression with variables for the samples of them.

    >>> renamed([Variable("__agg_2__"), Variable("x")], {"__agg_2__": "s"})
    [rdflib.term.Variable('s'), rdflib.term.Variable('x')]
    """
    if isinstance(tree, Variable):
        return Variable(names.get(str(tree), tree))
    if isinstance(tree, list):
        return [renamed(part, names) for part in tree]
    if isinstance(tree, CompValue):
        return CompValue(tree.name, **{key: renamed(part, names) for key, part in tree.items()})
    return tree


def named_keys(tree: CompValue) -> tuple[Any, tuple[str, ...]]:
    """What a Group is made of, and its keys, each of them a variable.

    >>> from ensue.query.language import parse_query
    >>> query = "SELECT (COUNT(*) AS ?n) FROM STREAM <urn:s> [RANGE 1s] { ?s ?p ?o } GROUP BY ?s (?o + 1)"
    >>> pattern, keys = named_keys(parse_query(query).algebra.p.p.p.p)
    >>> keys, pattern.name, pattern.var
    (('s', '_:key1'), 'Extend', rdflib.term.Variable('_:key1'))
    """
    by = tree.expr or []
    keys = tuple(str(key) if isinstance(key, Variable) else f"_:key{at}" for at, key in enumerate(by))
    nameless = [name for name, key in zip(keys, by, strict=True) if key is None]
    pattern = _with_names(tree.p, nameless)
    for name, key in zip(keys, by, strict=True):
        if key is not None and not isinstance(key, Variable):
            pattern = CompValue("Extend", p=pattern, expr=key, var=Variable(name))
    return pattern, keys


def _with_names(tree: Any, names: list[str]) -> Any:
    """Names for the keys that have none: they are bound below the Group, the first one deepest."""
    if not names:
        return tree
    rest = names[:-1] if tree.var is None else names
    variable = Variable(names[-1]) if tree.var is None else tree.var
    return CompValue("Extend", p=_with_names(tree.p, rest), expr=tree.expr, var=variable)
