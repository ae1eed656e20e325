"""Expressions and aggregates of a query as data: text that oxigraph reads, over variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ensue.query.compiled.unparse import NotCompiled, part, unparse, variables_of
from ensue.query.compiled.values_quick import Shape, shape_of
from ensue.rules.expressions import problem


@dataclass(frozen=True, slots=True)
class Expression:
    """A SPARQL expression as text over variables."""

    text: str
    variables: tuple[str, ...]
    shape: Shape | None = field(default=None, compare=False, repr=False)
    """What can be said about it without reading any literal, if anything."""

    @property
    def bare(self) -> str | None:
        """The variable, if it is nothing but one."""
        return self.variables[0] if self.variables and self.text == f"?{self.variables[0]}" else None


def expression(node: Any) -> Expression:
    """The expression of a node of rdflib's algebra. Raises NotCompiled.

    >>> from rdflib.plugins.sparql.parser import Expression as Grammar
    >>> expression(Grammar.parse_string("STRLEN(?a) > STRLEN(?b)")[0])
    Expression(text='(STRLEN(?a) > STRLEN(?b))', variables=('a', 'b'))
    """
    text = unparse(node)
    reason = problem(text)
    if reason is not None:
        raise NotCompiled(reason)
    return Expression(text, tuple(dict.fromkeys(variables_of(node))), shape_of(node))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate: COUNT, SUM, AVG, MIN, MAX, SAMPLE or GROUP_CONCAT of an expression."""

    function: str
    argument: Expression | None
    """None for the * of COUNT(*)."""
    distinct: bool = False
    separator: str | None = None
    """Between the parts of GROUP_CONCAT; None: a space."""


_FUNCTIONS = {
    "Aggregate_Count": "COUNT",
    "Aggregate_Sum": "SUM",
    "Aggregate_Avg": "AVG",
    "Aggregate_Min": "MIN",
    "Aggregate_Max": "MAX",
    "Aggregate_Sample": "SAMPLE",
    "Aggregate_GroupConcat": "GROUP_CONCAT",
}


def aggregate_call(node: Any) -> Aggregate:
    """The aggregate of a node `Aggregate_...` of rdflib's algebra. Raises NotCompiled.

    >>> from rdflib.plugins.sparql.parser import Aggregate as Grammar
    >>> aggregate_call(Grammar.parse_string("COUNT(DISTINCT *)")[0])
    Aggregate(function='COUNT', argument=None, distinct=True, separator=None)
    """
    if node.name not in _FUNCTIONS:
        raise NotCompiled(f"the aggregate {node.name.removeprefix('Aggregate_')}")
    over, separator = node["vars"], part(node, "separator")
    return Aggregate(
        _FUNCTIONS[node.name],
        None if type(over) is str else expression(over),  # the star; terms of rdflib are other types
        bool(part(node, "distinct")),
        None if separator is None else str(separator),
    )
