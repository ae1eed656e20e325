"""Continuous queries as data: what C-SPARQL and RSP-QL both parse into.

A continuous query is a SPARQL query, the windows on streams that it reads, and when it is evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rdflib.plugins.sparql.parserutils import CompValue

from ensue.errors import Place
from ensue.events.tree import Events
from ensue.windows.events import EventWindow
from ensue.windows.spec import CountWindow, Landmark, TimeWindow

EVENTS = "urn:ensue:events:"
"""Patterns with this predicate, and a number, stand for the occurrences of a temporal expression."""
HIDDEN = "ensue_"
"""Variables whose name begins so stand for what is asked of occurrences; SELECT * does not give them."""


class Kind(StrEnum):
    """Who gets the answers: whoever registered the query, or also other queries, as a stream."""

    QUERY = "QUERY"
    STREAM = "STREAM"


class Relation(StrEnum):
    """Which answers of an evaluation are given: all, those that came, or those that went."""

    RSTREAM = "RSTREAM"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"


class Form(StrEnum):
    """What an answer is: bindings, yes or no, or triples (the last two)."""

    SELECT = "SELECT"
    ASK = "ASK"
    CONSTRUCT = "CONSTRUCT"
    DESCRIBE = "DESCRIBE"


WindowSpec = TimeWindow | Landmark | CountWindow | EventWindow


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A window on a stream. Without a name its content is part of the default graph."""

    stream: str
    spec: WindowSpec
    name: str | None = None
    place: Place | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Partition:
    """What tells the partitions of a query apart: the names of graphs, or what subjects have of a property.

    >>> str(Partition()), str(Partition("urn:in"))
    ('GRAPH', '<urn:in>')
    """

    property: str | None = None
    """The IRI of the property whose objects are a subject's keys; None: the graph's name is the key."""

    def __str__(self) -> str:
        return "GRAPH" if self.property is None else f"<{self.property}>"


@dataclass(frozen=True, slots=True)
class ContinuousQuery:
    """A continuous query. IRIs are text without brackets."""

    name: str
    kind: Kind
    form: Form
    streams: tuple[StreamWindow, ...]
    relation: Relation | None
    """None in C-SPARQL, where every evaluation gives all its answers."""
    every_ms: int | None
    """How often it is evaluated; None: whenever a window moves."""
    default_graphs: tuple[str, ...]
    named_graphs: tuple[str, ...]
    window_variables: frozenset[str]
    """The ?w of `WINDOW ?w { }`: GRAPH ?w in the SPARQL, but over named windows only, as any other GRAPH ?g
    is over named graphs only. C-SPARQL has but GRAPH ?g, over both."""
    sparql: str
    """The SPARQL inside, by itself: WINDOW is GRAPH, and everything else that is not SPARQL is blank.
    Parse it with `base` and `prefixes`."""
    base: str
    prefixes: dict[str, str] = field(hash=False)
    algebra: CompValue = field(compare=False, repr=False)
    """What rdflib makes of `sparql`; literals keep the digits they were written with. Nobody may change it:
    whoever parses the same text gets the same tree. It cannot be pickled: to another process, send `text`."""
    text: str = field(repr=False)
    place: Place
    partition: Partition | None = None
    """What its windows are parted by; None: they are not."""
    violations: bool = False
    """Whether it asks for what is wrong in its windows (`ensue.query.violations`), and sees nothing else."""
    events: Events | None = None
    """Its temporal expressions; None: it has none."""

    @property
    def event_window(self) -> EventWindow | None:
        """Its window, if it is answered for each event of its stream; such a query has no other."""
        spec = self.streams[0].spec
        return spec if isinstance(spec, EventWindow) else None

    @property
    def is_parted(self) -> bool:
        """Whether it is answered in parts that do not see each other: in partitions, or event by event."""
        return self.partition is not None or self.event_window is not None

    @property
    def planned(self) -> CompValue:
        """The algebra to make plans of: joins stand for temporal operators."""
        return self.algebra if self.events is None else self.events.planned

    @property
    def windows(self) -> dict[str, StreamWindow]:
        """The named windows, by name."""
        return {window.name: window for window in self.streams if window.name is not None}
