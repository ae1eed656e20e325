"""What the queries over each scope need of rules and background."""

from __future__ import annotations

from dataclasses import replace

from ensue.maintain import PARTICULAR
from ensue.maintain.contract import Maintainer
from ensue.plan.asked import AsksForEverything, Graphs, OneWindow, patterns
from ensue.plan.known import Rows
from ensue.plan.lookout import schema_on_the_stream
from ensue.plan.specialise import Specialised
from ensue.plan.strategy import Reading, StrategyChoice, choose
from ensue.query.arrivals import Arrivals
from ensue.query.background import Background
from ensue.query.parting import Keys
from ensue.query.scopes import Scope
from ensue.query.tree import ContinuousQuery, StreamWindow
from ensue.windows.spec import CountWindow, Landmark


class ScopePlans:
    """Knows who reads which scope, and plans for them."""

    def __init__(
        self, background: Background, *, prune: bool, fixed_schema: bool, can_plan_anew: bool
    ) -> None:
        """`can_plan_anew`: a plan that assumes that no stream brings schema is replaced if one does."""
        self._background = background
        self.prunes = prune
        self._fixed_schema = fixed_schema
        self._can_plan_anew = can_plan_anew
        self._may_assume = fixed_schema or can_plan_anew
        self._readers: dict[Scope, list[tuple[ContinuousQuery, OneWindow]]] = {}

    def start_over(self, background: Background) -> None:
        """The background is another from now on."""
        self._background = background

    @property
    def may_refuse(self) -> bool:
        """Whether making a maintainer can fail, as its strategy does not take all rules."""
        return self._background.strategy in PARTICULAR

    def read(self, scope: Scope, query: ContinuousQuery, graph: str | None) -> None:
        """A query reads a graph of its own (None: the default graph) from a scope."""
        self._readers.setdefault(scope, []).append((query, OneWindow(graph)))

    def forget_readers(self) -> None:
        """Nobody reads anything any more, until somebody says so."""
        self._readers.clear()

    def find(self, scope: Scope) -> Specialised:
        """What the queries over a scope need now."""
        if not self.prunes:
            return self.whole(scope)
        found = self._background.specialised(self._readers.get(scope, ()), scope.graphs)
        if found.assumed and not self._may_assume:
            return self.whole(scope)
        return _with_keys_fixed(found, scope)

    def admits(self, stream: str, arrivals: Arrivals) -> None:
        """A stream brings statements; raises InputError where one is for rules over lists."""
        self._background.refuse_lists(f"the stream <{stream}>", arrivals.s, arrivals.p, arrivals.o)

    def background_came(self, name: str, arrivals: Arrivals) -> None:
        """A stream brought what some scopes have for background under a name, as that of a graph."""
        self._background.bring(name, arrivals)

    def schema_came(self, stream: str, s: str, p: str, o: str) -> None:
        """A stream brought what a plan has assumed away; raises InputError where that must not be."""
        if self._fixed_schema:
            raise schema_on_the_stream(stream, s, p, o)

    def whole(self, scope: Scope) -> Specialised:
        """All rules and everything that was stated."""
        return _with_keys_fixed(self._background.whole(scope.graphs), scope)

    def closed_rows(self, scope: Scope) -> Rows:
        """All statements of a scope's closed background."""
        return self._background.closed_rows(scope.graphs)

    def keys(self, scope: Scope, key: str) -> Keys:
        """The keys that subjects have, by a property, in a scope's background."""
        return self._background.keys(scope.graphs, key)

    def choose(self, scope: Scope, plan: Specialised, *, only_answers: bool) -> StrategyChoice:
        """Who does what a plan has; `only_answers`: nothing is read but solutions of patterns."""
        wanted = self._background.strategy
        if wanted != "auto":
            return StrategyChoice(wanted, "asked for")
        if not self._can_plan_anew:
            return StrategyChoice("expiration", "what it holds can be put away and taken up again")
        if scope.partition is not None:
            why = "what it keeps is read once for all partitions, what rewrite finds once for each"
            return StrategyChoice("expiration", why)
        if scope.events is not None:
            why = "what it keeps is read once for all events that have ended"
            return StrategyChoice("expiration", why)
        readers = self._readers.get(scope, [])
        if any(query.violations for query, _ in readers):
            return StrategyChoice("expiration", "violations are read at each close, so they are kept")
        windows = [on for query, graph in readers for on in query.streams if on.name == graph.name]
        change = min((_change(on) for on in windows), default=1.0)
        patterns = sum(_patterns(query, graph) for query, graph in readers)
        return choose(plan, Reading(change, patterns, only_answers=only_answers))

    def make(self, scope: Scope, plan: Specialised, strategy: str) -> Maintainer:
        """A new maintainer for a plan, over the background."""
        return self._background.maintainer(scope.graphs, plan, strategy)


def _with_keys_fixed(plan: Specialised, scope: Scope) -> Specialised:
    """The same plan, which holds only as long as no stream brings keys of the scope's partitions."""
    if scope.partition is None or scope.partition.property is None:
        return plan
    return replace(plan, assumed=(*plan.assumed, (None, f"<{scope.partition.property}>", None)))


def _change(on: StreamWindow) -> float:
    """The share of a window that is new when it closes."""
    if isinstance(on.spec, CountWindow):
        return min(1.0, on.spec.step / on.spec.size)
    if isinstance(on.spec, Landmark):
        return 0.0
    return min(1.0, on.spec.step_ms / on.spec.range_ms)


def _patterns(query: ContinuousQuery, within: Graphs) -> int:
    try:
        return len(patterns(query, within))
    except AsksForEverything:
        return 1
