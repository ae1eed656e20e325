"""Which variables the solutions of a plan's operators have: possibly, and in every solution."""

from __future__ import annotations

from collections.abc import Iterable

from ensue.query.compiled import plan as p
from ensue.query.compiled.expressions import Expression


def visible(node: p.Node) -> set[str]:
    """The variables that can have a value in the solutions of a plan.

    >>> sorted(visible(p.Extend(p.Match((("x", 1, "y"),)), "z", Expression("?x", ("x",)))))
    ['x', 'y', 'z']
    """
    match node:
        case p.Match(patterns):
            return {slot for pattern in patterns for slot in pattern if isinstance(slot, str)}
        case p.Table(variables) | p.Project(_, variables) | p.Occurrences(_, variables):
            return set(variables)
        case p.Group(_, keys, results):
            return {*keys, *(name for name, _ in results)}
        case p.Extend(child, variable) | p.EachGraph(child, variable):
            return visible(child) | {variable}
        case p.Minus(left, _):
            return visible(left)
        case p.LeftJoin(left, right) | p.Union(left, right):
            return visible(left) | visible(right)
        case p.Join(parts) | p.Product(parts):
            return visible_in_any(parts)
        case _:
            return visible(node.child)


def visible_in_any(nodes: Iterable[p.Node]) -> set[str]:
    """The variables that can have a value in the solutions of some of several plans."""
    return set().union(*map(visible, nodes))


def bound(node: p.Node) -> frozenset[str]:
    """Variables that have a value in every solution of a plan; there may be more than these.

    >>> bgp, other = p.Match((("x", 1, "y"),)), p.Match((("x", 2, "z"),))
    >>> sorted(bound(p.LeftJoin(bgp, other))), sorted(bound(p.Union(bgp, other)))
    (['x', 'y'], ['x'])
    """
    match node:
        case p.Match():
            return frozenset(visible(node))
        case p.Table(variables, rows):
            return frozenset(v for at, v in enumerate(variables) if all(row[at] for row in rows))
        case p.Join(parts) | p.Product(parts):
            return frozenset().union(*map(bound, parts))
        case p.Union(left, right):
            return bound(left) & bound(right)
        case p.LeftJoin(left) | p.Minus(left):
            return bound(left)
        case p.EachGraph(child, variable):
            return bound(child) | {variable}
        case p.InGraph(child) | p.Filter(child) | p.Extend(child) | p.Distinct(child):
            return bound(child)
        case p.Project(child, variables):
            return bound(child).intersection(variables)
        case _:
            return frozenset()


def looked_at(condition: p.Condition) -> set[str]:
    """The variables whose values in a solution a condition depends on; others may have values, too."""
    if isinstance(condition, Expression):
        return set(condition.variables)
    return visible(condition.pattern).union(*map(looked_at, condition.conditions))


def has_product(node: p.Node) -> bool:
    """Whether solutions are combined at random, unless what they are joined with tells which belong together.

    >>> has_product(p.Union(p.Match(), p.Product((p.Match(), p.Match()))))
    True
    """
    match node:
        case p.Product():
            return True
        case p.Union(left, right):
            return has_product(left) or has_product(right)
        case _:
            return False
