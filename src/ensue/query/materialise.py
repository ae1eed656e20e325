"""Scopes kept closed: one maintainer each, which every query over the scope reads at its own threshold.

A maintainer does what the queries over its scope need (`ensue.plan.specialise`). It is made when it is first
needed, and made anew, from the copies that it holds, when a query comes that needs more, or schema on a
stream, or when the background changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import BudgetError
from ensue.maintain.contract import Maintainer
from ensue.model import BACKGROUND, NEVER, Copies, Facts
from ensue.plan.known import Rows
from ensue.plan.lookout import Lookout
from ensue.plan.specialise import Specialised
from ensue.plan.strategy import StrategyChoice
from ensue.query.apart import Apart, Parts, PlainParts, Present
from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.dataset import Columns, Graph, Integers, Pattern, PlainGraph, Solutions, visible
from ensue.query.partial import Partial, Shedding
from ensue.query.parting import Keys, Parting, WindowParts
from ensue.query.scopes import Scope
from ensue.query.splitting import context_of
from ensue.query.stages import Stages
from ensue.query.violations import wrong, wrong_apart
from ensue.rules.tree import Rule
from ensue.windows.frontier import Times

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder

T = TypeVar("T")

CONTEXT = 1
"""The one context of a scope's maintainer, unless the scope is partitioned."""


@runtime_checkable
class Watching(Protocol):
    """What a maintainer that keeps the solutions of patterns has besides the contract."""

    def watch(self, patterns: tuple[Pattern, ...]) -> None:
        """Keep the solutions of a basic graph pattern from now on."""

    def solutions(self, patterns: tuple[Pattern, ...], context: int, threshold: int) -> Solutions | None:
        """Those in a context above a threshold; None if nobody asked for them to be kept."""


@runtime_checkable
class WatchingApart(Protocol):
    """What a maintainer has that gives the solutions of all contexts at once."""

    def solutions_apart(
        self, patterns: tuple[Pattern, ...], threshold: int
    ) -> tuple[Integers, Solutions] | None:
        """Those above a threshold, and the context of each, in order; None if they are not kept."""


@runtime_checkable
class Sparing(Protocol):
    """What a maintainer that can do with less than everything has besides the contract."""

    def spare(self, *, only_answers: bool) -> None:
        """Keep to what the solutions of watched patterns rest on, as long as nothing else is asked for."""

    def held(self, context: int | None) -> Facts:
        """What is there of a context now, or (None) of all."""


@runtime_checkable
class Parking(Protocol):
    """What a maintainer that can be put away between steps has besides the contract."""

    def settle(self, *, only_answers: bool) -> bytes | None:
        """Keep no log of copies from now on; the same for those that can `adopt` each other's.

        None: it cannot be put away after all.
        `only_answers`: nothing will be read but the solutions of watched patterns.
        """

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let everything lie in a folder from now on; what there is to know besides."""

    def adopt(self, folder: Folder, plain: dict[str, Any]) -> None:
        """Go on with what another has put away."""


class Plans(Protocol):
    """What a scope's maintainers are made by."""

    @property
    def prunes(self) -> bool:
        """Whether no more is to be done than is needed."""

    def find(self, scope: Scope) -> Specialised:
        """What the queries over a scope need now."""

    def whole(self, scope: Scope) -> Specialised:
        """What is needed whatever comes."""

    def schema_came(self, stream: str, s: str, p: str, o: str) -> None:
        """A stream brought what a plan has assumed away."""

    def closed_rows(self, scope: Scope) -> Rows:
        """All statements of a scope's closed background."""

    def choose(self, scope: Scope, plan: Specialised, *, only_answers: bool) -> StrategyChoice:
        """Who does it."""

    def make(self, scope: Scope, plan: Specialised, strategy: str) -> Maintainer:
        """A new maintainer for it, over the background."""

    def keys(self, scope: Scope, key: str) -> Keys:
        """The keys that subjects have, by a property, in the background."""


