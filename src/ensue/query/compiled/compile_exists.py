"""EXISTS as a join: of which plans that gives what SPARQL means by it.

SPARQL puts the values of the outer solution into the inner pattern, and asks whether that has a solution.
For patterns that only join it is the same to solve the inner pattern by itself, once, and to look for
a compatible solution. For OPTIONAL, MINUS, subqueries and the like it is not.
"""

from __future__ import annotations

from ensue.query.compiled import plan as p
from ensue.query.compiled.expressions import Expression
from ensue.query.compiled.variables import bound


def only_joins(node: p.Node) -> bool:
    """Whether a value can be put in before or after: it makes no difference to the solutions.

    >>> bgp = p.Match((("s", 1, "o"),))
    >>> only_joins(p.Union(bgp, bgp)), only_joins(p.Minus(bgp, bgp))
    (True, False)
    """
    match node:
        case p.Match() | p.Table():
            return True
        case p.Join(parts):
            return all(map(only_joins, parts))
        case p.Union(left, right):
            return only_joins(left) and only_joins(right)
        case p.InGraph(child) | p.EachGraph(child):
            return only_joins(child)
        case p.Project(child, variables):
            # Blank nodes of a basic graph pattern are hidden like this: no outer variable is one of them.
            return only_joins(child) and all(v in variables for v in bound(child) if not v.startswith("_:"))
        case p.Filter(child, conditions):
            return only_joins(child) and all(_within(condition, bound(child)) for condition in conditions)
        case _:
            return False


def _within(condition: p.Condition, variables: frozenset[str]) -> bool:
    """Whether a condition looks at these variables only, which have a value already."""
    return isinstance(condition, Expression) and variables.issuperset(condition.variables)
