"""Runs a plan over a dataset: each operator's solutions, from the leaves up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ensue.query.compiled import plan as p
from ensue.query.compiled.compatible import matched, pairs
from ensue.query.compiled.expressions import Aggregate, Expression, Values
from ensue.query.compiled.operators import Settle, distinct, join, joined, minus, sliced, table
from ensue.query.compiled.patterns import Remembered, solve
from ensue.query.compiled.relation import Groups, Relation, concatenated, groups, merged
from ensue.query.compiled.variables import bound, has_product
from ensue.query.dataset import Dataset, Graph, Integers

_ROW = " row"
"""The column of row numbers, counted from 1, of rows that are looked for: no variable can be called so."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One evaluation. What outlives it, values of expressions and matches, is handed in."""

    dataset: Dataset
    values: Values
    remembered: Remembered

    def run(self, node: p.Node, graph: Graph) -> Relation:
        """The solutions of an operator, with `graph` as the active graph."""
        match node:
            case p.Match(patterns):
                return solve(graph, patterns, self.remembered)
            case p.Occurrences(number):
                found = self.dataset.occurrences[number]
                return Relation(found.columns, len(found.starts), found.stamps)
            case p.Table(variables, rows):
                return table(variables, rows)
            case p.InGraph() | p.EachGraph():
                return self._named(node)
            case p.Join(parts):
                return self._join(parts, graph)
            case p.Product(parts, conditions):
                return joined((self.run(part, graph) for part in parts), self._tested(conditions, graph))
            case p.Union(left, right):
                return concatenated([self.run(left, graph), self.run(right, graph)])
            case p.Minus(left, right):
                return self._minus(self.run(left, graph), node, graph)
            case p.LeftJoin(left, right, conditions):
                return self._left_join(self.run(left, graph), right, conditions, graph)
            case _:
                return self._one(node, self.run(node.child, graph), graph)

    def above(self, operators: Iterable[p.Unary], solutions: Relation) -> Relation:
        """What operators that look at no graph, the lowest first, make of given solutions."""
        for operator in operators:
            solutions = self._one(operator, solutions, self.dataset.default)
        return solutions

    def _join(self, parts: Sequence[p.Node], graph: Graph) -> Relation:
        """Parts that hang together. Cross products among them come last, each joined part by part."""
        plain = [self.run(part, graph) for part in parts if not has_product(part)]
        crossed = [part for part in parts if has_product(part)]
        solved = joined(plain) if plain else self.run(crossed.pop(0), graph)
        for part in crossed:
            solved = self._joined_to(solved, part, graph)
        return solved

    def _joined_to(self, rows: Relation, node: p.Node, graph: Graph) -> Relation:
        """Rows joined with the solutions of a node; where that is a cross product, with part after part."""
        match node:
            case p.Product(parts, conditions) if _see_no_more(conditions, rows, node):
                every = [rows, *(self.run(part, graph) for part in parts)]
                return joined(every, self._tested(conditions, graph))
            case p.Union(left, right) if has_product(node):
                return concatenated([self._joined_to(rows, each, graph) for each in (left, right)])
            case _:
                return join(rows, self.run(node, graph))

    def _pairs(self, rows: Relation, node: p.Node, graph: Graph) -> tuple[Integers, Relation]:
        """Rows with the compatible solutions of a node: the row's number in each pair, and both merged."""
        if has_product(node):
            numbered = rows.extended(_ROW, np.arange(1, rows.length + 1, dtype=np.int32))
            both = self._joined_to(numbered, node, graph)
            return both.column(_ROW) - 1, both.without(_ROW)
        inner = self.run(node, graph)
        at_rows, at_inner = pairs(rows, inner)
        return at_rows, merged(rows, inner, at_rows, at_inner)

    def _tested(self, conditions: Sequence[Expression], graph: Graph) -> Settle:
        """What keeps the rows of a join that is under way for which conditions hold, each tested once."""
        untested = list(conditions)

        def settle(rows: Relation, to_come: frozenset[str]) -> Relation:
            ready = [each for each in untested if to_come.isdisjoint(each.variables)]
            for each in ready:
                untested.remove(each)
            return rows.where(self._hold(tuple(ready), rows, graph)) if ready else rows

        return settle

    def _one(self, node: p.Unary, child: Relation, graph: Graph) -> Relation:
        match node:
            case p.Filter(_, conditions):
                kept = child.where(self._hold(conditions, child, graph))
                return kept if all(isinstance(one, Expression) for one in conditions) else kept.unstamped()
            case p.Extend(_, variable, value):
                column = self.values.values(value, child.columns, child.length)
                return child.extended(variable, column)
            case p.Group(_, keys, results):
                return self._group(child, keys, results)
            case p.Project(_, variables):
                return child.project(variables)
            case p.Distinct():
                return distinct(child)
            case p.OrderBy(_, by, then):
                return child.take(self.values.order(by, child.columns, child.length, then))
            case p.Slice(_, start, length):
                return sliced(child, start, length)

    def _named(self, node: p.InGraph | p.EachGraph) -> Relation:
        if isinstance(node, p.InGraph):
            graph = self.dataset.named.get(node.name)
            return Relation.empty() if graph is None else self.run(node.child, graph)
        return concatenated([self._with_name(node, name) for name in self._names(node.named)])

    def _names(self, which: p.Named) -> list[str]:
        named, windows = self.dataset.named.keys(), self.dataset.windows
        if which is p.Named.ALL:
            return sorted(named)
        return sorted(named & windows if which is p.Named.WINDOWS else named - windows)

    def _with_name(self, node: p.EachGraph, name: str) -> Relation:
        # Pinned, as a graph's name outlives the facts in it.
        number = self.dataset.dictionary.pin(f"<{name}>")
        here = table((node.variable,), ((number,),))
        return join(here, self.run(node.child, self.dataset.named[name]))

    def _hold(self, conditions: tuple[p.Condition, ...], rows: Relation, graph: Graph) -> Integers:
        """A mask: of which rows all conditions hold."""
        left = np.arange(rows.length)
        for condition in conditions:
            part = rows if len(left) == rows.length else rows.take(left)
            left = left[self._holds(condition, part, graph)]
        mask = np.zeros(rows.length, np.bool_)
        mask[left] = True
        return mask

    def _holds(self, condition: p.Condition, rows: Relation, graph: Graph) -> Integers:
        if isinstance(condition, Expression):
            return self.values.holds(condition, rows.columns, rows.length)
        if condition.conditions or has_product(condition.pattern):
            found = np.zeros(rows.length, np.bool_)
            at_rows, both = self._pairs(rows, condition.pattern, graph)
            found[at_rows[self._hold(condition.conditions, both, graph)]] = True
        else:
            found = matched(rows, self.run(condition.pattern, graph), overlapping=False)
        return found if condition.wanted else ~found

    def _minus(self, left: Relation, node: p.Minus, graph: Graph) -> Relation:
        # Of a cross product only what is compatible with the left rows is made; that it shares a variable
        # with each of them must be known then.
        if has_product(node.right) and bound(node.left) & bound(node.right):
            kept = np.ones(left.length, np.bool_)
            kept[self._pairs(left, node.right, graph)[0]] = False
            return left.where(kept).unstamped()
        return minus(left, self.run(node.right, graph))

    def _left_join(
        self, left: Relation, right: p.Node, conditions: tuple[p.Condition, ...], graph: Graph
    ) -> Relation:
        at_left, both = self._pairs(left, right, graph)
        if conditions:
            mask = self._hold(conditions, both, graph)
            both, at_left = both.where(mask), at_left[mask]
        alone = np.ones(left.length, np.bool_)
        alone[at_left] = False
        return concatenated([both, left.where(alone)]).unstamped()

    def _group(
        self, child: Relation, keys: tuple[str, ...], results: tuple[tuple[str, Aggregate], ...]
    ) -> Relation:
        if keys:
            found = groups((child.column(key) for key in keys), child.length)
        else:  # One group, even of nothing.
            found = Groups(np.zeros(child.length, np.int64), np.zeros(1, np.int64))
        columns = {key: child.column(key)[found.first] for key in keys}
        for name, call in results:
            columns[name] = self.values.aggregate(call, found.of_row, len(found), child.columns)
        return Relation(columns, len(found))


def _see_no_more(conditions: Iterable[Expression], rows: Relation, node: p.Product) -> bool:
    """Whether conditions inside a product have the same values to look at when it is joined with rows."""
    looked_at = {name for each in conditions for name in each.variables}
    return looked_at & rows.columns.keys() <= bound(node)
