"""What came of a suite in EARL, the W3C's vocabulary for such reports, as Turtle."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

import pyoxigraph as ox

from ensue.conformance.outcome import Outcome, Status

EARL = "http://www.w3.org/ns/earl#"
DOAP = "http://usefulinc.com/ns/doap#"
DCT = "http://purl.org/dc/terms/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

_OUTCOMES = {Status.PASSED: "passed", Status.FAILED: "failed", Status.NOT_RUNNABLE: "inapplicable"}
_SUBJECT = ox.NamedNode("urn:ensue")


def write_earl(outcomes: Iterable[Outcome]) -> str:
    """The report: one assertion a test, about the project in this version.

    >>> text = write_earl([Outcome("a", "http://example.org/manifest#a", Status.PASSED, "rdfs")])
    >>> "earl:test <http://example.org/manifest#a>" in text and "earl:outcome earl:passed" in text
    True
    """
    quads = [
        _quad(_SUBJECT, RDF + "type", ox.NamedNode(DOAP + "Project")),
        _quad(_SUBJECT, RDF + "type", ox.NamedNode(EARL + "TestSubject")),
        _quad(_SUBJECT, RDF + "type", ox.NamedNode(EARL + "Software")),
        _quad(_SUBJECT, DOAP + "name", ox.Literal("Ensue")),
        _quad(_SUBJECT, DOAP + "programming-language", ox.Literal("Python")),
        _quad(_SUBJECT, DOAP + "revision", ox.Literal(version("ensue"))),
    ]
    for number, outcome in enumerate(outcomes):
        quads += _assertion(number, outcome)
    prefixes = {"earl": EARL, "doap": DOAP, "dct": DCT, "rdf": RDF}
    text = ox.serialize(quads, format=ox.RdfFormat.TURTLE, prefixes=prefixes)
    assert text is not None
    return text.decode("utf-8")


def _assertion(number: int, outcome: Outcome) -> list[ox.Quad]:
    assertion, result = ox.BlankNode(f"a{number}"), ox.BlankNode(f"r{number}")
    found = [
        _quad(assertion, RDF + "type", ox.NamedNode(EARL + "Assertion")),
        _quad(assertion, EARL + "assertedBy", _SUBJECT),
        _quad(assertion, EARL + "subject", _SUBJECT),
        _quad(assertion, EARL + "test", ox.NamedNode(outcome.iri)),
        _quad(assertion, EARL + "mode", ox.NamedNode(EARL + "automatic")),
        _quad(assertion, EARL + "result", result),
        _quad(result, RDF + "type", ox.NamedNode(EARL + "TestResult")),
        _quad(result, EARL + "outcome", ox.NamedNode(EARL + _OUTCOMES[outcome.status])),
        _quad(result, DCT + "description", ox.Literal(f"with {outcome.way}")),
    ]
    if outcome.why:
        found.append(_quad(result, EARL + "info", ox.Literal(outcome.why)))
    return found


def _quad(
    subject: ox.NamedNode | ox.BlankNode,
    predicate: str,
    value: ox.NamedNode | ox.BlankNode | ox.Literal,
) -> ox.Quad:
    return ox.Quad(subject, ox.NamedNode(predicate), value)
