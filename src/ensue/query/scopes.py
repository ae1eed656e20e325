"""Which closed set of facts each graph of a query is read from, and at which threshold.

A *scope* is what one maintainer keeps closed: the statements of some streams over a background. A
statement's stamp there is its time plus its stream's offset, so that one threshold serves windows of
different ranges: with ranges r and r' on streams s and s', `time > close - r` and `time' > close - r'`
say the same as `time + (r - r'') > close - r''` and `time' + (r' - r'') > close - r''`, where r'' is the
smaller. Two queries can share a scope iff streams and offsets are the same; their ranges may differ.

The scope of a query over events holds those that are not over, each in a context of its own, and the stamp of
a statement is the number of its event; it is shared with queries over the same events.

The scope of a partitioned query holds the same statements, but each partition in a context of its own: it
is shared with queries that are partitioned by the same key.

Where no scalar stamp exists, a window is *loose*: its copies are collected at its close and closed from
scratch. That is so where windows in one default graph do not move together, or one is a landmark and
one is not; for a count window that is looked at as time passes; and for f:timestamp over different
ranges, since an offset hides the time, or under a strategy without stamps. A window that is partitioned by
a property is loose, too, if streams may bring keys: which statements those concern is known at its close.
"""

from __future__ import annotations

from dataclasses import dataclass

from ensue.query.tree import ContinuousQuery, Partition, StreamWindow
from ensue.windows.events import EventWindow
from ensue.windows.registered import Axis
from ensue.windows.spec import CountWindow, Grid, Window

KEYS_FIXED = "if keys are in the background only, say --fixed-schema"


@dataclass(frozen=True, slots=True)
class Scope:
    """What one maintainer keeps closed."""

    axis: Axis
    offsets: frozenset[tuple[str, int]]
    """The streams, and what is added to the time (or number) of a statement of each. The least is 0."""
    graphs: frozenset[str] = frozenset()
    """The graphs of FROM, which are background here."""
    owner: tuple[str, str | None] | None = None
    """The query and graph that it serves alone; None: it is shared."""
    partition: Partition | None = None
    """What its statements are parted by; None: they are all together."""
    events: EventWindow | None = None
    """What the events are that its statements are in, each a context of its own; None: there are none."""

    @property
    def background_comes(self) -> bool:
        """Whether a stream brings some of its background."""
        return self.events is not None and self.events.until is not None

    @property
    def streams(self) -> list[str]:
        """The streams, in order of name."""
        return sorted(stream for stream, _ in self.offsets)


@dataclass(frozen=True, slots=True)
class Bound:
    """A graph of a query that is read from a scope when the query's window `position` closes."""

    scope: Scope
    position: int
    least: int | None
    """The shortest range; None for a landmark, which opens where it opens."""

    def threshold(self, window: Window) -> int:
        """The stamp above which the scope's facts are in the graph, at the close of this window."""
        return window.open if self.least is None else window.close - self.least


@dataclass(frozen=True, slots=True)
class Loose:
    """A graph of a query whose windows (by position) have no scalar stamp together."""

    positions: tuple[int, ...]
    graphs: frozenset[str]
    reason: str


@dataclass(frozen=True, slots=True)
class Scopes:
    """Where the graphs of a query come from. `default` is None if only background is in it."""

    axis: Axis
    default: Bound | Loose | None
    named: dict[str, Bound | Loose]

    @property
    def bounds(self) -> dict[str | None, Bound]:
        """The graphs that are read from a scope, by name (None: the default graph)."""
        every: list[tuple[str | None, Bound | Loose | None]] = [(None, self.default), *self.named.items()]
        return {name: part for name, part in every if isinstance(part, Bound)}

    @property
    def loose(self) -> list[Loose]:
        """The graphs that are closed from scratch."""
        return [part for part in (self.default, *self.named.values()) if isinstance(part, Loose)]


