"""A plant whose machines report events: a stream of ever-new nodes, under classes and properties in trees.

Events are of some topics, and each topic has classes and properties of its own. A query asks for the
events of one topic that signal something, or for those of all: then every statement can matter to it, and
else one in so many as there are topics. No single pattern of it is rare, but few events have all three.

From each statement four facts follow under RDFS, one of them by being about a resource:

    a class      -> three classes above it, and that the event is a resource
    by a machine -> two properties above it, the class that its domain is, and the class above that
    a value      -> the same
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from ensue.bench.ontology import DOMAIN, RANGE, SUB_CLASS, SUB_PROPERTY, TYPE, Statement

STREAM = "http://example.org/plant/events"
EACH = 3
"""Statements of an event: its class, its machine, and what it measures or signals."""
REGIME = "rdfs-jena"

CROWD_NODE = "<http://example.org/e/crowd>"
"""The node that a crowd of events is about."""

NODE = "<http://example.org/e/"
"""What stands before the number of an event."""

_NAMES = "http://example.org/plant#"
_KINDS, _LEAVES = 8, 4
_VALUES = 1000
_AT_ONCE = 1 << 14
"""So many events are written in one go."""


@dataclass(frozen=True, slots=True)
class Plant:
    """How much there is of everything, and how it comes."""

    topics: int = 4
    machines: int = 1000
    rare: int = 100
    """One event in so many signals something."""
    rate: int = 40_000
    """Statements a second, by their stamps."""
    crowd: int = 0
    """So many events of a hundred are about one and the same node: a key that has most of the data."""
    silent: bool = False
    """Whether nothing is said of that node, and of the others what else would be, when it would be."""

    def background(self) -> list[Statement]:
        """The classes and the properties.

        >>> len(Plant(topics=2).background())
        111
        """
        found: list[Statement] = [
            (_name("Measured"), SUB_CLASS, _name("Event")),
            (_name("Signalled"), SUB_CLASS, _name("Event")),
            (_name("involves"), RANGE, _name("Machine")),
            (_name("measures"), SUB_PROPERTY, _name("records")),
            (_name("signals"), SUB_PROPERTY, _name("records")),
        ]
        for topic in range(self.topics):
            found += _of_topic(topic)
        return found

    def lines(self, first: int, end: int) -> Iterator[str]:
        """The statements of some events, without their times.

        >>> print("".join(Plant().lines(0, 1)), end="")  # doctest: +ELLIPSIS
        <http://example.org/e/0> ...type> <http://example.org/plant#Leaf0-0-0> .
        <http://example.org/e/0> <http://example.org/plant#by0> <http://example.org/machine/0> .
        <http://example.org/e/0> <http://example.org/plant#signals0> "0" .
        """
        return (line for n in range(first, end) for line in self._event(n))

    def _event(self, n: int) -> Iterator[str]:
        # Multipliers that share no factor with round numbers: what is alike does not come in turns.
        topic, spread = n % self.topics, n * 7919
        records = "signals" if n // self.topics % self.rare == 0 else "measures"
        node, machine = f"{NODE}{n}>", spread % self.machines
        if spread % 100 < self.crowd:
            if self.silent:
                return
            # One machine, so that the node is not an answer with every machine there is.
            node, machine = CROWD_NODE, 0
        yield f"{node} {TYPE} <{_NAMES}Leaf{topic}-{spread % _KINDS}-{n // 3 % _LEAVES}> .\n"
        yield f"{node} <{_NAMES}by{topic}> <http://example.org/machine/{machine}> .\n"
        yield f'{node} <{_NAMES}{records}{topic}> "{spread % _VALUES}" .\n'

    def write(self, statements: int, folder: Path) -> Path:
        """A timed stream file with so many statements; the same one if it was written before."""
        settings = "-".join(str(getattr(self, field.name)) for field in fields(self))
        file = folder / f"plant-{settings}-{statements}.tsv"
        if not file.exists():
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as out:
                for first in range(0, statements // EACH, _AT_ONCE):
                    out.write("".join(self._timed(first, min(first + _AT_ONCE, statements // EACH))))
            os.replace(out.name, file)
        return file

    def _timed(self, first: int, end: int) -> Iterator[str]:
        for n in range(first, end):
            for at, line in enumerate(self._event(n), n * EACH):
                yield f"{1 + at * 1000 // self.rate}\t{line}"


def query(name: str, range_s: int, step_s: int, topic: int | None = None) -> str:
    """The query for the events of a topic, or (None) of all, that signal something."""
    of = "" if topic is None else str(topic)
    kind = "Event" if topic is None else f"Topic{topic}"
    return f"""
        REGISTER QUERY {name} AS
        SELECT ?event ?machine ?signal
        FROM STREAM <{STREAM}> [RANGE {range_s}s STEP {step_s}s]
        WHERE {{
          ?event {TYPE} {_name(kind)} .
          ?event {_name(f"involves{of}")} ?machine .
          ?event {_name(f"signals{of}")} ?signal
        }}"""


def _of_topic(topic: int) -> Iterator[Statement]:
    whole = _name(f"Topic{topic}")
    yield whole, SUB_CLASS, _name("Event")
    for kind in range(_KINDS):
        yield _name(f"Kind{topic}-{kind}"), SUB_CLASS, whole
        for leaf in range(_LEAVES):
            yield _name(f"Leaf{topic}-{kind}-{leaf}"), SUB_CLASS, _name(f"Kind{topic}-{kind}")
    yield _name(f"by{topic}"), SUB_PROPERTY, _name(f"involves{topic}")
    yield _name(f"involves{topic}"), SUB_PROPERTY, _name("involves")
    yield _name(f"by{topic}"), DOMAIN, _name(f"Attributed{topic}")
    yield _name(f"Attributed{topic}"), SUB_CLASS, _name("Attributed")
    for records, done in (("measures", "Measured"), ("signals", "Signalled")):
        yield _name(f"{records}{topic}"), SUB_PROPERTY, _name(records)
        yield _name(f"{records}{topic}"), DOMAIN, _name(f"{done}{topic}")
        yield _name(f"{done}{topic}"), SUB_CLASS, _name(done)
        yield _name(f"{done}{topic}"), SUB_CLASS, whole


def _name(local: str) -> str:
    return f"<{_NAMES}{local}>"
