"""Whether what a query answers about one value of a variable rests on statements about that value alone.

Take the answers in which a variable v has the value t. They are the same, whatever is known besides t, if
every pattern that a stream can match holds v: then each part of the query, looked at for v = t, asks for
facts about t only. Part by part that is so if v has a value in all its solutions; parts that no stream
changes are the same anyway. This is condition 1, and 4 for what is inside, of routing to several shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Identifier, Variable

from ensue.plan.asked import EXISTS, Fed, inside, steps
from ensue.plan.conditions import Condition, NotDivided
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Pattern, Var


class NotByKey(NotDivided):
    """Why a query cannot be answered value by value."""

    def __init__(self, where: str, condition: Condition = Condition.IN_EVERY_PATTERN) -> None:
        super().__init__(condition, where)


@dataclass(frozen=True, slots=True)
class Part:
    """What is known of a part of a query."""

    still: bool
    """No stream changes its solutions."""
    binds: bool
    """The variable has a value in all of them."""


@dataclass(frozen=True, slots=True)
class Keying:
    """Looks at a query for one variable; `is_still` says of a pattern that no stream can match it."""

    query: ContinuousQuery
    variable: str
    is_still: Callable[[Pattern], bool]

    def check(self, tree: CompValue) -> None:
        """Raise NotByKey unless a pattern of the query is answered value by value."""
        fed = Fed.of(self.query)
        if _Walk(self, fed, fed.default).part(tree).still:
            raise NotByKey("no pattern that a stream can match holds the key")


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through the algebra, in a graph that streams feed or do not feed."""

    keying: Keying
    fed: Fed
    here: bool
    place: str = ""
    """Where that is, if there is anything to say about it."""

    def part(self, tree: CompValue) -> Part:
        """What is known of a node; raises NotByKey."""
        match tree.name:
            case "BGP":
                return self._basic(tree)
            case "Join":
                left, right = self.part(tree.p1), self.part(tree.p2)
                return Part(left.still and right.still, left.binds or right.binds)
            case "LeftJoin" | "Minus":
                word = "OPTIONAL" if tree.name == "LeftJoin" else "MINUS"
                left, right = self.part(tree.p1), self._at(f" in {word}").part(tree.p2)
                asked = self._conditions(tree.expr if tree.name == "LeftJoin" else None)
                still = left.still and right.still and asked.still
                return self._certain(Part(still, left.binds), f"what stands before {word}")
            case "Union":
                left, right = (self._at(" in UNION").part(side) for side in (tree.p1, tree.p2))
                return self._certain(
                    Part(left.still and right.still, left.binds and right.binds), "a side of UNION"
                )
            case "Filter" | "Extend":
                inner, asked = self.part(tree.p), self._conditions(tree.expr)
                still = inner.still and asked.still
                return self._certain(Part(still, inner.binds), "what FILTER or BIND looks at")
            case "Graph":
                inside_is_fed = self.fed.graph(self.keying.query, tree.term)
                return replace(self, here=inside_is_fed).part(tree.p)
            case _:
                return self._select(tree)

    def _select(self, tree: CompValue) -> Part:
        """The nodes that a subquery is made of, and VALUES."""
        match tree.name:
            case "ToMultiSet":
                return Part(True, False) if isinstance(tree.p, list) else self.part(tree.p)
            case "values":
                # rdflib has the bare word UNDEF among the terms.
                key = Variable(self.keying.variable)
                return Part(True, all(isinstance(row.get(key), Identifier) for row in tree.res))
            case "Project":
                return self._only(self._at(" in a subquery").part(tree.p), tree.PV, "a subquery's SELECT")
            case "AggregateJoin":
                return self._only(self.part(tree.p.p), tree.p.expr or [], "GROUP BY of a subquery")
            case "Distinct" | "Reduced" | "OrderBy":
                return self.part(tree.p)
            case "Slice":
                inner = self.part(tree.p)
                if not inner.still:
                    where = "LIMIT and OFFSET of a subquery count the answers about all values"
                    raise NotByKey(where, Condition.MERGED)
                return inner
            case _:
                raise NotByKey(f"{tree.name} is not looked into")

    def _basic(self, tree: CompValue) -> Part:
        patterns = list(steps(tree.triples))
        key = Var(self.keying.variable)
        binds = any(key in pattern.variables() for pattern in patterns)
        for pattern in patterns if self.here else ():
            if key not in pattern.variables() and not self.keying.is_still(pattern):
                raise NotByKey(f"{_shown(pattern)}{self.place} does not hold {key}")
        return Part(not (self.here and binds), binds)

    def _conditions(self, expression: Any) -> Part:
        """What is known of all EXISTS in an expression. They bind nothing."""
        parts = [self._at(" in EXISTS").part(inside(exists)) for exists in _exists(expression)]
        return Part(all(part.still for part in parts), False)

    def _only(self, inner: Part, variables: list[Any], where: str) -> Part:
        binds = inner.binds and Variable(self.keying.variable) in variables
        return self._certain(replace(inner, binds=binds), where, Condition.MERGED)

    def _certain(self, part: Part, where: str, condition: Condition = Condition.IN_EVERY_PATTERN) -> Part:
        if not part.still and not part.binds:
            raise NotByKey(f"?{self.keying.variable} need not have a value in {where}", condition)
        return part

    def _at(self, place: str) -> _Walk:
        return replace(self, place=place)


def _shown(pattern: Pattern) -> str:
    """A pattern as the user wrote it: what a path goes through has no name there."""
    if any(isinstance(node, Var) and node.name[0] == "/" for node in (pattern.s, pattern.o)):
        return f"a path's step {pattern.p}"
    return str(pattern)


def _exists(tree: Any) -> Iterator[CompValue]:
    if isinstance(tree, CompValue) and tree.name in EXISTS:
        yield tree
    elif isinstance(tree, dict):
        for part in tree.values():
            yield from _exists(part)
    elif isinstance(tree, list | tuple):
        for part in tree:
            yield from _exists(part)
