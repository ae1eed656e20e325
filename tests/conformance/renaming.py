"""All names of a test but those of RDF, RDFS, OWL and XSD exchanged for others, in data, text and results."""

from __future__ import annotations

from hashlib import blake2b

from ensue.query.language_cursor import Cursor
from ensue.rules.lexer import Source
from ensue.terms import OWL, RDF, RDFS, XSD

VOCABULARIES = (RDF, RDFS, OWL, XSD)


def renamed(term: str) -> str:
    """The term that stands for one; literals and blank nodes stay."""
    if not term.startswith("<") or term[1:].startswith(VOCABULARIES):
        return term
    return f"<urn:other:{blake2b(term.encode(), digest_size=8).hexdigest()}>"


def rewritten(text: str) -> str:
    """A query, or rules, in SPARQL with every IRI written out and renamed."""
    tokens = Cursor(Source(text, "text")).tokens
    prefixes: dict[str, str] = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}
    parts, at, declaring = [], 0, 0
    for number, token in enumerate(tokens):
        if token.is_word("PREFIX"):
            prefixes[tokens[number + 1].text[:-1]] = tokens[number + 2].text[1:-1]
            declaring = 2
        elif declaring:
            declaring -= 1
        elif token.kind in ("iri", "pname"):
            iri = token.text
            if token.kind == "pname":
                prefix, _, local = token.text.partition(":")
                iri = f"<{prefixes[prefix]}{local}>"
            parts += [text[at : token.start], renamed(iri)]
            at = token.start + len(token.text)
    return "".join(parts) + text[at:]
