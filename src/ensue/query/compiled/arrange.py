"""Arranges the joins of a plan: no cross product is made that another part of the join would cut down.

What is joined in a group, in the groups nested in it and in its GRAPHs is gathered. Basic graph patterns that
are matched in the same graph become one, which is then divided into pieces that share no variable: each of
them is matched, and maintained, by itself. So in `{ ?p a :C . ?q a :C { ?x :of ?p } { ?y :of ?q } }` no ?p
meets a ?q before each has its ?x or ?y. Parts that share variables become a Join; Joins that share none, a
Product.

FILTER, OPTIONAL, MINUS and BIND of a nested group are done after the join where the solutions are the same.
They see the values of their own group only, so that is where the other parts have no value for a variable
that the group itself may leave without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any, TypeVar

from ensue.query.compiled import plan as p
from ensue.query.compiled.expressions import Expression
from ensue.query.compiled.variables import bound, has_product, looked_at, visible, visible_in_any
from ensue.query.dataset import Pattern

MOST_TOGETHER = 32
"""Triple patterns; more of them are matched together only if they are written together."""

_Place = p.InGraph | p.EachGraph
_Lifted = p.LeftJoin | p.Minus | p.Extend | p.Filter
_N = TypeVar("_N", bound="p.Node | p.Exists")


def arranged(root: p.Node) -> p.Node:
    """A plan with the same solutions, as many of each.

    >>> some, of = p.Match((("p", 1, 2), ("q", 1, 2))), p.Match((("x", 3, "p"),))
    >>> for part in arranged(p.Join((some, of))).parts:
    ...     print(part)
    Match(patterns=(('p', 1, 2), ('x', 3, 'p')))
    Match(patterns=(('q', 1, 2),))
    """
    return _Arranger().node(root)


class _Arranger:
    """Arranges the nodes of one plan, each once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[p.Node, p.Node]] = {}
        """What became of nodes, by their identity; they stay alive in here."""

    def node(self, node: p.Node) -> p.Node:
        """A node with the same solutions."""
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._arranged(node))
        return self._known[id(node)][1]

    def _arranged(self, node: p.Node) -> p.Node:
        joins = isinstance(node, p.Match | p.Join | p.Filter | p.InGraph | p.EachGraph)
        if joins or _hides_blank_nodes(node):
            return _Group(self, node).node()
        return self.inside(node)

    def inside(self, node: _N) -> _N:
        """The same operator, with its operands arranged."""
        changed = {each.name: self._field(getattr(node, each.name)) for each in fields(node)}
        return replace(node, **changed)

    def _field(self, value: Any) -> Any:
        if isinstance(value, p.Node):
            return self.node(value)
        if isinstance(value, tuple):
            return tuple(map(self._field, value))
        return self.inside(value) if isinstance(value, p.Exists) else value


def _hides_blank_nodes(node: p.Node) -> bool:
    """Whether this is a basic graph pattern with blank nodes, which no one else can see."""
    if not isinstance(node, p.Project) or not isinstance(node.child, p.Match):
        return False
    hidden = visible(node.child).difference(node.variables)
    return bool(hidden) and all(name.startswith("_:") for name in hidden)


@dataclass(frozen=True, slots=True)
class _Operand:
    """Something that is joined, in a named graph if it has a place."""

    node: p.Node
    place: _Place | None = None

    @property
    def visible(self) -> set[str]:
        return visible(self.whole(self.node))

    def whole(self, node: p.Node) -> p.Node:
        return node if self.place is None else replace(self.place, child=node)


