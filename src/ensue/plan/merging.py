"""What is done to all answers of a query together: whether shards can do it, or where the query is cut.

This is condition 4 of routing to several shards, for what is outside; `keying.py` has it for subqueries.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Variable

from ensue.dictionary import Dictionary
from ensue.plan.conditions import Condition, NotDivided
from ensue.query.compiled.compile import compile_query
from ensue.query.compiled.expressions import NotCompiled
from ensue.query.compiled.split import split
from ensue.query.share import Cut
from ensue.query.tree import ContinuousQuery, Form


@dataclass(frozen=True, slots=True)
class Lower:
    """What each shard evaluates of a query."""

    tree: CompValue
    """Its pattern."""
    cut: Cut | None = None
    because: str = ""
    """Why a merge has to make answers of it; nothing if none has to."""


def lower(query: ContinuousQuery, variable: str) -> Lower:
    """What each shard evaluates of a query that is divided by a variable.

    >>> from ensue.query.language import parse_query
    >>> query = parse_query("SELECT ?o FROM STREAM <urn:s> [RANGE 1s] { ?x <urn:p> ?o } ORDER BY ?o")
    >>> found = lower(query, "x")
    >>> found.tree.name, found.cut, found.because
    ('BGP', <Cut.ANSWERS: 'answers'>, 'ORDER BY puts all answers in order')
    """
    tree, key = query.planned.p, Variable(variable)
    is_cut = tree.name == "Slice"
    tree = tree.p if is_cut else tree
    is_distinct = tree.name == "Distinct"
    project = tree.p if tree.name in ("Distinct", "Reduced") else tree
    is_ordered = project.p.name == "OrderBy"
    pattern = project.p.p if is_ordered else project.p
    groups = _groups(pattern)
    if groups is not None and key not in (groups.expr or []):
        by = "GROUP BY" if groups.expr else "an aggregate without GROUP BY"
        return Lower(groups.p, Cut.GROUPS, f"{by} puts values of ?{key} together")
    if because := _because(query, key, project, is_cut, is_distinct, is_ordered):
        return Lower(pattern, Cut.ANSWERS, because)
    return Lower(pattern)


def check(query: ContinuousQuery, found: Lower) -> None:
    """Raise NotDivided where a merge cannot make answers of what shards evaluate."""
    if found.cut is not None:
        try:
            split(compile_query(query, Dictionary()), found.cut)
        except NotCompiled as problem:
            where = f"{found.because}, and parts of the query cannot be put together: {problem.reason}"
            raise NotDivided(Condition.MERGED, where) from problem


def _because(
    query: ContinuousQuery,
    key: Variable,
    project: CompValue,
    is_cut: bool,
    is_distinct: bool,
    is_ordered: bool,
) -> str:
    """Why what shards would answer is not yet the answer; nothing if it is."""
    if query.form is Form.ASK:
        return "ASK has one answer for all values"
    if is_cut:
        return "LIMIT and OFFSET count all answers"
    if is_ordered:
        return "ORDER BY puts all answers in order"
    if query.form is Form.CONSTRUCT:
        return "CONSTRUCT makes a triple once"
    if key not in project.PV:
        what = "DISTINCT answers" if is_distinct else "answers"
        return f"{what} do not hold ?{key}"
    return ""


def _groups(tree: CompValue) -> CompValue | None:
    """The GROUP BY right below the clauses of one SELECT."""
    while tree.name in ("Extend", "Filter", "Join"):
        tree = tree.p1 if tree.name == "Join" else tree.p
    return tree.p if tree.name == "AggregateJoin" else None
