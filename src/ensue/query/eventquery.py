"""A query that is answered for each event of its stream, over that event alone and the background.

Many events end between two looks at a stream. Each is a context of its own, so all of them are closed, and
where it can be answered, in one go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ensue.model import BACKGROUND, NEVER, Copies
from ensue.query.answers import Answers
from ensue.query.apart import Parts
from ensue.query.arrivals import Arrivals
from ensue.query.compiled.apart import AtOnce
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.dataset import Dataset, PlainGraph
from ensue.query.output import Result
from ensue.query.partial import Partial
from ensue.query.running import RunningQuery
from ensue.query.splitting import Ended, context_of
from ensue.windows.events import EventWindow

Contexts = NDArray[np.int32]

_AT_ONCE = 4096
"""So many events are answered at once, at most."""

_REPEATED = 1 << 20
"""What the background alone answers is there once for each of them: so many rows, at most."""


class EventQuery(RunningQuery):
    """A registered query over events. Instead of `read` and `evaluate` it has `answer`."""

    _brought: Arrivals | None = None
    """What the stream has brought for background, if it is this query that is to remember it."""
    _times_brought = 0

    @property
    def window(self) -> EventWindow:
        """What its events are."""
        found = self.query.event_window
        assert found is not None
        return found

    def answer(self, ended: Ended, nth: int = 1) -> dict[int, Result]:
        """The results for events that have ended, which are still held, by their numbers.

        `nth`: of all events, those whose numbers are multiples of it.
        """
        chosen = ended if nth == 1 else ended[ended.numbers % nth == 0]
        if not len(chosen):
            return {}
        with self._sources.stages.of("evaluate"):
            contexts = context_of(chosen.numbers)
            present = dict(zip(contexts.tolist(), chosen.numbers.tolist(), strict=True))
            parts = self._read_events(present)
            every = list(self._answers(parts, contexts))
            missing = (self._sources.materialisations[bound.scope] for bound in self.bounds.values())
            partial = Partial.together(source.partial(source.threshold) for source in missing)
            if partial is None:
                self._compare(chosen, contexts, every, present)
        self.evaluations += len(chosen)
        if self.emitter.remembers:
            every = [self.emitter.emit(answers) for answers in every]
        name, graphs = self.name, self._graphs(chosen)
        rows = zip(chosen.first.tolist(), chosen.last.tolist(), every, graphs, strict=True)
        results = (
            Result(name, first, last, answers, of_event=True, graph=graph, partial=partial)
            for first, last, answers, graph in rows
        )
        return dict(zip(chosen.numbers.tolist(), results, strict=True))

    def _graphs(self, ended: Ended) -> Sequence[str | None]:
        if ended.graphs is None:
            return [None] * len(ended)
        return [name or "" for name in self.dictionary.decode_all(ended.graphs)]

    @property
    def owns(self) -> Callable[[str], bool] | None:
        """Whether the event of a graph is one's own; None: all are."""
        return None if self._share is None else self._share.owns

    @property
    def version(self) -> list[Any]:
        """Differs when `state` may; empty where there is nothing to remember."""
        return [*super().version, *([] if self._brought is None else ["background", self._times_brought])]

    def remember_background(self, brought: Arrivals | None) -> None:
        """The stream has brought this for background, all in all."""
        self._brought = brought
        self._times_brought += 1

    def state(self) -> dict[str, Any]:
        """What it remembers, and the background that its stream has brought: for `resume`."""
        if self._brought is None:
            return super().state()
        columns = [self.dictionary.decode_all(column.tolist()) for column in self._brought.columns]
        return super().state() | {"background": columns}

    def _read_events(self, present: Mapping[int, int]) -> dict[str | None, Parts]:
        """What the events hold, by the name of the window."""
        found: dict[str | None, Parts] = {}
        for name, bound in self.bounds.items():
            source = self._sources.materialisations[bound.scope]
            wrong = self.query.violations
            found[name] = source.read_wrong_events(present) if wrong else source.read_events(present)
        return found

    def _answers(self, parts: Mapping[str | None, Parts], contexts: Contexts) -> Iterator[Answers]:
        """The answers in each context."""
        most = self._most(parts)
        for first in range(0, len(contexts), most):
            some = contexts[first : first + most]
            found = self._all_at_once(parts, some.tolist())
            yield from self._one_by_one(parts, some.tolist()) if found is None else found

    def _most(self, parts: Mapping[str | None, Parts]) -> int:
        """How many events to answer at once: fewer where the background alone answers much."""
        still = 0
        for name, part in parts.items():
            for patterns in self.watched(name):
                solutions = part.solutions_of_all(patterns) if patterns else None
                if solutions is not None:
                    still += int((solutions[0] == BACKGROUND).sum())
        return max(1, min(_AT_ONCE, _REPEATED // max(1, still)))

    def _all_at_once(
        self, parts: Mapping[str | None, Parts], contexts: Sequence[int]
    ) -> Sequence[Answers] | None:
        """The answers in all contexts by one evaluation, where that can be; None: it cannot."""
        evaluator = self.choice.evaluator
        if not isinstance(evaluator, CompiledEvaluator) or self.query.violations:
            return None
        default = PlainGraph() if None in parts else PlainGraph(self._views.background())
        over = AtOnce(self.dictionary, default, self._named, parts, contexts)
        found = evaluator.evaluate_at_once(over)
        if found is None:
            return None
        of, every = found
        places = {context: place for place, context in enumerate(contexts)}
        ends = np.searchsorted([places[context] for context in of], np.arange(len(contexts) + 1)).tolist()
        form, names, rows = every.form, every.variables, every.rows
        nothing = Answers(form, names, [])
        return [
            Answers(form, names, rows[start:end]) if start < end else nothing for start, end in pairwise(ends)
        ]

    def _one_by_one(self, parts: Mapping[str | None, Parts], contexts: Sequence[int]) -> Iterator[Answers]:
        windows, evaluator = frozenset(self.scopes.named), self.choice.evaluator
        still = None if None in parts else PlainGraph(self._views.background())
        for context in contexts:
            graphs = {name: part.graph(context) for name, part in parts.items()}
            named = dict(self._named) | {name: graph for name, graph in graphs.items() if name is not None}
            yield evaluator.evaluate(Dataset(self.dictionary, still or graphs[None], named, windows))

    def _compare(
        self, ended: Ended, contexts: Contexts, every: Sequence[Answers], present: Mapping[int, int]
    ) -> None:
        """Hold answers against those over events that are closed from scratch, where that is due."""
        if self._check is None:
            return
        due = [k for k in range(len(ended)) if self._check.is_due(self.evaluations + k + 1)]
        if not due:
            return
        [(name, bound)] = self.bounds.items()
        held = self._sources.materialisations[bound.scope].copies(NEVER)
        copies = Copies()
        for context, s, p, o, graph, stamp in held:
            if context in present:
                copies.append(context, s, p, o, stamp, graph)
        scratch = {name: cast("Parts", self._views.closed(copies, bound.scope.graphs))}
        wanted = self._one_by_one(scratch, contexts[due].tolist())
        for k, answers in zip(due, wanted, strict=True):
            window = f"[{ended.first[k]}, {ended.last[k]}]"
            self._check.compare(self.query, window, every[k], answers)
