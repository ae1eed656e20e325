"""Without facts of the form (x P x), where everything is P of itself: they say nothing.

Under rules for equality every term that a stream brings is the same as itself, and to say so any statement
matters. But a rule with such a *loop* for a premise repeats another of its premises, or concludes a loop
itself, or does what it would do without that premise and with both ends the same. So where nobody asks for
loops, they are left out, and rules of the last kind are put in. Stamps stay as they are: a loop is as fresh
as the freshest statement about its term, and what such a rule is left with is about that term.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ensue.plan.cuts import Cut, Cuts, Goal
from ensue.plan.ground import filled_rule, never_holds
from ensue.plan.heads import Head, filled, heads
from ensue.plan.known import Closed
from ensue.plan.shapes import Shape, shape_of
from ensue.rules.tree import Guard, Node, Pattern, Premise, Rule, RuleSet, Var
from ensue.rules.violations import is_violation

_Same = dict[Var, Node]


@dataclass(frozen=True, slots=True)
class LoopFree:
    """Rules that make no loops, but all else that the rules they are made of do."""

    rules: RuleSet
    loops: frozenset[str]
    """The predicates of what is left out."""
    goals: tuple[Goal, ...]
    """It holds only as long as nothing outside of the background meets these."""

    def serves(self, asked: Iterable[Shape]) -> bool:
        """Whether no loop is asked for."""
        return all(p is not None and p not in self.loops for _, p, _ in asked)


def without_loops(rules: RuleSet, background: Closed) -> LoopFree | None:
    """The rules without loops; None if there are none, or something rests on them.

    >>> from ensue.plan.known import close
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules('''[ref: (?s ?p ?o) -> (?s <urn:same> ?s), (?o <urn:same> ?o)]
    ...     [rep: (?s <urn:same> ?t), (?s ?p ?o) -> (?t ?p ?o)]''')
    >>> for rule in without_loops(rules, close(rules, [])).rules.rules:
    ...     print(rule)
    [rep: (?s <urn:same> ?t), (?s ?p ?o) -> (?t ?p ?o)]
    [rep: (?o <urn:same> ?t) -> (?t <urn:same> ?o)]
    """
    loops = _loops_of(heads(rules.rules))
    if not loops:
        return None
    found: dict[tuple[object, ...], Rule] = {}
    loose: list[Rule] = []
    for rule in rules.rules:
        if kept := tuple(each for each in rule.conclusions if not _is_loop(each, loops)):
            found.setdefault(_renamed(rule), replace(rule, conclusions=kept))
        for each, is_held in _variants(rule, loops):
            if each is None:
                return None
            if is_held:
                found.setdefault(_renamed(each), each)
            else:
                loose.append(each)
    left = replace(rules, rules=tuple(found.values()))
    cuts = Cuts.of(left, background)
    goals: list[Goal] = []
    for head in heads(loose):
        if (given := _why_never(head, cuts, loops)) is None:
            return None
        goals += given
    return LoopFree(left, loops, tuple(goals))


def _loops_of(every: Iterable[Head]) -> frozenset[str]:
    """The predicates P for which (x P x) follows from every statement with x for subject or object."""
    ends: dict[str, set[int]] = {}
    for head in every:
        s, p, o = head.conclusion
        if s != o or not isinstance(p, str) or is_violation(p) or head.minted or head.computed:
            continue
        if len(head.premises) != 1:
            continue
        [premise] = head.premises
        given = tuple(premise.pattern)
        if not premise.cut and len({node for node in given if isinstance(node, Var)}) == len(given):
            ends.setdefault(p, set()).update(at for at in (0, 2) if given[at] == s)
    return frozenset(p for p, known in ends.items() if known == {0, 2})


def _is_loop(pattern: Pattern, loops: frozenset[str]) -> bool:
    return pattern.p in loops and pattern.s == pattern.o


def _variants(rule: Rule, loops: frozenset[str]) -> Iterator[tuple[Rule | None, bool]]:
    """What a rule does where premises are loops, if that is more than to repeat something or to make loops.

    And whether whatever has the premises that are left has the loops. None: it looks at more than premises.
    """
    for chosen in product(*(_ways(premise, loops) for premise in rule.premises)):
        looped = [(premise, p) for premise, p in zip(rule.premises, chosen, strict=True) if p]
        same: _Same = {}
        if not looped or not all(_make_loop(premise, p, same) for premise, p in looped):
            continue
        binding = {variable: _find(variable, same) for variable in same}
        left = [premise for premise, p in zip(rule.premises, chosen, strict=True) if not p]
        given = [filled(premise.pattern, binding) for premise in left]
        news = [each for each in rule.conclusions if not _says_nothing(filled(each, binding), given, loops)]
        if not news or any(never_holds(each, binding) for each in rule.conditions):
            continue
        if not all(isinstance(each, Guard) and not each.text for each in rule.conditions):
            yield None, False
            return
        made = filled_rule(replace(rule, conclusions=tuple(news)), left, binding)
        ends = {end for pattern in given for end in (pattern.s, pattern.o)}
        if made is not None:
            yield made, all(_find(premise.pattern.s, same) in ends for premise, _ in looped)


def _says_nothing(conclusion: Pattern, given: Sequence[Pattern], loops: frozenset[str]) -> bool:
    return _is_loop(conclusion, loops) or conclusion in given


def _ways(premise: Premise, loops: frozenset[str]) -> tuple[str | None, ...]:
    """The predicates with which a premise can be a loop outside of the background; and None: it is none."""
    p = premise.pattern.p
    if premise.cut:
        return (None,)
    if isinstance(p, Var):
        return (None, *sorted(loops))
    return (None, p) if p in loops else (None,)


def _make_loop(premise: Premise, p: str, same: _Same) -> bool:
    """Make a premise a loop; False if it cannot be one, given what is the same already."""
    pairs = ((premise.pattern.p, p), (premise.pattern.s, premise.pattern.o))
    return all(_unify(one, other, same) for one, other in pairs)


def _unify(one: Node, other: Node, same: _Same) -> bool:
    one, other = _find(one, same), _find(other, same)
    if one != other and isinstance(one, Var):
        same[one] = other
    elif one != other and isinstance(other, Var):
        same[other] = one
    return _find(one, same) == _find(other, same)


def _find(node: Node, same: _Same) -> Node:
    while isinstance(node, Var) and node in same:
        node = same[node]
    return node


def _renamed(rule: Rule) -> tuple[object, ...]:
    """The same for rules that differ only in what their variables are called."""
    names: dict[Var, Var] = {}

    def renamed(node: Node) -> Node:
        return names.setdefault(node, Var(str(len(names)))) if isinstance(node, Var) else node

    premises = tuple((*map(renamed, each.pattern), each.cut, each.live) for each in rule.premises)
    conclusions = tuple(tuple(map(renamed, each)) for each in rule.conclusions)
    # Where there are conditions, those who call their variables otherwise count as different.
    return premises, conclusions, rule.conditions


def _why_never(head: Head, cuts: Cuts, loops: frozenset[str]) -> list[Goal] | None:
    """By which assumptions a rule makes nothing but loops; None: it may make more."""
    goals = {}
    for at, premise in enumerate(head.premises):
        goal = Goal(shape_of(premise.pattern), Cut(head, at))
        if cuts.is_about_schema(goal.shape) and cuts.holds(goal):
            goals[at] = goal
    if not goals:
        return None
    given = [premise.pattern for premise in head.premises]
    for way in cuts.known.ground([given[at] for at in goals], {}):
        if not _says_nothing(filled(head.conclusion, way), [filled(each, way) for each in given], loops):
            return None
    return list(goals.values())
