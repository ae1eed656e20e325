"""Backward from patterns through rules: everything that a fact of some shape can rest on (seed: QSMat).

QSMat's Algorithms 3 and 4: whoever concludes something of a wanted shape has its cut premises grounded in
the background, and what is left of its live premises is wanted too, until nothing new is. (Line 11 of
Algorithm 3 binds variables by the goal of the whole search; by the pattern at hand is meant.)

A need may have a *key*: the position at which stands what the fact is about for whoever needs it. The key
is followed into the premises; where a premise does not hold it, that is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ensue.plan.conditions import Condition, NotDivided
from ensue.plan.cuts import Cut, Cuts, Goal
from ensue.plan.heads import Head
from ensue.plan.shapes import ANY, Shape, Shapes, shape_of, show
from ensue.rules.tree import Var


class NotKeyed(NotDivided):
    """Why what a rule concludes does not rest on statements about one and the same thing."""

    def __init__(self, where: str) -> None:
        super().__init__(Condition.KEPT_BY_RULES, where)


@dataclass(frozen=True, slots=True)
class Need:
    """Facts of a shape are needed; `key` is the position of what they are about, if that matters."""

    shape: Shape
    key: int | None = None


@dataclass(slots=True)
class Needs:
    """All needs, by key, the rules that can meet them, and the cuts that these rest on."""

    by_key: dict[int | None, Shapes] = field(default_factory=dict)
    heads: set[Head] = field(default_factory=set)
    cuts: set[Cut] = field(default_factory=set)
    goals: set[Goal] = field(default_factory=set)
    """What else must not be outside of the background."""
    grounds: set[Shape] = field(default_factory=set)
    """What the cut premises of these rules match in the background, or are given to match."""
    askers: dict[Need, tuple[Head, Need]] = field(default_factory=dict)
    """For each need that a rule has: the rule, and what it would conclude for whom."""

    def add(self, need: Need) -> bool:
        """Take in a need; False if a wider one is there."""
        return self.by_key.setdefault(need.key, Shapes()).add(need.shape)

    def chain(self, need: Need) -> list[str]:
        """Why a need is there: rule by rule, up to a query."""
        steps = []
        while need in self.askers:
            head, wanted = self.askers[need]
            steps.append(f"rule '{head.rule}' can make {show(wanted.shape)} of {show(need.shape)}")
            need = wanted
        return [*steps, f"a query asks for {show(need.shape)}"]

    def covers(self, need: Need) -> bool:
        """Whether a need as wide is there."""
        return need.key in self.by_key and self.by_key[need.key].covers(need.shape)


def close(cuts: Cuts, needs: Iterable[Need]) -> Needs:
    """The needs and all that facts of their shapes can rest on; raises NotKeyed.

    Without keys there is nothing to add to the need of everything, so the search ends there.
    """
    found = Needs()
    waiting = list(needs)
    asked = set(waiting)
    while waiting:
        need = waiting.pop()
        if not found.add(need):
            continue
        if need == Need(ANY):
            break
        for head in cuts.index.concluding(need.shape):
            behind = _behind(head, need, cuts, found)
            for each in behind:
                # Only what was not there before, so that no chain leads back to itself.
                if each not in asked and not found.covers(each):
                    found.askers.setdefault(each, (head, need))
            waiting.extend(behind)
    return found


def _behind(head: Head, need: Need, cuts: Cuts, found: Needs) -> list[Need]:
    """What a rule needs to conclude something of a shape."""
    binding = head.unify(need.shape)
    live = cuts.live(head)
    if binding is None or (need.key is not None and _is_minted(head, need.key)):
        return []
    if not live:
        # It has done its work in the background, as long as nothing else matches its premises.
        patterns = ((cut, head.premises[cut.at].pattern) for cut in cuts.inferred(head))
        found.goals.update(Goal(shape_of(pattern, binding), cut) for cut, pattern in patterns)
        return []
    # That the background has nothing for a cut premise rests on the same assumption as what it has.
    found.cuts.update(cuts.inferred(head))
    # Once each: many matches of the cut premises differ only in what no live one asks for.
    needs: dict[Need, None] = {}
    for bound in cuts.grounded(head, binding):
        given = cuts.given(head, bound)
        found.goals.update(given.values())
        left = [at for at in live if at not in given]
        if not left:
            continue  # It has done its work in the background.
        for way in cuts.grounded_in(head, given, bound) if given else (bound,):
            found.heads.add(head)
            for at, premise in enumerate(head.premises):
                shape = shape_of(premise.pattern, way)
                if at in left:
                    needs[Need(shape, _key_in(head, at, need.key))] = None
                else:
                    found.grounds.add(shape)
    return list(needs)


def _is_minted(head: Head, key: int) -> bool:
    """A node that a rule made is bound to no variable of a query, so no key of a query is one."""
    return tuple(head.conclusion)[key] in head.minted


def _key_in(head: Head, at: int, key: int | None) -> int | None:
    """Where the key stands in a premise."""
    if key is None:
        return None
    node, premise = tuple(head.conclusion)[key], head.premises[at].pattern
    if not isinstance(node, Var):
        raise NotKeyed(f"rule '{head.rule}' concludes {head.conclusion}, always about {node}")
    if node not in premise.variables():
        raise NotKeyed(f"rule '{head.rule}' concludes {head.conclusion}, and its {premise} lacks {node}")
    return tuple(premise).index(node)
