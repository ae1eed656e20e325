"""Terms and statements of the benchmark, as N-Triples has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from ensue.bench.bsbm.draws import day
from ensue.terms import RDF, RDFS, XSD, literal

_BASE = "http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/"
VOCABULARY, INSTANCES = f"{_BASE}vocabulary/", f"{_BASE}instances/"
_DC, _FOAF, _REV = (
    "http://purl.org/dc/elements/1.1/",
    "http://xmlns.com/foaf/0.1/",
    "http://purl.org/stuff/rev#",
)
_COUNTRIES = "http://downlode.org/rdf/iso-3166/countries#"
_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "bsbm": VOCABULARY, "dc": _DC, "foaf": _FOAF, "rev": _REV}

Pairs = list[tuple[str, str]]


class Kind(StrEnum):
    """What a resource is."""

    TYPE = "type"
    FEATURE = "feature"
    PRODUCER = "producer"
    PRODUCT = "product"
    VENDOR = "vendor"
    OFFER = "offer"
    PERSON = "person"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Resource:
    """All that is said about one thing, in order."""

    kind: Kind
    subject: str
    pairs: Pairs

    def statements(self) -> Iterator[tuple[str, str, str]]:
        """The statements about it."""
        return ((self.subject, predicate, thing) for predicate, thing in self.pairs)


def name(short: str) -> str:
    """An IRI of a vocabulary from its short form.

    >>> name("dc:title")
    '<http://purl.org/dc/elements/1.1/title>'
    """
    prefix, _, local = short.partition(":")
    return f"<{_PREFIXES[prefix]}{local}>"


def instance(local: str) -> str:
    """The IRI of a thing."""
    return f"<{INSTANCES}{local}>"


def country(code: str) -> str:
    """The IRI of a country."""
    return f"<{_COUNTRIES}{code}>"


def text(value: str, language: str = "") -> str:
    """A text."""
    return literal(value, language=language or None)


def typed(value: object, datatype: str) -> str:
    """A literal of a datatype of XML Schema, which is written out even where it goes without saying."""
    return f'"{value}"^^<{XSD}{datatype}>'


def at_midnight(ms: int) -> str:
    """The beginning of a day."""
    return typed(f"{day(ms)}T00:00:00", "dateTime")


def published(by: str, ms: int) -> Pairs:
    """Who says all this, and since when."""
    return [(name("dc:publisher"), by), (name("dc:date"), typed(day(ms), "date"))]


def described(kind: str, label: str, comment: str) -> Pairs:
    """What a thing is, and what it is called."""
    return [
        (name("rdf:type"), name(kind)),
        (name("rdfs:label"), text(label)),
        (name("rdfs:comment"), text(comment)),
    ]
