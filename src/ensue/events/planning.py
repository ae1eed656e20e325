"""From the groups of a temporal query to what matches them: rules unfolded, terms in integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ensue.dictionary import Dictionary
from ensue.errors import QueryError
from ensue.events.conjunction import Atom
from ensue.events.leaf import Alternative, GroupPlan
from ensue.events.tree import Group
from ensue.events.unfolding import Way, ways
from ensue.query.compiled import plan as p
from ensue.query.compiled.compile import compile_group
from ensue.query.compiled.expressions import Expression, NotCompiled
from ensue.query.dataset import Pattern as Slots
from ensue.query.dataset import Slot
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Node, Pattern, Rule, Var
from ensue.windows.spec import CountWindow, Landmark, TimeWindow

_HINT = "a group holds triple patterns and FILTERs on them; put the rest behind the expression"


@dataclass(frozen=True, slots=True)
class _Basic:
    """A group without rules: its patterns, which of the variables are seen, and its filters."""

    patterns: tuple[Slots, ...]
    variables: tuple[str, ...]
    conditions: tuple[Expression, ...]


def check(query: ContinuousQuery) -> TimeWindow | Landmark:
    """The window of a temporal query; raises QueryError where it cannot be one."""
    first = query.streams[0].spec
    for on in query.streams:
        if isinstance(on.spec, CountWindow):
            what, hint = "temporal operators need windows of time", "such as [RANGE 10 min STEP 1 min]"
            raise QueryError(what, place=on.place, hint=hint)
        if on.spec != first:
            what, hint = "the windows of a temporal query are all the same", "give them one RANGE and STEP"
            raise QueryError(what, place=on.place, hint=hint)
    assert not isinstance(first, CountWindow)
    return first


def plan_group(
    group: Group, query: ContinuousQuery, dictionary: Dictionary, rules: Sequence[Rule]
) -> GroupPlan:
    """What matches a group; `rules` are those that are not done by linear expansion."""
    basic = _basic(group, query, dictionary)
    patterns = [_pattern(each, dictionary) for each in basic.patterns]
    found = ways(patterns, rules, group.place)
    alternatives = tuple(_alternative(way, basic.variables, dictionary) for way in found)
    streams = frozenset(k for k, on in enumerate(query.streams) if on.name == group.window)
    if not streams:
        hint = "put the expression, or the group, inside WINDOW <name> { }"
        raise QueryError("no stream feeds this group", place=group.place, hint=hint)
    parted = query.partition is not None
    return GroupPlan(basic.variables, alternatives, len(patterns), basic.conditions, streams, parted)


def _basic(group: Group, query: ContinuousQuery, dictionary: Dictionary) -> _Basic:
    try:
        node = compile_group(query, group.algebra, dictionary)
    except NotCompiled as problem:
        what = f"this cannot be in a temporal group: {problem.reason}"
        raise QueryError(what, place=group.place, hint=_HINT) from problem
    conditions: tuple[p.Condition, ...] = ()
    while isinstance(node, p.Filter | p.Project) or (
        isinstance(node, p.InGraph) and node.name == group.window
    ):
        conditions += node.conditions if isinstance(node, p.Filter) else ()
        node = node.child
    plain = tuple(each for each in conditions if isinstance(each, Expression))
    if not isinstance(node, p.Match) or len(plain) < len(conditions):
        raise QueryError("this group is more than a basic graph pattern", place=group.place, hint=_HINT)
    if not node.patterns:
        raise QueryError("this group has no pattern", place=group.place, hint=_HINT)
    every = dict.fromkeys(slot for each in node.patterns for slot in each if isinstance(slot, str))
    seen = tuple(name for name in every if not name.startswith("_:"))
    return _Basic(node.patterns, seen, plain)


def _pattern(slots: Slots, dictionary: Dictionary) -> Pattern:
    return Pattern(*(Var(slot) if isinstance(slot, str) else dictionary.decode(slot) for slot in slots))


def _alternative(way: Way, variables: Sequence[str], dictionary: Dictionary) -> Alternative:
    def slot(node: Node) -> Slot:
        return node.name if isinstance(node, Var) else dictionary.pin(node)

    atoms = []
    for of, premise in way.premises:
        s, predicate, o = map(slot, premise.pattern)
        atoms.append(Atom((s, predicate, o), of, premise.cut))
    values = {name: slot(way.values.get(Var(name), Var(name))) for name in variables}
    derived = []
    for pattern in way.derived:
        s, predicate, o = map(slot, pattern)
        derived.append((s, predicate, o))
    return Alternative(tuple(atoms), values, tuple(derived))
