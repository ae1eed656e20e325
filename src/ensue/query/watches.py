"""The watches of a reasoner, and what they have told."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ensue.proof.explainer import Explainer
from ensue.proof.responsible import in_window, with_statements
from ensue.query.background import Background
from ensue.query.output import Result
from ensue.query.running import RunningQuery
from ensue.query.tree import ContinuousQuery
from ensue.query.violations import Watch, Watching, reported, watches
from ensue.violations import Reported, Violation


@dataclass(slots=True)
class Watches:
    """Which windows are watched, by the names of the watches."""

    watching: Watching | None
    """Which violations are told; None: nobody asks."""
    _background: Background
    _explainer: Explainer
    _watches: dict[str, Watch] = field(default_factory=dict)
    _told: deque[Reported] = field(default_factory=deque)
    _brought: dict[frozenset[str], list[Violation]] = field(default_factory=dict)
    """What was found wrong with backgrounds that streams have brought some of."""

    def __contains__(self, name: object) -> bool:
        return name in self._watches

    def wanted(self, queries: Iterable[ContinuousQuery]) -> list[Watch]:
        """The watches on the windows of some queries, if anybody asks for them."""
        return watches(queries, self._background.rules, self.watching) if self.watching else []

    def superfluous(self, queries: Iterable[ContinuousQuery]) -> list[str]:
        """The watches on windows that none of these queries reads."""
        return list(self._watches.keys() - {watch.name for watch in self.wanted(queries)})

    def add(self, watch: Watch) -> None:
        """One more. What the background violates by itself is told first, once."""
        graphs = frozenset(watch.default_graphs)
        known = {frozenset(each.default_graphs) for each in self._watches.values()}
        if graphs not in known and (found := self._background.violations(graphs)):
            held = self._explainer.scenes.background(graphs)
            self._told.extend(Reported(with_statements(each, held)) for each in found)
        self._watches[watch.name] = watch

    def background_came(self, graphs: frozenset[str], before: frozenset[str]) -> None:
        """A stream has brought background: what that violates is told once, without what was wrong before.

        `before` is the background without any of it. If it brings some again, what is gone is told, too.
        """
        self._explainer.scenes.background_came(graphs)
        known, found = self._brought.get(graphs), self._background.violations(graphs)
        changes = known is not None and self.watching is Watching.CHANGES
        self._tell_changed(
            graphs, self._background.violations(before) if known is None else known, found, changes
        )
        self._brought[graphs] = found

    def start_over(self, background: Background) -> None:
        """The background is another from now on. What is new that it violates by itself is told, or gone."""
        before, self._background = self._background, background
        changes = self.watching is Watching.CHANGES
        for graphs in {frozenset(each.default_graphs) for each in self._watches.values()}:
            found = background.violations(graphs)
            self._tell_changed(graphs, before.violations(graphs), found, changes)
            if graphs in self._brought:
                self._brought[graphs] = found

    def _tell_changed(
        self, graphs: frozenset[str], known: Iterable[Violation], found: Iterable[Violation], changes: bool
    ) -> None:
        """Tell what is new that a background violates; if `changes` are told, what is gone as well."""
        new, gone = sorted(set(found) - set(known)), sorted(set(known) - set(found))
        if new:
            held = self._explainer.scenes.background(graphs)
            for each in new:
                self._told.append(Reported(with_statements(each, held), change="new" if changes else None))
        for each in gone if changes else ():
            self._told.append(Reported(each, change="gone", until=None))

    def remove(self, name: str) -> None:
        """One less."""
        del self._watches[name]

    def tell(self, result: Result, running: RunningQuery | None = None) -> None:
        """Take in what a watch gave; `running` is the watch if what it saw last is remembered."""
        watch = self._watches[result.query]
        for each in reported(result, watch):
            if running is None or watch.change == "gone":
                self._told.append(each)
            else:
                self._told.append(in_window(each, self._explainer, running))

    def take(self) -> Iterator[Reported]:
        """What was told since."""
        while self._told:
            yield self._told.popleft()
