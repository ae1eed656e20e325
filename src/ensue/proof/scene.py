"""What a query saw at one moment, closed from scratch: where its facts and answers are explained."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.model import FOREVER, NEVER, Triple
from ensue.proof.closing import OR, Brought, ground, hold
from ensue.proof.held import Ground, Held, columns_of
from ensue.proof.memory import Memory, Moment
from ensue.query.apart import NO_KEY
from ensue.query.arrivals import Arrival
from ensue.query.background import Background
from ensue.query.dataset import Dataset, PlainGraph
from ensue.query.materialise import CONTEXT
from ensue.query.parting import parted
from ensue.query.running import RunningQuery, leaves
from ensue.query.scopes import Bound, Loose
from ensue.query.sources import Sources
from ensue.rules.tree import RuleSet
from ensue.windows.spec import CountWindow, Window, shown

Came = tuple[str, Arrival]
"""A stream, and a row of stamp, subject, predicate, object and graph name."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The graphs of a query (None: the default graph) at one moment; of a partitioned one, in one part."""

    running: RunningQuery
    graphs: Mapping[str | None, Held]
    window: Window | None = None
    partition: str | None = None
    offsets: Mapping[str, int] = field(default_factory=dict)
    thresholds: Mapping[str | None, int] = field(default_factory=dict)
    """For each graph that windows feed: what has a stamp at or below it has expired."""

    def until(self, graph: str | None, stamp: int) -> int | None:
        """The close at which what has a stamp in a graph will be gone; None: never, or see `unsure`."""
        bound = self.running.bounds.get(graph)
        if bound is None:
            return None
        return leaves(bound, self.running.query.streams[bound.position].spec, stamp)

    def unsure(self, graph: str | None, stamp: int) -> str | None:
        """Why it cannot be told until when something holds; None: it can."""
        scopes = self.running.scopes
        part = scopes.named.get(graph) if graph is not None else scopes.default
        return part.reason if isinstance(part, Loose) and stamp < FOREVER else None

    def dataset(self) -> Dataset:
        """The graphs for an evaluation."""
        apart = self.running.query.named_graphs
        held = {
            name: PlainGraph(columns_of(graph.live, graph.dictionary) if name in apart else graph.columns)
            for name, graph in self.graphs.items()
        }
        named = {name: graph for name, graph in held.items() if name is not None}
        dictionary = next(iter(self.graphs.values())).dictionary
        return Dataset(dictionary, held[None], named, frozenset(self.running.scopes.named))


@dataclass(slots=True)
class _Over:
    """A background, and what was closed of it."""

    background: Background
    dictionary: Dictionary
    _grounds: dict[frozenset[str], Ground] = field(default_factory=dict)

    def ground(self, graphs: frozenset[str]) -> Ground:
        """The background and some graphs, closed."""
        if graphs not in self._grounds:
            self._grounds[graphs] = ground(self.background, self.dictionary, graphs)
        return self._grounds[graphs]

    def forget(self, graphs: frozenset[str]) -> None:
        """A graph among these is another from now on."""
        self._grounds.pop(graphs, None)