def axis_of(query: ContinuousQuery) -> Axis:
    """What a query's windows move along: time, the sequence numbers of its one stream, or its events.

    >>> from ensue.query.language import parse_query
    >>> axis_of(parse_query("ASK FROM STREAM <urn:s> [RANGE TRIPLES 5] { ?s ?p ?o }"))
    'count'
    """
    if query.event_window is not None:
        return "event"
    counts = all(isinstance(window.spec, CountWindow) for window in query.streams)
    alone = len({window.stream for window in query.streams}) == 1
    return "count" if counts and alone and query.every_ms is None else "time"


def background_name(stream: str, window: EventWindow) -> str:
    """What the background is called that a stream of events brings, among the graphs of a query.

    No graph has such a name: it is no IRI.
    """
    return f"{stream} [{window}]"


def find_scopes(
    query: ContinuousQuery, *, alone: bool = False, timestamps: bool = False, keys_come: bool = True
) -> Scopes:
    """Where the graphs of a query come from.

    `alone`: no scope is shared, as the maintainer has no stamps and can be read at one threshold only.
    `timestamps`: the query asks for f:timestamp. `keys_come`: streams may bring keys of partitions.

    >>> from ensue.query.language import parse_query
    >>> streams = "FROM STREAM <urn:a> [RANGE 9s STEP 1s] FROM STREAM <urn:b> [RANGE 5s STEP 1s]"
    >>> found = find_scopes(parse_query(f"ASK {streams} {{ ?s ?p ?o }}"))
    >>> sorted(found.default.scope.offsets), found.default.threshold(Window(1000, 10_000))
    ([('urn:a', 4000), ('urn:b', 0)], 5000)
    """
    axis = axis_of(query)
    if query.events is not None:  # What streams bring is seen by its temporal expressions alone.
        return Scopes(axis, None, {})
    unnamed = [k for k, window in enumerate(query.streams) if window.name is None]
    positions = {window.name: (k,) for k, window in enumerate(query.streams) if window.name is not None}
    finder = _Finder(query, axis, alone, timestamps, keys_come)
    default = finder.find(None, tuple(unnamed)) if unnamed else None
    return Scopes(axis, default, {name: finder.find(name, found) for name, found in positions.items()})


@dataclass(frozen=True, slots=True)
class _Finder:
    query: ContinuousQuery
    axis: Axis
    alone: bool
    timestamps: bool
    keys_come: bool

    def find(self, name: str | None, positions: tuple[int, ...]) -> Bound | Loose:
        """Where the graph of this name, made of these windows, comes from."""
        windows = [self.query.streams[position] for position in positions]
        graphs = frozenset(self.query.default_graphs)
        reason = self._why_loose(windows)
        if reason is not None:
            return Loose(positions, graphs, reason)
        lengths = [window.spec.grid.length for window in windows]
        least = None if lengths[0] is None else min(length for length in lengths if length is not None)
        offsets = frozenset(
            (window.stream, (length or 0) - (least or 0))
            for window, length in zip(windows, lengths, strict=True)
        )
        owner = (self.query.name, name) if self.alone else None
        scope = Scope(self.axis, offsets, graphs, owner, self.query.partition, self.query.event_window)
        return Bound(scope, positions[0], least)

    def _why_loose(self, windows: list[StreamWindow]) -> str | None:
        grids = [window.spec.grid for window in windows]
        if self.axis == "event":
            return None
        if self.axis == "time" and any(isinstance(window.spec, CountWindow) for window in windows):
            return "a count window is looked at as time passes, so stamps are no numbers of its own"
        if any(not _move_together(grids[0], grid) for grid in grids):
            return "windows that do not move together are in one default graph"
        if self.timestamps and self.alone:
            return "f:timestamp asks for stamps, and the strategy keeps none"
        if self.timestamps and len({grid.length for grid in grids}) > 1:
            return "f:timestamp asks for times, and different ranges share one scale of stamps"
        partition = self.query.partition
        if partition is not None and partition.property is not None and self.keys_come:
            return f"a stream may bring keys of {partition} ({KEYS_FIXED})"
        return None


def _move_together(one: Grid, other: Grid) -> bool:
    landmarks = (one.length is None) == (other.length is None)
    return landmarks and (one.origin, one.step) == (other.origin, other.step)
