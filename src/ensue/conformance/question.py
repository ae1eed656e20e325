"""A test of the entailment suite as a question: a graph, a query, and the right answers.

It is asked twice: of the closure of the graph under some rules, by both evaluators, and of a stream that
brings the graph statement by statement into one window, by the engine as it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ensue.conformance.direct import definitions, over_names
from ensue.conformance.expected import Rename, difference
from ensue.conformance.manifests import QueryCase
from ensue.conformance.streams import ask_stream, continuous
from ensue.errors import EnsueError
from ensue.files import read_statements
from ensue.knowledge import Sent
from ensue.model import FOREVER
from ensue.plan.known import Closed, Statement
from ensue.plan.representatives import settle_and_close
from ensue.plan.unfold import refused_by
from ensue.query.answers import Answers
from ensue.query.choose import choose_evaluator
from ensue.query.dataset import Columns, Dataset, PlainGraph, visible
from ensue.query.tree import ContinuousQuery
from ensue.rules.tree import RuleSet
from ensue.rules.violations import without_conditions

DIRECT = "OWL-Direct"
"""The regime whose queries are read as `direct` says."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of what, and the file with the right answers."""

    name: str
    data: tuple[Statement, ...]
    query: ContinuousQuery
    defined: tuple[Statement, ...]
    """What the query brings along: class expressions that the data lacks."""
    result: Path
    rename: Rename = field(default=str, compare=False)
    """What is done to the terms of the right answers first."""

    @classmethod
    def of(cls, case: QueryCase, rename: Rename = str, rewrite: Callable[[str], str] = str) -> Question:
        """A test, with its terms renamed; `rewrite` does that to the text of the query."""
        data = [
            (rename(s), rename(p), rename(o)) for file in case.data for s, p, o, _ in read_statements(file)
        ]
        text = rewrite(case.query.read_text("utf-8"))
        direct = DIRECT in case.regimes
        query = continuous(over_names(text) if direct else text, case.name, case.query.as_uri())
        defined = definitions(query, data) if direct else []
        return cls(case.name, tuple(data), query, tuple(defined), case.result, rename)

    def problem(self, answers: Answers) -> str | None:
        """What is wrong with answers, None if they are right."""
        return difference(self.result, self.query, answers, self.rename)


def ask(question: Question, rules: RuleSet) -> str | None:
    """Ask the closure of the data under rules, with each evaluator; None if the answers are right."""
    statements = [*question.data, *question.defined]
    _, closed = settle_and_close(without_conditions(rules), statements, "plain")
    dataset = Dataset(closed.dictionary, PlainGraph(still=_seen(closed)))
    for name in ("oxigraph", "auto"):
        evaluator = choose_evaluator(question.query, closed.dictionary, name).evaluator
        if (problem := question.problem(evaluator.evaluate(dataset))) is not None:
            return problem
    return None


def _seen(closed: Closed) -> Columns:
    s, p, o = closed.columns
    return visible(Columns(s, p, o, np.full(len(s), FOREVER, np.int64)), closed.dictionary)


def replay(question: Question, rules: RuleSet, strategy: str = "auto") -> str | None:
    """Ask a stream that brings the data; None if the answers are right.

    Lists that rules have premises about are background, as no stream may bring them; and so is what the
    query brings along.
    """
    lists = set(_lists(question.data, rules))
    stream = [statement for statement in question.data if statement not in lists]
    known = Sent(tuple((*statement, None) for statement in (*question.defined, *sorted(lists))))
    try:
        answers = ask_stream(question.query, stream, rules, known, strategy)
    except EnsueError as problem:
        return str(problem)
    return question.problem(answers)


def _lists(data: Iterable[Statement], rules: RuleSet) -> list[Statement]:
    return Closed.of(data).having(refused_by(rules))
