"""What holds besides the streams: background, and the graphs of FROM; in files, or sent along with a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Protocol

from ensue.files import FilePath, Statement, read_statements
from ensue.graphs import Graphs


class Knowledge(Protocol):
    """Where statements that do not come on a stream are from. Terms are canonical text."""

    def background(self) -> Iterable[Statement]:
        """What always holds."""

    def graph(self, iri: str) -> Iterable[Statement]:
        """The graph that a query names in FROM or FROM NAMED; a QueryError if there is none to be read."""


@dataclass(frozen=True, slots=True)
class InFiles:
    """Knowledge that is read from files when it is asked for."""

    files: tuple[FilePath, ...] = ()
    graphs: Graphs = field(default_factory=Graphs)

    def background(self) -> Iterable[Statement]:
        """The statements of all files."""
        for file in self.files:
            yield from read_statements(file)

    def graph(self, iri: str) -> Iterable[Statement]:
        """The statements of the file that the graph is in, if it may be read."""
        return read_statements(self.graphs.find(iri))


@dataclass(frozen=True, slots=True)
class Given:
    """Knowledge of which some is in files, and the rest at hand."""

    files: InFiles
    stated: tuple[Statement, ...] = ()
    graphs: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)

    def background(self) -> Iterable[Statement]:
        """What is at hand, and the statements of all files."""
        return chain(self.stated, self.files.background())

    def graph(self, iri: str) -> Iterable[Statement]:
        """A graph that is at hand, or else in a file."""
        return self.graphs[iri] if iri in self.graphs else self.files.graph(iri)


@dataclass(frozen=True, slots=True)
class Update:
    """How knowledge changes at a time: first it is reloaded, if at all, then some goes, then some comes.

    What it says holds for every evaluation at that instant or later.
    """

    at: int
    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()
    """Gone whatever graph name they had."""
    reloaded: tuple[Statement, ...] | None = None
    """All of the background; None: what there was stays."""
    graphs: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)
    """Graphs of FROM and FROM NAMED that are read anew, by IRI."""


@dataclass(frozen=True, slots=True)
class Sent:
    """Knowledge as data, for a process that may not see the files.

    >>> Sent.of(Sent((("<urn:a>", "<urn:p>", "<urn:b>", None),)), graphs=[]).stated
    (('<urn:a>', '<urn:p>', '<urn:b>', None),)
    """

    stated: tuple[Statement, ...] = ()
    graphs: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, knowledge: Knowledge, graphs: Iterable[str]) -> Sent:
        """Everything that queries over these graphs need of other knowledge."""
        named = {iri: tuple(knowledge.graph(iri)) for iri in sorted(set(graphs))}
        return cls(tuple(knowledge.background()), named)

    def updated(self, update: Update) -> Sent:
        """The knowledge from an update on.

        >>> a, b = (("<urn:a>", "<urn:p>", name, None) for name in ("<urn:b>", "<urn:c>"))
        >>> Sent((a,)).updated(Update(1000, added=(b,), removed=(a,))).stated == (b,)
        True
        """
        stated, gone = self.stated, {statement[:3] for statement in update.removed}
        if update.reloaded is not None:
            stated = update.reloaded
        kept = tuple(statement for statement in stated if statement[:3] not in gone)
        return replace(self, stated=kept + update.added, graphs={**self.graphs, **update.graphs})

    def __len__(self) -> int:
        """How many statements there are in all."""
        return len(self.stated) + sum(map(len, self.graphs.values()))

    def background(self) -> Iterable[Statement]:
        """What was sent."""
        return self.stated

    def graph(self, iri: str) -> Iterable[Statement]:
        """What was sent."""
        return self.graphs[iri]
