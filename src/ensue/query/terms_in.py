"""Terms as users of the Python interface have them, as canonical text."""

from __future__ import annotations

from functools import lru_cache

import pyoxigraph as ox
import rdflib

from ensue.errors import InputError
from ensue.terms import literal

Term = str | rdflib.term.Identifier | ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
"""N-Triples text, or a term of rdflib or pyoxigraph."""


def term_text(term: Term) -> str:
    """The canonical text of a term.

    >>> term_text(rdflib.Literal(5)), term_text('"chat"@FR'), term_text(ox.NamedNode("urn:a"))
    ('"5"^^<http://www.w3.org/2001/XMLSchema#integer>', '"chat"@fr', '<urn:a>')
    >>> term_text("urn:a")
    Traceback (most recent call last):
    ensue.errors.InputError: urn:a is no term (hint: write <iri>, _:label or "text", as in N-Triples)
    """
    if isinstance(term, rdflib.term.Identifier):
        return _of_rdflib(term)
    return _canonical(term if isinstance(term, str) else str(term))


def _of_rdflib(term: rdflib.term.Identifier) -> str:
    if isinstance(term, rdflib.Literal):
        datatype = str(term.datatype) if term.datatype is not None else None
        return literal(str(term), datatype=datatype, language=term.language)
    return _canonical(term.n3())


@lru_cache(maxsize=1 << 16)
def _canonical(text: str) -> str:
    try:
        # oxigraph reads terms only inside a statement.
        [quad] = ox.parse(f"<urn:s> <urn:p> {text} .", format=ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError) as problem:
        hint = 'write <iri>, _:label or "text", as in N-Triples'
        raise InputError(f"{text[:80]} is no term", hint=hint) from problem
    found = quad.object
    if isinstance(found, ox.Literal):
        return literal(found.value, datatype=found.datatype.value, language=found.language)
    return text if isinstance(found, ox.Triple) else str(found)
