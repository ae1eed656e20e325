"""Which shapes are schema: statements that a background has and a stream hardly ever brings."""

from __future__ import annotations

from dataclasses import dataclass

from ensue.plan.known import Closed
from ensue.plan.shapes import Shape
from ensue.terms import OWL, RDF, RDFS

TYPE = f"<{RDF}type>"
SUB_CLASS = f"<{RDFS}subClassOf>"
SUB_PROPERTY = f"<{RDFS}subPropertyOf>"
SAME = f"<{OWL}sameAs>"
LINK = "<urn:ensue:equality:link>"
"""What is written for an equality that is stated, or made by a rule that is no axiom (`spanning.py`)."""


def _names(vocabulary: str, words: str) -> frozenset[str]:
    return frozenset(f"<{vocabulary}{word}>" for word in words.split())


PREDICATES = (
    _names(RDFS, "subClassOf subPropertyOf domain range")
    | _names(RDF, "first rest")
    | _names(OWL, "equivalentClass disjointWith complementOf unionOf intersectionOf oneOf disjointUnionOf")
    | _names(OWL, "equivalentProperty inverseOf propertyDisjointWith propertyChainAxiom hasKey")
    | _names(OWL, "onProperty onProperties onClass onDataRange hasValue hasSelf someValuesFrom allValuesFrom")
    | _names(
        OWL, "cardinality minCardinality maxCardinality datatypeComplementOf onDatatype withRestrictions"
    )
    | _names(OWL, "qualifiedCardinality minQualifiedCardinality maxQualifiedCardinality members")
)
"""Predicates that schema is written in. Not owl:sameAs and owl:differentFrom, which are said of things."""

CLASSES = (
    _names(RDFS, "Class Datatype ContainerMembershipProperty")
    | _names(RDF, "Property List")
    | _names(OWL, "Class Restriction DataRange DeprecatedClass AllDisjointClasses AllDisjointProperties")
    | _names(OWL, "ObjectProperty DatatypeProperty AnnotationProperty OntologyProperty DeprecatedProperty")
    | _names(OWL, "FunctionalProperty InverseFunctionalProperty SymmetricProperty AsymmetricProperty")
    | _names(OWL, "TransitiveProperty ReflexiveProperty IrreflexiveProperty")
)
"""What is of one of these classes is schema."""

_OF_TERMS = (
    _names(RDFS, "subClassOf subPropertyOf domain range")
    | _names(
        OWL, "equivalentClass disjointWith complementOf equivalentProperty inverseOf propertyDisjointWith"
    )
    | _names(OWL, "onProperty onClass someValuesFrom allValuesFrom")
)
"""Predicates between classes and properties; the others may lead to things, or to lists of them."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The vocabulary of schema in one background: the standard's, and what that background puts under it."""

    predicates: frozenset[str]
    classes: frozenset[str]
    terms: frozenset[str]
    """Classes and properties, those that schema is written in included."""

    @classmethod
    def of(cls, background: Closed) -> Schema:
        """The schema vocabulary of a closed background.

        >>> has_part = ("<urn:partOf>", SUB_PROPERTY, "<urn:in>")
        >>> a_kind_of = ("<urn:kindOf>", SUB_PROPERTY, SUB_CLASS)
        >>> sorted(Schema.of(Closed.of([has_part, a_kind_of])).predicates - PREDICATES)
        ['<urn:kindOf>']
        """
        properties = background.having((None, SUB_PROPERTY, above) for above in PREDICATES)
        classes = background.having((None, SUB_CLASS, above) for above in CLASSES)
        predicates = PREDICATES | {s for s, _, _ in properties}
        types = CLASSES | {s for s, _, _ in classes}
        between = background.having((None, predicate, None) for predicate in _OF_TERMS)
        named = background.having((None, TYPE, each) for each in types)
        terms = {term for s, _, o in between for term in (s, o)} | {s for s, _, _ in named}
        return cls(predicates, types, frozenset(terms) | predicates | types | {TYPE, SAME, LINK})

    def has(self, shape: Shape) -> bool:
        """Whether only schema has a shape."""
        return shape[1] in self.predicates or (shape[1] == TYPE and shape[2] in self.classes)

    def is_about(self, shape: Shape) -> bool:
        """Whether what has a shape says something of schema, in whatever words: that a class is another one.

        >>> known = Schema.of(Closed.of([("<urn:A>", SUB_CLASS, "<urn:B>")]))
        >>> [known.is_about((each, SAME, None)) for each in ("<urn:A>", "<urn:x>", None)]
        [True, False, False]
        """
        s, p, o = shape
        in_other_words = (s in self.terms and p is not None) or (o in self.terms and p not in (None, TYPE))
        return self.has(shape) or in_other_words
