"""Terms and names as users of the Python interface have them, as canonical text.

A name is the IRI of a stream or of a graph. A statement is a triple or quad of rdflib or pyoxigraph, or a
tuple of terms; several of them are in a graph or store of either library, or in any iterable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import pyoxigraph as ox
import rdflib
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from ensue.errors import InputError, UsageError
from ensue.files import Statement
from ensue.terms import literal

Term = str | rdflib.term.Identifier | ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
"""N-Triples text, or a term of rdflib or pyoxigraph."""

Name = str | ox.NamedNode
"""The IRI of a stream or graph: text (such as a URIRef) or a NamedNode."""

T = TypeVar("T")
ByName = Mapping[str, T] | Mapping[ox.NamedNode, T] | Mapping[Name, T]
"""Something for each of several streams or graphs."""

OneStatement = ox.Triple | ox.Quad | tuple[Term, Term, Term] | tuple[Term, Term, Term, Any]
"""A statement; the fourth of a tuple is its graph's name, or None."""

Statements = rdflib.Graph | ox.Store | ox.Dataset | Iterable[OneStatement]
"""Statements of a graph, a dataset, a store, or any iterable."""

_TERM_HINT = 'write <iri>, _:label or "text", as in N-Triples'
_STATEMENT_HINT = "a triple or quad of rdflib or pyoxigraph, or (subject, predicate, object[, graph])"
_SHOWN = 80
_CACHED = 1000
"""Longer texts are not kept: a few literals could take all memory."""


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
    if isinstance(term, str):
        return _of_text(term)
    if isinstance(term, ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple):
        return _of_oxigraph(term)
    raise _no_term(term)


def statement_text(given: OneStatement) -> Statement:
    """A statement as canonical text, with IRIs and nodes only where RDF has them.

    >>> statement_text((rdflib.URIRef("urn:a"), "<urn:p>", ox.Literal("x")))
    ('<urn:a>', '<urn:p>', '"x"', None)
    >>> statement_text(('"x"', "<urn:p>", "<urn:a>"))
    Traceback (most recent call last):
    ensue.errors.InputError: the subject is "x" (hint: a subject is an IRI or a blank node)
    """
    if isinstance(given, ox.Triple | ox.Quad):
        graph = given.graph_name if isinstance(given, ox.Quad) else None
        return checked_statement(given.subject, given.predicate, given.object, graph)
    if isinstance(given, tuple | list) and len(given) in (3, 4):
        return checked_statement(*given)
    raise InputError(f"{shown(given)} is no statement", hint=_STATEMENT_HINT)


def checked_statement(subject: Any, predicate: Any, value: Any, graph: Any = None) -> Statement:
    """The same of its terms one by one; a graph of None, or the default graph, is no name."""
    s, p, o = term_text(subject), term_text(predicate), term_text(value)
    if not _is_node(s):
        raise InputError(f"the subject is {shown(s)}", hint="a subject is an IRI or a blank node")
    if not _is_iri(p):
        raise InputError(f"the predicate is {shown(p)}", hint="a predicate is an IRI")
    if graph is None or isinstance(graph, ox.DefaultGraph) or graph == DATASET_DEFAULT_GRAPH_ID:
        return s, p, o, None
    name = term_text(graph.identifier if isinstance(graph, rdflib.Graph) else graph)
    if not _is_node(name):
        raise InputError(f"the graph is named {shown(name)}", hint="a graph has an IRI or a blank node")
    return s, p, o, name


def statements_text(given: OneStatement | Statements) -> Iterator[Statement]:
    """Statements as canonical text: of one triple or quad, or of whatever holds many.

    A graph of rdflib gives triples without a graph name, a dataset of either library its quads. Blank nodes
    keep their labels.
    """
    if isinstance(given, rdflib.Graph):
        return (statement_text(row) for row in _of_graph(given))
    if isinstance(given, ox.Triple | ox.Quad) or _is_row(given):
        return iter((statement_text(given),))  # type: ignore[arg-type]
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise InputError(f"{shown(given)} is no statement", hint=_STATEMENT_HINT)
    return map(statement_text, given)


