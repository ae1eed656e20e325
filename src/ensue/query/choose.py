"""Which evaluator a query gets, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ensue.dictionary import Dictionary
from ensue.errors import QueryError, UsageError
from ensue.query.compiled.evaluator import CompiledEvaluator
from ensue.query.compiled.expressions import NotCompiled
from ensue.query.compiled.part import PartEvaluator
from ensue.query.evaluator import Evaluator
from ensue.query.oxigraph import OxigraphEvaluator
from ensue.query.share import Cut, Share
from ensue.query.tree import ContinuousQuery

EVALUATORS = ("auto", "compiled", "oxigraph")


@dataclass(frozen=True, slots=True)
class Choice:
    """An evaluator, and why it is this one."""

    evaluator: Evaluator
    reason: str


def _compiled(query: ContinuousQuery, dictionary: Dictionary, wanted: str) -> CompiledEvaluator:
    """The compiled evaluator, for a query that no other one can answer."""
    if wanted == "oxigraph":
        what, hint = "oxigraph knows no temporal operators", "leave the choice to Ensue: --evaluator auto"
        raise QueryError(what, place=query.place, hint=hint)
    try:
        return CompiledEvaluator(query, dictionary)
    except NotCompiled as problem:
        what = f"this cannot be in a query with temporal operators: {problem.reason}"
        hint = "construct a stream of what occurs, and ask that of another query"
        raise QueryError(what, place=query.place, hint=hint) from problem


def choose_evaluator(
    query: ContinuousQuery, dictionary: Dictionary, wanted: str = "auto", share: Share | None = None
) -> Choice:
    """The compiled evaluator where it takes the query, otherwise oxigraph; or the one that is wanted.

    Where the query is cut, `plan/routing.py` has made sure that both halves are compiled.

    >>> from ensue.query.language import parse_query
    >>> query = parse_query("ASK FROM STREAM <urn:s> [RANGE 1s] { ?s <urn:p>+ ?o }")
    >>> choose_evaluator(query, Dictionary()).evaluator.name
    'oxigraph'
    """
    if wanted not in EVALUATORS:
        raise UsageError(f"unknown evaluator '{wanted}'", hint=f"one of {', '.join(EVALUATORS)}")
    if share is not None and share.cut in (Cut.ANSWERS, Cut.GROUPS):
        return Choice(PartEvaluator(query, dictionary, share), "a shard's part of it is compiled")
    if query.events is not None:
        return Choice(
            _compiled(query, dictionary, wanted), "it has temporal operators, so it must be compiled"
        )
    if wanted == "oxigraph":
        return Choice(OxigraphEvaluator(query), "asked for")
    try:
        compiled = CompiledEvaluator(query, dictionary)
    except NotCompiled as problem:
        if wanted == "compiled":
            hint = "leave the choice to Ensue: --evaluator auto"
            raise QueryError(f"not compiled: {problem.reason}", place=query.place, hint=hint) from problem
        return Choice(OxigraphEvaluator(query), f"not compiled: {problem.reason}")
    return Choice(compiled, "asked for" if wanted == "compiled" else "all of it can be compiled")
