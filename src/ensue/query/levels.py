"""Queries that read what other queries construct: who comes first.

A stream that a query constructs is a level above the streams that the query reads, and a query is on the
level of the highest stream it reads. At each stop the levels are gone through from below, so what a
query constructs at a close is in the windows that close there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ensue.errors import QueryError
from ensue.query.tree import ContinuousQuery, Kind


def constructed(queries: Iterable[ContinuousQuery]) -> dict[str, ContinuousQuery]:
    """The streams that queries construct, by name."""
    return {query.name: query for query in queries if query.kind is Kind.STREAM}


def levels(queries: Mapping[str, ContinuousQuery]) -> dict[str, int]:
    """The level of each query, by name; a cycle is a QueryError.

    >>> from ensue.query.language import parse_query
    >>> one = "REGISTER STREAM <urn:b> AS CONSTRUCT { ?s ?p ?o } FROM STREAM <urn:a> [RANGE 1s] { ?s ?p ?o }"
    >>> two = "REGISTER QUERY q AS ASK FROM STREAM <urn:b> [RANGE 1s] { ?s ?p ?o }"
    >>> levels({query.name: query for query in map(parse_query, (two, one))})
    {'q': 1, 'urn:b': 0}
    """
    makers = constructed(queries.values())
    found: dict[str, int] = {}

    def level(query: ContinuousQuery, above: tuple[str, ...]) -> int:
        if query.name in above:
            cycle = " -> ".join([*above[above.index(query.name) :], query.name])
            what = f"queries read each other's streams in a circle: {cycle}"
            raise QueryError(what, place=query.place, hint="let one of them read another stream")
        if query.name not in found:
            below = [makers[on.stream] for on in query.streams if on.stream in makers]
            found[query.name] = max((1 + level(maker, (*above, query.name)) for maker in below), default=0)
        return found[query.name]

    return {name: level(query, ()) for name, query in queries.items()}


def check_events(queries: Iterable[ContinuousQuery]) -> None:
    """Raise QueryError where somebody looks for events on what another query constructs."""
    every = list(queries)
    made = constructed(every)
    for query in every:
        if query.event_window is not None and query.streams[0].stream in made:
            what = f"<{query.streams[0].stream}> is what a query constructs, and it has no events of its own"
            hint = "look for events on the streams that it is made of, or read it through another window"
            raise QueryError(what, place=query.streams[0].place or query.place, hint=hint)
