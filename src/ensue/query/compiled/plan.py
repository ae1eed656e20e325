"""A compiled query as data: what to compute, operator by operator. `interpreter.py` runs it.

Every operator gives a bag of solutions (`relation.py`). Terms of the query are integers of the
dictionary, pinned there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum

from ensue.query.compiled.expressions import Aggregate, Expression
from ensue.query.dataset import Pattern, Slot
from ensue.query.tree import Form


@dataclass(frozen=True, slots=True)
class Match:
    """A basic graph pattern, matched in the active graph. Without patterns: the one empty solution."""

    patterns: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Occurrences:
    """What a temporal expression of the query, by number, has composed."""

    number: int
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """VALUES: one row of integers a solution, 0 for UNDEF."""

    variables: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Every combination of compatible solutions, one of each part.

    The order in which parts are joined is chosen when they are evaluated, by how many solutions each has.
    """

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The cross product of parts that share no variable: the combinations of which all conditions hold.

    A condition is tested as soon as all parts are there that can have values for its variables.
    """

    parts: tuple[Node, ...]
    conditions: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL: like Join where the conditions hold; a left solution without a partner stays alone."""

    left: Node
    right: Node
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Union:
    """The solutions of both."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Minus:
    """The left solutions with no compatible right one that shares a variable with them."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Exists:
    """A condition: some solution of `pattern` is compatible, and `conditions` hold of the two together.

    `wanted` is False for NOT EXISTS.
    """

    pattern: Node
    conditions: tuple[Condition, ...] = ()
    wanted: bool = True


@dataclass(frozen=True, slots=True)
class Filter:
    """The solutions of which all conditions hold."""

    child: Node
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND and `SELECT (value AS ?variable)`; no value where the expression is an error."""

    child: Node
    variable: str
    value: Expression


@dataclass(frozen=True, slots=True)
class InGraph:
    """What the child gives over one named graph; nothing if there is no such graph."""

    child: Node
    name: str


class Named(StrEnum):
    """Which of the named graphs a variable goes through."""

    ALL = "all"
    GRAPHS = "graphs"
    WINDOWS = "windows"


@dataclass(frozen=True, slots=True)
class EachGraph:
    """What the child gives over each named graph in turn, with the graph's name in `variable`."""

    child: Node
    variable: str
    named: Named


@dataclass(frozen=True, slots=True)
class Group:
    """One solution a group: its keys, and what the aggregates make of it.

    Without keys everything is one group, even if there is nothing.
    """

    child: Node
    keys: tuple[str, ...]
    results: tuple[tuple[str, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class Project:
    """The same solutions, as many, with fewer variables."""

    child: Node
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each solution once, where it came first."""

    child: Node


@dataclass(frozen=True, slots=True)
class OrderBy:
    """The solutions in order; True is descending."""

    child: Node
    by: tuple[tuple[Expression, bool], ...]
    then: tuple[str, ...] = ()
    """Variables whose terms settle ties: LIMIT takes the same answers, in whatever order they are found."""


@dataclass(frozen=True, slots=True)
class Slice:
    """LIMIT and OFFSET; a length of None is no limit."""

    child: Node
    start: int
    length: int | None


Unary = Filter | Extend | Group | Project | Distinct | OrderBy | Slice
Binary = LeftJoin | Union | Minus
Node = Match | Occurrences | Table | InGraph | EachGraph | Join | Product | Unary | Binary
Condition = Expression | Exists
Template = tuple[tuple[Slot, Slot, Slot], ...]
"""Triples of CONSTRUCT; names that begin with `_:` are blank nodes, fresh for each solution."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled query."""

    form: Form
    root: Node
    variables: tuple[str, ...] = ()
    """What SELECT gives, in this order."""
    template: Template = ()


@dataclass(frozen=True, slots=True)
class MatchedIn:
    """A basic graph pattern, and the graph that it is matched in."""

    patterns: tuple[Pattern, ...]
    graph: str | None
    """None: the default graph; an IRI without brackets; or a variable, written `?g`."""


def basic_patterns(plan: Plan) -> tuple[MatchedIn, ...]:
    """Every basic graph pattern of a plan, each once per graph: an engine can keep their solutions.

    >>> bgp = Match((("s", 1, "o"),))
    >>> [m.graph for m in basic_patterns(Plan(Form.ASK, Join((bgp, EachGraph(bgp, "g", Named.ALL)))))]
    [None, '?g']
    """
    return tuple(dict.fromkeys(_basic(plan.root, None)))


def _basic(node: object, graph: str | None) -> Iterator[MatchedIn]:
    if isinstance(node, Match):
        if node.patterns:
            yield MatchedIn(node.patterns, graph)
    elif isinstance(node, InGraph | EachGraph):
        inner = node.name if isinstance(node, InGraph) else f"?{node.variable}"
        yield from _basic(node.child, inner)
    elif isinstance(node, Node | Exists):
        for field in fields(node):
            yield from _basic(getattr(node, field.name), graph)
    elif isinstance(node, tuple):
        for part in node:
            yield from _basic(part, graph)
