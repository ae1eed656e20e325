"""EXISTS as a join: of which plans that gives what SPARQL means by it.

SPARQL puts the values of the outer solution into the inner pattern, and asks whether that has a solution.
For patterns that only join it is the same to solve the inner pattern by itself, once, and to look for
a compatible solution. For OPTIONAL, MINUS, subqueries and the like it is not.
"""

from __future__ import annotations

from ensue.query.compiled import plan as p
from ensue.query.compiled.expressions import Expression


def only_joins(node: p.Node) -> bool:
    """Whether a value can be put in before or after: it makes no difference to the solutions.

    >>> bgp = p.Match((("s", 1, "o"),))
    >>> only_joins(p.Union(bgp, bgp)), only_joins(p.Minus(bgp, bgp))
    (True, False)
    """
    match node:
        case p.Match() | p.Table():
            return True
        case p.Join(left, right) | p.Union(left, right):
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


def bound(node: p.Node) -> frozenset[str]:
    """The variables that have a value in every solution of a plan that only joins."""
    match node:
        case p.Match(patterns):
            return frozenset(slot for pattern in patterns for slot in pattern if isinstance(slot, str))
        case p.Table(variables, rows):
            return frozenset(v for at, v in enumerate(variables) if all(row[at] for row in rows))
        case p.Join(left, right):
            return bound(left) | bound(right)
        case p.Union(left, right):
            return bound(left) & bound(right)
        case p.EachGraph(child, variable):
            return bound(child) | {variable}
        case p.InGraph(child) | p.Filter(child):
            return bound(child)
        case p.Project(child, variables):
            return bound(child).intersection(variables)
        case _:
            return frozenset()
