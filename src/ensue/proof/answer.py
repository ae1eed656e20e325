"""How an answer came about: the facts that the patterns of its query are in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from ensue.errors import UsageError
from ensue.model import Triple
from ensue.proof.held import Held
from ensue.proof.scene import Scene
from ensue.proof.support import Solution, supports, whole_solutions
from ensue.query.answers import Row
from ensue.query.compiled.compile import compile_query
from ensue.query.compiled.expressions import NotCompiled, Values
from ensue.query.compiled.interpreter import Interpreter
from ensue.query.compiled.patterns import Remembered
from ensue.query.compiled.plan import Plan
from ensue.query.dataset import Pattern
from ensue.query.running import RunningQuery
from ensue.query.tree import Form
from ensue.terms import Kind

MOST = 1_000
"""How many ways in which an answer came about are compared, at most."""

Placed = tuple["str | None", Triple]
"""A graph (None: the default graph), and a fact in it."""

Way = tuple[Sequence[Placed], Sequence[str]]
"""The facts that an answer is made of, and what they do not show."""


def ways(running: RunningQuery, scene: Scene, row: Row) -> list[Way]:
    """The ways in which a row is an answer; none if it is not."""
    plan = _plan(running)
    every = (
        (facts, support.notes)
        for solution in _solutions(running, plan, scene, row)
        for support in supports(whole_solutions(plan.root), solution, None, _names(scene))
        for facts in islice(_joined(scene, list(enumerate(support.patterns)), {}, {}), MOST)
    )
    return list(islice(every, MOST))


def _plan(running: RunningQuery) -> Plan:
    try:
        return compile_query(running.query, running.dictionary)
    except NotCompiled as problem:
        raise UsageError(
            f"answers of '{running.name}' cannot be explained: {problem.reason}",
            hint="ask why the facts hold that it rests on",
        ) from problem


def _names(scene: Scene) -> dict[int, str]:
    dictionary = scene.running.dictionary
    return {dictionary.pin(f"<{name}>"): name for name in scene.graphs if name is not None}


def _solutions(running: RunningQuery, plan: Plan, scene: Scene, row: Row) -> Iterator[Solution]:
    """All solutions that give a row, with every variable that has a value."""
    dataset = scene.dataset()
    interpreter = Interpreter(dataset, Values(dataset.dictionary, running.query.base), Remembered())
    relation = interpreter.run(whole_solutions(plan.root), dataset.default)
    columns = {name: np.asarray(column) for name, column in relation.columns.items()}
    for wanted in _wanted(plan, running, row):
        mask = np.ones(relation.length, np.bool_)
        for name, term in wanted.items():
            mask &= columns[name] == term if name in columns else np.full(relation.length, term == 0)
        for at in np.flatnonzero(mask).tolist():
            found = {name: int(column[at]) for name, column in columns.items()}
            yield {name: term for name, term in found.items() if term}


def _wanted(plan: Plan, running: RunningQuery, row: Row) -> Iterator[Solution]:
    """What a row says of the variables: 0 for one without a value."""
    dictionary = running.dictionary
    if any(term is not None and term not in dictionary for term in row):
        return
    terms = [0 if term is None else dictionary.encode(term) for term in row]
    if plan.form is Form.SELECT:
        yield dict(zip(plan.variables, terms, strict=True))
    elif plan.form is Form.ASK:
        yield {}
    else:
        for template in plan.template:
            found: dict[str, int] = {}
            pairs = list(zip(template, terms, strict=True))
            if all(
                found.setdefault(slot, term) == term if isinstance(slot, str) else slot == term
                for slot, term in pairs
            ):
                yield {name: term for name, term in found.items() if not name.startswith("_:")}


def _joined(
    scene: Scene,
    left: list[tuple[int, tuple[str | None, Pattern]]],
    binding: Mapping[str, int],
    facts: Mapping[int, Placed],
) -> Iterator[tuple[Placed, ...]]:
    if not left:
        yield tuple(facts[at] for at in sorted(facts))
        return
    found = []
    for at, (graph, pattern) in left:
        s, p, o = (binding.get(slot, -1) if isinstance(slot, str) else slot for slot in pattern)
        held = scene.graphs.get(graph)
        found.append((at, graph, pattern, [] if held is None else held.matching((s, p, o), cut=False)))
    at, graph, pattern, triples = min(found, key=lambda each: len(each[3]))
    rest = [each for each in left if each[0] != at]
    for triple in triples:
        bound = _extended(pattern, triple, binding)
        if bound is not None and _is_seen(scene.graphs[graph], triple):
            yield from _joined(scene, rest, bound, {**facts, at: (graph, triple)})


def _extended(pattern: Pattern, triple: Triple, binding: Mapping[str, int]) -> Mapping[str, int] | None:
    extended = dict(binding)
    for slot, term in zip(pattern, triple, strict=True):
        if isinstance(slot, str) and extended.setdefault(slot, term) != term:
            return None
    return extended


def _is_seen(held: Held, triple: Triple) -> bool:
    """Whether a query sees a fact (see `visible`)."""
    s, _, o = triple
    dictionary = held.dictionary
    return dictionary.kind(s) < Kind.TRIPLE and not (dictionary.is_minted(s) or dictionary.is_minted(o))
