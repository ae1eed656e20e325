"""Joining rules unfolded: in place of what a rule concludes, what it asks for.

A fact that is derived from several statements has no time of its own, as an older derivation may matter where
the freshest does not. So patterns that rules can match are replaced by the rules' premises, until only what
streams bring is left. That ends where no rule rests on itself; others are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

from ensue.errors import Place, QueryError
from ensue.plan.shapes import overlap, shape_of
from ensue.rules.tree import Node, Pattern, Premise, Rule, Var

MOST = 64
"""So many ways to match a group are looked at."""

Binding = Mapping[Var, Node]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to match a group: premises, the number of the pattern each is for, and what variables are."""

    premises: tuple[tuple[int, Premise], ...]
    values: Binding
    derived: tuple[Pattern, ...] = ()
    """What rules conclude on this way: where the background holds it, this is no other way to have it."""


def ways(patterns: Sequence[Pattern], rules: Sequence[Rule], place: Place) -> list[Way]:
    """All ways to match a group by statements and these rules; raises QueryError where there is no end.

    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[r: (?x <urn:p> ?y), (?y <urn:q> ?z) -> (?x <urn:r> ?z)]", "r.rules").rules
    >>> for way in ways([Pattern(Var("a"), "<urn:r>", "<urn:b>")], rules, Place("q.rq")):
    ...     print(*(premise for _, premise in way.premises))
    (?a <urn:r> <urn:b>)
    (?a <urn:p> ?r 1 y) (?r 1 y <urn:q> <urn:b>)
    """
    _refuse(patterns, rules, place)
    numbers = count(1)
    found = [Way((), {})]
    for number, pattern in enumerate(patterns):
        # What one pattern has made of variables holds for the next.
        found = [
            _with(way, number, part)
            for way in found
            for part in _one(_bound(Premise(pattern), way.values), rules, numbers)
        ]
        if len(found) > MOST:
            what = f"there are more than {MOST} ways to derive what this group asks for"
            raise QueryError(what, place=place, hint="split the group, or ask for less general things")
    return [_settled(way) for way in found]


class _Part(NamedTuple):
    """A way to match one premise: in place of it, what variables are then, and what is concluded."""

    premises: tuple[Premise, ...]
    binding: Binding
    derived: tuple[Pattern, ...]


def _with(way: Way, number: int, part: _Part) -> Way:
    premises = (*way.premises, *((number, premise) for premise in part.premises))
    return Way(premises, {**way.values, **part.binding}, (*way.derived, *part.derived))


def _one(premise: Premise, rules: Sequence[Rule], numbers: Iterator[int]) -> Iterator[_Part]:
    """The ways to match one premise."""
    yield _Part((premise,), {}, ())
    if premise.cut:
        return
    for rule in rules:
        for number, conclusion in enumerate(rule.conclusions):
            if overlap(shape_of(conclusion), shape_of(premise.pattern)):
                fresh = _renamed(rule, f"{rule.name} {next(numbers)}")
                binding = _unified(fresh.conclusions[number], premise.pattern)
                if binding is not None:
                    start = _Part((), binding, (premise.pattern,))
                    yield from _bodies(fresh.premises, start, rules, numbers)


def _bodies(
    premises: Sequence[Premise], so_far: _Part, rules: Sequence[Rule], numbers: Iterator[int]
) -> Iterator[_Part]:
    """The ways to match premises one after the other."""
    if not premises:
        yield so_far
        return
    for part in _one(_bound(premises[0], so_far.binding), rules, numbers):
        more = _Part(
            (*so_far.premises, *part.premises),
            {**so_far.binding, **part.binding},
            (*so_far.derived, *part.derived),
        )
        yield from _bodies(premises[1:], more, rules, numbers)


def _renamed(rule: Rule, prefix: str) -> Rule:
    def of(pattern: Pattern) -> Pattern:
        return Pattern(*(Var(f"{prefix} {node.name}") if isinstance(node, Var) else node for node in pattern))

    premises = tuple(replace(each, pattern=of(each.pattern)) for each in rule.premises)
    return replace(rule, premises=premises, conclusions=tuple(map(of, rule.conclusions)))


def _unified(head: Pattern, goal: Pattern) -> dict[Var, Node] | None:
    """What variables have to be for a conclusion to be what is asked for; those of the rule first."""
    binding: dict[Var, Node] = {}
    for one, other in zip(head, goal, strict=True):
        a, b = _resolved(one, binding), _resolved(other, binding)
        if a == b:
            continue
        if isinstance(a, Var):
            binding[a] = b
        elif isinstance(b, Var):
            binding[b] = a
        else:
            return None
    return binding


def _resolved(node: Node, binding: Binding) -> Node:
    while isinstance(node, Var) and node in binding:
        node = binding[node]
    return node


def _bound(premise: Premise, binding: Binding) -> Premise:
    return replace(premise, pattern=Pattern(*(_resolved(node, binding) for node in premise.pattern)))


def _settled(way: Way) -> Way:
    premises = tuple((number, _bound(premise, way.values)) for number, premise in way.premises)
    derived = tuple(_bound(Premise(each), way.values).pattern for each in way.derived)
    return Way(premises, {var: _resolved(var, way.values) for var in way.values}, derived)


def _refuse(patterns: Iterable[Pattern], rules: Sequence[Rule], place: Place) -> None:
    """Raise QueryError if a pattern rests on a rule that cannot be unfolded."""
    waiting: list[tuple[Rule, tuple[Rule, ...]]] = [
        (rule, (rule,)) for rule in rules if any(_makes(rule, pattern) for pattern in patterns)
    ]
    while waiting:
        rule, chain = waiting.pop()
        if rule.conditions or rule.lists:
            what = f"this group can rest on rule '{rule.name}', which looks at values or makes nodes"
            raise QueryError(
                what, place=place, hint="such rules have no place in a temporal query: leave it out"
            )
        for follower in rules:
            if not any(_makes(follower, premise.pattern) for premise in rule.premises if not premise.cut):
                continue
            if follower in chain:
                cycle = " -> ".join(each.name for each in (*chain[chain.index(follower) :], follower))
                what = f"this group rests on rules that rest on themselves: {cycle}"
                hint = "a fact that is derived in any number of steps has no interval: ask for what is stated"
                raise QueryError(what, place=place, hint=hint)
            waiting.append((follower, (*chain, follower)))


def _makes(rule: Rule, pattern: Pattern) -> bool:
    return any(overlap(shape_of(each), shape_of(pattern)) for each in rule.conclusions)
