"""What a stream generator must know of an ontology: its classes, properties and restrictions.

Read off the statements, without reasoning. Nothing depends on the labels of blank nodes (names are
sorted, the rest stays in the order of the file), so that the same file always gives the same stream.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from ensue.terms import OWL, RDF, RDFS, XSD, Kind, datatype_of, kind_of

Statement = tuple[str, str, str]
Links = dict[str, frozenset[str]]
Node = TypeVar("Node", str, tuple[str, bool])

TYPE = f"<{RDF}type>"
FIRST, REST, NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
SUB_CLASS, SUB_PROPERTY = f"<{RDFS}subClassOf>", f"<{RDFS}subPropertyOf>"
DOMAIN, RANGE = f"<{RDFS}domain>", f"<{RDFS}range>"
EQUIVALENT_CLASS, EQUIVALENT_PROPERTY = f"<{OWL}equivalentClass>", f"<{OWL}equivalentProperty>"
INVERSE = f"<{OWL}inverseOf>"
ON_PROPERTY = f"<{OWL}onProperty>"
HAS_VALUE, SOME, ALL = f"<{OWL}hasValue>", f"<{OWL}someValuesFrom>", f"<{OWL}allValuesFrom>"
INTERSECTION, UNION = f"<{OWL}intersectionOf>", f"<{OWL}unionOf>"
FUNCTIONAL, INVERSE_FUNCTIONAL = f"<{OWL}FunctionalProperty>", f"<{OWL}InverseFunctionalProperty>"
SYMMETRIC, TRANSITIVE = f"<{OWL}SymmetricProperty>", f"<{OWL}TransitiveProperty>"

_VOCABULARIES = tuple(f"<{namespace}" for namespace in (RDF, RDFS, OWL, XSD))
_CLASS_TYPES = frozenset({f"<{OWL}Class>", f"<{RDFS}Class>"})
_DATA_TYPES = frozenset({f"<{RDFS}Datatype>", f"<{OWL}DataRange>"})
_DATATYPE_PROPERTY, _ANNOTATION_PROPERTY = f"<{OWL}DatatypeProperty>", f"<{OWL}AnnotationProperty>"
_PROPERTY_TYPES = frozenset(
    {f"<{OWL}ObjectProperty>", f"<{RDF}Property>", _DATATYPE_PROPERTY, FUNCTIONAL, INVERSE_FUNCTIONAL}
    | {SYMMETRIC, TRANSITIVE}
)


@dataclass(frozen=True, slots=True)
class Restriction:
    """A class of what has a value (`kind` HAS_VALUE, SOME or ALL) on a property."""

    node: str
    on: str
    kind: str
    filler: str


@dataclass(frozen=True, slots=True)
class Property:
    """A property, with what stating it entails gathered from all properties it implies.

    A *key* is a functional property: two statements that share a key and the end it is for make
    the other two ends the same thing.
    """

    iri: str
    literal: bool
    domains: tuple[str, ...]
    ranges: tuple[str, ...]
    subject_keys: tuple[str, ...]
    object_keys: tuple[str, ...]
    chains: tuple[tuple[str, bool], ...]
    """The transitive properties that it implies, each with whether in its own direction."""
    both_ways: bool
    """Whether it implies itself in the other direction (symmetric, its own inverse)."""


@dataclass(frozen=True, slots=True)
class Ontology:
    """Classes that a stream can name, properties, and restrictions."""

    classes: tuple[str, ...]
    properties: Mapping[str, Property]
    restrictions: tuple[Restriction, ...]
    above: Links
    """The classes that a rule engine reaches by subClassOf and equivalentClass, itself included."""
    admitted: Links
    """Likewise, through intersectionOf and unionOf too: what a domain or a range lets in."""

    def below(self, node: str) -> tuple[str, ...]:
        """The classes with a name whose instances are instances of `node` to a rule engine."""
        return tuple(c for c in self.classes if node in self.above.get(c, ()))

    def fitting(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """The classes with a name whose instances all of `nodes` (domains, ranges) admit."""
        wanted = [node for node in nodes if not is_vocabulary(node)]
        return tuple(c for c in self.classes if all(node in self.admitted.get(c, ()) for node in wanted))


def read_ontology(statements: Iterable[Statement]) -> Ontology:
    """The ontology that these statements are.

    >>> a, b, p = "<urn:A>", "<urn:B>", "<urn:p>"
    >>> o = read_ontology([(a, SUB_CLASS, b), (p, DOMAIN, a), (p, TYPE, FUNCTIONAL)])
    >>> o.classes, o.fitting([b]), o.properties[p].subject_keys
    (('<urn:A>', '<urn:B>'), ('<urn:A>', '<urn:B>'), ('<urn:p>',))
    """
    schema = _Schema(statements)
    same = schema.pairs(EQUIVALENT_CLASS)
    up = schema.pairs(SUB_CLASS) + same + [(d, c) for c, d in same]
    members = [(c, m) for c, m in schema.members(INTERSECTION)] + [(m, c) for c, m in schema.members(UNION)]
    return Ontology(
        classes=schema.classes(),
        properties={iri: schema.property(iri) for iri in schema.properties()},
        restrictions=schema.restrictions(),
        above=_reachable(up),
        admitted=_reachable(up + members),
    )


def is_vocabulary(term: str) -> bool:
    """Whether a term belongs to RDF, RDFS, OWL or XSD, and so is no ontology's own."""
    return term.startswith(_VOCABULARIES)


