"""Terms as their canonical N-Triples text, and what can be read off it.

`<iri>`, `_:label`, `"text"`, `"text"@lang`, `"text"^^<datatype>` (and `<<( s p o )>>` of RDF 1.2,
which Ensue carries but does not look into). One text per term, so two terms are the same iff
their texts are; `"x"^^xsd:string` is written `"x"`.
"""

from __future__ import annotations

from enum import IntEnum

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
VIOLATION = "urn:ensue:violation:"
"""The predicates of violations (`ensue.rules.violations`)."""


class Kind(IntEnum):
    """What a term is. Literals are the two largest, so `kind >= PLAIN` says literal."""

    IRI = 0
    BLANK = 1
    TRIPLE = 2
    PLAIN = 3
    """A literal without a datatype of its own: xsd:string or language-tagged."""
    TYPED = 4


def kind_of(term: str) -> Kind:
    """The kind of a term, from its first (and for literals its last) character.

    >>> [kind_of(t).name for t in ("<urn:a>", "_:b", '"x"', '"x"@en', '"1"^^<urn:int>')]
    ['IRI', 'BLANK', 'PLAIN', 'PLAIN', 'TYPED']
    """
    first = term[0]
    if first == '"':
        return Kind.TYPED if term[-1] == ">" else Kind.PLAIN
    if first == "_":
        return Kind.BLANK
    return Kind.TRIPLE if term.startswith("<<") else Kind.IRI


def datatype_of(term: str) -> str | None:
    """The datatype IRI (as a term) of a typed literal, None for any other term.

    >>> datatype_of('"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    '<http://www.w3.org/2001/XMLSchema#integer>'
    """
    if kind_of(term) is not Kind.TYPED:
        return None
    return term[term.rindex('"^^<') + 3 :]


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_CONTROLS = set(map(chr, (*range(0x20), 0x7F, 0xFFFE, 0xFFFF))) - _ESCAPES.keys()
_ESCAPES |= {control: f"\\u{ord(control):04X}" for control in _CONTROLS}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)


def literal(text: str, *, datatype: str | None = None, language: str | None = None) -> str:
    r"""The canonical text of a literal; `datatype` is an IRI without brackets.

    >>> literal('say "hi"\n')
    '"say \\"hi\\"\\n"'
    >>> literal("1", datatype="urn:int"), literal("chat", language="FR")
    ('"1"^^<urn:int>', '"chat"@fr')
    """
    quoted = f'"{text.translate(_ESCAPE_TABLE)}"'
    if language:
        return f"{quoted}@{language.lower()}"
    if datatype and datatype != XSD + "string":
        return f"{quoted}^^<{datatype}>"
    return quoted
