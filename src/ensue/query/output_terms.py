"""Terms in answers as the formats of SPARQL's results want them."""

from __future__ import annotations

from typing import Any

from pyoxigraph import Triple

from ensue.ntriples import split_literal
from ensue.rules.expressions import read_term, write_term
from ensue.terms import Kind, kind_of


def json_term(text: str) -> dict[str, Any]:
    """A term as SPARQL 1.1 JSON results have it (quoted triples as those of SPARQL 1.2).

    >>> json_term('"chat"@fr')
    {'type': 'literal', 'value': 'chat', 'xml:lang': 'fr'}
    """
    match kind_of(text):
        case Kind.IRI:
            return {"type": "uri", "value": text[1:-1]}
        case Kind.BLANK:
            return {"type": "bnode", "value": text[2:]}
        case Kind.TRIPLE:
            return {"type": "triple", "value": _json_triple(text)}
    value, language, datatype = split_literal(text)
    term = {"type": "literal", "value": value}
    if language is not None:
        term["xml:lang"] = language
    if datatype is not None:
        term["datatype"] = datatype
    return term


def _json_triple(text: str) -> dict[str, Any]:
    triple = read_term(text)
    assert isinstance(triple, Triple)
    names = ("subject", "predicate", "object")
    return {name: json_term(write_term(term)) for name, term in zip(names, triple, strict=True)}


def plain(text: str) -> str:
    """A term as SPARQL 1.1 CSV results have it: without brackets, quotes, language and datatype.

    >>> plain("<urn:a>"), plain('"chat"@fr'), plain("_:b")
    ('urn:a', 'chat', '_:b')
    """
    kind = kind_of(text)
    if kind is Kind.IRI:
        return text[1:-1]
    return split_literal(text)[0] if kind >= Kind.PLAIN else text


def statement(row: tuple[str | None, ...]) -> str:
    """A triple as a line of N-Triples, without the line's end.

    >>> statement(("<urn:a>", "<urn:p>", '"x"'))
    '<urn:a> <urn:p> "x" .'
    """
    return f"{' '.join(map(str, row))} ."