class Materialisation:
    """A scope and its maintainer, from the first query that needs it to the last."""

    def __init__(
        self,
        scope: Scope,
        dictionary: Dictionary,
        plans: Plans,
        stages: Stages,
        missing: Mapping[str, int] | None = None,
    ) -> None:
        """`missing` says up to which time (or number) each stream was admitted before this was there."""
        self._stages = stages
        self.scope = scope
        self._plans = plans
        self._plan: Specialised | None = None
        """What the maintainer was made for; None: look whether it does, before it is used again."""
        self._made: _Made | None = None
        self._held: Copies | None = None
        """The copies for a maintainer that is still to be made."""
        self._schema_came = False
        self._only_answers = False
        self._patterns: dict[tuple[Pattern, ...], None] = {}
        self._dictionary = dictionary
        self._missing = missing or {}
        self._offsets = dict(scope.offsets)
        self.threshold = NEVER
        """What has a stamp at or below it is gone."""
        self._still: Columns | None = None
        self._parting = self._make_parting()
        self.shedding = Shedding()
        """What it goes without where the budget does not allow all."""
        self._under: tuple[Rule, ...] = ()
        """The rules under which was derived last."""

    def watch(self, patterns: Iterable[tuple[Pattern, ...]]) -> None:
        """Keep the solutions of these patterns from now on, if the maintainer can."""
        new = [each for each in patterns if each not in self._patterns]
        self._patterns |= dict.fromkeys(new)
        if self._made is not None:
            self._made.watch(new)

    def unwatch(self) -> None:
        """Whoever reads it will say what to keep the solutions of."""
        self._patterns.clear()

    def readers_changed(self, *, only_answers: bool) -> None:
        """Other queries read it from now on, or `only_answers`: it may have to do more, or less."""
        self._only_answers = only_answers
        self._plan = None

    @property
    def plan(self) -> Specialised:
        """What is done for those who read it now."""
        return self._current.plan

    @property
    def choice(self) -> StrategyChoice:
        """Who does it, and why."""
        return self._current.choice

    @property
    def maintainer(self) -> Maintainer:
        """Who keeps it closed now, for all who read it."""
        return self._use(lambda made: made.maintainer)

    def _use(self, work: Callable[[_Made], T]) -> T:
        """Do something with the maintainer; where that exceeds the budget, go without more if that may be."""
        while True:
            try:
                return work(self._current)
            except BudgetError as exceeded:
                if not self._goes_without(exceeded):
                    raise
            self._dictionary.meter.dropped()

    def _goes_without(self, exceeded: BudgetError) -> bool:
        """Leave rules or statements out, those of the lowest priority; False where that does not help."""
        if self._dictionary.meter.budget.at_limit != "partial" or exceeded.of_background:
            return False
        held = self._held if self._made is None else _copies(self._made.maintainer, NEVER)
        kept = None if held is None else self.shedding.leave_out(self._under, exceeded.derived, held)
        if kept is None:
            return False
        self._held, self._made, self._plan, self._still = kept, None, None, None
        return True

    def partial(self, threshold: int) -> Partial | None:
        """What is missing of what is above a threshold now; None if it is complete."""
        return self.shedding.at(threshold)

    def miss(self, stream: str, time: int, partial: Partial) -> None:
        """What a stream brings at a time was made of partial answers."""
        self.shedding.miss(time + self._offsets[stream], partial)

    @property
    def _current(self) -> _Made:
        if self._made is None or self._plan is None:
            plan, choice = self._planned()
            self._under = plan.rules.rules
            if self._made is None or not self._made.does_the_same(plan, choice):
                held = self._held if self._made is None else _copies(self._made.maintainer, NEVER)
                if held is not None and self._brings_schema(plan, held):
                    plan, choice = self._planned()
                    self._under = plan.rules.rules
                self._made, self._held = self._make(plan, choice, held), None
            if self._made.sparing is not None:
                self._made.sparing.spare(only_answers=self._only_answers and self._plans.prunes)
            self._plan = plan
        return self._made

    def _planned(self) -> tuple[Specialised, StrategyChoice]:
        try:
            plan = self._plans.whole(self.scope) if self._schema_came else self._plans.find(self.scope)
            choice = self._plans.choose(self.scope, plan, only_answers=self._only_answers)
        except BudgetError as exceeded:
            exceeded.of_background = True  # To hold fewer statements of streams would not help.
            raise
        if not self.shedding.is_active:
            return plan, choice
        # What follows from the background alone is there all the same, whoever has seen it already.
        rows = self._plans.closed_rows(self.scope) if plan.background is None else plan.background
        return replace(self.shedding.without(plan), background=rows), choice

    def _brings_schema(self, plan: Specialised, held: Copies) -> bool:
        """Whether there is, among copies that came under another plan, what this one has assumed away."""
        if not plan.assumed or self._schema_came:
            return False
        columns = [np.frombuffer(column, np.int32) for column in (held.s, held.p, held.o)]
        row = Lookout(plan.assumed, self._dictionary.pin).first(*columns)
        if row is None:
            return False
        texts = (self._dictionary.decode(int(column[row])) for column in columns)
        self._plans.schema_came("> or <".join(self.scope.streams), *texts)
        self._schema_came = True
        return True

    def start_over(self) -> None:
        """The background is another from now on: whoever keeps it closed is made anew, of the copies."""
        if self._made is not None:
            self._held = _copies(self._made.maintainer, NEVER)
        if self._parting and self._held is not None:
            self._held = self._parting.start_over(self._held)
        self._made = self._plan = self._still = None

    def _make(self, plan: Specialised, choice: StrategyChoice, held: Copies | None) -> _Made:
        """A maintainer for a plan, with what another one held."""
        maintainer = self._plans.make(self.scope, plan, choice.strategy)
        made = _Made.of(plan, choice, maintainer, self._dictionary)
        made.watch(self._patterns)
        if held is not None:
            made.maintainer.admit(held)
            self._still = None
        if self.threshold > NEVER:
            made.maintainer.advance(self.threshold)
        return made

    def copies(self, threshold: int) -> Copies:
        """The copies with a stamp above a threshold, as of now."""
        return _copies(self.maintainer, threshold)

    def rows(self, threshold: int) -> list[Arrival]:
        """The same as they came, whatever partitions they are in: with their stamps for times."""
        copies = self.copies(threshold)
        if self._parting:
            copies = self._parting.together(copies, threshold)
        return [(stamp, s, p, o, graph) for _, s, p, o, graph, stamp in copies]

    def missing(self, stream: str) -> int:
        """The time (or number) of a stream at or below which some of it may be gone, or was never here."""
        gone = NEVER if self.threshold == NEVER else self.threshold - self._offsets[stream]
        return max(gone, self._missing.get(stream, NEVER))

    def admit(self, stream: str, arrivals: Arrivals) -> None:
        """Let statements of one of the scope's streams in."""
        self._look_out(stream, arrivals)
        offset, parting = self._offsets[stream], self._parting
        copies = parting.admit(arrivals, offset) if parting else arrivals.copies(CONTEXT, offset)
        self.maintainer.admit(copies)
        self._use(lambda _: self._dictionary.meter.memory(len(copies), dict))

    def admit_events(self, stream: str, arrivals: Arrivals, numbers: Times) -> None:
        """Let statements in, each into the context of its event, whose number is its stamp."""
        self._look_out(stream, arrivals)
        self.maintainer.admit(arrivals.at(numbers).copies(context_of(numbers), 0))

    def _look_out(self, stream: str, arrivals: Arrivals) -> None:
        """See whether a stream brings what the plan has assumed away."""
        lookout = self._use(lambda made: made.lookout)
        if lookout is not None and (row := lookout.first(arrivals.s, arrivals.p, arrivals.o)) is not None:
            decode = self._dictionary.decode
            self._plans.schema_came(
                stream, *(decode(int(c[row])) for c in (arrivals.s, arrivals.p, arrivals.o))
            )
            self._schema_came, self._plan = True, None

    def background_came(self) -> None:
        """There is more background now, or another, and no event is open: start over."""
        self._made = self._plan = self._still = None

    def retract(self, row: Arrival, *, every: bool, event: int | None = None) -> int:
        """Take back the newest (or `every`) copy of a statement; say how many went.

        `event`: the number of the event that it is taken from.
        """
        copies = Copies()
        _, s, p, o, graph = row
        if event is not None:
            copies.append(int(context_of(np.array([event]))[0]), s, p, o, 0, graph)
        elif self._parting:
            copies = self._parting.retracted(row, every=every)
        else:
            copies.append(CONTEXT, s, p, o, 0, graph)
        if self._dictionary.meter.budget.at_limit == "partial":
            self._use(lambda made: made.maintainer.statistics())  # What is due is done before, not within.
        return self.maintainer.retract(copies, every=every)

    def forget(self, threshold: int) -> None:
        """Let go of what has a stamp at or below a threshold."""
        if threshold > self.threshold:
            self.threshold = threshold
            if self._parting:
                self._parting.forget(threshold)
            if self.shedding.may_return(threshold, lambda: len(_copies(self.maintainer, threshold))):
                self._held = _copies(self.maintainer, threshold)
                self._made = self._plan = self._still = None
                self.shedding.come_back()
            with self._stages.of("maintain"):
                self._use(lambda made: made.maintainer.advance(threshold))

    def read(self, threshold: int) -> Graph:
        """The graph of what has a stamp above a threshold, as of now."""
        if not self.maintainer.stamped:
            self.forget(threshold)
        return _WindowGraph(self, threshold)

    def read_apart(self, threshold: int) -> Parts:
        """The same in parts, where the scope is partitioned."""
        parting = self._parting
        assert parting
        if not self.maintainer.stamped:
            self.forget(threshold)
        parting.look_again(self.maintainer.copies)
        return WindowParts(self, threshold, parting.present(threshold), parting.unkeyed(threshold))

    def read_events(self, present: Present) -> Parts:
        """What events hold that have ended, by their contexts."""
        return WindowParts(self, self.threshold, present, 0)

    def read_wrong_events(self, present: Present) -> Parts:
        """The violations in them, and nothing else."""
        with self._stages.of("maintain"):
            found = wrong_apart(self._closure(None, self.threshold), self._dictionary)
        return PlainParts(Columns.none(), found, present)

    def read_wrong(self, threshold: int) -> Graph:
        """The violations above a threshold now, and nothing else; not those of the background."""
        if not self.maintainer.stamped:
            self.forget(threshold)
        with self._stages.of("maintain"):
            return PlainGraph(live=wrong(self._closure(CONTEXT, threshold), self._dictionary))

    def read_wrong_apart(self, threshold: int) -> Parts:
        """The same in parts, where the scope is partitioned."""
        parts = self.read_apart(threshold)
        with self._stages.of("maintain"):
            found = wrong_apart(self._closure(None, threshold), self._dictionary)
        return PlainParts(Columns.none(), found, parts.present, parts.unkeyed)

    @property
    def still(self) -> Columns:
        """The background with what follows from it: the same object each time."""
        if self._still is None:
            self._still = self._see(self._closure(BACKGROUND, None))
        return self._still

    def _closure(self, context: int | None, threshold: int | None) -> Facts:
        return self._use(lambda made: made.maintainer.closure(context, threshold))

    def live(self, threshold: int) -> Columns:
        """What is above a threshold now, besides background."""
        with self._stages.of("maintain"):
            return self._see(self._closure(CONTEXT, threshold))

    def solutions(self, patterns: tuple[Pattern, ...], threshold: int) -> Solutions | None:
        """The maintained solutions above a threshold now, if they are."""

        def solutions(made: _Made) -> Solutions | None:
            watching = made.watching
            return None if watching is None else watching.solutions(patterns, CONTEXT, threshold)

        with self._stages.of("maintain"):
            return self._use(solutions)

    def live_apart(self, threshold: int) -> Apart:
        """What is above a threshold now in each context, besides background."""
        with self._stages.of("maintain"):
            return Apart.seen(self._closure(None, threshold), self._dictionary)

    def solutions_apart(
        self, patterns: tuple[Pattern, ...], threshold: int
    ) -> tuple[Integers, Solutions] | None:
        """The maintained solutions of all contexts above a threshold now, if they are."""

        def solutions(made: _Made) -> tuple[Integers, Solutions] | None:
            if not isinstance(made.maintainer, WatchingApart):
                return None
            return made.maintainer.solutions_apart(patterns, threshold)

        with self._stages.of("maintain"):
            return self._use(solutions)

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers still in use."""
        still = [] if self._still is None else [self._still.s, self._still.p, self._still.o]
        parted = self._parting.used_terms() if self._parting else []
        return [*self._use(lambda made: list(made.maintainer.used_terms())), *still, *parted]

    def settle(self, *, only_answers: bool) -> bytes | None:
        """Keep no log of copies from now on; None if it cannot be put away all the same.

        Otherwise the same is given by those that can `adopt` what the other has put away.
        `only_answers`: nothing will be read but the solutions of watched patterns.
        """
        if self.scope.background_comes:
            return None
        parking = self._current.parking
        return parking.settle(only_answers=only_answers) if parking else None

    def park(self, folder: Folder) -> dict[str, Any]:
        """Let what is held lie in a folder from now on; what there is to know besides. Settled, that is."""
        if self._parting:
            self._parting.park(folder.under("parting"))
        return self._parking.park(folder)

    def adopt(self, folder: Folder, plain: dict[str, Any]) -> None:
        """Go on with what another has put away."""
        self.threshold = plain["threshold"]
        if self._parting:
            self._parting.adopt(folder.under("parting"), self.threshold)
        self._parking.adopt(folder, plain)

    @property
    def _parking(self) -> Parking:
        parking = self._current.parking
        assert parking
        return parking

    def statistics(self) -> dict[str, int]:
        """The maintainer's counters."""
        return self._use(lambda made: made.maintainer.statistics())

    def derived(self) -> int:
        """How many of the facts held are not stated. Looks at all of them."""
        stated = {(context, s, p, o) for context, s, p, o, _, _ in self.maintainer.copies()}
        facts = self._use(
            lambda made: made.sparing.held(None) if made.sparing else made.maintainer.closure(None)
        )
        return sum((context, s, p, o) not in stated for context, s, p, o, _ in facts)

    def _make_parting(self) -> Parting | None:
        partition = self.scope.partition
        if partition is None:
            return None
        name = partition.property
        return Parting(None if name is None else lambda: self._plans.keys(self.scope, name))

    def _see(self, facts: Facts) -> Columns:
        return visible(Columns.of(facts), self._dictionary)


