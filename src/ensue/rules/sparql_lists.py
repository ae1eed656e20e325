"""List premises in SPARQL: how they are told from other triples and paths.

| premise | in SPARQL |
|---|---|
| `member(?l, ?x)` | `?l rdf:rest*/rdf:first ?x` |
| `each(?l, ?t, (?y a ?t))` | `sparql_each.py`: NOT EXISTS twice |
| `pair(?l, ?x, ?y)`, `chain(?l, ?x, ?y)` | `?l list:pair (?x ?y)`, `?l list:chain (?x ?y)` |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rdflib.namespace import RDF as RDFLIB_RDF
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, URIRef

from ensue.rules.sparql_each import FIRST, REST

Triple = tuple[Any, Any, Any]


def is_member_path(path: Any, term: Any) -> bool:
    """Whether a path of rdflib's tree is `rdf:rest*/rdf:first`; `term` gives the term of a node."""
    steps = _steps(path)
    return (
        len(steps) == 2
        and [step.mod for step in steps] == ["*", None]
        and all(isinstance(step.part, URIRef) for step in steps)
        and [term(step.part) for step in steps] == [REST, FIRST]
    )


def predicate(path: Any) -> URIRef | None:
    """The one predicate that a path is; None if it is none or more than that."""
    if isinstance(path, URIRef):
        return path
    steps = _steps(path)
    alone = len(steps) == 1 and not steps[0].mod and isinstance(steps[0].part, URIRef)
    return steps[0].part if alone else None


def _steps(path: Any) -> list[CompValue]:
    """The steps of a path without alternatives."""
    if not isinstance(path, CompValue) or path.name != "PathAlternative" or len(path.part) != 1:
        return []
    (sequence,) = path.part
    steps = list(sequence.part) if sequence.name == "PathSequence" else []
    return steps if all(isinstance(s, CompValue) and s.name == "PathElt" for s in steps) else []


@dataclass(frozen=True, slots=True)
class Collections:
    """The lists `( )` among the triples that rdflib made of a text: their nodes are its own."""

    first: Mapping[BNode, Any]
    rest: Mapping[BNode, Any]

    @classmethod
    def among(cls, triples: Iterable[Triple]) -> Collections:
        """Those in some triples. What a user writes as rdf:first has another name there."""
        every = list(triples)
        first, rest = (
            {s: o for s, p, o in every if isinstance(s, BNode) and isinstance(p, URIRef) and p == name}
            for name in (RDFLIB_RDF.first, RDFLIB_RDF.rest)
        )
        return cls(first, rest)

    def nodes(self, head: Any) -> list[BNode]:
        """The nodes of a list; none if it is no list."""
        found = []
        while isinstance(head, BNode) and head in self.first:
            found.append(head)
            head = self.rest[head]
        return found