class _Schema:
    """The statements by predicate, and the questions that `read_ontology` asks of them."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self._by_predicate: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for s, p, o in dict.fromkeys(statements):
            self._by_predicate[p].append((s, o))
        self._types: dict[str, set[str]] = defaultdict(set)
        for s, o in self.pairs(TYPE):
            self._types[s].add(o)
        self._implied = self._implications()

    def pairs(self, predicate: str) -> list[tuple[str, str]]:
        return self._by_predicate.get(predicate, [])

    def classes(self) -> tuple[str, ...]:
        nodes = {node for node, types in self._types.items() if types & _CLASS_TYPES}
        for predicate in (SUB_CLASS, EQUIVALENT_CLASS):
            nodes |= {node for pair in self.pairs(predicate) for node in pair}
        nodes |= {
            o for predicate in (DOMAIN, RANGE) for _, o in self.pairs(predicate) if not self._is_data(o)
        }
        return tuple(sorted(node for node in nodes if _is_own(node)))

    def properties(self) -> list[str]:
        found = {node for node, types in self._types.items() if types & _PROPERTY_TYPES}
        found |= {o for _, o in self.pairs(ON_PROPERTY)}
        for predicate in (SUB_PROPERTY, EQUIVALENT_PROPERTY, INVERSE):
            found |= {node for pair in self.pairs(predicate) for node in pair}
        found |= {s for predicate in (DOMAIN, RANGE) for s, _ in self.pairs(predicate)}
        found |= set(self._by_predicate)
        notes = {node for node, types in self._types.items() if types == {_ANNOTATION_PROPERTY}}
        return sorted(node for node in found - notes if _is_own(node))

    def property(self, iri: str) -> Property:
        """What stating `iri` entails: each property it implies counts, in its direction."""
        along = sorted(q for q, forward in self._implied[iri, True] if forward)
        back = sorted(q for q, forward in self._implied[iri, True] if not forward)
        ranges = {*self._ends(RANGE, along), *self._ends(DOMAIN, back)}
        return Property(
            iri,
            literal=self._is_literal(along, ranges),
            domains=tuple(sorted({*self._ends(DOMAIN, along), *self._ends(RANGE, back)})),
            ranges=tuple(sorted(ranges)),
            subject_keys=(*self._having(along, FUNCTIONAL), *self._having(back, INVERSE_FUNCTIONAL)),
            object_keys=(*self._having(along, INVERSE_FUNCTIONAL), *self._having(back, FUNCTIONAL)),
            chains=(
                *((q, True) for q in self._having(along, TRANSITIVE)),
                *((q, False) for q in self._having(back, TRANSITIVE)),
            ),
            both_ways=iri in back,
        )

    def restrictions(self) -> tuple[Restriction, ...]:
        on = dict(self.pairs(ON_PROPERTY))
        found = (
            Restriction(node, on[node], kind, filler)
            for kind in (HAS_VALUE, SOME, ALL)
            for node, filler in self.pairs(kind)
            if node in on and _is_own(on[node])
        )
        return tuple(found)

    def members(self, predicate: str) -> list[tuple[str, str]]:
        """Each node with each member of the RDF list that `predicate` gives it."""
        first, rest = dict(self.pairs(FIRST)), dict(self.pairs(REST))
        found = []
        for node, cell in self.pairs(predicate):
            seen = set()
            while cell in first and cell not in seen:
                seen.add(cell)
                found.append((node, first[cell]))
                cell = rest.get(cell, NIL)
        return found

    def _implications(self) -> dict[tuple[str, bool], frozenset[tuple[str, bool]]]:
        """For each property and direction, the properties and directions that it implies."""
        edges: list[tuple[tuple[str, bool], tuple[str, bool]]] = []
        for forward in (True, False):
            for p, q in self.pairs(SUB_PROPERTY):
                edges.append(((p, forward), (q, forward)))
            for p, q in self.pairs(EQUIVALENT_PROPERTY):
                edges += [((p, forward), (q, forward)), ((q, forward), (p, forward))]
            for p, q in self.pairs(INVERSE):
                edges += [((p, forward), (q, not forward)), ((q, forward), (p, not forward))]
            edges += [
                ((p, forward), (p, not forward)) for p, types in self._types.items() if SYMMETRIC in types
            ]
        nodes = [(p, forward) for p in self.properties() for forward in (True, False)]
        return _reachable([*edges, *((node, node) for node in nodes)])

    def _ends(self, predicate: str, properties: list[str]) -> list[str]:
        return [o for s, o in self.pairs(predicate) if s in properties]

    def _having(self, properties: list[str], kind: str) -> tuple[str, ...]:
        return tuple(p for p in dict.fromkeys(properties) if kind in self._types[p])

    def _is_literal(self, implied: list[str], ranges: set[str]) -> bool:
        if any(_DATATYPE_PROPERTY in self._types[p] for p in implied) or any(map(self._is_data, ranges)):
            return True
        if any(f"<{OWL}ObjectProperty>" in self._types[p] for p in implied):
            return False
        uses = [o for p in implied for _, o in self.pairs(p)]
        return bool(uses) and all(kind_of(o) >= Kind.PLAIN for o in uses)

    def _is_data(self, node: str) -> bool:
        is_datatype = node.startswith(f"<{XSD}") or node == f"<{RDFS}Literal>"
        return is_datatype or bool(self._types[node] & _DATA_TYPES)


def literal_types(ontology: Ontology, iri: str) -> tuple[str | None, ...]:
    """The datatypes that values of a property may have; None is a plain literal.

    A property whose range says nothing gets both kinds.
    """
    own = [r for r in ontology.properties[iri].ranges if r.startswith(f"<{XSD}")]
    fillers = [r.filler for r in ontology.restrictions if r.on == iri]
    own += [f for f in fillers if f.startswith(f"<{XSD}")]
    own += [t for t in map(datatype_of, fillers) if t is not None]
    if own:
        return tuple(None if t == f"<{XSD}string>" else t for t in dict.fromkeys(own))
    if f"<{RDFS}Literal>" in ontology.properties[iri].ranges or not ontology.properties[iri].ranges:
        return (None, f"<{XSD}integer>")
    return (None,)


def _is_own(node: str) -> bool:
    return kind_of(node) is Kind.IRI and not is_vocabulary(node)


def _reachable(edges: Iterable[tuple[Node, Node]]) -> dict[Node, frozenset[Node]]:
    """For each node, itself and all that a path leads to."""
    after: dict[Node, list[Node]] = defaultdict(list)
    for source, target in edges:
        after[source].append(target)
        after[target].append(target)
    found = {}
    for node in list(after):
        reached, todo = {node}, [node]
        while todo:
            for target in after[todo.pop()]:
                if target not in reached:
                    reached.add(target)
                    todo.append(target)
        found[node] = frozenset(reached)
    return found
