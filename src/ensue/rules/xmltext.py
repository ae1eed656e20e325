"""The values of rdf:XMLLiteral: which texts have one. Standard library only."""

from __future__ import annotations

from xml.parsers.expat import ExpatError, ParserCreate

SPACE = "XML"
"""What this kind of value is called; two texts may be the same XML in other words."""


def is_well_formed(text: str) -> bool:
    """Whether a text is the content of an XML element. (No document types: these cannot be inside one.)

    >>> is_well_formed("a <b/>"), is_well_formed("a <b>")
    (True, False)
    """
    try:
        ParserCreate().Parse(f"<x>{text}</x>".encode(), True)
    except (ExpatError, UnicodeEncodeError):
        return False
    return True
