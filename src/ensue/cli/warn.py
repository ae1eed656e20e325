"""What `run` and `check` say of queries that are sound and hardly meant so: once, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ensue.errors import Warned
from ensue.job import Job
from ensue.query.language_unbound import unbound
from ensue.query.tree import ContinuousQuery
from ensue.query.vocabulary import Vocabulary


def warn_of_variables(queries: Iterable[ContinuousQuery]) -> None:
    """Variables that nothing gives a value to."""
    _say(warned for query in queries for warned in unbound(query))


def vocabulary_of(job: Job) -> Vocabulary:
    """What a job's queries ask for, and neither background nor rules have."""
    queries = [query for query in job.parsed() if not query.violations]
    vocabulary = Vocabulary(queries, job.rules)
    vocabulary.background(job.knowledge.background())
    for query in queries:
        for iri in (*query.default_graphs, *query.named_graphs):
            vocabulary.background(job.knowledge.graph(iri))
    for update in job.updates:
        for statements in (update.added, update.reloaded or (), *update.graphs.values()):
            vocabulary.background(statements)
    return vocabulary


def warn_of_terms(vocabulary: Vocabulary) -> None:
    """Predicates and classes that nothing brings."""
    _say(vocabulary.warnings())


def warn(job: Job) -> None:
    """Both, before anything has come."""
    warn_of_variables(query for query in job.parsed() if not query.violations)
    warn_of_terms(vocabulary_of(job))


def _say(found: Iterable[Warned]) -> None:
    for warned in found:
        print(f"ensue: warning: {warned}", file=sys.stderr)
