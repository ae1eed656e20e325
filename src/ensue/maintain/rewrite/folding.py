"""The contract of maintainers, over facts that somebody keeps and rules folded into patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from ensue.dictionary import Dictionary
from ensue.maintain.base import add_background, check_stream_copies, check_threshold
from ensue.maintain.kernel.columns import Columns as Rows
from ensue.maintain.kernel.engine import Kernel
from ensue.maintain.kernel.maintainer import columns_of
from ensue.maintain.program import Program, compile_rules
from ensue.maintain.rewrite.folded import Folded
from ensue.maintain.rewrite.kept import Materialised, Stated, among
from ensue.maintain.snapshot import Snapshot
from ensue.model import BACKGROUND, NEVER, Change, Copies, Facts
from ensue.plan.known import Closed
from ensue.plan.rewrite import NotRewritable
from ensue.plan.split import split
from ensue.query.compiled.operators import joined
from ensue.query.compiled.relation import Relation
from ensue.query.dataset import Columns, Integers, Pattern, Solutions
from ensue.rules.tree import RuleSet
from ensue.rules.violations import has_conditions, without_conditions


@dataclass(frozen=True, slots=True)
class World:
    """What is made of rules and background: patterns with rules folded in, and who keeps the facts."""

    folded: Folded
    kept: Stated | Materialised
    blank: Kernel
    """All rules over the background, and nothing else: statements are put into a copy of it."""

    @classmethod
    def of(cls, rules: RuleSet, program: Program, ground: Copies, dictionary: Dictionary) -> World:
        """Close the background, and part the rules."""
        blank = Kernel(program, dictionary, columns_of(ground))
        facts = blank.closure(BACKGROUND, NEVER)
        closed = Closed(dictionary, facts.s, facts.p, facts.o)
        parts = split(without_conditions(rules).rules, closed)
        folded = Folded(parts.folded, closed, dictionary)
        if not parts.materialised:
            return cls(folded, Stated(dictionary), blank)
        joining = RuleSet(rules.name, parts.materialised)
        return cls(folded, Materialised(joining, dictionary, folded.background), blank)

    def keeps(self, patterns: Iterable[Pattern]) -> Materialised | None:
        """Who keeps the solutions of patterns that nothing is folded into, if anybody does."""
        kept = self.kept
        if isinstance(kept, Materialised) and all(map(self.folded.is_alone, patterns)):
            return kept
        return None

    def closed(self, rows: Rows) -> Rows:
        """What follows from statements of contexts, they included, but for what the background holds."""
        kernel = self.blank.copy()
        kernel.put(rows)
        return rows_of(kernel.closure(None, NEVER))

    def is_background(self, rows: Rows) -> Integers:
        """A mask: which facts of contexts the background holds."""
        ground = rows_of(self.blank.closure(BACKGROUND, NEVER))
        return among(Rows(np.zeros_like(rows.context), rows.s, rows.p, rows.o, rows.stamp), ground)


def rows_of(facts: Facts) -> Rows:
    """Facts as the kernel takes them."""
    return Rows(facts.context, facts.s, facts.p, facts.o, facts.stamp)


class Folding:
    """A maintainer that folds what it can of its rules into patterns."""

    name = ""
    stamped = True

    def __init__(self, rules: RuleSet, dictionary: Dictionary) -> None:
        self._rules = rules
        self._dictionary = dictionary
        self._program = compile_rules(rules, dictionary)
        self._ground = Copies()
        self._threshold = NEVER
        self._made: World | None = None
        self._is_stale = True
        """Whether background has come since."""
        self._patterns: dict[tuple[Pattern, ...], None] = {}
        self._last = Rows.of([])
        """What was stated at the last `advance`."""
        self._held: Rows | None = None
        """What held then; None: what follows from that by what is made of rules and background now."""

    def load_background(self, copies: Copies) -> None:
        """Add statements that never expire. After the stream began, rules are folded in anew."""
        if self._made is not None and self._held is None:
            self._held = self._made.closed(self._last)
        add_background(self._ground, copies)
        self._is_stale = True

    def admit(self, copies: Copies) -> None:
        """Let copies in."""
        check_stream_copies(copies)
        self._world.kept.admit(copies)

    def retract(self, copies: Copies, *, every: bool = False) -> int:
        """Take back the newest copy (or `every` copy) of each statement; say how many went."""
        return self._world.kept.retract(copies, every=every)

    def advance(self, threshold: int) -> Change:
        """Expire, and say what changed since the last call: found out when somebody looks."""
        check_threshold(threshold, self._threshold)
        world = self._world
        self._threshold = threshold
        world.kept.expire(threshold)
        before, self._last = self._last, world.kept.rows()
        held, self._held = self._held, None
        now = self._last
        return LateChange(lambda: _difference(world, world.closed(before) if held is None else held, now))

    def closure(self, context: int | None, threshold: int | None = None) -> Facts:
        """What holds in a context (without what the background holds), fresher than `threshold`.

        Found from scratch, violations too: whoever reads patterns needs neither.
        """
        world = self._world
        if context == BACKGROUND:
            return world.blank.closure(BACKGROUND, NEVER)
        if isinstance(world.kept, Materialised) and world.folded.is_empty and not has_conditions(self._rules):
            return world.kept.closure(context, self._above(threshold))
        every = world.kept.rows()
        wanted = every.stamp > self._above(threshold)
        if context is not None:
            wanted &= every.context == context
        found = world.closed(every.take(wanted))
        return Facts(found.context, found.s, found.p, found.o, found.stamp)

    def watch(self, patterns: tuple[Pattern, ...]) -> None:
        """Fold rules into a basic graph pattern (any time, best first)."""
        if patterns and patterns not in self._patterns:
            self._prepare(self._world, patterns)
            self._patterns[patterns] = None

    def solutions(self, patterns: tuple[Pattern, ...], context: int, threshold: int) -> Solutions | None:
        """The solutions that a context, over the background, has above a threshold.

        None for no patterns at all, which have one solution always, or for one that takes no more rules.
        """
        world, above = self._world, self._above(threshold)
        try:
            if not patterns:
                return None
            if (kept := world.keeps(patterns)) and (maintained := kept.solutions(patterns, context, above)):
                return maintained
            found = self._solve(world.folded, patterns, world.kept.facts(context, above))
        except NotRewritable as reason:
            self._give_up(reason)
            return None
        assert found.stamps is not None
        above_all = found.where(found.stamps > above)  # Even what holds for ever may be asked to be fresher.
        assert above_all.stamps is not None
        return Solutions(above_all.columns, above_all.stamps)

    def _solve(self, folded: Folded, patterns: tuple[Pattern, ...], facts: Columns) -> Relation:
        return joined(folded.match(pattern, facts) for pattern in patterns)

    def _prepare(self, world: World, patterns: tuple[Pattern, ...]) -> None:
        """Do now what can be done before facts come."""
        try:
            self._watch(world, patterns)
        except NotRewritable as reason:
            self._give_up(reason)

    def _watch(self, world: World, patterns: tuple[Pattern, ...]) -> None:
        if kept := world.keeps(patterns):
            kept.watch(patterns)

    def _give_up(self, reason: NotRewritable) -> None:
        """A pattern takes no more rules: whoever asked has to read the closure."""

    def copies(self) -> Iterable[tuple[int, int, int, int, int, int]]:
        """The copies that have not expired: (context, s, p, o, graph, stamp)."""
        return self._world.kept.copies()

    def used_terms(self) -> Iterable[Iterable[int]]:
        """The columns of integers still in use."""
        world, ground, held = self._world, self._ground, self._held or Rows.of([])
        columns = [(each.s, each.p, each.o) for each in (world.folded.background, self._last, held)]
        stated = [ground.s, ground.p, ground.o, ground.graph]
        return [*world.kept.used_terms(), *stated, *chain.from_iterable(columns)]

    def snapshot(self) -> Snapshot:
        """The truth (the log of copies and the threshold), in terms, not in integers."""
        return Snapshot.take(self._dictionary, self._copies(), self._ground, self._threshold)

    def restore(self, snapshot: Snapshot) -> None:
        """Forget everything and go on from a snapshot."""
        copies, self._ground = snapshot.read(self._dictionary)
        self._made, self._held, self._threshold = None, None, snapshot.threshold
        self._enter(self._world, copies)
        self._last = self._world.kept.rows()

    def statistics(self) -> dict[str, int]:
        """Counters by name: what is folded in makes no facts."""
        world = self._world
        return {"background": len(world.folded.background)} | world.kept.statistics()

    @property
    def _world(self) -> World:
        if self._made is None or self._is_stale:
            copies = Copies() if self._made is None else self._copies_of(self._made)
            self._made = World.of(self._rules, self._program, self._ground, self._dictionary)
            self._is_stale = False
            for patterns in self._patterns:
                self._prepare(self._made, patterns)
            self._enter(self._made, copies)
        return self._made

    def _enter(self, world: World, copies: Copies) -> None:
        world.kept.admit(copies)
        world.kept.expire(self._threshold)

    def _copies(self) -> Copies:
        return self._copies_of(self._world)

    def _copies_of(self, world: World) -> Copies:
        copies = Copies()
        for context, s, p, o, graph, stamp in world.kept.copies():
            copies.append(context, s, p, o, stamp, graph)
        return copies

    def _above(self, threshold: int | None) -> int:
        return self._threshold if threshold is None else max(threshold, self._threshold)


class LateChange(Change):
    """A change that is found out when somebody looks at it: most do not."""

    def __init__(self, find: Callable[[], tuple[Facts, Facts]]) -> None:
        vars(self)["_find"] = find

    @cached_property
    def _found(self) -> tuple[Facts, Facts]:
        found: tuple[Facts, Facts] = vars(self)["_find"]()
        return found

    @property
    def inserted(self) -> Facts:
        """What came."""
        return self._found[0]

    @property
    def deleted(self) -> Facts:
        """What left."""
        return self._found[1]


def _difference(world: World, was: Rows, stated: Rows) -> tuple[Facts, Facts]:
    """What came and what left, where the background did not take its place."""
    now = world.closed(stated)
    came, left = now.take(~among(now, was)), was.take(~among(was, now))
    left = left.take(~world.is_background(left))
    inserted, deleted = (Facts(r.context, r.s, r.p, r.o, r.stamp) for r in (came, left))
    return inserted, deleted
