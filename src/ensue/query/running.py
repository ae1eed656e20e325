"""A query as it runs: its windows are read as they close, and it is evaluated over what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from ensue.dictionary import Dictionary
from ensue.events.engine import EventEngine
from ensue.model import FOREVER, Copies
from ensue.query.answers import Answers
from ensue.query.apart import (
    NO_KEY,
    Parts,
    PlainParts,
    Present,
    kept_apart,
    parts_of,
    plain_parts,
    present_in,
)
from ensue.query.arrivals import Arrival
from ensue.query.background import Background
from ensue.query.check import Check
from ensue.query.choose import Choice
from ensue.query.compiled.apart import AtOnce
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.compiled.plan import Plan
from ensue.query.dataset import Columns, Dataset, Graph, Pattern, PlainGraph
from ensue.query.emit import Emitter, PartEmitter
from ensue.query.loose import StreamLog
from ensue.query.materialise import CONTEXT, Materialisation, kept
from ensue.query.occurred import Occurred
from ensue.query.output import Result
from ensue.query.parting import parted
from ensue.query.partitioned import Keyed, There
from ensue.query.plain import Decode, facts_of, plain_facts, plain_rows, rows_of
from ensue.query.scopes import Bound, Loose, Scope, Scopes
from ensue.query.share import Share
from ensue.query.stages import Stages
from ensue.query.tree import ContinuousQuery
from ensue.windows.registered import Evaluation, Read
from ensue.windows.spec import CountWindow, Spec, Window, shown

_Reads = Callable[["str | None", "Bound | Loose | None", Evaluation], "Graph | Parts"]


@dataclass
class Sources:
    """Where the facts of queries come from; shared by all of them."""

    dictionary: Dictionary
    background: Background
    stages: Stages = field(default_factory=Stages)
    groups: dict[tuple[Plan, Scope, bool], int] = field(default_factory=dict)
    """Queries that ask the same of the same scope, by number."""
    changes: bool = False
    """Whether the background may change: then what is seen later than it is read may be closed once more."""
    materialisations: dict[Scope, Materialisation] = field(default_factory=dict)
    logs: dict[str, StreamLog] = field(default_factory=dict)


@dataclass
class _Seen:
    """What was read of a graph, or of its parts: at the close of which window."""

    window: Window
    graph: Graph | Parts
    rows: list[Arrival] | None = None
    """What came, where it may have to be closed over another background."""
    is_exact: bool = True


class RunningQuery:
    """A registered query with its evaluator, and what it has read so far."""

    def __init__(
        self,
        query: ContinuousQuery,
        scopes: Scopes,
        choice: Choice,
        named: Mapping[str, Graph],
        sources: Sources,
        *,
        until: bool = False,
        share: Share | None = None,
        check: Check | None = None,
        events: EventEngine | None = None,
    ) -> None:
        """`named` are the graphs of FROM NAMED; `until`: say when answers will leave.

        `share`: give only what is one's own, the rest is somebody else's; None: all is.
        `check`: hold answers against those over windows that are closed from scratch.
        `events` finds the occurrences of its temporal expressions, if it has any.
        """
        self.query = query
        self.events = events
        self.scopes = scopes
        self.bounds = scopes.bounds
        self.loose = [query.streams[k] for part in scopes.loose for k in part.positions]
        """The windows whose copies are collected at their close."""
        self.choice = choice
        self.gives_parts = share is not None and share.cut is not None
        """Whether somebody has to make answers of what it gives."""
        self.emitter = (PartEmitter if self.gives_parts else Emitter)(query.relation)
        self.evaluations = 0
        self.unkeyed = 0
        """How many statements were in no partition, counted in every window that they were in."""
        self._share = share
        self._named = named
        self._sources = sources
        self._tells_until = until
        self._check = check
        self._from_scratch: dict[str | None, Graph | Parts] = {}
        """What was read last and will be checked later, closed from scratch while that can be done."""
        self.in_step = _is_in_step(query)
        """Whether each window is seen when it closes, and then never again."""
        self._group = self._find_group()
        self._seen: dict[str | None, _Seen] = {}
        self._contents: dict[int, tuple[Window, list[Arrival]]] = {}
        self._occurred: Occurred | None = None
        """What a temporal query sees of the window that was read last."""

    @property
    def _is_parted(self) -> bool:
        return self.query.partition is not None or self.query.event_window is not None

    @property
    def name(self) -> str:
        """The query's name."""
        return self.query.name

    @property
    def dictionary(self) -> Dictionary:
        """The integers that its plan and its graphs are in."""
        return self._sources.dictionary

    def read(self, read: Read) -> None:
        """One of the windows closes now: take what is in it."""
        for name, bound in self.bounds.items():
            if bound.position == read.position:
                source = self._sources.materialisations[bound.scope]
                threshold = bound.threshold(read.window)
                self._seen[name] = _Seen(read.window, self._read(source, threshold))
                if self._sources.changes and not self.in_step:
                    self._seen[name].rows = source.rows(threshold)
                if self._check is not None and not self.in_step:
                    self._from_scratch[name] = self._closed(source.copies(threshold), bound.scope.graphs)
        if self.events is not None:
            self.events.advance(read.window.close)
            self._occurred = self.events.read(read.window)
        on = self.query.streams[read.position]
        if on in self.loose:
            self._contents[read.position] = (read.window, self._sources.logs[on.stream].within(read.window))

    def _read(self, source: Materialisation, threshold: int) -> Graph | Parts:
        if self.query.violations:
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

    def start_over(self) -> None:
        """The background is another from now on: what was read and may be seen again is closed over that."""
        background = self._sources.background
        self._named = {iri: background.named(iri) for iri in self.query.named_graphs}
        self._from_scratch = {}
        for name, seen in {} if self.in_step else self._seen.items():
            if seen.rows is not None:
                seen.graph = self._closed_rows(seen.rows, self.bounds[name].scope.graphs)
            seen.is_exact = seen.rows is not None
            if self._check is not None:
                self._from_scratch[name] = seen.graph

    def exact_from(self, at: int) -> int | None:
        """From which instant on it is exact if the background changes then; None: that is not known.

        A window that was read before may be seen later, when it cannot be closed over another background.
        """
        unsure = {} if self.in_step else {name: it for name, it in self._seen.items() if it.rows is None}
        if unsure and self.scopes.axis == "count":
            return None
        grids = [
            (self.query.streams[self.bounds[name].position].spec.grid, it) for name, it in unsure.items()
        ]
        return max([at, *(grid.close(grid.after(it.window.close)) for grid, it in grids)])

    def shared(self, evaluation: Evaluation) -> tuple[int, int] | None:
        """Which other queries it can be evaluated with, by number, and its threshold; None: with none."""
        if self._group is None or not isinstance(self.scopes.default, Bound):
            return None
        seen = self._seen.get(None)
        if seen is None or seen.window != evaluation.windows[self.scopes.default.position]:
            return None
        return self._group, self.scopes.default.threshold(seen.window)

    def ask(self, evaluation: Evaluation) -> Answers:
        """All answers of an evaluation."""
        with self._sources.stages.of("evaluate"):
            if not self._is_parted:
                return self._own(evaluation, self._graph)
            parts, occurred = self._parts(evaluation, self._graph), self._occurrences(evaluation)
            if self._owns(NO_KEY):
                self.unkeyed += occurred.unkeyed + sum(each.unkeyed for each in parts.values())
            return self._in_parts(parts, occurred)

    def _own(self, evaluation: Evaluation, read: _Reads) -> Answers:
        if self._is_parted:
            return self._in_parts(self._parts(evaluation, read), self._occurrences(evaluation))
        answers = self.choice.evaluator.evaluate(self._dataset(evaluation, read))
        if self._share is None or self.gives_parts:
            return answers
        return answers.where(self._share.variable, self._share.owns)

    def evaluate(self, evaluation: Evaluation, known: Answers | None = None) -> Result:
        """The answers that are due; `known` are all answers, if they have been found already."""
        self.evaluations += 1
        every = self.ask(evaluation) if known is None else known
        window = self._shown(evaluation)
        if self._check is not None and self._check.is_due(self.evaluations):
            wanted = self._own(evaluation, self._scratch)
            self._check.compare(self.query, f"({window.open}, {window.close}]", every, wanted)
        answers = self.emitter.emit(every)
        return Result(
            self.name,
            window.open,
            window.close,
            answers,
            self._until(answers),
            exact=evaluation.exact and self._sees_exactly(evaluation),
            part=self.gives_parts,
        )

    def _sees_exactly(self, evaluation: Evaluation) -> bool:
        """Whether the windows that it sees are closed over the background of now."""
        seen = ((self._seen.get(name), bound.position) for name, bound in self.bounds.items())
        return all(it is None or it.is_exact or it.window != evaluation.windows[at] for it, at in seen)

    @property
    def version(self) -> list[Any]:
        """Differs when `state` may; empty where there is nothing to remember."""
        if self.in_step and not self.emitter.remembers:
            return []
        read = [(name or "", *seen.window) for name, seen in self._seen.items()]
        read += [(str(position), *window) for position, (window, _) in self._contents.items()]
        read += [] if self._occurred is None else [("", *self._occurred.window)]
        return [self.evaluations, *sorted(read)]

    def state(self) -> dict[str, Any]:
        """What it remembers between evaluations, as plain data in terms, not integers: for `resume`."""
        kept = {} if self.in_step else self._seen
        contents = {} if self.in_step else self._contents
        decode = self._sources.dictionary.decode_all
        return {
            "bag": self.emitter.bag,
            "seen": {name or "": [*it.window, _plain(it.graph, decode)] for name, it in kept.items()},
            "rows": {
                name or "": plain_rows(it.rows, decode) for name, it in kept.items() if it.rows is not None
            },
            "contents": {
                str(at): [*window, plain_rows(rows, decode)] for at, (window, rows) in contents.items()
            },
            "occurred": None if self.in_step or not self._occurred else self._occurred.plain(decode),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; from the beginning if there is none."""
        encode = self._sources.dictionary.encode_all
        self._seen, self._contents = {}, {}
        self.emitter.restore(state.get("bag"))
        occurred = state.get("occurred")
        self._occurred = None if occurred is None else Occurred.of_plain(occurred, encode)
        for name, (open_, close, facts) in state.get("seen", {}).items():
            part = self.scopes.named[name] if name else self.scopes.default
            assert isinstance(part, Bound)
            still = self._still(part.scope)
            graph = (
                parts_of(facts, still, encode)
                if self._is_parted
                else PlainGraph(still, facts_of(facts, encode))
            )
            rows = state.get("rows", {}).get(name)
            came = None if rows is None else rows_of(rows, encode)
            self._seen[name or None] = _Seen(Window(open_, close), graph, came)
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
        graphs += [graph.still for graph in self._named.values()]
        parts = [column for graph in read if isinstance(graph, PlainParts) for column in graph.used_terms()]
        columns = [column.tolist() for facts in graphs for column in (facts.s, facts.p, facts.o)]
        events = [] if self._occurred is None else self._occurred.terms
        events += [] if self.events is None else self.events.used_terms()
        return [*columns, *parts, *events, [term for arrival in arrivals for term in arrival[1:]]]

    def _find_group(self) -> int | None:
        """A number that is the same for queries with the same plan over the same scope alone."""
        evaluator = self.choice.evaluator
        alone = isinstance(self.scopes.default, Bound) and not (self.scopes.named or self._named)
        # Blank nodes that CONSTRUCT makes are each query's own, and so is its share.
        if (
            self._share is not None
            or self._is_parted
            or not alone
            or not isinstance(evaluator, CompiledEvaluator)
            or evaluator.plan.template
        ):
            return None
        groups = self._sources.groups
        key = evaluator.plan, self.bounds[None].scope, self.query.violations
        return groups.setdefault(key, len(groups))

    @property
    def reads_only_answers(self) -> bool:
        """Whether it reads nothing of its windows but the solutions of the patterns that it watches."""
        compiled = isinstance(self.choice.evaluator, CompiledEvaluator)
        return self.in_step and compiled and not self.query.violations

    def watched(self, graph: str | None) -> list[tuple[Pattern, ...]]:
        """The basic graph patterns that are matched in the window of this name (None: default graph)."""
        evaluator = self.choice.evaluator
        if not isinstance(evaluator, CompiledEvaluator) or self.query.violations:
            return []
        matched = (each for each in evaluator.patterns if each.graph == graph or _is_variable(each.graph))
        return [each.patterns for each in matched if graph is not None or not _is_variable(each.graph)]

    def _dataset(self, evaluation: Evaluation, read: _Reads) -> Dataset:
        named = dict(self._named)
        for name, part in self.scopes.named.items():
            named[name] = cast("Graph", read(name, part, evaluation))
        default = cast("Graph", read(None, self.scopes.default, evaluation))
        windows = frozenset(self.scopes.named)
        return Dataset(
            self._sources.dictionary,
            default,
            named,
            windows,
            occurrences=self._occurrences(evaluation).composed,
        )

    def _occurrences(self, evaluation: Evaluation) -> Occurred:
        """What temporal expressions have composed inside the window that is looked at."""
        window = evaluation.windows[0]
        if self.events is None:
            return Occurred(window)
        if self._occurred is not None and self._occurred.window == window:
            return self._occurred
        return self.events.read(Window(FOREVER, FOREVER))  # That window closed before anything came.

    def _parts(self, evaluation: Evaluation, read: _Reads) -> dict[str | None, Parts]:
        """The graphs that streams feed, in parts."""
        graphs = [(None, self.scopes.default), *self.scopes.named.items()]
        fed = [(name, part) for name, part in graphs if part is not None]
        return {name: cast("Parts", read(name, part, evaluation)) for name, part in fed}

    def _in_parts(self, parts: Mapping[str | None, Parts], occurred: Occurred) -> Answers:
        partitions = self._there([*(each.present for each in parts.values()), occurred.present])
        found = self._at_once(parts, occurred, partitions)
        if found is None:
            found = Keyed.found(self.choice.evaluator, self._datasets(parts, occurred, partitions))
        return found.part(self.query) if self.gives_parts else found.whole(self.query)

    def _at_once(
        self, parts: Mapping[str | None, Parts], occurred: Occurred, partitions: Sequence[There]
    ) -> Keyed | None:
        """The answers in all partitions by one evaluation, where that can be; None: it cannot."""
        evaluator, dictionary = self.choice.evaluator, self._sources.dictionary
        if not isinstance(evaluator, CompiledEvaluator):
            return None
        default = PlainGraph() if None in parts else PlainGraph(self._background())
        contexts = [each.context for each in partitions]
        found = evaluator.evaluate_at_once(
            AtOnce(dictionary, default, self._named, parts, contexts, occurred.composed)
        )
        return None if found is None else Keyed.found_at_once(*found, partitions)

    def _there(self, present: Iterable[Present]) -> list[There]:
        """The partitions of one's own that hold something, in the order of their keys."""
        newest: dict[int, int] = {}
        for each in present:
            newest |= {context: max(at, newest.get(context, at)) for context, at in each.items()}
        keys = self._sources.dictionary.decode_all([context - 1 for context in newest])
        found = sorted(zip((key or NO_KEY for key in keys), newest, strict=True))
        return [There(key, context, newest[context]) for key, context in found if self._owns(key)]

    def _datasets(
        self, parts: Mapping[str | None, Parts], occurred: Occurred, partitions: Iterable[There]
    ) -> Iterator[tuple[There, Dataset]]:
        """What the query is evaluated over in each partition."""
        dictionary, windows = self._sources.dictionary, frozenset(self.scopes.named)
        still = None if None in parts else PlainGraph(self._background())
        occurrences = occurred.apart()
        for each in partitions:
            graphs = {name: part.graph(each.context) for name, part in parts.items()}
            named = dict(self._named) | {name: graph for name, graph in graphs.items() if name is not None}
            default, found = still or graphs[None], occurrences(each.context)
            yield each, Dataset(dictionary, default, named, windows, f" in {each.key}", found)

    def _owns(self, key: str) -> bool:
        return self._share is None or self._share.owns(key)

    def _graph(self, name: str | None, part: Bound | Loose | None, evaluation: Evaluation) -> Graph | Parts:
        if isinstance(part, Loose):
            return self._closed_from_scratch(part, evaluation)
        if part is None:
            return PlainGraph(self._background())
        seen = self._seen.get(name)
        if seen is None or seen.window != evaluation.windows[part.position]:
            # That window closed before anything came.
            still = self._still(part.scope)
            return PlainParts(still) if self._is_parted else PlainGraph(still)
        return seen.graph

    def _scratch(self, name: str | None, part: Bound | Loose | None, evaluation: Evaluation) -> Graph | Parts:
        """The same, closed from scratch."""
        graph, seen = self._graph(name, part, evaluation), self._seen.get(name)
        if seen is None or graph is not seen.graph or not isinstance(part, Bound):
            return graph
        if name in self._from_scratch:
            return self._from_scratch[name]
        copies = self._sources.materialisations[part.scope].copies(part.threshold(seen.window))
        return self._closed(copies, part.scope.graphs)

    def _still(self, scope: Scope) -> Columns:
        """What it sees of the background that is under a scope."""
        return Columns.none() if self.query.violations else self._sources.materialisations[scope].still

    def _background(self) -> Columns:
        return self._sources.background.closed(frozenset(self.query.default_graphs))

    def _closed_from_scratch(self, loose: Loose, evaluation: Evaluation) -> Graph | Parts:
        windows = (self._content(at, evaluation.windows[at]) for at in loose.positions)
        return self._closed_rows(chain.from_iterable(windows), loose.graphs)

    def _closed_rows(self, content: Iterable[Arrival], graphs: frozenset[str]) -> Graph | Parts:
        if self.query.partition is not None:
            name = self.query.partition.property
            keys = None if name is None else self._sources.background.keys(graphs, name)
            copies, unkeyed = parted(content, keys)
            return self._closed(copies, graphs, unkeyed)
        copies = Copies()
        for time, s, p, o, graph in content:
            copies.append(CONTEXT, s, p, o, time, graph)
        return self._closed(copies, graphs)

    def _closed(self, copies: Copies, graphs: frozenset[str], unkeyed: int = 0) -> Graph | Parts:
        background = self._sources.background
        if self.query.violations and self._is_parted:
            found = background.wrong_apart(copies, graphs)
            return PlainParts(Columns.none(), found, present_in(copies), unkeyed)
        if self.query.violations:
            return PlainGraph(live=background.wrong(copies, graphs))
        still = background.closed(graphs)
        if self._is_parted:
            return PlainParts(still, background.close_apart(copies, graphs), present_in(copies), unkeyed)
        return PlainGraph(still, background.close(copies, graphs))

    def _content(self, position: int, window: Window) -> list[Arrival]:
        on = self.query.streams[position]
        if isinstance(on.spec, CountWindow):
            return self._sources.logs[on.stream].numbered(window)
        read, content = self._contents.get(position, (None, []))
        return content if read == window else []

    def _shown(self, evaluation: Evaluation) -> Window:
        """The window as the user's own bounds have it; of several, from the first open to the instant."""
        windows = [
            shown(on.spec, window) for on, window in zip(self.query.streams, evaluation.windows, strict=True)
        ]
        timed = [w for w, on in zip(windows, self.query.streams, strict=True) if self._moves(on.spec)]
        if len(windows) == 1 and timed:
            return windows[0]
        specs = [on.spec for on in self.query.streams]
        first = next((spec for spec in specs if self._moves(spec)), specs[0])
        at = shown(first, Window(evaluation.at, evaluation.at)).close
        return Window(min((window.open for window in timed), default=at), at)

    def _moves(self, spec: object) -> bool:
        return isinstance(spec, CountWindow) == (self.scopes.axis == "count")

    def _until(self, answers: Answers) -> list[int | None] | None:
        """For each answer the close at which it will be gone if nothing more arrives; None: never."""
        bounds = list(self.bounds.values())
        if not self._tells_until or answers.stamps is None or len(bounds) != 1 or self.loose:
            return None  # Stamps from several scopes are on no common scale.
        [bound] = bounds
        spec = self.query.streams[bound.position].spec
        return [leaves(bound, spec, stamp) for stamp in answers.stamps]


def _plain(graph: Graph | Parts, decode: Decode) -> list[Any]:
    """What was kept of a graph or its parts, as plain data."""
    return (
        plain_parts(graph, decode)
        if isinstance(graph, PlainParts)
        else plain_facts(cast("Graph", graph).live, decode)
    )


def _is_variable(graph: str | None) -> bool:
    return graph is not None and graph.startswith("?")


def _is_in_step(query: ContinuousQuery) -> bool:
    """Whether each window is seen when it closes, and then never again."""
    grids = {(window.spec.grid.origin, window.spec.grid.step) for window in query.streams}
    return len(grids) == 1 and query.every_ms in (None, next(iter(grids))[1])


def leaves(bound: Bound, spec: Spec, stamp: int) -> int | None:
    """The close at which what has this stamp will be gone if nothing more arrives; None: never."""
    if stamp == FOREVER or bound.least is None:
        return None
    close = spec.grid.close(spec.grid.at_or_after(stamp + bound.least))
    return shown(spec, Window(close, close)).close