@dataclass(frozen=True, slots=True)
class _Made:
    """A maintainer, what it was made for, and what it can do besides the contract."""

    plan: Specialised
    choice: StrategyChoice
    maintainer: Maintainer
    lookout: Lookout | None
    watching: Watching | None
    sparing: Sparing | None
    parking: Parking | None

    @classmethod
    def of(
        cls, plan: Specialised, choice: StrategyChoice, maintainer: Maintainer, dictionary: Dictionary
    ) -> _Made:
        # Asked once: to look at a protocol's methods takes long.
        return cls(
            plan,
            choice,
            maintainer,
            Lookout(plan.assumed, dictionary.pin) if plan.assumed else None,
            maintainer if isinstance(maintainer, Watching) else None,
            maintainer if isinstance(maintainer, Sparing) else None,
            maintainer if isinstance(maintainer, Parking) else None,
        )

    def does_the_same(self, plan: Specialised, choice: StrategyChoice) -> bool:
        return self.choice.strategy == choice.strategy and self.plan.does_the_same(plan)

    def watch(self, patterns: Iterable[tuple[Pattern, ...]]) -> None:
        if self.watching is not None:
            for each in patterns:
                self.watching.watch(each)


def _copies(maintainer: Maintainer, threshold: int) -> Copies:
    found = Copies()
    for context, s, p, o, graph, stamp in maintainer.copies():
        if stamp > threshold:
            found.append(context, s, p, o, stamp, graph)
    return found


@dataclass(frozen=True)
class _WindowGraph:
    """A scope at a threshold, as it is now: to be used before anything else is admitted."""

    source: Materialisation
    threshold: int

    @property
    def still(self) -> Columns:
        return self.source.still

    @cached_property
    def live(self) -> Columns:
        return self.source.live(self.threshold)

    def solutions(self, patterns: tuple[Pattern, ...]) -> Solutions | None:
        return self.source.solutions(patterns, self.threshold)


def kept(graph: Graph) -> Graph:
    """The same graph for later, when the scope will have moved on."""
    return PlainGraph(graph.still, graph.live)
