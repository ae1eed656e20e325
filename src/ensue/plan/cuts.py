"""Which premises are cut: matched by the background alone, so that they can be grounded in it.

A premise is cut because the rule says so: then nothing else ever matches it. Or it is cut because it is
about schema, *assuming* that no stream brings any. That assumption must be about what streams state, so
it is followed backwards through the rules: whatever could help to make schema out of a stream must not
come either. Where that leads to statements that say nothing of schema, the premise is not cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from ensue.plan.groundings import Groundings
from ensue.plan.heads import Binding, Head, HeadIndex, filled, heads, repeats
from ensue.plan.known import Closed, Known
from ensue.plan.redundant import Redundancy
from ensue.plan.schema import TYPE, Schema
from ensue.plan.shapes import Shape, Shapes, shape_of
from ensue.rules.tree import Pattern, Premise, Rule, RuleSet


class Cut(NamedTuple):
    """A premise (by its number) that is taken to match background alone.

    A tuple, as a goal is: very many are made and looked up.
    """

    head: Head
    at: int


class Goal(NamedTuple):
    """Something that nothing outside the background must match: a shape, for the premise that asks for it."""

    shape: Shape
    asker: Cut | None = None
    """None: a query asks."""


class _Opened(NamedTuple):
    """A goal behind which is being looked, the rules that are idle for it, and what is left beside it."""

    idle: frozenset[Head]
    shape: Shape
    left: Iterator[Goal]


@dataclass(frozen=True, slots=True)
class _Premises:
    """The premises of a rule, sorted."""

    live: tuple[int, ...]
    inferred: tuple[Cut, ...]
    cut: tuple[Pattern, ...]
    """All that are not live, by assumption or because the rule says so."""


class Cuts:
    """The rules over a closed background, and which of their premises are cut."""

    @classmethod
    def of(cls, rules: RuleSet, background: Closed) -> Cuts:
        """The same object each time, for the same rules: finding cuts takes long over a large background."""
        found = background.planned.get(rules)
        if not isinstance(found, cls):
            found = background.planned[rules] = cls(rules, background)
        return found

    def __init__(self, rules: RuleSet, background: Closed) -> None:
        self.background = background
        self.index = HeadIndex(heads(rules.rules))
        self._rules = rules.rules
        self._schema = Schema.of(background)
        self._cuts = {
            Cut(head, at)
            for head in self.index.every
            for at, premise in enumerate(head.premises)
            if not (premise.cut or premise.live) and self._schema.has(shape_of(premise.pattern))
        }
        wanted = [shape_of(cut.head.premises[cut.at].pattern) for cut in self._cuts]
        wanted += [shape_of(p.pattern) for head in self.index.every for p in head.premises if p.cut]
        self.known = Known(background, wanted)
        self._groundings: dict[tuple[Head, tuple[int, ...]], Groundings] = {}
        self._redundancy = Redundancy(self.index, self.known, self._schema)
        self._spendthrift: frozenset[Head] = frozenset()
        self._repeating: dict[Cut, frozenset[Head]] = {}
        self._vain: dict[tuple[Cut, frozenset[int]], frozenset[Head]] = {}
        self._sort_premises()
        self._keep_those_that_hold()

    def _keep_those_that_hold(self) -> None:
        """Let go of cuts for which more than schema would have to be assumed, until all others hold.

        If that lets go of some because of rules that make schema of anything, though in vain, it is done once
        more without these: to find them takes long, and there are none under most rules.
        """
        every = frozenset(self._cuts)
        self._let_go()
        lost = every - self._cuts
        makers = frozenset(filter(self._makes_schema, self.index.every))
        if not lost or not makers:
            return
        self._set(every)
        self._spendthrift = frozenset(
            head for head in makers if any(self._is_vain(head, cut) for cut in lost)
        )
        if self._spendthrift:
            self._let_go()
        else:
            self._set(every - lost)

    def _set(self, cuts: Iterable[Cut]) -> None:
        self._cuts = set(cuts)
        self._sort_premises()

    def _let_go(self) -> None:
        while wrong := {cut for cut in self._cuts if not self.holds(goal_of(cut))}:
            self._set(self._cuts - wrong)

    def _makes_schema(self, head: Head) -> bool:
        """Whether a rule makes schema of one statement that need not be schema."""
        return len(self.live(head)) == len(head.premises) == 1 and self._schema.has(shape_of(head.conclusion))

    def _sort_premises(self) -> None:
        self._premises = {head: self._sorted(head) for head in self.index.every}
        # What was found out before held for other cuts.
        self._idle: dict[Cut, frozenset[Head]] = {}
        self._held: dict[Goal, bool] = {}
        self._safe: dict[frozenset[Head], Shapes] = {}
        self._failed: set[tuple[frozenset[Head], Shape]] = set()
        self._made_of: dict[Shape, tuple[tuple[Head, tuple[Goal, ...]], ...]] = {}

    def _sorted(self, head: Head) -> _Premises:
        inferred = tuple(cut for at in range(len(head.premises)) if (cut := Cut(head, at)) in self._cuts)
        every = list(enumerate(head.premises))
        live = tuple(at for at, premise in every if not premise.cut and Cut(head, at) not in self._cuts)
        return _Premises(live, inferred, tuple(premise.pattern for at, premise in every if at not in live))

    def by_rule(self) -> Iterator[tuple[Rule, tuple[Head, ...]]]:
        """Every rule with its heads."""
        every = iter(self.index.every)
        return ((rule, tuple(next(every) for _ in rule.conclusions)) for rule in self._rules)

    def marked(self, rule: Rule, heads: Sequence[Head]) -> tuple[Premise, ...]:
        """The premises of a rule, those cut that are so for all of some heads: each may have its own."""
        common = [{each.at for each in self.inferred(head)} for head in heads]
        cut = set.intersection(*common) if common else set()
        return tuple(replace(each, cut=each.cut or at in cut) for at, each in enumerate(rule.premises))

    def inferred(self, head: Head) -> tuple[Cut, ...]:
        """The premises of a rule that are cut by assumption."""
        return self._premises[head].inferred

    def live(self, head: Head) -> tuple[int, ...]:
        """The premises of a rule that a stream can match, by number."""
        return self._premises[head].live

    def cut(self, head: Head) -> tuple[Pattern, ...]:
        """The premises of a rule that background alone matches."""
        return self._premises[head].cut

    def grounded(self, head: Head, binding: Binding) -> Iterator[Binding]:
        """All ways to match the cut premises of a rule, but for those in which it repeats a live one."""
        premises = self._premises[head]
        key = head, premises.live
        if key not in self._groundings:
            self._groundings[key] = Groundings(self.known, premises.cut, partial(_says_more, head, premises))
        return iter(self._groundings[key].matching(binding))

    def given(self, head: Head, bound: Binding) -> dict[int, Goal]:
        """The live premises of a rule that background alone matches, as its variables are bound here.

        Each with what has to be assumed for that.
        """
        found = {}
        for at in self.live(head):
            premise = head.premises[at]
            goal = Goal(shape_of(premise.pattern, bound), Cut(head, at))
            if not premise.live and self._schema.is_about(goal.shape) and self.holds(goal):
                found[at] = goal
        return found

    def grounded_in(self, head: Head, given: Iterable[int], bound: Binding) -> Iterator[Binding]:
        """All ways to match some live premises in the background, but for those that repeat a live one."""
        patterns = [head.premises[at].pattern for at in given]
        self.known.expect(_widened(shape_of(pattern, bound)) for pattern in patterns)
        ways = self.known.ground(patterns, bound)
        return (way for way in ways if _says_more(head, self._premises[head], way))

    def is_about_schema(self, shape: Shape) -> bool:
        """Whether what has a shape says something of schema."""
        return self._schema.is_about(shape)

    def holds(self, goal: Goal) -> bool:
        """Whether nothing but schema must be assumed for nothing outside the background to meet a goal."""
        if goal not in self._held:
            found = self._searched([goal], self._safe)
            self._held[goal] = found is not None
            for idle, shapes in (found or {}).items():
                # What a goal that holds rests on holds as well: nobody has to look behind it again.
                self._safe.setdefault(idle, Shapes()).update(shapes)
        return self._held[goal]

    def assumed_by(self, goals: Iterable[Goal]) -> tuple[Shape, ...]:
        """What no stream may bring so that nothing outside the background meets goals that hold.

        The shapes are complete: think of the first fact outside the background that meets a goal. It is
        stated, and has the goal's shape; or some rule made it of premises that were there before it. One
        of them is outside the background, but none of those that are goals as well, for it was the first:
        so the background has these, and the others, with what it gives for them, are goals, too.
        """
        found = self._searched(goals, {})
        assert found is not None, "a goal that does not hold was taken for granted"
        every = Shapes()
        for shapes in found.values():
            every.update(shapes)
        return every.widest()

    def _searched(
        self, goals: Iterable[Goal], safe: Mapping[frozenset[Head], Shapes]
    ) -> dict[frozenset[Head], Shapes] | None:
        """The goals and all behind them, by the rules that are idle for them, but for what is safe.

        None: some of it is no schema.
        """
        seen: dict[frozenset[Head], Shapes] = {}
        nothing = Shapes()
        path: list[_Opened] = []
        left = iter(goals)
        while True:
            for goal in left:
                idle = self._idle_for(goal.asker) if self._is_schema(goal) else None
                if idle is None or (idle, goal.shape) in self._failed:
                    self._failed.update((each.idle, each.shape) for each in path)
                    return None
                if safe.get(idle, nothing).covers(goal.shape) or self._is_known(goal.shape):
                    continue
                if seen.setdefault(idle, Shapes()).add(goal.shape):
                    path.append(_Opened(idle, goal.shape, left))
                    left = self._behind(goal.shape, idle)
                    break
            else:
                if not path:
                    return seen
                left = path.pop().left

    def _is_schema(self, goal: Goal) -> bool:
        # A query asks in its own words: only those of schema are taken for schema there.
        return self._schema.is_about(goal.shape) if goal.asker else self._schema.has(goal.shape)

    def _is_known(self, shape: Shape) -> bool:
        """Whether the background has the only fact of a shape, so that nothing outside of it does."""
        if not self._spendthrift or None in shape or not self._schema.has(shape):
            return False
        return bool(self.known.matching(shape))

    def _idle_for(self, asker: Cut | None) -> frozenset[Head]:
        """The rules that make nothing which gives a premise of a rule more to say; to a query, all do."""
        if asker is None:
            return frozenset()
        if asker not in self._idle:
            self._idle[asker] = self._repeating_for(asker) | self._vain_for(asker)
        return self._idle[asker]

    def _repeating_for(self, asker: Cut) -> frozenset[Head]:
        if asker not in self._repeating:
            makers = (head for head in self.index.every if repeats(asker.head, asker.at, head))
            self._repeating[asker] = frozenset(makers)
        return self._repeating[asker]

    def _vain_for(self, asker: Cut) -> frozenset[Head]:
        """Those of the rules that make schema of anything for which that is so, though they do not repeat."""
        if not self._spendthrift:
            return self._spendthrift
        key = asker, self._still(asker)
        if key not in self._vain:
            self._vain[key] = frozenset(head for head in self._spendthrift if self._is_vain(head, asker))
        return self._vain[key]

    def _is_vain(self, maker: Head, asker: Cut) -> bool:
        return self._redundancy.spares(asker.head, asker.at, maker, self._still(asker))

    def _still(self, asker: Cut) -> frozenset[int]:
        """The premises that background alone matches, of those beside one: the later ones, if it is assumed.

        Where several are matched by something else, the last of them shows that nothing new is said.
        """
        stated = {at for at, premise in enumerate(asker.head.premises) if premise.cut}
        # A rule that is only looked at (`loops.py`) has none that are cut by assumption.
        known = self._premises.get(asker.head)
        assumed = {cut.at for cut in known.inferred if cut.at > asker.at} if known else set()
        return frozenset(stated | assumed)

    def _behind(self, shape: Shape, idle: frozenset[Head]) -> Iterator[Goal]:
        """What a fact of a shape could be made of, by rules that are not idle."""
        if shape not in self._made_of:
            unified = ((head, head.unify(shape)) for head in self.index.concluding(shape))
            self._made_of[shape] = tuple(
                (head, tuple(dict.fromkeys(self._made_by(head, binding))))
                for head, binding in unified
                if binding is not None
            )
        for head, goals in self._made_of[shape]:
            if head not in idle:
                yield from goals

    def _made_by(self, head: Head, binding: Binding) -> Iterator[Goal]:
        """What a rule could make something of, if its variables are bound so."""
        for cut in self.inferred(head):
            yield Goal(shape_of(head.premises[cut.at].pattern, binding), cut)
        if self.live(head):
            for bound in self.grounded(head, binding):
                yield from self._of_live(head, bound)

    def _of_live(self, head: Head, bound: Binding) -> Iterator[Goal]:
        """What the live premises of a rule must not match, if what its cut ones match is bound."""
        shapes = {at: shape_of(head.premises[at].pattern, bound) for at in self.live(head)}
        about = {at: shape for at, shape in shapes.items() if self._schema.is_about(shape)}
        yield from (Goal(shape, Cut(head, at)) for at, shape in about.items())
        rest = [at for at in shapes if at not in about]
        if not rest:
            return
        for way in self.grounded_in(head, about, bound):
            for at in rest:
                yield Goal(shape_of(head.premises[at].pattern, way), Cut(head, at))


def _widened(shape: Shape) -> Shape:
    """A shape that covers all those like it, so that the background is looked through once for them."""
    _, p, o = shape
    return (None, p, o) if p == TYPE else (None, p, None)


def _says_more(head: Head, premises: _Premises, bound: Binding) -> bool:
    conclusion = filled(head.conclusion, bound)
    return all(filled(head.premises[at].pattern, bound) != conclusion for at in premises.live)


def goal_of(cut: Cut) -> Goal:
    """That nothing outside the background matches a premise, whatever its variables are."""
    return Goal(shape_of(cut.head.premises[cut.at].pattern), cut)
