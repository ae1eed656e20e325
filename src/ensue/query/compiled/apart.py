"""A compiled query over all partitions at once: the context is one more column of every relation.

Each operator does to the rows of all partitions what it would do to those of each: joins agree on the
context, groups are within it, and so are LIMIT and OFFSET. What does not differ between partitions
(VALUES, graphs that do not change) is there once for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ensue.dictionary import Dictionary
from ensue.model import BACKGROUND
from ensue.query.apart import Parts, PlainParts
from ensue.query.compiled import plan as p
from ensue.query.compiled.expressions import Aggregate, Values
from ensue.query.compiled.interpreter import Interpreter
from ensue.query.compiled.operators import table
from ensue.query.compiled.patterns import Remembered, solve
from ensue.query.compiled.relation import PARTITION, Groups, Relation, concatenated, groups
from ensue.query.dataset import Columns, Composed, Dataset, Graph, Integers, PlainGraph


class NotAtOnce(Exception):  # noqa: N818 - no error: then partitions are evaluated one by one
    """Somebody would have to match patterns in each partition."""


@dataclass(frozen=True, slots=True)
class PartsInterpreter(Interpreter):
    """One evaluation, in all of some partitions."""

    contexts: Integers
    """Theirs, in order of number."""
    parts: Mapping[str | None, Parts]
    """The graphs that are parted, by name (None: the default graph)."""

    def run(self, node: p.Node, graph: Graph) -> Relation:
        """The solutions of an operator, with `graph` as the active graph."""
        match node:
            case p.Match(patterns):
                return self._match(patterns, graph)
            case p.Occurrences(number):
                return self._occurred(self.dataset.occurrences[number])
            case p.Table(variables, rows):
                return self._everywhere(table(variables, rows))
            case _:
                # Not by super(): that knows no dataclass with slots.
                return Interpreter.run(self, node, graph)

    def _match(self, patterns: tuple[tuple[int | str, int | str, int | str], ...], graph: Graph) -> Relation:
        if not isinstance(graph, _Parted):
            return self._everywhere(solve(graph, patterns, self.remembered))
        if not patterns:
            return self._everywhere(Relation.unit())
        found = graph.parts.solutions_of_all(patterns)
        if found is None:
            raise NotAtOnce
        contexts, solutions = found
        every = Relation(
            {**solutions.columns, PARTITION: contexts.astype(np.int32)},
            len(solutions.stamps),
            solutions.stamps,
        )
        own = every.where(np.isin(contexts, self.contexts))
        still = every.where(contexts == BACKGROUND)
        if not still.length:
            return own
        names = [name for name in still.columns if name != PARTITION]
        return concatenated([own, self._everywhere(still.project(names))])

    def _occurred(self, found: Composed) -> Relation:
        assert found.keys is not None
        contexts = found.keys.astype(np.int32) + np.int32(1)
        every = Relation({**found.columns, PARTITION: contexts}, len(found.starts), found.stamps)
        return every.where(np.isin(contexts, self.contexts))

    def _everywhere(self, solutions: Relation) -> Relation:
        """The same solutions in every partition."""
        count, partitions = solutions.length, len(self.contexts)
        rows = np.tile(np.arange(count), partitions)
        return solutions.take(rows).extended(PARTITION, np.repeat(self.contexts, count).astype(np.int32))

    def _one(self, node: p.Unary, child: Relation, graph: Graph) -> Relation:
        match node:
            case p.Project(_, variables):
                return child.project((*variables, PARTITION))
            case p.Slice(_, start, length):
                return _sliced(child, start, length)
            case _:
                return Interpreter._one(self, node, child, graph)

    def _with_name(self, node: p.EachGraph, name: str) -> Relation:
        number = self.dataset.dictionary.pin(f"<{name}>")
        found = self.run(node.child, self.dataset.named[name])
        known = found.column(node.variable)
        # Where the pattern itself has a value for it, it must be this name.
        kept = found.where((known == 0) | (known == number))
        return kept.extended(node.variable, np.full(kept.length, number, np.int32))

    def _group(
        self, child: Relation, keys: tuple[str, ...], results: tuple[tuple[str, Aggregate], ...]
    ) -> Relation:
        if keys:
            by = (*keys, PARTITION)
            found = groups((child.column(key) for key in by), child.length)
            columns = {key: child.column(key)[found.first] for key in by}
        else:  # One group in every partition, even of nothing.
            places = np.searchsorted(self.contexts, child.column(PARTITION))
            found = Groups(places, np.zeros(len(self.contexts), np.int64))
            columns = {PARTITION: self.contexts.astype(np.int32)}
        for name, call in results:
            columns[name] = self.values.aggregate(call, found.of_row, len(found), child.columns)
        return Relation(columns, len(found))


def _sliced(relation: Relation, start: int, length: int | None) -> Relation:
    """Of each partition the rows from `start` on, at most `length`."""
    contexts = relation.column(PARTITION)
    order = np.argsort(contexts, kind="stable")
    ordered = contexts[order]
    number = np.arange(len(order)) - np.searchsorted(ordered, ordered, "left")
    end = relation.length if length is None else start + length
    kept = np.zeros(relation.length, np.bool_)
    kept[order[(number >= start) & (number < end)]] = True
    return relation.where(kept).unstamped()


@dataclass(frozen=True, slots=True)
class _Parted(PlainGraph):
    """Stands for a graph that is parted: nobody looks at its facts, as they would be of all partitions."""

    parts: Parts = field(default_factory=lambda: PlainParts(Columns.none()))


@dataclass(frozen=True, slots=True)
class AtOnce:
    """What a query is evaluated over in all partitions at once."""

    dictionary: Dictionary
    default: Graph
    """The default graph, where no stream feeds it."""
    named: Mapping[str, Graph]
    """The graphs that do not change."""
    parts: Mapping[str | None, Parts]
    contexts: Sequence[int]
    """The partitions, in the order of their keys."""
    occurrences: Mapping[int, Composed] = field(default_factory=dict)
    """What temporal expressions, by number, have composed in all of them."""

    def solve(self, root: p.Node, values: Values, remembered: Remembered) -> Relation:
        """The solutions, partition after partition, each with its context; raises NotAtOnce."""
        windows = frozenset(name for name in self.parts if name is not None)
        named = dict(self.named) | {name: _Parted(parts=self.parts[name]) for name in windows}
        default = _Parted(parts=self.parts[None]) if None in self.parts else self.default
        dataset = Dataset(self.dictionary, default, named, windows, occurrences=self.occurrences)
        numbers = np.array(sorted(self.contexts), np.int64)
        found = PartsInterpreter(dataset, values, remembered, numbers, self.parts).run(root, default)
        place = np.empty(len(numbers), np.int64)
        place[np.searchsorted(numbers, np.array(self.contexts, np.int64))] = np.arange(len(numbers))
        at = place[np.searchsorted(numbers, found.column(PARTITION))]
        return found.take(np.argsort(at, kind="stable"))
