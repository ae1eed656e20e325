"""New solutions of a network's rules, found from what has changed.

A quad that comes makes new solutions where it matches a pattern: the rest of the branch is matched with
what it binds. Whatever is found so is new, as one of its quads was not there before. A quad that comes or
goes inside NOT EXISTS, EXISTS or OPTIONAL can make solutions of quads that were all there: what is found
from it now is new unless it was a solution before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from functools import cached_property
from typing import NamedTuple, Protocol

from ensue.networks.dataset import Before, Dataset, Ground
from ensue.networks.join import Continue, Join, Row, Solution
from ensue.networks.tree import DEFAULT, NetworkRule, Quad, Select
from ensue.rules.tree import Var

Seed = tuple[str | None, str | None, str | None, str | None]
"""A quad without what is of no interest."""


class Match(NamedTuple):
    """A solution of a branch of a rule, by their numbers."""

    rule: int
    branch: int
    solution: Solution


class Matcher(Protocol):
    """Holds a dataset, and says which solutions a change makes."""

    dataset: Dataset
    changes: int
    """How many there have been."""

    def start(self) -> Iterable[Match]:
        """The solutions that there are while nothing is there."""

    def change(self, removed: Iterable[Ground], added: Iterable[Ground]) -> Iterable[Match]:
        """Take quads out, then put quads in. Every solution that holds now and did not hold before; in a
        rule whose rows are distinct, those that give a row which was not there before.
        """

    def holds(self, match: Match, since: int) -> bool:
        """Whether a solution that held after that change still is one."""


class Step:
    """A change: what really went and came, and the dataset as it was before."""

    def __init__(self, dataset: Dataset, removed: Iterable[Ground], added: Iterable[Ground]) -> None:
        coming = dict.fromkeys(added)
        self.gone = [quad for quad in removed if quad not in coming and dataset.remove(quad)]
        self.come = [quad for quad in coming if dataset.add(quad)]
        self._dataset = dataset

    @cached_property
    def before(self) -> Before:
        """The dataset as it was."""
        return Before(self._dataset, self.gone, self.come)


class DeltaMatcher:
    """Looks only where something has changed."""

    def __init__(self, rules: tuple[NetworkRule, ...]) -> None:
        self.dataset = Dataset()
        self.changes = self._last_removal = 0
        self._is_positive = [all(each.is_positive() for each in rule.branches) for rule in rules]
        self._joins = [[Join(branch) for branch in rule.branches] for rule in rules]
        self._distinct = {
            number: _Distinct(rule.effect, self._joins[number])
            for number, rule in enumerate(rules)
            if isinstance(rule.effect, Select) and rule.effect.distinct
        }
        triggers = list(self._triggers())
        self._coming = _Index(trigger for trigger in triggers if trigger.sign >= 0)
        self._going = _Index(trigger for trigger in triggers if trigger.sign <= 0)

    def _triggers(self) -> Iterator[Trigger]:
        for rule, joins in enumerate(self._joins):
            for number, join in enumerate(joins):
                for at, (pattern, sign) in enumerate(join.branch.all_patterns()):
                    own = at < len(join.branch.patterns)
                    yield Trigger(rule, number, join, pattern, sign, certain=own)

    def another(self, dataset: Dataset) -> DeltaMatcher:
        """One with an empty dataset of its own, and the same ways to match: they take longer to make."""
        made = copy(self)
        made.dataset, made.changes, made._last_removal = dataset, 0, 0
        return made

    def start(self) -> Iterator[Match]:
        """The solutions that there are while nothing is there: of branches without patterns."""
        for rule, joins in enumerate(self._joins):
            for number, join in enumerate(joins):
                if not join.branch.patterns:
                    found: list[Solution] = []
                    join.compiled(frozenset(), join.collect)(self.dataset, join.row(found))
                    yield from (Match(rule, number, solution) for solution in found)

    def change(self, removed: Iterable[Ground], added: Iterable[Ground]) -> Iterable[Match]:
        """Take quads out, then put quads in; the new solutions."""
        step = Step(self.dataset, removed, added)
        self.changes += 1
        if step.gone:
            self._last_removal = self.changes
        found: dict[Match, None] = {}
        unsure: dict[tuple[Trigger, Seed], None] = {}
        for quads, index in ((step.gone, self._going), (step.come, self._coming)):
            for quad in quads:
                for trigger in index.matching(quad):
                    if not trigger.takes(quad):
                        continue
                    if trigger.certain:
                        for match in trigger.matches(self.dataset, quad):
                            found[match] = None
                    else:
                        unsure[trigger, trigger.seed(quad)] = None
        for trigger, seed in unsure:
            for match in trigger.matches(self.dataset, seed):
                if match not in found and not trigger.join.holds(step.before, match.solution):
                    found[match] = None
        return self._told_apart(found, step) if self._distinct else found

    def holds(self, match: Match, since: int) -> bool:
        """Whether a solution still is one. It is if nothing has changed that could have ended it."""
        changed = self._last_removal if self._is_positive[match.rule] else self.changes
        return since >= changed or self._joins[match.rule][match.branch].holds(self.dataset, match.solution)

    def _told_apart(self, found: Iterable[Match], step: Step) -> Iterator[Match]:
        for match in found:
            distinct = self._distinct.get(match.rule)
            if distinct is None or not distinct.was_given(match, step.before):
                yield match


class Trigger:
    """A pattern of a branch, and how to match the rest of it once the pattern has matched a quad."""

    def __init__(
        self, rule: int, branch: int, join: Join, pattern: Quad, sign: int, *, certain: bool
    ) -> None:
        self.rule, self.branch, self.join = rule, branch, join
        self.pattern, self.sign, self.certain = pattern, sign, certain
        variables = [node for node in pattern if isinstance(node, Var)]
        # What a pattern binds for itself inside EXISTS or OPTIONAL means nothing outside.
        seeded = [v for v in dict.fromkeys(variables) if certain or v in join.bound]
        self._binds = [(join.slots.of(variable), pattern.index(variable)) for variable in seeded]
        self._bound_positions = {position for _, position in self._binds}
        # The index has looked at the other constants.
        self._subject = None if isinstance(pattern.s, Var) else pattern.s
        self._repeats = [
            (pattern.index(node), at) for at, node in enumerate(pattern) if pattern.index(node) != at
        ]
        self._named = isinstance(pattern.graph, Var)
        self._match: Continue = join.compiled(frozenset(seeded), join.collect)
        # One row serves all quads: what was in a slot before is written over before it is read.
        self._found: list[Solution] = []
        self._row = join.row(self._found)

    def takes(self, quad: Ground) -> bool:
        """Whether the pattern matches a quad that the index has found."""
        if self._subject is not None and quad[1] != self._subject:
            return False
        if self._named and quad[0] == DEFAULT:
            return False
        return not self._repeats or all(quad[first] == quad[second] for first, second in self._repeats)

    def seed(self, quad: Ground) -> Seed:
        """What of the quad matters outside the pattern."""
        graph, s, p, o = (term if at in self._bound_positions else None for at, term in enumerate(quad))
        return graph, s, p, o

    def matches(self, dataset: Dataset, quad: Seed) -> Iterable[Match]:
        """The solutions with what a quad binds."""
        found, row = self._found, self._row
        for slot, position in self._binds:
            row[slot] = quad[position]
        self._match(dataset, row)
        if not found:
            return ()
        matches = [Match(self.rule, self.branch, solution) for solution in found]
        found.clear()
        return matches


class _Index:
    """Triggers by the constants of their patterns."""

    def __init__(self, triggers: Iterable[Trigger]) -> None:
        self._by_key: dict[tuple[str | None, str | None, str | None], list[Trigger]] = {}
        for trigger in triggers:
            graph, _, p, o = (None if isinstance(node, Var) else node for node in trigger.pattern)
            self._by_key.setdefault((graph, p, o), []).append(trigger)
        self._shapes = list(dict.fromkeys(tuple(part is None for part in key) for key in self._by_key))

    def matching(self, quad: Ground) -> Iterator[Trigger]:
        """The triggers that a quad may match."""
        graph, _, p, o = quad
        for any_graph, any_p, any_o in self._shapes:
            key = (None if any_graph else graph, None if any_p else p, None if any_o else o)
            yield from self._by_key.get(key, ())


class _Distinct:
    """Whether a row of SELECT DISTINCT was given by any branch before."""

    def __init__(self, select: Select, joins: list[Join]) -> None:
        self._ways = [_Projection(select, join) for join in joins]

    def was_given(self, match: Match, before: Before) -> bool:
        row = self._ways[match.branch].project(match.solution)
        return any(way.gives(before, row) for way in self._ways)


class _Projection:
    """The rows that one branch gives."""

    def __init__(self, select: Select, join: Join) -> None:
        self._join = join
        visible = list(join.slots.visible)
        self._places = [visible.index(v) if v in visible else None for v in select.variables]
        self._known = [
            (at, place)
            for at, (variable, place) in enumerate(zip(select.variables, self._places, strict=True))
            if variable in join.bound and place is not None
        ]
        known = frozenset(select.variables[at] for at, _ in self._known)
        self._match = join.compiled(known, lambda _, row: self.project(row) == row[join.slots.extra])

    def project(self, solution: Solution | Row) -> Solution:
        return tuple(None if place is None else solution[place] for place in self._places)

    def gives(self, view: Before, wanted: Solution) -> bool:
        row = self._join.row(wanted)
        for at, place in self._known:
            row[place] = wanted[at]
        return self._match(view, row)