class _Group:
    """All that is joined in one group and below: gathered from the outside in, then put together."""

    def __init__(self, arranger: _Arranger, node: p.Node) -> None:
        self._arranger = arranger
        self._operands = [_Operand(node)]
        self._conditions: list[Expression] = []
        self._above: list[_Lifted] = []
        """Operators that are done after the join, the last one first."""
        self._hidden: set[str] = set()
        """Variables of basic graph patterns that nobody else sees."""
        at = 0
        while at < len(self._operands):
            opened = self._opened(at)
            if opened is None:
                at += 1
            else:
                self._operands[at : at + 1] = opened

    def node(self) -> p.Node:
        """The join, and above it what is done after."""
        late = [each for each in self._conditions if self._given_above.intersection(each.variables)]
        found = _together(self._parts(), [each for each in self._conditions if each not in late])
        for operator in reversed(self._above):
            found = _over(self._arranger.inside(_over(operator, p.Match())), found)
        return p.Filter(found, tuple(late)) if late else found

    # -- gathering ---------------------------------------------------------------------------------

    def _opened(self, at: int) -> list[_Operand] | None:
        """What an operand is a join of; None: it is joined as it is."""
        operand = self._operands[at]
        match operand.node:
            case p.Join(parts):
                return [replace(operand, node=part) for part in parts]
            case p.Filter(child, conditions):
                return self._filter(at, child, conditions)
            case p.InGraph(child) | p.EachGraph(child) if operand.place is None and child != p.Match():
                return [_Operand(child, replace(operand.node, child=p.Match()))]
            case p.Project(p.Match(patterns) as child, variables) if _hides_blank_nodes(
                operand.node
            ) or has_product(self._arranger.node(child)):
                hidden = visible(child).difference(variables)
                return [replace(operand, node=p.Match(self._renamed(patterns, hidden)))]
            case p.LeftJoin(child) | p.Minus(child) | p.Extend(child):
                return self._lifted(at, operand.node, child)
            case _:
                return None

    def _filter(self, at: int, child: p.Node, conditions: Iterable[p.Condition]) -> list[_Operand] | None:
        """FILTER is done after the join, or as part of it, if it sees no more there than it would here."""
        operand, outside = self._operands[at], self._outside(at)
        others = [each for each in conditions if isinstance(each, p.Exists)]
        plain = [each for each in conditions if isinstance(each, Expression)]
        staying = [each for each in plain if not looked_at(each) & outside <= bound(child)]
        self._conditions += [each for each in plain if each not in staying]
        if staying or (others and operand.place is not None):
            rest = p.Filter(child, (*staying, *others))
            if len(staying) < len(plain):
                return [replace(operand, node=rest)]
            return None
        if not others:
            return [replace(operand, node=child)]
        rest = p.Filter(child, tuple(others))
        return self._lifted(at, rest, child) or ([replace(operand, node=rest)] if plain else None)

    def _lifted(self, at: int, operator: _Lifted, child: p.Node) -> list[_Operand] | None:
        """An operator is done after the join if what it is done to would be a cross product before."""
        operand, outside = self._operands[at], self._outside(at)
        if operand.place is not None or not has_product(self._arranger.node(child)):
            return None
        if isinstance(operator, p.Extend) and operator.variable in outside:
            return None
        if not _sees(operator) & outside <= bound(child):
            return None
        self._above.append(operator)
        return [replace(operand, node=child)]

    def _outside(self, at: int) -> set[str]:
        """The variables that what an operand is joined with may have values for."""
        operand = self._operands[at]
        others = (each.visible for number, each in enumerate(self._operands) if number != at)
        graph = {operand.place.variable} if isinstance(operand.place, p.EachGraph) else set()
        return graph.union(self._given_above, *others)

    @property
    def _given_above(self) -> set[str]:
        """The variables that get values only after the join."""
        return set().union(*map(_gives, self._above))

    def _renamed(self, patterns: Sequence[Pattern], hidden: Iterable[str]) -> tuple[Pattern, ...]:
        """Patterns whose hidden variables have names that nothing else in this group has."""
        names: dict[Any, Any] = {}
        for name in sorted(hidden):
            plain = f"_:{name.removeprefix('_:')}"
            fresh = (f"{plain} {number}" for number in count(2))
            names[name] = (
                plain if plain not in self._hidden else next(n for n in fresh if n not in self._hidden)
            )
            self._hidden.add(names[name])
        return tuple((names.get(s, s), names.get(q, q), names.get(o, o)) for s, q, o in patterns)

    # -- putting together --------------------------------------------------------------------------

    def _parts(self) -> list[p.Node]:
        """What is joined: the pieces of basic graph patterns, and the rest as it is."""
        written: dict[_Place | None, list[tuple[Pattern, ...]]] = {}
        others: list[p.Node] = []
        for operand in self._operands:
            if isinstance(operand.node, p.Match) and (operand.node.patterns or operand.place is None):
                written.setdefault(operand.place, []).append(operand.node.patterns)
            else:
                others.append(operand.whole(self._arranger.inside(operand.node)))
        pieces = (
            _Operand(found, place).whole(found)
            for place, every in written.items()
            for found in map(self._piece, _pieces_of_all(every))
        )
        return [*pieces, *others]

    def _piece(self, patterns: Sequence[Pattern]) -> p.Node:
        match = p.Match(tuple(patterns))
        every = dict.fromkeys(slot for pattern in patterns for slot in pattern if isinstance(slot, str))
        seen = tuple(name for name in every if name not in self._hidden)
        return match if len(seen) == len(every) else p.Project(match, seen)