def name_text(name: Name, what: str = "the stream") -> str:
    """The IRI of a stream or graph, without brackets; `what` it names is for the error.

    >>> name_text(rdflib.URIRef("urn:s")), name_text(ox.NamedNode("urn:s")), name_text("<urn:s>")
    ('urn:s', 'urn:s', 'urn:s')
    >>> name_text(5)
    Traceback (most recent call last):
    ensue.errors.UsageError: 5 does not name the stream (hint: its IRI: text, a URIRef or a NamedNode)
    """
    if isinstance(name, ox.NamedNode):
        return name.value
    named = isinstance(name, str) and (
        isinstance(name, rdflib.URIRef) or not isinstance(name, rdflib.term.Identifier)
    )
    if not named or not _is_unicode(str(name)):
        hint = "its IRI: text, a URIRef or a NamedNode"
        raise UsageError(f"{shown(name)} does not name {what}", hint=hint)
    text = str(name)
    return text[1:-1] if text.startswith("<") and text.endswith(">") else text


def by_name(given: ByName[T], what: str = "a stream") -> dict[str, T]:
    """The same by the IRIs as text; UsageError where two names are one."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{shown(given)} says nothing by name", hint=f"a dict by the IRI of {what}")
    found = {name_text(name, what): each for name, each in given.items()}
    if len(found) < len(given):
        raise UsageError(f"{what} is named twice", hint=f"named: {', '.join(found)}")
    return found


def shown(value: object) -> str:
    r"""A value in a message: not too long, and without what no terminal can print.

    >>> shown("\ud800"), shown(1.5), shown("x" * 200)[-5:]
    ('\\ud800', '1.5', 'xx...')
    """
    text = str(value) if isinstance(value, str) else repr(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return text.encode("utf-8", "backslashreplace").decode()


def _of_graph(graph: rdflib.Graph) -> Iterator[tuple[Any, ...]]:
    if isinstance(graph, rdflib.Dataset) or not isinstance(graph, rdflib.ConjunctiveGraph):
        yield from graph  # Quads of a Dataset, triples of a Graph.
        return
    default = graph.default_context.identifier
    for s, p, o, context in graph.quads():
        yield s, p, o, None if context is None or context.identifier == default else context


def _is_row(given: object) -> bool:
    """Whether this is one statement, of its terms."""
    if not isinstance(given, tuple) or len(given) not in (3, 4):
        return False
    return not isinstance(given[0], tuple | list | ox.Triple | ox.Quad)


def _is_iri(text: str) -> bool:
    return text[0] == "<" and text[1] != "<"


def _is_node(text: str) -> bool:
    return text[0] == "_" or _is_iri(text)


def _of_rdflib(term: rdflib.term.Identifier) -> str:
    if isinstance(term, rdflib.Literal):
        text = str(term)
        if not _is_unicode(text):
            raise _no_term(text)
        datatype = None if term.datatype is None else _of_text(f"<{term.datatype}>")[1:-1]
        return literal(text, datatype=datatype, language=term.language)
    if isinstance(term, rdflib.URIRef):
        return _of_text(f"<{term}>")
    if isinstance(term, rdflib.BNode):
        return _of_text(f"_:{term}")
    raise _no_term(term)


def _of_oxigraph(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> str:
    if isinstance(term, ox.Triple):
        s, p, o = map(_of_oxigraph, (term.subject, term.predicate, term.object))
        return f"<<( {s} {p} {o} )>>"
    if isinstance(term, ox.Literal) and term.direction is None:
        return literal(term.value, datatype=term.datatype.value, language=term.language)
    return str(term)


def _of_text(text: str) -> str:
    return _cached(text) if len(text) <= _CACHED else _canonical(text)


def _canonical(text: str) -> str:
    if not _is_unicode(text):
        raise _no_term(text)
    try:
        # oxigraph reads terms only inside a statement.
        [quad] = ox.parse(f"<urn:s> <urn:p> {text} .", format=ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError) as problem:
        raise _no_term(text) from problem
    return _of_oxigraph(quad.object)


_cached = lru_cache(maxsize=1 << 16)(_canonical)


def _is_unicode(text: str) -> bool:
    """Whether it has no lone surrogates, which no file and no RDF parser takes."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_term(value: object) -> InputError:
    if isinstance(value, str) and not _is_unicode(value):
        return InputError(f"{shown(value)} has a lone surrogate", hint="terms are Unicode text: decode it")
    hint = _TERM_HINT if isinstance(value, str) else f"a term of rdflib or pyoxigraph; or {_TERM_HINT}"
    return InputError(f"{shown(value)} is no term", hint=hint)
