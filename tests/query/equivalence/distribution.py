"""What random cases have in them, so that a run can show that it was not all about nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from query.equivalence.cases import Case, Push, Register
from query.equivalence.history import Arrival, History
from query.equivalence.reference import Expected

from ensue.dictionary import Dictionary
from ensue.query.choose import choose_evaluator
from ensue.query.scopes import find_scopes
from ensue.query.tree import ContinuousQuery, Relation
from ensue.windows.spec import CountWindow, TimeWindow


@dataclass(frozen=True)
class Features:
    """What one case has in it, and what its evaluations came to."""

    evaluations: int
    with_answers: int
    with_derived: int
    names: frozenset[str]


def features(case: Case, lines: list[Expected]) -> Features:
    """Measure one case; `lines` are its expected results."""
    history = History(case)
    queries = [each.query for each in history.queries]
    names = {*_stream_features(case, history), *_line_features(queries, lines)}
    for query in queries:
        names |= {*_query_features(query, history.made)}
    names |= {*_scope_features(queries)}
    return Features(
        len(lines),
        sum(bool(line.every) for line in lines),
        sum(line.derived for line in lines),
        frozenset(names),
    )


def _stream_features(case: Case, history: History) -> Iterator[str]:
    arrivals = [arrival for each in history.arrivals.values() for arrival in each]
    pushed = sum(len(action.rows) for action in case.actions if isinstance(action, Push))
    begun = next(k for k, action in enumerate(case.actions) if isinstance(action, Push))
    yield from _named(
        {
            "late statements admitted": any(x.time <= x.frontier for x in arrivals),
            "late statements dropped": len(arrivals) < pushed,
            "disorder within the bound": any(map(_has_disorder, history.arrivals.values())),
            "background": bool(case.background or case.rules.axioms),
            "bounds [)": case.bounds == "[)",
            "t0": case.t0 != 0,
            "several queries": len(history.queries) > 1,
            "registered in mid-run": any(isinstance(action, Register) for action in case.actions[begun:]),
        }
    )


def _has_disorder(arrivals: list[Arrival]) -> bool:
    return any(later.time < x.time and later.time > later.frontier for x, later in pairwise(arrivals))


def _query_features(query: ContinuousQuery, made: set[str]) -> Iterator[str]:
    specs = [on.spec for on in query.streams]
    timed = [spec for spec in specs if isinstance(spec, TimeWindow)]
    yield from _named(
        {
            "count windows": len(timed) < len(specs),
            "count windows looked at as time passes": len(timed) < len(specs)
            and bool(timed or query.every_ms),
            "several count windows": sum(isinstance(spec, CountWindow) for spec in specs) > 1,
            "windows with gaps": any(spec.range_ms < spec.step_ms for spec in timed),
            "tumbling windows": any(spec.range_ms == spec.step_ms for spec in timed),
            "sliding windows": any(spec.range_ms > spec.step_ms for spec in timed),
            "named windows": any(on.name for on in query.streams),
            "windows in the default graph": any(on.name is None for on in query.streams),
            "different ranges": len({spec.range_ms for spec in timed}) > 1,
            "different steps": len({spec.step_ms for spec in timed}) > 1,
            "EVERY unlike STEP": any(query.every_ms not in (None, spec.step_ms) for spec in timed),
            "FROM": bool(query.default_graphs),
            "FROM NAMED": bool(query.named_graphs),
            "a constructed stream is read": any(on.stream in made for on in query.streams),
            str(query.relation): query.relation is not None,
            f"{query.form} queries": True,
            f"{choose_evaluator(query, Dictionary()).evaluator.name} evaluator": True,
        }
    )


def _line_features(queries: list[ContinuousQuery], lines: list[Expected]) -> Iterator[str]:
    by_name = {query.name: query for query in queries}
    for name, each in groupby(lines, key=lambda line: line.query):
        query = by_name[name]
        runs = list(each)
        for before, now in pairwise(runs):
            nothing_came = all(new <= old for old, new in zip(before.contents, now.contents, strict=True))
            if nothing_came and now.every - before.every:
                yield "answers that came because something left"
                words = (word for word in ("MINUS", "OPTIONAL", "COUNT") if word in query.text)
                yield from (f"  under {word}" for word in words)
            if nothing_came and before.every - now.every:
                yield "answers that left by expiry"
        changed = query.relation in (Relation.ISTREAM, Relation.DSTREAM)
        if changed and any(line.answers for line in runs[1:]):
            yield f"{query.relation} with a difference"
        if any(line.derived for line in runs):
            yield "derived facts"


def _scope_features(queries: list[ContinuousQuery]) -> Iterator[str]:
    scopes = Counter(bound.scope for query in queries for bound in find_scopes(query).bounds.values())
    yield from _named(
        {
            "queries that share a scope": any(count > 1 for count in scopes.values()),
            "offsets": any(offset for scope in scopes for _, offset in scope.offsets),
        }
    )


def _named(found: dict[str, bool]) -> Iterator[str]:
    return (name for name, present in found.items() if present)


def summary(measured: Iterable[Features]) -> str:
    """The distribution as text, one line a feature."""
    measured = list(measured)
    evaluations = sum(case.evaluations for case in measured)
    lines = [f"whole queries: {len(measured)} random cases, {evaluations} evaluations"]
    for name in ("with_answers", "with_derived"):
        count = sum(getattr(case, name) for case in measured)
        lines.append(f"  evaluations {name.replace('_', ' '):<32}{count:>6}  {count / evaluations:>4.0%}")
    counts = Counter(name for case in measured for name in case.names)
    for name, count in sorted(counts.items(), key=lambda item: -item[1]):
        lines.append(f"  {name:<44}{count:>6}  {count / len(measured):>4.0%}")
    return "\n".join(lines)