def _over(operator: _Lifted, node: p.Node) -> _Lifted:
    """The same operator, done to another node."""
    if isinstance(operator, p.LeftJoin | p.Minus):
        return replace(operator, left=node)
    return replace(operator, child=node)


def _sees(operator: _Lifted) -> set[str]:
    """The variables, besides those of the solutions that an operator is given, on which it depends."""
    match operator:
        case p.LeftJoin(_, right, conditions):
            return visible(right).union(*map(looked_at, conditions))
        case p.Minus(_, right):
            return visible(right)
        case p.Extend(_, _, value):
            return looked_at(value)
        case p.Filter(_, conditions):
            return set().union(*map(looked_at, conditions))


def _gives(operator: _Lifted) -> set[str]:
    """The variables that may get a value by an operator."""
    match operator:
        case p.LeftJoin(left, right):
            return visible(right).difference(bound(left))
        case p.Extend(_, variable):
            return {variable}
        case _:
            return set()


def _pieces_of_all(written: Sequence[Sequence[Pattern]]) -> Iterator[list[Pattern]]:
    """The pieces of several basic graph patterns in one graph, taken together unless that is too much."""
    for piece in _pieces(list(dict.fromkeys(each for one in written for each in one))):
        if len(piece) <= MOST_TOGETHER:
            yield piece
            continue
        for one in written:
            yield from _pieces([each for each in one if each in piece])


def _pieces(patterns: Sequence[Pattern]) -> Iterator[list[Pattern]]:
    """Patterns that share variables, directly or through others; those without any go with the first."""
    ground = [each for each in patterns if not any(isinstance(slot, str) for slot in each)]
    free = [each for each in patterns if each not in ground]
    for piece in _clusters(free, lambda each: {slot for slot in each if isinstance(slot, str)}):
        yield [each for each in patterns if each in piece or each in ground]
        ground = []
    if ground:
        yield ground


def _together(parts: list[p.Node], conditions: list[Expression]) -> p.Node:
    """Parts joined: those that share variables first."""
    joins: list[p.Node] = []
    for cluster in _clusters(parts, visible):
        inside, names = [], visible_in_any(cluster)
        for each in list(conditions):
            # A product tests what is about several of its parts, and what is about none.
            if len(cluster) == len(parts) or (each.variables and names.issuperset(each.variables)):
                conditions.remove(each)
                inside.append(each)
        joined: p.Node = cluster[0] if len(cluster) == 1 else p.Join(tuple(cluster))
        joins.append(p.Filter(joined, tuple(inside)) if inside else joined)
    if len(joins) > 1:
        return p.Product(tuple(joins), tuple(conditions))
    found = joins[0] if joins else p.Match()
    return p.Filter(found, tuple(conditions)) if conditions else found


def _clusters(each_of: Sequence[Any], names: Callable[[Any], set[str]]) -> list[list[Any]]:
    """What shares names, directly or through others, in the order in which it comes.

    >>> _clusters(["ab", "cd", "be", "f"], set)
    [['ab', 'be'], ['cd'], ['f']]
    """
    found: list[tuple[set[str], list[int]]] = []
    for at, each in enumerate(each_of):
        own, places = names(each), [at]
        apart = []
        for others, theirs in found:
            if own.isdisjoint(others):
                apart.append((others, theirs))
            else:
                own, places = own | others, [*theirs, *places]
        found = [*apart, (own, places)]
    return [
        [each_of[at] for at in sorted(places)] for _, places in sorted(found, key=lambda one: min(one[1]))
    ]
