"""A department as the RDF/XML document that the benchmark's own generator writes, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator

from ensue.bench.lubm.rdf import ONTOLOGY, VOCABULARY, Department, Form, Thing
from ensue.terms import OWL, RDF, RDFS

_HEAD = f"""\
<?xml version="1.0" encoding="UTF-8" ?>
<rdf:RDF
xmlns:rdf="{RDF}"
xmlns:rdfs="{RDFS}"
xmlns:owl="{OWL}"
xmlns:ub="{VOCABULARY}">


<owl:Ontology rdf:about="">
<owl:imports rdf:resource="{ONTOLOGY}" />
</owl:Ontology>
"""
_TAIL = "</rdf:RDF>\n"


def rdf_xml(department: Department) -> str:
    """The whole document.

    >>> print(rdf_xml(Department(0, 1, [Thing("Course", "urn:c", [("name", "C", Form.TEXT)])]))[-95:])
    </owl:Ontology>
    <BLANKLINE>
    <ub:Course rdf:about="urn:c">
       <ub:name>C</ub:name>
    </ub:Course>
    </rdf:RDF>
    <BLANKLINE>
    """
    return "".join([_HEAD, *(line for thing in department.things for line in _lines(thing)), _TAIL])


def _lines(thing: Thing) -> Iterator[str]:
    yield f'\n<ub:{thing.kind} rdf:about="{thing.iri}">\n'
    for name, value, form in thing.properties:
        if form is Form.TEXT:
            yield f"   <ub:{name}>{value}</ub:{name}>\n"
        elif form is Form.LINK:
            yield f'   <ub:{name} rdf:resource="{value}" />\n'
        else:
            yield f'   <ub:{name}>\n      <ub:University rdf:about="{value}" />   </ub:{name}>\n'
    yield f"</ub:{thing.kind}>\n"
