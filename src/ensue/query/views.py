"""What a query sees of the graphs that streams feed: read as windows close, kept while it may be seen again.

Most queries see each window once, when it closes. Where windows do not move together, or an evaluation comes
later than the close, what was read stays as it was then; and if the background changes meanwhile, it is
closed over the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

from ensue.model import Copies
from ensue.query.apart import Parts, PlainParts, kept_apart, parts_of, plain_parts, present_in
from ensue.query.arrivals import Arrival
from ensue.query.dataset import Columns, Graph, PlainGraph
from ensue.query.materialise import CONTEXT, Materialisation, kept
from ensue.query.partial import Partial
from ensue.query.parting import parted
from ensue.query.plain import Decode, Encode, facts_of, plain_facts, plain_rows, rows_of
from ensue.query.scopes import Bound, Loose, Scope, Scopes
from ensue.query.sources import Sources
from ensue.query.tree import ContinuousQuery
from ensue.windows.registered import Evaluation, Read
from ensue.windows.spec import CountWindow, Window


@dataclass
class _Seen:
    """What was read of a graph, or of its parts: at the close of which window."""

    window: Window
    graph: Graph | Parts
    rows: list[Arrival] | None = None
    """What came, where it may have to be closed over another background."""
    is_exact: bool = True
    missing: Callable[[], Partial | None] = lambda: None
    """What is missing of it now, while it is read; afterwards, what was."""


class Views:
    """The graphs of one query that streams feed, as they were when their windows closed."""

    def __init__(self, query: ContinuousQuery, scopes: Scopes, sources: Sources, *, checked: bool) -> None:
        """`checked`: what is read will be held against windows that are closed from scratch."""
        self.in_step = _is_in_step(query)
        """Whether each window is seen when it closes, and then never again."""
        self._query = query
        self._axis = scopes.axis
        self._bounds = scopes.bounds
        self._sources = sources
        self._checked = checked
        self._is_parted = query.is_parted
        self._collected = {position for part in scopes.loose for position in part.positions}
        self._seen: dict[str | None, _Seen] = {}
        self._contents: dict[int, tuple[Window, list[Arrival]]] = {}
        """The copies in the windows that have no scalar stamp, by position."""
        self._from_scratch: dict[str | None, Graph | Parts] = {}
        """What was read last and will be checked later, closed from scratch while that can be done."""

    # -- as time goes on ---------------------------------------------------------------------------

    def read(self, read: Read) -> None:
        """One of the windows closes now: take what is in it."""
        for name, bound in self._bounds.items():
            if bound.position == read.position:
                self._seen[name] = self._read(name, bound, read.window)
        if read.position in self._collected:
            log = self._sources.logs[self._query.streams[read.position].stream]
            self._contents[read.position] = (read.window, log.within(read.window))

    def _read(self, name: str | None, bound: Bound, window: Window) -> _Seen:
        source, threshold = self._sources.materialisations[bound.scope], bound.threshold(window)
        seen = _Seen(window, self._held(source, threshold), missing=lambda: source.partial(threshold))
        if self._sources.changes and not self.in_step:
            seen.rows = source.rows(threshold)
        if self._checked and not self.in_step:
            self._from_scratch[name] = self.closed(source.copies(threshold), bound.scope.graphs)
        return seen

    def _held(self, source: Materialisation, threshold: int) -> Graph | Parts:
        if self._query.violations:
            return source.read_wrong_apart(threshold) if self._is_parted else source.read_wrong(threshold)
        return source.read_apart(threshold) if self._is_parted else source.read(threshold)

    def keep(self) -> None:
        """Time goes on: hold on to what was read if an evaluation still to come may see it."""
        if not self.in_step:
            for seen in self._seen.values():
                if self._is_parted:
                    seen.graph = kept_apart(cast("Parts", seen.graph))
                else:
                    seen.graph = kept(cast("Graph", seen.graph))
                seen.missing = _always(seen.missing())

    def start_over(self) -> None:
        """The background is another from now on: what was read and may be seen again is closed over that."""
        self._from_scratch = {}
        for name, seen in {} if self.in_step else self._seen.items():
            if seen.rows is not None:
                seen.graph = self._closed_rows(seen.rows, self._bounds[name].scope.graphs)
            seen.is_exact = seen.rows is not None
            if self._checked:
                self._from_scratch[name] = seen.graph

    def exact_from(self, at: int) -> int | None:
        """From which instant on all is exact if the background changes then; None: that is not known.

        A window that was read before may be seen later, when it cannot be closed over another background.
        """
        unsure = {} if self.in_step else {name: it for name, it in self._seen.items() if it.rows is None}
        if unsure and self._axis == "count":
            return None
        streams = self._query.streams
        grids = [(streams[self._bounds[name].position].spec.grid, it) for name, it in unsure.items()]
        return max([at, *(grid.close(grid.after(it.window.close)) for grid, it in grids)])

    # -- for an evaluation -------------------------------------------------------------------------

    def is_seen(self, name: str | None, bound: Bound, evaluation: Evaluation) -> bool:
        """Whether the window that was read last is the one that an evaluation looks at."""
        seen = self._seen.get(name)
        return seen is not None and seen.window == evaluation.windows[bound.position]

    def are_exact(self, evaluation: Evaluation) -> bool:
        """Whether the windows that an evaluation looks at are closed over the background of now."""
        looked_at = (name for name, bound in self._bounds.items() if self.is_seen(name, bound, evaluation))
        return all(self._seen[name].is_exact for name in looked_at)

    def partial(self, evaluation: Evaluation) -> Partial | None:
        """What is missing of the windows that an evaluation looks at: to be asked once it has."""
        looked_at = (name for name, bound in self._bounds.items() if self.is_seen(name, bound, evaluation))
        return Partial.together(self._seen[name].missing() for name in looked_at)

    def graph(self, name: str | None, part: Bound | Loose | None, evaluation: Evaluation) -> Graph | Parts:
        """What an evaluation sees of a graph."""
        if isinstance(part, Loose):
            windows = (self._content(at, evaluation.windows[at]) for at in part.positions)
            return self._closed_rows(chain.from_iterable(windows), part.graphs)
        if part is None:
            return PlainGraph(self.background())
        if not self.is_seen(name, part, evaluation):
            # That window closed before anything came.
            still = self._still(part.scope)
            return PlainParts(still) if self._is_parted else PlainGraph(still)
        return self._seen[name].graph

    def scratch(self, name: str | None, part: Bound | Loose | None, evaluation: Evaluation) -> Graph | Parts:
        """The same, closed from scratch."""
        graph, seen = self.graph(name, part, evaluation), self._seen.get(name)
        if seen is None or graph is not seen.graph or not isinstance(part, Bound):
            return graph
        if name in self._from_scratch:
            return self._from_scratch[name]
        copies = self._sources.materialisations[part.scope].copies(part.threshold(seen.window))
        return self.closed(copies, part.scope.graphs)

    def background(self) -> Columns:
        """What is in the default graph without any stream."""
        return self._sources.background.closed(frozenset(self._query.default_graphs))

    def _still(self, scope: Scope) -> Columns:
        """What it sees of the background that is under a scope."""
        return Columns.none() if self._query.violations else self._sources.materialisations[scope].still

    def _content(self, position: int, window: Window) -> list[Arrival]:
        on = self._query.streams[position]
        if isinstance(on.spec, CountWindow):
            return self._sources.logs[on.stream].numbered(window)
        read, content = self._contents.get(position, (None, []))
        return content if read == window else []

    def _closed_rows(self, content: Iterable[Arrival], graphs: frozenset[str]) -> Graph | Parts:
        if self._query.partition is not None:
            name = self._query.partition.property
            keys = None if name is None else self._sources.background.keys(graphs, name)
            copies, unkeyed = parted(content, keys)
            return self.closed(copies, graphs, unkeyed)
        copies = Copies()
        for time, s, p, o, graph in content:
            copies.append(CONTEXT, s, p, o, time, graph)
        return self.closed(copies, graphs)

    def closed(self, copies: Copies, graphs: frozenset[str], unkeyed: int = 0) -> Graph | Parts:
        """Copies closed from scratch, as the query sees them; `unkeyed` more were in no partition."""
        background = self._sources.background
        if self._query.violations and self._is_parted:
            found = background.wrong_apart(copies, graphs)
            return PlainParts(Columns.none(), found, present_in(copies), unkeyed)
        if self._query.violations:
            return PlainGraph(live=background.wrong(copies, graphs))
        still = background.closed(graphs)
        if self._is_parted:
            return PlainParts(still, background.close_apart(copies, graphs), present_in(copies), unkeyed)
        return PlainGraph(still, background.close(copies, graphs))

    # -- written down ------------------------------------------------------------------------------

    @property
    def version(self) -> list[tuple[str, int, int]]:
        """Differs when `state` may."""
        read = [(name or "", *seen.window) for name, seen in self._seen.items()]
        return read + [(str(position), *window) for position, (window, _) in self._contents.items()]

    def state(self, decode: Decode) -> dict[str, Any]:
        """What may be seen again, as plain data in terms, not integers: for `resume`."""
        kept = {} if self.in_step else self._seen
        contents = {} if self.in_step else self._contents
        return {
            "seen": {name or "": [*it.window, _plain(it.graph, decode)] for name, it in kept.items()},
            "missing": {
                name or "": missing.json()
                for name, it in kept.items()
                if (missing := it.missing()) is not None
            },
            "rows": {
                name or "": plain_rows(it.rows, decode) for name, it in kept.items() if it.rows is not None
            },
            "contents": {
                str(at): [*window, plain_rows(rows, decode)] for at, (window, rows) in contents.items()
            },
        }

    def resume(self, state: Mapping[str, Any], encode: Encode) -> None:
        """Go on from a state; from the beginning if there is none."""
        self._seen, self._contents = {}, {}
        for name, (open_, close, facts) in state.get("seen", {}).items():
            still = self._still(self._bounds[name or None].scope)
            graph = (
                parts_of(facts, still, encode)
                if self._is_parted
                else PlainGraph(still, facts_of(facts, encode))
            )
            rows = state.get("rows", {}).get(name)
            came = None if rows is None else rows_of(rows, encode)
            missing = _always(Partial.of_json(state.get("missing", {}).get(name)))
            self._seen[name or None] = _Seen(Window(open_, close), graph, came, missing=missing)
        for at, (open_, close, rows) in state.get("contents", {}).items():
            self._contents[int(at)] = (Window(open_, close), rows_of(rows, encode))

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers that what was read uses."""
        contents = [content for _, content in self._contents.values()]
        contents += [seen.rows for seen in self._seen.values() if seen.rows is not None]
        arrivals = [arrival for content in contents for arrival in content]
        read = [*(seen.graph for seen in self._seen.values()), *self._from_scratch.values()]
        graphs = [
            facts for graph in read if isinstance(graph, PlainGraph) for facts in (graph.live, graph.still)
        ]
        parts = [column for graph in read if isinstance(graph, PlainParts) for column in graph.used_terms()]
        columns = [column.tolist() for facts in graphs for column in (facts.s, facts.p, facts.o)]
        return [*columns, *parts, [term for arrival in arrivals for term in arrival[1:]]]


def _always(partial: Partial | None) -> Callable[[], Partial | None]:
    return lambda: partial


def _plain(graph: Graph | Parts, decode: Decode) -> list[Any]:
    """What was kept of a graph or its parts, as plain data."""
    return (
        plain_parts(graph, decode)
        if isinstance(graph, PlainParts)
        else plain_facts(cast("Graph", graph).live, decode)
    )


def _is_in_step(query: ContinuousQuery) -> bool:
    """Whether each window is seen when it closes, and then never again."""
    grids = {(window.spec.grid.origin, window.spec.grid.step) for window in query.streams}
    return len(grids) == 1 and query.every_ms in (None, next(iter(grids))[1])
