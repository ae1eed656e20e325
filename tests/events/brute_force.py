"""Temporal expressions by enumeration: all combinations of statements, as docs/events.md says it.

Nothing is shared with the engine but the tree of an expression. Statements are texts, occurrences are plain
objects, every relation is looked at for every pair, and nothing is ever forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Variable

from ensue.events.tree import Expression, Group, Related, Repeat, Strategy

Statement = tuple[int, str, str, str]
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Fact:
    """A triple and the copies of statements that it rests on; none: it is background."""

    triple: Triple
    copies: frozenset[int]


@dataclass(frozen=True)
class Occurrence:
    """A solution, its interval, and its place in the order of detection."""

    values: tuple[tuple[str, str], ...]
    start: int
    end: int
    ties: tuple[Any, ...]

    @property
    def binding(self) -> dict[str, str]:
        return dict(self.values)

    @property
    def place(self) -> tuple[Any, ...]:
        return (self.end, self.start, self.ties)


RELATIONS = {
    "BEFORE": lambda a, b: a.end < b.start,
    "AFTER": lambda a, b: b.end < a.start,
    "MEETS": lambda a, b: a.start < a.end == b.start < b.end,
    "MET_BY": lambda a, b: b.start < b.end == a.start < a.end,
    "OVERLAPS": lambda a, b: a.start < b.start < a.end < b.end,
    "OVERLAPPED_BY": lambda a, b: b.start < a.start < b.end < a.end,
    "STARTS": lambda a, b: a.start == b.start and a.end < b.end,
    "STARTED_BY": lambda a, b: a.start == b.start and b.end < a.end,
    "DURING": lambda a, b: b.start < a.start and a.end < b.end,
    "CONTAINS": lambda a, b: a.start < b.start and b.end < a.end,
    "FINISHES": lambda a, b: b.start < a.start and a.end == b.end,
    "FINISHED_BY": lambda a, b: a.start < b.start and a.end == b.end,
    "EQUALS": lambda a, b: (a.start, a.end) == (b.start, b.end),
}
RIGHT_INITIATES = ("AFTER", "MET_BY", "OVERLAPPED_BY", "STARTED_BY", "CONTAINS")


@dataclass
class BruteForce:
    """One query over one finite stream."""

    statements: Sequence[Statement]
    background: frozenset[Triple]
    range_ms: int
    step_ms: int
    derived: Sequence[Fact] = ()

    def __post_init__(self) -> None:
        self.copies = sorted(self.statements, key=lambda each: each[0])
        stated = [Fact(row[1:], frozenset([n])) for n, row in enumerate(self.copies)]
        live = [fact for fact in (*stated, *self.derived) if fact.triple not in self.background]
        self.facts = [*live, *(Fact(triple, frozenset()) for triple in sorted(self.background))]

    def inside(self, tree: Expression, open_: int, close: int) -> Counter[tuple[Any, ...]]:
        """The composed occurrences of a window: bindings with start and end."""
        # Nothing that comes later is known yet, but all that came before has been detected.
        before = [o for o in self.occurrences(tree) if o.end <= close]
        found = [o for o in before if o.start > open_]
        if isinstance(tree, Related) and tree.optional:
            found += self._alone(tree, open_, close)
        return Counter((o.values, o.start, o.end) for o in found)

    def occurrences(self, tree: Expression) -> list[Occurrence]:
        """All occurrences of an expression, in order."""
        match tree:
            case Group():
                found = list(self._group(tree))
            case Repeat():
                found = list(self._runs(tree))
            case Related():
                found = [made for made, _ in self._detected(tree)]
        return sorted((o for o in found if self._fits(tree, o.start, o.end)), key=lambda o: o.place)

    def _fits(self, tree: Expression, start: int, end: int) -> bool:
        """Whether some window holds an interval, and it keeps to WITHIN."""
        if tree.within is not None and end - start > tree.within:
            return False
        first = -(-end // self.step_ms) * self.step_ms  # The first close at or after the end.
        return first - self.range_ms < start

    def _group(self, tree: Group) -> Iterator[Occurrence]:
        patterns = list(_triples(tree.algebra))
        for chosen in product(self.facts, repeat=len(patterns)):
            binding = _matched(patterns, [fact.triple for fact in chosen])
            used = sorted(frozenset().union(*(fact.copies for fact in chosen)))
            if binding is not None and used:
                times = [self.copies[copy][0] for copy in used]
                ties = tuple(tuple(sorted(fact.copies)) or (-1,) for fact in chosen)
                yield Occurrence(_values(binding), min(times), max(times), ties)

    def _runs(self, tree: Repeat) -> Iterator[Occurrence]:
        single = [_projected(o, tree.variables) for o in self.occurrences(tree.operand)]
        runs = [(o, o, 1) for o in single]
        while runs:
            for run, last, length in runs:
                if length >= tree.least:
                    yield Occurrence(run.values, run.start, run.end, (last.place, length))
            runs = [
                (Occurrence(run.values, run.start, o.end, ()), o, length + 1)
                for run, last, length in runs
                if tree.most is None or length < tree.most
                for o in single
                if run.values == o.values
                and last.end < o.start
                and self._fits(tree, run.start, o.end)
                and not any(c.values == o.values and last.end < c.start and c.end < o.start for c in single)
            ]

    def _detected(self, tree: Related) -> list[tuple[Occurrence, tuple[Occurrence, ...]]]:
        """What an operator composes, and the initiators of each, terminator by terminator."""
        left, right = self.occurrences(tree.left), self.occurrences(tree.right)
        absent = [self.occurrences(group) for group in tree.without]
        turned = tree.relation in RIGHT_INITIATES
        initiators, terminators = (right, left) if turned else (left, right)
        gone: set[int] = set()
        found: list[tuple[Occurrence, tuple[Occurrence, ...]]] = []
        for t in terminators:
            candidates = [
                i
                for n, i in enumerate(initiators)
                if n not in gone and self._is_candidate(tree, *((t, i) if turned else (i, t)), absent)
            ]
            chosen = _chosen(tree.strategy, candidates)
            if tree.strategy in (Strategy.CHRONICLE, Strategy.CONTINUOUS, Strategy.CUMULATIVE):
                gone |= {n for n, i in enumerate(initiators) if any(i is each for each in chosen)}
            if tree.strategy is Strategy.CUMULATIVE and chosen:
                found.append((_composed(t, chosen), tuple(chosen)))
            else:
                found += [(_composed(t, [i]), (i,)) for i in chosen]
        return found

    def _is_candidate(
        self, tree: Related, a: Occurrence, b: Occurrence, absent: list[list[Occurrence]]
    ) -> bool:
        if not _compatible(a.binding, b.binding) or not RELATIONS[tree.relation](a, b):
            return False
        if not self._fits(tree, min(a.start, b.start), max(a.end, b.end)):
            return False
        both = {**a.binding, **b.binding}
        return not any(
            _compatible(both, c.binding) and a.end < c.start and c.end < b.start
            for some in absent
            for c in some
        )

    def _alone(self, tree: Related, open_: int, close: int) -> list[Occurrence]:
        used = [i for made, (i,) in self._detected(tree) if made.end <= close]
        left = [a for a in self.occurrences(tree.left) if a.start > open_ and a.end <= close]
        return [a for a in left if self._fits(tree, a.start, a.end) and a not in used]


def _chosen(strategy: Strategy, candidates: list[Occurrence]) -> list[Occurrence]:
    match strategy:
        case Strategy.RECENT:
            return candidates[-1:]
        case Strategy.CHRONICLE:
            return candidates[:1]
        case _:
            return candidates


def _composed(terminator: Occurrence, initiators: list[Occurrence]) -> Occurrence:
    every = [*initiators, terminator]
    agreed: dict[str, str] = dict(terminator.values)
    for name in {name for i in initiators for name, _ in i.values} - agreed.keys():
        values = {i.binding[name] for i in initiators}
        if len(values) == 1:
            agreed[name] = values.pop()
    ties = (terminator.place, initiators[0].place)
    return Occurrence(_values(agreed), min(o.start for o in every), max(o.end for o in every), ties)


def _projected(occurrence: Occurrence, variables: Iterable[str]) -> Occurrence:
    kept = tuple((name, value) for name, value in occurrence.values if name in set(variables))
    return Occurrence(kept, occurrence.start, occurrence.end, occurrence.ties)


def _compatible(one: dict[str, str], other: dict[str, str]) -> bool:
    return all(other.get(name, value) == value for name, value in one.items())


def _values(binding: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(binding.items()))


def _matched(patterns: Sequence[Triple], triples: Sequence[Triple]) -> dict[str, str] | None:
    binding: dict[str, str] = {}
    for pattern, triple in zip(patterns, triples, strict=True):
        for slot, term in zip(pattern, triple, strict=True):
            wanted = binding.setdefault(slot[1:], term) if slot.startswith("?") else slot
            if wanted != term:
                return None
    return binding


def _triples(tree: Any) -> Iterator[Triple]:
    if isinstance(tree, CompValue):
        for triple in tree["triples"] if tree.name == "BGP" else ():
            s, p, o = (f"?{term}" if isinstance(term, Variable) else term.n3() for term in triple)
            yield s, p, o
        for part in tree.values():
            yield from _triples(part)
