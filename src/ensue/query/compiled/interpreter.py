"""Runs a plan over a dataset: each operator's solutions, from the leaves up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ensue.query.compiled import plan as p
from ensue.query.compiled.compatible import matched, pairs
from ensue.query.compiled.expressions import Aggregate, Expression, Values
from ensue.query.compiled.operators import distinct, join, minus, sliced, table
from ensue.query.compiled.patterns import Remembered, solve
from ensue.query.compiled.relation import Groups, Relation, concatenated, groups, merged
from ensue.query.dataset import Dataset, Graph, Integers


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
            case p.Join() | p.Union() | p.Minus() | p.LeftJoin():
                return self._both(node, self.run(node.left, graph), self.run(node.right, graph), graph)
            case _:
                return self._one(node, self.run(node.child, graph), graph)

    def above(self, operators: Iterable[p.Unary], solutions: Relation) -> Relation:
        """What operators that look at no graph, the lowest first, make of given solutions."""
        for operator in operators:
            solutions = self._one(operator, solutions, self.dataset.default)
        return solutions

    def _both(self, node: p.Binary, left: Relation, right: Relation, graph: Graph) -> Relation:
        match node:
            case p.Join():
                return join(left, right)
            case p.Union():
                return concatenated([left, right])
            case p.Minus():
                return minus(left, right)
            case p.LeftJoin(_, _, conditions):
                return self._left_join(left, right, conditions, graph)

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
        inner = self.run(condition.pattern, graph)
        if not condition.conditions:
            found = matched(rows, inner, overlapping=False)
        else:
            found = np.zeros(rows.length, np.bool_)
            at_rows, at_inner = pairs(rows, inner)
            both = merged(rows, inner, at_rows, at_inner)
            found[at_rows[self._hold(condition.conditions, both, graph)]] = True
        return found if condition.wanted else ~found

    def _left_join(
        self, left: Relation, right: Relation, conditions: tuple[p.Condition, ...], graph: Graph
    ) -> Relation:
        at_left, at_right = pairs(left, right)
        both = merged(left, right, at_left, at_right)
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
