"""What an answer rests on: the basic graph patterns of its query with the answer's terms in them.

A compiled plan says which patterns had to match, in which graphs. Where it says more than that (that
something does not match, or how many do), that is noted: no proof can show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import chain, product
from typing import Any, cast

from ensue.query.compiled import plan as p
from ensue.query.dataset import Pattern

Solution = Mapping[str, int]
"""The integers of variables that have a value."""

Placed = tuple["str | None", Pattern]
"""A graph, and a pattern that is matched there; variables left in it may be anything."""

AGGREGATE = "an aggregate is of all solutions in its group: shown is one of them"
EVENTS = "what a temporal expression composed is not shown"
MINUS = "MINUS: that nothing takes the answer away is not shown"
NOT_EXISTS = "NOT EXISTS: that nothing matches is not shown"
EXISTS = "EXISTS: what matches is not shown"
OPTIONAL = "OPTIONAL: that nothing more matches is not shown"


@dataclass(frozen=True, slots=True)
class Support:
    """One way in which a solution can have come about."""

    patterns: tuple[Placed, ...] = ()
    notes: tuple[str, ...] = ()

    def __add__(self, other: Support) -> Support:
        return Support(self.patterns + other.patterns, self.notes + other.notes)


def whole_solutions(node: p.Node) -> p.Node:
    """A plan that gives every variable, where it can: without what projects, orders and cuts at its top."""
    while isinstance(node, p.Project | p.Distinct | p.OrderBy | p.Slice):
        node = node.child
    return _without_blanks(node)


def _without_blanks(node: p.Node) -> p.Node:
    """The same without the projections that only hide blank nodes of the query: each is in one pattern."""
    if isinstance(node, p.Project) and all(
        name in node.variables or name.startswith("_:") for name in variables(node.child)
    ):
        return _without_blanks(node.child)
    if isinstance(node, p.Join | p.Product):
        return replace(node, parts=tuple(map(_without_blanks, node.parts)))
    inner = {
        each.name: _without_blanks(getattr(node, each.name))
        for each in fields(node)
        if isinstance(getattr(node, each.name), p.Node)
    }
    return replace(node, **cast("dict[str, Any]", inner)) if inner else node


def variables(node: p.Node) -> set[str]:
    """The variables of the patterns below an operator."""
    if isinstance(node, p.Match):
        return {slot for pattern in node.patterns for slot in pattern if isinstance(slot, str)}
    if isinstance(node, p.Join | p.Product):
        return set().union(*map(variables, node.parts))
    parts = (getattr(node, each.name) for each in fields(node))
    return set().union(*(variables(part) for part in parts if isinstance(part, p.Node)))


def supports(
    node: p.Node, solution: Solution, graph: str | None, name_of: Mapping[int, str]
) -> Iterator[Support]:
    """The ways in which an operator can have given a solution; `name_of` has the IRIs of graphs."""

    def inner(child: p.Node, of: Solution = solution, within: str | None = graph) -> Iterator[Support]:
        return supports(child, of, within, name_of)

    match node:
        case p.Match(patterns):
            yield Support(tuple((graph, _filled(pattern, solution)) for pattern in patterns))
        case p.Table():
            yield Support()
        case p.Occurrences():
            yield Support(notes=(EVENTS,))
        case p.Join(parts) | p.Product(parts):
            for one_of_each in product(*map(inner, parts)):
                yield sum(one_of_each, Support())
        case p.Union(left, right):
            yield from chain(inner(left), inner(right))
        case p.Minus(left, _):
            yield from (one + Support(notes=(MINUS,)) for one in inner(left))
        case p.LeftJoin(left, right):
            own = {name for name in variables(right) if not name.startswith("_:")}
            if own <= solution.keys():
                yield from (one + other for one, other in product(inner(left), inner(right)))
            else:
                yield from (one + Support(notes=(OPTIONAL,)) for one in inner(left))
        case p.Filter(child, conditions):
            notes = tuple(EXISTS if c.wanted else NOT_EXISTS for c in conditions if isinstance(c, p.Exists))
            yield from (one + Support(notes=notes) for one in inner(child))
        case p.InGraph(child, name):
            yield from inner(child, solution, name)
        case p.EachGraph(child, variable):
            if solution.get(variable) in name_of:
                yield from inner(child, solution, name_of[solution[variable]])
        case p.Group(child, keys):
            of_group = {name: term for name, term in solution.items() if name in keys}
            yield from (one + Support(notes=(AGGREGATE,)) for one in inner(child, of_group))
        case p.Project(child, kept):
            seen = {name: term for name, term in solution.items() if name in kept}
            yield from (_apart(one, id(node)) for one in inner(child, seen))
        case _:
            yield from inner(node.child)


def _filled(pattern: Pattern, solution: Solution) -> Pattern:
    s, predicate, o = (solution.get(slot, slot) if isinstance(slot, str) else slot for slot in pattern)
    return s, predicate, o


def _apart(support: Support, number: int) -> Support:
    """What a subquery hides has nothing to do with variables of that name elsewhere."""

    def other(pattern: Pattern) -> Pattern:
        s, predicate, o = (f"{slot} {number}" if isinstance(slot, str) else slot for slot in pattern)
        return s, predicate, o

    return replace(support, patterns=tuple((graph, other(pattern)) for graph, pattern in support.patterns))
