"""A query as it runs: its windows are read as they close, and it is evaluated over what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from ensue.dictionary import Dictionary
from ensue.events.engine import EventEngine
from ensue.model import FOREVER
from ensue.query.answers import Answers
from ensue.query.apart import NO_KEY, Parts, Present
from ensue.query.check import Check
from ensue.query.choose import Choice
from ensue.query.compiled.apart import AtOnce
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.dataset import Dataset, Graph, Pattern, PlainGraph
from ensue.query.emit import Emitter, PartEmitter
from ensue.query.occurred import Occurred
from ensue.query.output import Result
from ensue.query.partial import Partial
from ensue.query.partitioned import Keyed, There
from ensue.query.scopes import Bound, Loose, Scopes
from ensue.query.share import Share
from ensue.query.sources import Sources
from ensue.query.tree import ContinuousQuery
from ensue.query.views import Views
from ensue.windows.registered import Evaluation, Read
from ensue.windows.spec import CountWindow, Spec, Window, shown
from ensue.windows.stretch import Stretch

_Reads = Callable[["str | None", "Bound | Loose | None", Evaluation], "Graph | Parts"]


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
        self.skipped = 0
        """How many evaluations were passed over, since they would have seen the same as their neighbours."""
        self.unkeyed = 0
        """How many statements were in no partition, counted in every window that they were in."""
        self._share = share
        self._named = named
        self._sources = sources
        self._tells_until = until
        self._check = check
        self._views = Views(query, scopes, sources, checked=check is not None)
        self._group = self._find_group()
        self._partial: Partial | None = None
        """What was missing of the last answers."""
        self._occurred: Occurred | None = None
        """What a temporal query sees of the window that was read last."""

    @property
    def name(self) -> str:
        """The query's name."""
        return self.query.name

    @property
    def dictionary(self) -> Dictionary:
        """The integers that its plan and its graphs are in."""
        return self._sources.dictionary

    @property
    def in_step(self) -> bool:
        """Whether each window is seen when it closes, and then never again."""
        return self._views.in_step

    def read(self, read: Read) -> None:
        """One of the windows closes now: take what is in it."""
        self._views.read(read)
        if self.events is not None:
            self.events.advance(read.window.close)
            self._occurred = self.events.read(read.window)

    def keep(self) -> None:
        """Time goes on: hold on to what was read if an evaluation still to come may see it."""
        self._views.keep()

    def start_over(self) -> None:
        """The background is another from now on: what was read and may be seen again is closed over that."""
        background = self._sources.background
        self._named = {iri: background.named(iri) for iri in self.query.named_graphs}
        self._views.start_over()

    def exact_from(self, at: int) -> int | None:
        """From which instant on it is exact if the background changes then; None: that is not known.

        A window that was read before may be seen later, when it cannot be closed over another background.
        """
        return self._views.exact_from(at)

    def shared(self, evaluation: Evaluation) -> tuple[int, int] | None:
        """Which other queries it can be evaluated with, by number, and its threshold; None: with none."""
        bound = self.scopes.default
        if self._group is None or not isinstance(bound, Bound):
            return None
        if not self._views.is_seen(None, bound, evaluation):
            return None
        return self._group, bound.threshold(evaluation.windows[bound.position])

    def ask(self, evaluation: Evaluation) -> Answers:
        """All answers of an evaluation."""
        with self._sources.stages.of("evaluate"):
            if not self.query.is_parted:
                return self._own(evaluation, self._views.graph)
            parts, occurred = self._parts(evaluation, self._views.graph), self._occurrences(evaluation)
            if self._owns(NO_KEY):
                self.unkeyed += occurred.unkeyed + sum(each.unkeyed for each in parts.values())
            return self._in_parts(parts, occurred)

    def _own(self, evaluation: Evaluation, read: _Reads) -> Answers:
        if self.query.is_parted:
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
        partial = self._views.partial(evaluation)
        if partial is None and self._check is not None and self._check.is_due(self.evaluations):
            wanted = self._own(evaluation, self._views.scratch)
            self._check.compare(self.query, f"({window.open}, {window.close}]", every, wanted)
        answers = self.emitter.emit(every)
        # What has come, or has left, is told by comparison with the last answers.
        before, self._partial = self._partial if self.emitter.remembers else None, partial
        return Result(
            self.name,
            window.open,
            window.close,
            answers,
            self._until(answers),
            exact=evaluation.exact and self._views.are_exact(evaluation),
            skipped=self._skipped(evaluation),
            part=self.gives_parts,
            partial=partial or before,
        )

    def _skipped(self, evaluation: Evaluation) -> Stretch | None:
        """What was passed over before an evaluation, with the numbers of the user's own bounds."""
        found = evaluation.skipped
        if found is None:
            return None
        self.skipped += found.count
        return Stretch(found.count, self._close_seen(found.first), self._close_seen(found.last))

    def _close_seen(self, instant: int) -> int:
        """The close that the result of an evaluation at an instant has."""
        specs = [on.spec for on in self.query.streams]
        if len(specs) == 1 and self._moves(specs[0]):
            grid = specs[0].grid
            return shown(specs[0], grid.window(grid.latest(instant))).close
        return self._shown_at(instant)

    @property
    def version(self) -> list[Any]:
        """Differs when `state` may; empty where there is nothing to remember."""
        if self.in_step and not self.emitter.remembers:
            return []
        occurred = [] if self._occurred is None else [("", *self._occurred.window)]
        return [self.evaluations, *sorted([*self._views.version, *occurred])]

    def state(self) -> dict[str, Any]:
        """What it remembers between evaluations, as plain data in terms, not integers: for `resume`."""
        decode = self.dictionary.decode_all
        occurred = None if self.in_step or not self._occurred else self._occurred.plain(decode)
        partial = None if self._partial is None else self._partial.json()
        views = self._views.state(decode)
        return {"bag": self.emitter.bag, **views, "occurred": occurred, "partial": partial}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; from the beginning if there is none."""
        encode = self.dictionary.encode_all
        self.emitter.restore(state.get("bag"))
        self._partial = Partial.of_json(state.get("partial"))
        self._views.resume(state, encode)
        occurred = state.get("occurred")
        self._occurred = None if occurred is None else Occurred.of_plain(occurred, encode)

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers that what was read uses."""
        still = [graph.still for graph in self._named.values()]
        columns = [column.tolist() for facts in still for column in (facts.s, facts.p, facts.o)]
        events = [] if self._occurred is None else self._occurred.terms
        events += [] if self.events is None else self.events.used_terms()
        return [*columns, *self._views.used_terms(), *events]

    def _find_group(self) -> int | None:
        """A number that is the same for queries with the same plan over the same scope alone."""
        evaluator = self.choice.evaluator
        alone = isinstance(self.scopes.default, Bound) and not (self.scopes.named or self._named)
        # Blank nodes that CONSTRUCT makes are each query's own, and so is its share.
        if (
            self._share is not None
            or self.query.is_parted
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
        occurrences = self._occurrences(evaluation).composed
        return Dataset(self.dictionary, default, named, windows, occurrences=occurrences)

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
        evaluator, dictionary = self.choice.evaluator, self.dictionary
        if not isinstance(evaluator, CompiledEvaluator):
            return None
        default = PlainGraph() if None in parts else PlainGraph(self._views.background())
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
        keys = self.dictionary.decode_all([context - 1 for context in newest])
        found = sorted(zip((key or NO_KEY for key in keys), newest, strict=True))
        return [There(key, context, newest[context]) for key, context in found if self._owns(key)]

    def _datasets(
        self, parts: Mapping[str | None, Parts], occurred: Occurred, partitions: Iterable[There]
    ) -> Iterator[tuple[There, Dataset]]:
        """What the query is evaluated over in each partition."""
        dictionary, windows = self.dictionary, frozenset(self.scopes.named)
        still = None if None in parts else PlainGraph(self._views.background())
        occurrences = occurred.apart()
        for each in partitions:
            graphs = {name: part.graph(each.context) for name, part in parts.items()}
            named = dict(self._named) | {name: graph for name, graph in graphs.items() if name is not None}
            default, found = still or graphs[None], occurrences(each.context)
            yield each, Dataset(dictionary, default, named, windows, f" in {each.key}", found)

    def _owns(self, key: str) -> bool:
        return self._share is None or self._share.owns(key)

    def _shown(self, evaluation: Evaluation) -> Window:
        """The window as the user's own bounds have it; of several, from the first open to the instant."""
        windows = [
            shown(on.spec, window) for on, window in zip(self.query.streams, evaluation.windows, strict=True)
        ]
        timed = [w for w, on in zip(windows, self.query.streams, strict=True) if self._moves(on.spec)]
        if len(windows) == 1 and timed:
            return windows[0]
        at = self._shown_at(evaluation.at)
        return Window(min((window.open for window in timed), default=at), at)

    def _shown_at(self, time: int) -> int:
        specs = [on.spec for on in self.query.streams]
        first = next((spec for spec in specs if self._moves(spec)), specs[0])
        return shown(first, Window(time, time)).close

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


def _is_variable(graph: str | None) -> bool:
    return graph is not None and graph.startswith("?")


def leaves(bound: Bound, spec: Spec, stamp: int) -> int | None:
    """The close at which what has this stamp will be gone if nothing more arrives; None: never."""
    if stamp == FOREVER or bound.least is None:
        return None
    close = spec.grid.close(spec.grid.at_or_after(stamp + bound.least))
    return shown(spec, Window(close, close)).close
