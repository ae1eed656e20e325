"""Data as a stream: each statement with a stamp of its own, and one window that holds them all."""

from __future__ import annotations

from collections.abc import Iterable

from ensue.errors import QueryError
from ensue.knowledge import Knowledge
from ensue.plan.known import Statement
from ensue.query.answers import Answers
from ensue.query.language import parse_query
from ensue.query.tree import ContinuousQuery
from ensue.reasoner import Reasoner
from ensue.rules.tree import RuleSet

STREAM = "urn:ensue:conformance"
"""The stream that the queries of tests read."""

_HOUR = 3_600_000
_BEFORE: Statement = ("<urn:ensue:before>", "<urn:ensue:before>", "<urn:ensue:before>")


def continuous(sparql: str, name: str, base: str, named: Iterable[str] = ()) -> ContinuousQuery:
    """A SPARQL query over a window of an hour, and over graphs of these names."""
    graphs = "".join(f" FROM NAMED <{iri}>" for iri in named)
    return parse_query(f"BASE <{base}> FROM STREAM <{STREAM}> [RANGE {_HOUR}ms]{graphs} {sparql}", name)


def ask_stream(
    query: ContinuousQuery,
    data: Iterable[Statement],
    rules: RuleSet,
    known: Knowledge,
    strategy: str = "auto",
) -> Answers:
    """The answers after the data came, a statement each millisecond.

    One more came before and has left the window, which would not fire if nothing ever came.
    All is derived that follows, whatever the query needs of it: to find that out for a complete regime of
    which nothing is known beforehand takes longer than to derive it.
    """
    reasoner = Reasoner(rules, known, strategy, prune=False)
    reasoner.register(query)
    reasoner.feed(STREAM, [(time, *statement, None) for time, statement in enumerate([_BEFORE, *data])])
    results = [*reasoner.advance(to=_HOUR)]
    if [result.close for result in results] != [0, _HOUR]:
        closes = ", ".join(str(result.close) for result in results) or "never"
        raise QueryError(f"the window closed at {closes}, and not at 0 and {_HOUR}", place=query.place)
    return results[1].answers
