"""The rules that the INSTANS paper prints run as files of rules; its list handler is not needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.closing import closure

from ensue.errors import NotMonotoneError
from ensue.rules.load import load_rules, parse_rules
from ensue.terms import OWL, RDF, RDFS

FIGURES = Path(__file__).parent / "instans"
TYPE, INSTANS = f"<{RDF}type>", "http://instans.org/"


def closed(figure, statements):
    rules = load_rules(FIGURES / f"figure{figure}.ru", background_graphs=["http://instans.org/static"])
    return closure(rules, statements)


def test_figure_2():
    stated = [
        ("<urn:A>", f"<{RDFS}subClassOf>", "<urn:B>"),
        ("<urn:x>", TYPE, "<urn:A>"),
        ("<urn:p>", f"<{RDFS}subPropertyOf>", "<urn:q>"),
        ("<urn:x>", "<urn:p>", "<urn:y>"),
    ]
    assert closed(2, stated).statements - set(stated) == {
        ("<urn:x>", TYPE, "<urn:B>"),
        ("<urn:x>", "<urn:q>", "<urn:y>"),
    }


def test_figure_4_is_a_condition():
    stated = [
        ("<urn:all>", TYPE, f"<{OWL}AllDisjointClasses>"),
        ("<urn:all>", f"<{OWL}members>", "<urn:list>"),
        ("<urn:z>", TYPE, "<urn:A>"),
        ("<urn:z>", TYPE, "<urn:B>"),
    ]
    for number, member in enumerate(["<urn:A>", "<urn:B>"], start=1):
        place = f"_:e{number}"
        stated += [
            ("<urn:all>", f"<{INSTANS}element>", place),
            (place, f"<{INSTANS}value>", member),
            (place, f"<{INSTANS}index>", f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ]
    assert closed(4, stated).violations == {("figure4-2", "<urn:all>", "<urn:A>")}
    assert not closed(4, stated[:3] + stated[4:]).violations


def test_figure_5():
    stated = [("<urn:p>", f"<{RDFS}domain>", "<urn:C>"), ("<urn:x>", "<urn:p>", "<urn:y>")]
    assert closed(5, stated).statements - set(stated) == {("<urn:x>", TYPE, "<urn:C>")}
    rules = load_rules(FIGURES / "figure5.ru", background_graphs=["http://instans.org/static"])
    assert rules.rules[0].premises[0].cut


@pytest.mark.parametrize(
    "walk",
    [
        "DELETE { ?l :at ?n } INSERT { ?l :at ?m } WHERE { ?l :at ?n . ?n rdf:rest ?m }",
        "INSERT { ?l :done ?n } WHERE { ?l :at ?n FILTER NOT EXISTS { ?n rdf:rest ?m } }",
    ],
)
def test_who_walks_lists_is_told_that_there_is_no_need(walk):
    with pytest.raises(NotMonotoneError, match=r"to walk a list there is no need .*rdf:rest\*/rdf:first"):
        parse_rules(f"PREFIX : <{INSTANS}> {walk}")
