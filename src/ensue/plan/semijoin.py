"""Semi-joins: what a value of a query's key must have for there to be any answer about it.

A query that is divided by a variable (`routing.py`) answers about a value of it by statements about that
value alone. Where each of some patterns must be matched for any answer, a value of which no statement can
match one of them has none; and whoever knows all statements that windows will ever hold together with one
about such a value need not look at it any further (`ensue.spark.reducing`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdflib.paths import Path
from rdflib.plugins.sparql.parserutils import CompValue

from ensue.plan import backward
from ensue.plan.asked import Fed, node_of
from ensue.plan.backward import Need, Needs
from ensue.plan.cuts import Cuts
from ensue.plan.shapes import Shape, shape_of
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import Pattern, Var

MOST = 7
"""So many patterns are told apart. Of more, these are looked at: that drops less, and nothing wrong."""

_FEWEST = 2
_PREDICATE = 1

Keyed = tuple[Shape, int]
"""Statements of a shape, and the position of their key."""


@dataclass(frozen=True, slots=True)
class SemiJoin:
    """Of a query: which statements it can use, and those that its patterns' matches can rest on."""

    query: str
    variable: str
    wanted: tuple[Keyed, ...]
    required: tuple[tuple[Keyed, ...], ...]
    """For each of some patterns, all of which an answer needs: each match of one rests on such a statement
    with the same key, or on the background alone."""

    def describe(self) -> str:
        """The same for people."""
        return (
            f"query {self.query}: what comes and goes within one micro-batch is looked at only if its "
            f"?{self.variable} may match all of {len(self.required)} patterns"
        )


@dataclass(frozen=True, slots=True)
class Reduction:
    """The semi-joins of all queries of a job: what is of no use to any of them can be left out."""

    semijoins: tuple[SemiJoin, ...]
    assumed: tuple[Shape, ...] = ()
    """It holds only as long as no stream brings a statement of one of these shapes."""


def find(query: ContinuousQuery, variable: str, tree: CompValue, cuts: Cuts, needs: Needs) -> SemiJoin | None:
    """That of a query by a variable that it can be divided by; None: there is nothing to gain.

    `tree` is what shards evaluate of it, `needs` are those of all its patterns, by their keys.
    """
    key = Var(variable)
    if query.events is not None or query.violations or _PREDICATE in needs.by_key:
        return None
    fed = Fed.of(query)
    every = dict.fromkeys(_Walk(query, fed).required(tree, fed.default))
    asked = [pattern for pattern in every if key in pattern.variables()]
    if len(asked) < _FEWEST:
        return None
    required = (backward.close(cuts, [Need(shape_of(each), tuple(each).index(key))]) for each in asked[:MOST])
    return SemiJoin(query.name, variable, _keyed(needs), tuple(map(_keyed, required)))


def _keyed(needs: Needs) -> tuple[Keyed, ...]:
    keyed = ((at, shapes) for at, shapes in needs.by_key.items() if at is not None)
    return tuple((shape, at) for at, shapes in keyed for shape in shapes.widest())


@dataclass(frozen=True, slots=True)
class _Walk:
    """Goes through the algebra for patterns all of which match wherever a part has a solution.

    Paths are not looked into, nor sides of UNION, subqueries, and graphs that no stream feeds.
    """

    query: ContinuousQuery
    fed: Fed

    def required(self, tree: CompValue, here: bool) -> Iterator[Pattern]:
        """The patterns of a part in a graph that streams feed, or do not feed."""
        match tree.name:
            case "BGP":
                for s, p, o in tree.triples if here else ():
                    if not isinstance(p, Path):
                        yield Pattern(node_of(s), node_of(p), node_of(o))
            case "Join":
                yield from self.required(tree.p1, here)
                yield from self.required(tree.p2, here)
            case "LeftJoin" | "Minus":
                yield from self.required(tree.p1, here)
            case "Filter" | "Extend":
                yield from self.required(tree.p, here)
            case "Graph":
                yield from self.required(tree.p, self.fed.graph(self.query, tree.term))
