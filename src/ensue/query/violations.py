"""What is wrong in the windows that queries read, asked like a query.

For each window that a query reads there is a *watch*: a continuous query over that window whose answers are
the violations that hold in it. It is planned, divided, evaluated and merged as any other query is, so what
conditions need is derived, and nothing else; only that what it sees of a window are its violations, and
nothing else. Windows that several queries read alike are watched once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import numpy as np

from ensue.dictionary import Dictionary
from ensue.errors import UsageError
from ensue.model import Facts
from ensue.query.apart import Apart, spans
from ensue.query.dataset import Columns, Integers
from ensue.query.language import parse_query
from ensue.query.output import Result
from ensue.query.tree import ContinuousQuery, Partition, Relation, StreamWindow
from ensue.rules.tree import RuleSet
from ensue.rules.violations import is_violation, name_of
from ensue.terms import VIOLATION, Kind
from ensue.violations import Reported, Violation
from ensue.windows.events import EventWindow
from ensue.windows.spec import CountWindow, Landmark


class Watching(StrEnum):
    """Which violations are told when a window closes."""

    CHANGES = "changes"
    """Those that are new in it, and those that are gone."""
    ALL = "all"


def watching_of(name: str) -> Watching:
    """By its name."""
    try:
        return Watching(name)
    except ValueError as problem:
        hint = f"one of {', '.join(Watching)}"
        raise UsageError(f"violations cannot be reported by '{name}'", hint=hint) from problem


_Change = Literal["new", "gone"] | None

_RELATIONS: dict[Watching, tuple[tuple[Relation, _Change], ...]] = {
    Watching.CHANGES: ((Relation.ISTREAM, "new"), (Relation.DSTREAM, "gone")),
    Watching.ALL: ((Relation.RSTREAM, None),),
}


@dataclass(frozen=True, slots=True)
class Watch:
    """The violations in a window (of several in one default graph: in these together), as they come or go."""

    streams: tuple[StreamWindow, ...]
    default_graphs: tuple[str, ...]
    partition: Partition | None
    conditions: tuple[str, ...]
    """The predicates of violations, in text."""
    relation: Relation
    change: _Change
    """What has happened to a violation that it tells: "new" or "gone"; None: it is there."""

    @property
    def window(self) -> str:
        """The window, in words of its own: those of queries."""
        parts = [f"<{on.stream}> [{_spec(on)}]" for on in self.streams]
        parts += [f"FROM <{graph}>" for graph in self.default_graphs]
        parts += [] if self.partition is None else [f"PARTITION BY {self.partition}"]
        return " ".join(parts)

    @property
    def name(self) -> str:
        """A name that no other watch has, and no query."""
        return f"violations in {self.window}" + (f", {self.change}" if self.change else "")

    @property
    def text(self) -> str:
        """All that tells it from others."""
        return f"{self.name}: {' '.join(self.conditions)}"

    def parse(self) -> ContinuousQuery:
        """The query."""
        parts = (f"{{ ?subject {p} ?object BIND({p} AS ?condition) }}" for p in self.conditions)
        asked = (
            f"SELECT ?condition ?subject ?object FROM STREAM <urn:s> [RANGE 1s] {{ {' UNION '.join(parts)} }}"
        )
        return replace(
            parse_query(asked, "<violations>", self.name),
            streams=self.streams,
            default_graphs=self.default_graphs,
            partition=self.partition,
            relation=self.relation,
            violations=True,
        )


def _spec(on: StreamWindow) -> str:
    spec = on.spec
    if isinstance(spec, EventWindow):
        return str(spec)
    if isinstance(spec, CountWindow):
        return f"RANGE TRIPLES {spec.size} STEP {spec.step}"
    if isinstance(spec, Landmark):
        return f"LANDMARK STEP {spec.step_ms}ms"
    return f"RANGE {spec.range_ms}ms STEP {spec.step_ms}ms"


def watches(queries: Iterable[ContinuousQuery], rules: RuleSet, watching: Watching) -> list[Watch]:
    """The watches on all windows of some queries; none where rules have no conditions.

    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[r: (?x <urn:p> ?y), (?x <urn:q> ?y) -> (?x violation:both ?y)]")
    >>> query = parse_query("ASK FROM STREAM <urn:s> [RANGE 10s STEP 5s] { ?s ?p ?o }")
    >>> [watch.name for watch in watches([query], rules, Watching.ALL)]
    ['violations in <urn:s> [RANGE 10000ms STEP 5000ms]']
    """
    heads = {head.p for rule in rules.rules for head in rule.conclusions}
    conditions = tuple(sorted(p for p in heads if isinstance(p, str) and is_violation(p)))
    found: dict[Watch, None] = {}
    for query in queries if conditions else ():
        for streams in _windows(query):
            for relation, change in _RELATIONS[watching]:
                graphs = query.default_graphs
                found[Watch(streams, graphs, query.partition, conditions, relation, change)] = None
    return list(found)


def _windows(query: ContinuousQuery) -> Iterator[tuple[StreamWindow, ...]]:
    """The windows of each graph of a query: those without a name are one together."""
    for name in dict.fromkeys(on.name for on in query.streams):
        yield tuple(StreamWindow(on.stream, on.spec) for on in query.streams if on.name == name)


def reported(result: Result, watch: Watch) -> Iterator[Reported]:
    """What a watch tells of one window."""
    until = result.until or [None] * len(result.answers.rows)
    known = result.until is not None and watch.change != "gone"
    for row, leaves in zip(result.answers.rows, until, strict=True):
        condition, subject, object_ = (term or "" for term in row)
        found = Violation(condition[len(VIOLATION) + 1 : -1], subject, object_)
        ends: int | Literal["forever"] | None = (leaves or "forever") if known else None
        yield Reported(found, watch.window, watch.change, result.open, result.close, ends)


# -- what a watch sees -----------------------------------------------------------------------------


def wrong(facts: Facts, dictionary: Dictionary) -> Columns:
    """The violations among facts of a closure, with the predicates that conditions give them.

    >>> d = Dictionary()
    >>> a, p, v = map(d.encode, ("<urn:a>", "<urn:p>", '"c"^^<urn:ensue:violation>'))
    >>> found = wrong(Facts.of([(1, a, p, a, 5), (1, a, v, a, 5)]), d)
    >>> d.decode_all(found.p.tolist())
    ['<urn:ensue:violation:c>']
    """
    every = Columns.of(facts)
    return _shown(every.take(_are_wrong(every.p, dictionary)), dictionary)


def wrong_apart(facts: Facts, dictionary: Dictionary) -> Apart:
    """The same of all contexts, those of each together."""
    every = Columns.of(facts)
    mask = _are_wrong(every.p, dictionary)
    return Apart(_shown(every.take(mask), dictionary), spans(np.asarray(facts.context, np.int32)[mask]))


def _are_wrong(p: Integers, dictionary: Dictionary) -> Integers:
    literals = np.unique(p[np.frombuffer(bytes(dictionary.kinds), np.uint8)[p] == Kind.TYPED])
    return np.isin(p, [each for each in literals.tolist() if name_of(dictionary.decode(each)) is not None])


def _shown(facts: Columns, dictionary: Dictionary) -> Columns:
    hidden, places = np.unique(facts.p, return_inverse=True)
    names = (name_of(dictionary.decode(each)) for each in hidden.tolist())
    # Pinned: a sweep of the dictionary may come before the query is evaluated.
    shown = np.array([dictionary.pin(f"<{VIOLATION}{name}>") for name in names], np.int32)
    return replace(facts, p=shown[places] if len(shown) else facts.p)
