"""A compiled query in two halves: what each shard evaluates, and what is made of the solutions of all.

What is above the cut is a chain of operators that look at solutions alone, and at no graph. The two halves
of a query are found by the same function wherever they run, so both know which variables go from one to
the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ensue.query.compiled import plan as p
from ensue.query.compiled.expressions import Expression, NotCompiled
from ensue.query.compiled.variables import visible
from ensue.query.share import Cut
from ensue.query.tree import Form

_BY_CHANCE = ("SAMPLE", "GROUP_CONCAT")
"""What these give depends on the order of the solutions, and among shards there is none."""


@dataclass(frozen=True, slots=True)
class Halves:
    """A plan, cut."""

    below: p.Node
    above: tuple[p.Unary, ...]
    """Operators, the lowest first; what they have for children does not count."""
    variables: tuple[str, ...]
    """What the operators above have to know of a solution, in order of name."""
    once: bool
    """Whether it makes no difference how often a solution is there."""
    most: int | None = None
    """How many solutions are enough, the first ones in the order of the lowest operator above; None: all."""


def split(plan: p.Plan, cut: Cut) -> Halves:
    """The halves of a plan. Raises NotCompiled where there are no such halves.

    >>> pattern = p.Match((("x", 1, "y"),))
    >>> plan = p.Plan(Form.SELECT, p.Distinct(p.Project(pattern, ("y",))), ("y",))
    >>> halves = split(plan, Cut.ANSWERS)
    >>> halves.below == pattern, halves.variables, halves.once
    (True, ('y',), True)
    """
    above: list[p.Unary] = []
    node: p.Node = plan.root
    while not _is_below(node, cut, above):
        if not isinstance(node, p.Unary):
            raise NotCompiled("something is joined to the groups")
        above.append(node)
        node = node.child
    needed, once = _needed(plan, above, node), _once(plan, above)
    return Halves(node, tuple(reversed(above)), needed, once, _most(above))


def _is_below(node: p.Node, cut: Cut, above: Sequence[p.Unary]) -> bool:
    if cut is Cut.GROUPS:
        return bool(above) and isinstance(above[-1], p.Group)
    return any(isinstance(each, p.Project) for each in above) and not isinstance(node, p.OrderBy)


def _needed(plan: p.Plan, above: Sequence[p.Unary], below: p.Node) -> tuple[str, ...]:
    """What operators, the highest first, and the answers themselves ask of the solutions below."""
    needed = {slot for triple in plan.template for slot in triple if isinstance(slot, str)}
    # What tells new blank nodes apart is all that a solution says.
    everything = plan.form is Form.SELECT or any(name.startswith("_:") for name in needed)
    for node in above:
        match node:
            case p.Project(_, variables):
                needed = set(variables) if everything else needed.intersection(variables)
            case p.OrderBy(_, by, then):
                needed.update(then, *(e.variables for e, _ in by))
            case p.Extend(_, variable, value):
                needed = needed - {variable} | set(value.variables)
            case p.Filter(_, conditions):
                needed.update(*map(_looked_at, conditions))
            case p.Group():
                needed = _grouped(node, below)
    return tuple(sorted(needed))


def _looked_at(condition: p.Condition) -> tuple[str, ...]:
    if not isinstance(condition, Expression):
        raise NotCompiled("EXISTS is asked of the groups")
    return condition.variables


def _grouped(node: p.Group, below: p.Node) -> set[str]:
    needed = set(node.keys)
    for _, call in node.results:
        if call.function in _BY_CHANCE:
            raise NotCompiled(f"{call.function} depends on the order of solutions")
        if call.argument is not None:
            needed.update(call.argument.variables)
        elif call.distinct:
            needed |= visible(below)
    return needed


def _once(plan: p.Plan, above: Sequence[p.Unary]) -> bool:
    for node in reversed(above):
        if isinstance(node, p.Distinct):
            return True
        if isinstance(node, p.Group | p.Slice):
            return False
    made = {slot for triple in plan.template for slot in triple if isinstance(slot, str)}
    is_set = plan.form is Form.ASK or plan.form is Form.CONSTRUCT
    return is_set and not any(name.startswith("_:") for name in made)


def _most(above: Sequence[p.Unary]) -> int | None:
    """With LIMIT, what is among the first of all solutions is among the first of its shard's."""
    match above:
        # The order has no ties but of solutions that look the same above.
        case [p.Slice(_, start, int(length)), p.Project(), p.OrderBy()]:
            return start + length
        case _:
            return None
