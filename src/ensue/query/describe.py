"""What `ensue explain` says about queries: plain data, made from what will really run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ensue.events.tree import show as show_expression
from ensue.plan.shapes import show
from ensue.plan.specialise import Specialised
from ensue.plan.strategy import StrategyChoice
from ensue.query.materialise import Materialisation
from ensue.query.running import RunningQuery
from ensue.query.scopes import Bound, Loose, Scope
from ensue.query.tree import StreamWindow
from ensue.windows.events import EventWindow
from ensue.windows.spec import CountWindow, Landmark


def describe(
    queries: Iterable[RunningQuery],
    levels: Mapping[str, int],
    source: Callable[[Scope], Materialisation],
) -> dict[str, Any]:
    """The plan of some queries: each by itself, and the scopes that they share."""
    every = list(queries)
    scopes = dict.fromkeys(bound.scope for running in every for bound in running.bounds.values())
    names = {scope: f"S{number}" for number, scope in enumerate(scopes, 1)}
    return {
        "queries": [_query(running, levels[running.name], names) for running in every],
        "scopes": [
            _scope(scope, name, every, source(scope).choice) | _pruned(source(scope).plan)
            for scope, name in names.items()
        ],
    }


def _query(running: RunningQuery, level: int, names: Mapping[Scope, str]) -> dict[str, Any]:
    query = running.query
    graphs = {"default graph": running.scopes.default, **running.scopes.named}
    return {
        "name": query.name,
        "form": str(query.form),
        "level": level,
        "windows": [_window(on) for on in query.streams],
        "partition": None if query.partition is None else _partition(running),
        "evaluator": running.choice.evaluator.name,
        "why": running.choice.reason,
        "events": []
        if query.events is None
        else [show_expression(tree) for tree in query.events.expressions],
        "graphs": [{"name": name, "from": _graph(part, names)} for name, part in graphs.items()],
    }


def _partition(running: RunningQuery) -> str:
    """By what, and where keys are found."""
    partition = running.query.partition
    if partition is None or partition.property is None:
        return "GRAPH (the name of a statement's graph is its key)"
    in_window = "; and in the window itself" if running.scopes.loose else ""
    return f"{partition} (keys of a statement's subject in the closed background{in_window})"


def _graph(part: Bound | Loose | None, names: Mapping[Scope, str]) -> str:
    if part is None:
        return "background only"
    if isinstance(part, Loose):
        return f"closed from scratch by recompute: {part.reason}"
    return f"scope {names[part.scope]}"


def _scope(scope: Scope, name: str, queries: list[RunningQuery], choice: StrategyChoice) -> dict[str, Any]:
    readers = [r for r in queries if scope in {bound.scope for bound in r.bounds.values()}]
    watched = {
        patterns
        for running in readers
        for graph, bound in running.bounds.items()
        if bound.scope == scope
        for patterns in running.watched(graph)
    }
    offsets = dict(scope.offsets)
    return {
        "name": name,
        "streams": ", ".join(f"<{s}>" + (f" + {offsets[s]}" if offsets[s] else "") for s in scope.streams),
        "axis": scope.axis,
        "partition": None if scope.partition is None else str(scope.partition),
        "strategy": choice.strategy,
        "chosen_because": choice.why,
        "readers": [running.name for running in readers],
        "watched": len(watched) if choice.strategy == "expiration" else 0,
    }


def _pruned(plan: Specialised) -> dict[str, Any]:
    """What of rules and background is used for a scope, pass by pass, and what that rests on."""
    return {
        "rules": [rule.name for rule in plan.rules.rules],
        "everything_because": plan.everything_because,
        "passes": [{"name": r.name, "line": r.line, "details": list(r.details)} for r in plan.reports],
        "assumed": [show(shape) for shape in plan.assumed],
    }


def _planned_later(window: EventWindow) -> str:
    """What becomes of the plan where a stream brings background."""
    if window.until is None:
        return ""
    again = "" if window.again is None else ", and each time that it comes again"
    kept = "" if window.again is None else "; it replaces what came before" if window.anew else "; it adds up"
    return f" (plans are made anew when the background has come{again}{kept})"


def _window(on: StreamWindow) -> str:
    spec = on.spec
    if isinstance(spec, EventWindow):
        size = f"each event by itself: {spec}{_planned_later(spec)}"
    elif isinstance(spec, CountWindow):
        size = f"the last {spec.size:,} statements, every {spec.step:,}"
    elif isinstance(spec, Landmark):
        size = f"everything since {spec.t0}, every {spec.step_ms:,} ms"
    else:
        size = f"{spec.range_ms:,} ms, every {spec.step_ms:,} ms"
    return f"<{on.stream}>: {size}" + (f", named <{on.name}>" if on.name else "")
