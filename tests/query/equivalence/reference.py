"""What queries have to answer, by the definition: nothing here is incremental, and nothing is the engine's.

The statements of a window are looked up in the list of arrivals, the window is closed by the plain
interpreter of rules, and a store that was made for this one evaluation answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import pyoxigraph as ox
from equivalence import plain
from query.equivalence.cases import Case, Change, Push, Statement, axioms
from query.equivalence.evaluations import Runs
from query.equivalence.history import Arrival, History

from ensue.model import NEVER
from ensue.query.tree import ContinuousQuery, Form, Kind, Relation
from ensue.windows.spec import Window

Bag = Counter[tuple[str | None, ...]]


@dataclass(frozen=True)
class Expected:
    """One evaluation: the window that is shown, and the bag of answers that are given."""

    query: str
    open: int
    close: int
    answers: Bag
    every: Bag
    """All answers, whatever R, I or DSTREAM give of them."""
    contents: tuple[frozenset[int], ...]
    """Which statements each window holds, by the order of their arrival."""
    derived: bool
    whole: bool
    """Whether the answers must be exact, although the query may have been registered in mid-run."""


def expected(case: Case) -> list[Expected]:
    """All evaluations of all queries, query by query."""
    history, closer = History(case), Closer(case)
    found: list[Expected] = []
    waiting = list(history.queries)
    while waiting:
        ready = [each for each in waiting if all(on.stream in history.arrivals for on in each.windows)]
        assert ready, "no query of a case reads what it makes"
        last = NEVER
        made: dict[str, list[Arrival]] = {}
        for each in ready:
            waiting.remove(each)
            runs = Runs(history, each)
            last = max(last, NEVER if runs.on_count else runs.last)
            lines = list(_answers(runs, closer))
            found += [line for _, line in lines]
            if each.query.kind is Kind.STREAM:
                made[each.query.name] = list(_made(runs, lines))
        # What is made ends when nothing that makes it is due any more, and all that came was let in.
        newest = max((x.time for each in history.arrivals.values() for x in each), default=NEVER)
        for name, arrivals in made.items():
            history.arrivals[name] = arrivals
            history.ended_at[name] = max(last, newest, *history.ended_at.values())
    return found


def _made(runs: Runs, lines: Iterable[tuple[int, Expected]]) -> Iterator[Arrival]:
    """What a query constructs, as a stream: each statement comes when the query is evaluated."""
    for order, (at, line) in enumerate(lines):
        time, frontier = runs.moment(at)
        for s, p, o in line.answers:
            yield Arrival(time, (str(s), str(p), str(o)), frontier, order)


def _answers(runs: Runs, closer: Closer) -> Iterator[tuple[int, Expected]]:
    before: Bag = Counter()
    for at, windows in runs:
        contents = [runs.content(k, window) for k, window in enumerate(windows)]
        graphs, derived = closer.graphs(runs, contents, max(runs.moment(at)))
        every = answer(runs.query, graphs)
        shown = _shown(runs, at, windows)
        yield (
            at,
            Expected(
                runs.query.name,
                shown.open,
                shown.close,
                _given(runs.query.relation, before, every),
                every,
                tuple(frozenset(x.order for x in content) for content in contents),
                derived,
                runs.is_whole(windows) and not _is_seen_after_a_surprise(runs, at, windows),
            ),
        )
        before = every


def _is_seen_after_a_surprise(runs: Runs, at: int, windows: tuple[Window, ...]) -> bool:
    """Whether a window was read before a change that was not known from the start, and is seen after it."""
    actions = runs.history.case.actions
    began = next((number for number, action in enumerate(actions) if isinstance(action, Push)), 0)
    surprises = [action.at for action in actions[began:] if isinstance(action, Change)]
    if runs.on_count:
        return len(windows) > 1 and any(time <= max(runs.moment(at)) for time in surprises)
    return any(window.close < time <= at for window in windows for time in surprises)


def _given(relation: Relation | None, before: Bag, now: Bag) -> Bag:
    if relation is Relation.ISTREAM:
        return now - before
    return before - now if relation is Relation.DSTREAM else now


def _shown(runs: Runs, at: int, windows: tuple[Window, ...]) -> Window:
    """The window as the user's bounds have it; of several, from the first open to the instant."""
    shift = 1 if runs.history.case.bounds == "[)" and runs.moving and not runs.on_count else 0
    opens = [windows[k].open for k in runs.moving] or [at]
    close = windows[0].close if len(windows) == 1 and runs.moving else at
    return Window(min(opens) + shift, close + shift)


class Closer:
    """Closes the windows and graphs of a case, each from nothing."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._names = plain.Names(1)
        self._closed: dict[tuple[frozenset[Statement], frozenset[Statement] | None], dict] = {}

    def graphs(
        self, runs: Runs, contents: list[list[Arrival]], instant: int
    ) -> tuple[dict[str | None, set], bool]:
        """The facts of every graph of a query (None: the default graph); whether any of them is derived."""
        case, query = self._case.at(instant), runs.query
        stated = {*axioms(case.rules), *case.background}
        everywhere = frozenset(self._close(stated, None))
        ground = frozenset(
            self._close({*stated, *(s for iri in query.default_graphs for s in case.graphs[iri])}, None)
        )
        graphs = {iri: {*self._close(case.graphs[iri], everywhere)} for iri in query.named_graphs}
        parts: dict[str | None, set[Statement]] = {None: set()}
        for on, content in zip(runs.windows, contents, strict=True):
            parts.setdefault(on.name, set()).update(x.statement for x in content)
        derived = False
        for name, content in parts.items():
            live = self._close(content, ground)
            derived |= any(origin.round for origin in live.values())
            graphs[name] = {*live, *ground}
        return graphs, derived

    def _close(self, stated: Iterable[Statement], ground: frozenset[Statement] | None) -> dict:
        key = frozenset(stated), ground
        if key not in self._closed:
            self._closed[key] = plain.close(self._case.rules.rules, key[0], ground, self._names)
        return self._closed[key]


def answer(query: ContinuousQuery, graphs: dict[str | None, set[Statement]]) -> Bag:
    """The bag of answers over graphs, by a store that holds nothing else; columns in order of name."""
    store = ox.Store()
    for name, facts in graphs.items():
        graph = ox.DefaultGraph() if name is None else ox.NamedNode(name)
        if name is not None:
            store.add_graph(graph)
        store.extend(ox.Quad(*map(_term, fact), graph) for fact in facts if _is_visible(fact))
    found = store.query(query.sparql, base_iri=query.base, prefixes=query.prefixes)
    if query.form is Form.ASK:
        return Counter([()] if found else [])
    if query.form is not Form.SELECT:
        return Counter({tuple(str(term) for term in triple) for triple in found})
    names = sorted(variable.value for variable in found.variables)
    return Counter(
        tuple(None if (term := row[name]) is None else str(term) for name in names) for row in found
    )


def _is_visible(fact: Statement) -> bool:
    """Literals may be subjects inside a closure, where rules make them; a query does not see them."""
    return not fact[0].startswith('"') and fact[1].startswith("<")


@cache
def _term(text: str) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    [quad] = ox.parse(f"<urn:s> <urn:p> {text} .", format=ox.RdfFormat.N_TRIPLES)
    if text.startswith("_:"):
        return ox.BlankNode(text[2:])
    return quad.object
