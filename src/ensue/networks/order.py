"""In which order a branch is matched, given the variables that have a value already.

Patterns with more known positions first, subjects before objects before predicates; a part of the branch
as soon as all that it speaks of has a value; what is there besides last, as it only makes rows longer.
"""

from __future__ import annotations

from ensue.networks.tree import Besides, Branch, Part, Quad
from ensue.rules.tree import Bind, Var

Task = Quad | Part
"""Something to be matched, or looked at."""


def ordered(branch: Branch, known: frozenset[Var]) -> list[Task]:
    """The patterns and parts of a branch in the order in which they are looked at.

    >>> x, y = Var("x"), Var("y")
    >>> branch = Branch((Quad("", x, "<urn:p>", y), Quad("", x, "<urn:q>", '"1"')))
    >>> [str(task) for task in ordered(branch, frozenset())]
    ['?x <urn:q> "1"', '?x <urn:p> ?y']
    """
    found: list[Task] = []
    bound = set(known)
    patterns, parts = list(branch.patterns), list(branch.parts)
    valued = branch.valued() | known
    while patterns or parts:
        ready = next((part for part in parts if _is_ready(part, branch, valued, bound, patterns)), None)
        if ready is not None:
            parts.remove(ready)
            found.append(ready)
            bound |= gives(ready)
        else:
            best = min(patterns, key=lambda pattern: _cost(pattern, bound))
            patterns.remove(best)
            found.append(best)
            bound |= gives(best)
    return found


def gives(task: Task) -> frozenset[Var]:
    """The variables that have all the value they will ever have, once a task is done."""
    match task:
        case Quad():
            return task.variables()
        case Bind():
            return frozenset([task.target])
        case Besides():
            return frozenset(variable for each in task.alternatives for variable in each.visible())
    return frozenset()


def _is_ready(
    part: Part, branch: Branch, valued: frozenset[Var], bound: set[Var], patterns: list[Quad]
) -> bool:
    if isinstance(part, Besides):
        return not patterns and part.variables() & valued <= bound
    asked = part.variables() - ({part.target} if isinstance(part, Bind) else frozenset())
    return (asked & (valued | set(branch.visible()))) <= bound


_WEIGHTS = (6, 8, 1, 4)
"""What it costs that graph, subject, predicate or object is not known; a predicate alone finds too much."""


def _cost(pattern: Quad, bound: set[Var]) -> int:
    free = [isinstance(node, Var) and node not in bound for node in pattern]
    cost = sum(weight for weight, is_free in zip(_WEIGHTS, free, strict=True) if is_free)
    nothing_but_predicate = free[1] and free[3]
    return cost + 10 * nothing_but_predicate