class Scenes:
    """Makes scenes: of evaluations that are remembered, or else of what is held now."""

    def __init__(self, sources: Sources, background: Background, memory: Memory | None) -> None:
        """`background` has the rules that windows are closed under."""
        self._sources = sources
        self._memory = memory
        self._overs = {self._number: _Over(background, sources.dictionary)}
        """The backgrounds that queries have seen, by how many updates there were before."""
        self._made: dict[object, list[Scene]] = {}
        self._held: dict[object, Mapping[int, Held]] = {}
        self._until = -1
        """The moment up to which scenes are known that were made before."""

    @property
    def _number(self) -> int:
        return 0 if self._memory is None else self._memory.background

    def start_over(self, background: Background) -> None:
        """The background is another from now on; those stay that remembered evaluations have seen."""
        oldest = self._number if self._memory is None else self._memory.oldest_background
        self._overs = {number: over for number, over in self._overs.items() if number >= oldest}
        self._overs[self._number] = _Over(background, self._sources.dictionary)

    def background_came(self, graphs: frozenset[str]) -> None:
        """A stream has brought one of these graphs."""
        self._overs[self._number].forget(graphs)

    def under(self, rules: RuleSet) -> Scenes:
        """Scenes of the same under other rules."""
        made = Scenes(self._sources, self._sources.background, self._memory)
        made._overs = {
            number: _Over(over.background.under(rules), over.dictionary)
            for number, over in self._overs.items()
        }
        return made

    def _over(self, moment: Moment | None) -> _Over:
        return self._overs[self._number if moment is None else moment.background]

    def moment(self, running: RunningQuery, at: int | None = None, *, back: int = 0) -> Moment | None:
        """The evaluation of a query whose window closed `at` (None: the last but `back`); None: of now.

        Raises UsageError where that one is not remembered.
        """
        name, moments = running.name, [] if self._memory is None else self._memory.moments(running.name)
        if at is None and back == 0:
            return moments[-1] if moments else None
        if self._memory is None:
            what = f"what the query '{name}' saw before is not remembered"
            raise UsageError(what, hint="make the reasoner with explain=True")
        closes = [_window(running, moment).close for moment in moments]
        if at is not None and at in closes:
            return moments[closes.index(at)]
        if at is None and len(moments) > back:
            return moments[-1 - back]
        when = "before the last time" if at is None else f"at {at}"
        known = ", ".join(map(str, closes)) or "none"
        raise UsageError(f"what the query '{name}' saw {when} is not remembered", hint=f"it knows of {known}")

    def of(self, running: RunningQuery, moment: Moment | None) -> list[Scene]:
        """What a query saw then, or (None) would see now: one scene, or one for each partition."""
        if self._memory is None:
            return list(self._make(running, moment))
        if self._until < self._memory.now:
            self._made.clear()
            self._held.clear()
            self._until = self._memory.now
        if (running, moment) not in self._made:
            self._made[running, moment] = list(self._make(running, moment))
        return self._made[running, moment]

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use besides what is pinned and what reasoners use."""
        return [column for over in self._overs.values() for column in over.background.used_terms()]

    def background(self, graphs: frozenset[str] = frozenset()) -> Held:
        """What holds without any stream, over these graphs of FROM."""
        return Held(self._over(None).ground(graphs), (), {})

    def _make(self, running: RunningQuery, moment: Moment | None) -> Iterator[Scene]:
        fed = {name: self._fed(running, name, moment) for name in (None, *running.scopes.named)}
        over = self._over(moment)
        named: dict[str | None, Held] = {iri: _from_named(over, iri) for iri in running.query.named_graphs}
        graphs = frozenset(running.query.default_graphs)
        empty = Held(over.ground(graphs), (), {})
        window = None if moment is None else _window(running, moment)
        parted_by = running.query.partition
        contexts = sorted({context for held in fed.values() for context in held}) if parted_by else [CONTEXT]
        for context in contexts:
            seen = {name: held.get(context, empty) for name, held in fed.items()}
            key = (
                None if parted_by is None else self._sources.dictionary.decode_all([context - 1])[0] or NO_KEY
            )
            yield Scene(running, seen | named, window, key, _offsets(running), _thresholds(running, moment))

    def _fed(self, running: RunningQuery, name: str | None, moment: Moment | None) -> Mapping[int, Held]:
        """What a graph holds that windows feed, by context."""
        part = running.scopes.default if name is None else running.scopes.named[name]
        if part is None:
            return {}
        graphs = part.scope.graphs if isinstance(part, Bound) else part.graphs
        over = self._over(moment)
        if moment is None and isinstance(part, Bound):
            return hold(over.background, over.ground(graphs), self._held_now(part), graphs)
        key = (_content_key(running, name, moment), part.scope if isinstance(part, Bound) else part)
        if key not in self._held:
            came = list(self._came(running, name, part, moment))
            brought = _parted(running, over.background, graphs, came)
            self._held[key] = hold(over.background, over.ground(graphs), brought, graphs)
        return self._held[key]

    def _held_now(self, part: Bound) -> Iterator[Brought]:
        source = OR.join(part.scope.streams)
        for context, s, p, o, _, stamp in self._sources.materialisations[part.scope].copies(NEVER):
            yield Brought(source, stamp, (s, p, o), context)

    def _came(
        self, running: RunningQuery, name: str | None, part: Bound | Loose, moment: Moment | None
    ) -> Iterator[Came]:
        """What the windows of a graph held, or hold now."""
        for at, on in enumerate(running.query.streams):
            if on.name != name:
                continue
            if moment is None or self._memory is None:
                every = self._sources.logs[on.stream].within(Window(NEVER, FOREVER))
                yield from ((on.stream, row) for row in every)
                continue
            offset = _offset(part, on.spec.grid.length)
            counted = isinstance(on.spec, CountWindow)
            window = moment.evaluation.windows[at]
            for copy in self._memory.within(on.stream, window, moment.read[at], counted=counted):
                by_number = running.scopes.axis == "count" and isinstance(part, Bound)
                stamp = copy.number if by_number else min(copy.row[0], FOREVER - 1 - offset) + offset
                yield on.stream, (stamp, *copy.row[1:])


def _parted(
    running: RunningQuery, background: Background, graphs: frozenset[str], came: list[Came]
) -> Iterable[Brought]:
    partition = running.query.partition
    if partition is None:
        return [Brought(stream, stamp, (s, p, o)) for stream, (stamp, s, p, o, _) in came]
    keys = None if partition.property is None else background.keys(graphs, partition.property)
    copies, _ = parted((row for _, row in came), keys)
    streams: dict[Triple, dict[str, None]] = {}
    for stream, (_, s, p, o, _) in came:
        streams.setdefault((s, p, o), {})[stream] = None
    return [
        Brought(OR.join(streams[s, p, o]), stamp, (s, p, o), context) for context, s, p, o, _, stamp in copies
    ]


def _from_named(over: _Over, iri: str) -> Held:
    """A graph of FROM NAMED: closed over the background, which it does not show."""
    [_, (_, copies)] = over.background.stated(frozenset([iri]))
    rows = zip(copies.s, copies.p, copies.o, strict=True)
    brought = [Brought(iri, FOREVER, triple) for triple in rows]
    below = over.ground(frozenset())
    return hold(over.background, below, brought).get(CONTEXT) or Held(below, (), {})


def _content_key(running: RunningQuery, name: str | None, moment: Moment | None) -> object:
    """The same for queries whose windows hold the same."""
    if moment is None:
        return running
    windows = zip(running.query.streams, moment.evaluation.windows, moment.read, strict=True)
    held = tuple((on.stream, on.spec, window, read) for on, window, read in windows if on.name == name)
    return moment.background, held


def _offset(part: Bound | Loose, length: int | None) -> int:
    return (length or 0) - (part.least or 0) if isinstance(part, Bound) else 0


def _offsets(running: RunningQuery) -> dict[str, int]:
    """What was added to the times of each stream, where that is one number."""
    return {stream: offset for bound in running.bounds.values() for stream, offset in bound.scope.offsets}


def _thresholds(running: RunningQuery, moment: Moment | None) -> dict[str | None, int]:
    if moment is None:
        return {}
    found: dict[str | None, int] = {}
    for on, window in zip(running.query.streams, moment.evaluation.windows, strict=True):
        bound = running.bounds.get(on.name)
        opens = window.open if bound is None else bound.threshold(window)
        found[on.name] = min(opens, found.get(on.name, opens))
    return found


def _window(running: RunningQuery, moment: Moment) -> Window:
    """From the first open of the windows to the instant, with the user's own bounds."""
    pairs = zip(running.query.streams, moment.evaluation.windows, strict=True)
    windows = [shown(on.spec, window) for on, window in pairs]
    return Window(min(each.open for each in windows), max(each.close for each in windows))
