"""What a department says, apart from how it is written down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from ensue.bench.ontology import TYPE, Statement
from ensue.terms import OWL

ONTOLOGY = "http://swat.cse.lehigh.edu/onto/univ-bench.owl"
VOCABULARY = f"{ONTOLOGY}#"


class Form(Enum):
    """How a value is written."""

    TEXT = auto()
    LINK = auto()
    UNIVERSITY = auto()
    """A link that also says that there is a university at its end."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An instance of a class, and its properties in order: name, value, form."""

    kind: str
    iri: str
    properties: list[tuple[str, str, Form]]


@dataclass(frozen=True, slots=True)
class Department:
    """All that is written about the department of a university, both by number."""

    university: int
    number: int
    things: list[Thing]

    @property
    def document(self) -> str:
        """The name of the document, without an ending."""
        return f"University{self.university}_{self.number}"

    @property
    def graph(self) -> str:
        """The IRI of the document: of the benchmark's own only the name is known, which is relative.

        >>> Department(3, 14, []).graph
        'http://www.University3.edu/University3_14.owl'
        """
        return f"{university_iri(self.university)}/{self.document}.owl"

    def statements(self) -> Iterator[Statement]:
        """Its statements as N-Triples has them, in the order of the document; some come twice.

        >>> [" ".join(each) for each in Department(0, 0, []).statements()][0]
        '<http://www.University0.edu/University0_0.owl> \
<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2002/07/owl#Ontology>'
        """
        graph = f"<{self.graph}>"
        yield graph, TYPE, f"<{OWL}Ontology>"
        yield graph, f"<{OWL}imports>", f"<{ONTOLOGY}>"
        for thing in self.things:
            subject = f"<{thing.iri}>"
            yield subject, TYPE, name(thing.kind)
            for short, value, form in thing.properties:
                if form is Form.TEXT:
                    yield subject, name(short), f'"{value}"'
                    continue
                if form is Form.UNIVERSITY:
                    yield f"<{value}>", TYPE, name("University")
                yield subject, name(short), f"<{value}>"


def university_iri(number: int) -> str:
    """The IRI of a university."""
    return f"http://www.University{number}.edu"


def name(short: str) -> str:
    """The IRI of a class or property of the ontology, as N-Triples has it.

    >>> name("takesCourse")
    '<http://swat.cse.lehigh.edu/onto/univ-bench.owl#takesCourse>'
    """
    return f"<{VOCABULARY}{short}>"
