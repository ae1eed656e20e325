"""Updates of the background that wait for their time."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field

from ensue.errors import UsageError
from ensue.files import FilePath
from ensue.knowledge import Update
from ensue.model import FOREVER, NEVER
from ensue.query.knowledge_in import Backgrounds, graph_in, knowledge_in
from ensue.query.terms_in import ByName, OneStatement, Statements, by_name, statements_text
from ensue.query.tree import ContinuousQuery


@dataclass(slots=True)
class Updates:
    """The updates to come, in order of time; those of one time in the order in which they were said.

    >>> waiting = Updates()
    >>> waiting.put(Update(20), frontier=10)
    >>> waiting.put(Update(15), frontier=10)
    >>> waiting.due(19).at, waiting.due(19)
    (15, None)
    """

    _waiting: list[Update] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, update: Update, frontier: int) -> None:
        """Let one wait; raises UsageError where its time has come already."""
        if not NEVER < update.at < FOREVER:
            raise UsageError(f"{update.at} is not a time in milliseconds", hint="it must fit into 64 bits")
        if update.at <= frontier:
            come = "all streams have ended" if frontier == FOREVER else f"time has come to {frontier}"
            what = f"the background cannot change at {update.at}: {come}, and windows were answered"
            raise UsageError(what, hint="say it before its time comes, or say a later one")
        insort(self._waiting, update, key=lambda each: each.at)

    @property
    def next(self) -> int:
        """The time of the next one; FOREVER if none waits."""
        return self._waiting[0].at if self._waiting else FOREVER

    def due(self, time: int) -> Update | None:
        """The next one up to a time, which then waits no more."""
        if not self._waiting or self._waiting[0].at > time:
            return None
        return self._waiting.pop(0)


def check_temporal(queries: Iterable[ContinuousQuery]) -> None:
    """Refuse what is composed over a background that is to change."""
    for query in queries:
        if query.events is not None:
            what = f"the background changes, and what the temporal query '{query.name}' has composed stays"
            hint = "run it by itself, and start it anew with the other background"
            raise UsageError(what, hint=hint)


def check_retracted(stream: str, queries: Iterable[ContinuousQuery]) -> None:
    """Refuse what takes statements back of which a temporal query has composed something."""
    for query in queries:
        if query.events is not None and any(on.stream == stream for on in query.streams):
            what = f"a temporal query reads <{stream}>, and what it has composed cannot be taken back"
            hint = "send the retraction as an event of its own, and ask for NOT { } of it"
            raise UsageError(what, place=query.place, hint=hint)


def changed(add: OneStatement | Statements, remove: OneStatement | Statements, at: int) -> Update:
    """Some statements come, and some go.

    >>> changed([("<urn:a>", "<urn:p>", "<urn:b>")], [], 5).added
    (('<urn:a>', '<urn:p>', '<urn:b>', None),)
    """
    return Update(at, tuple(statements_text(add)), tuple(statements_text(remove)))


def reloaded(background: Backgrounds | None, graphs: ByName[FilePath | Statements], at: int) -> Update:
    """Files are read now, for a background from then on; None: only graphs are."""
    every = None if background is None else tuple(knowledge_in(background).background())
    return Update(
        at,
        reloaded=every,
        graphs={iri: graph_in(given) for iri, given in by_name(graphs, "a graph").items()},
    )
