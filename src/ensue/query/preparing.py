"""From a parsed query to one that can run: its evaluator, its scopes, and who finds its occurrences."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ensue.dictionary import Dictionary
from ensue.errors import QueryError
from ensue.events.engine import Derivation, EventEngine
from ensue.query.algebra import uses_timestamps
from ensue.query.background import Background
from ensue.query.check import Check
from ensue.query.choose import choose_evaluator
from ensue.query.eventquery import EventQuery
from ensue.query.parting import Parting
from ensue.query.running import RunningQuery
from ensue.query.scopes import KEYS_FIXED, background_name, find_scopes
from ensue.query.share import Share
from ensue.query.sources import Sources
from ensue.query.tree import ContinuousQuery
from ensue.windows.spec import Bounds, Landmark, TimeWindow


@dataclass(frozen=True, slots=True)
class Preparing:
    """How all queries of a reasoner are prepared: the options are those of `Reasoner`."""

    sources: Sources
    strategy: str
    evaluator: str
    t0: int
    bounds: Bounds
    until: bool
    fixed_schema: bool
    check: Check | None
    collects: bool

    @property
    def _background(self) -> Background:
        return self.sources.background

    @property
    def _dictionary(self) -> Dictionary:
        return self.sources.dictionary

    def with_options(self, query: ContinuousQuery) -> ContinuousQuery:
        """The query with the t0 and bounds of the reasoner, and the background that its stream brings."""
        streams = tuple(
            replace(on, spec=replace(on.spec, t0=self.t0, bounds=self.bounds))
            if isinstance(on.spec, TimeWindow | Landmark)
            else on
            for on in query.streams
        )
        if query.event_window is None or query.event_window.until is None:
            return replace(query, streams=streams)
        brought = background_name(query.streams[0].stream, query.event_window)
        self._background.expect(brought)
        return replace(query, streams=streams, default_graphs=(*query.default_graphs, brought))

    def running(self, query: ContinuousQuery, share: Share | None) -> RunningQuery:
        """A query, with its options, that can be registered; `share` as for `Reasoner.register`."""
        self._background.check([*query.default_graphs, *query.named_graphs])
        # What is wrong may be a literal, which oxigraph does not take for a subject.
        evaluator = "compiled" if query.violations else self.evaluator
        choice = choose_evaluator(query, self._dictionary, evaluator, share)
        stamped = self.strategy != "dred"
        scopes = find_scopes(
            query,
            alone=not stamped,
            timestamps=uses_timestamps(query),
            keys_come=not self.fixed_schema,
        )
        kind = RunningQuery if query.event_window is None else EventQuery
        return kind(
            query,
            scopes,
            choice,
            {iri: self._background.named(iri) for iri in query.named_graphs},
            self.sources,
            until=(self.until or query.violations) and stamped,
            share=share,
            check=self.check,
            events=self._events(query),
        )

    def _events(self, query: ContinuousQuery) -> EventEngine | None:
        """What finds the occurrences of a query's temporal expressions, if it has any."""
        if query.events is None:
            return None
        derived, parting = self._background.derivation(query), None
        if query.partition is not None:
            derived, parting = self._parted(query, query.partition.property, derived)
        return EventEngine(query, self._dictionary, derived, parting=parting, collects=self.collects)

    def _parted(
        self, query: ContinuousQuery, name: str | None, derived: Derivation
    ) -> tuple[Derivation, Parting]:
        """The partitions of a temporal query, by a property or (None) by graph, and what that assumes."""
        if name is None:
            return derived, Parting(None)
        if not self.fixed_schema:
            what = f"a stream may bring keys of {query.partition}, and what was used up is not taken back"
            raise QueryError(what, place=query.place, hint=KEYS_FIXED)
        graphs = frozenset(query.default_graphs)
        keys = Parting(lambda: self._background.keys(graphs, name))
        return derived.assuming((None, f"<{name}>", None)), keys
