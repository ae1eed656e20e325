"""Small closures under `rdfs` and `owl2rl` against a reasoner of others: whatever differs has a reason.

Blank nodes become IRIs first, so that statements can be compared as text.
"""

from __future__ import annotations

import pytest
import rdflib
from rules.closing import closure
from rules.families import OWL as OWL_EXAMPLE
from rules.families import RDFS as RDFS_EXAMPLE
from test_third_party import ends, from_rdflib

from ensue.rules.load import load_rules
from ensue.terms import OWL, RDF, RDFS, XSD

owlrl = pytest.importorskip("owlrl", reason="owlrl, a test-only comparison, is not installed")

TYPE, SAME, DATATYPE = f"<{RDF}type>", f"<{OWL}sameAs>", f"<{RDFS}Datatype>"


def compared(text, regime, semantics):
    """What is stated, and what each side makes of it."""
    graph = rdflib.Graph()
    for triple in rdflib.Graph().parse(data=text, format="turtle"):
        nodes = (rdflib.URIRef(f"urn:node:{n}") if isinstance(n, rdflib.BNode) else n for n in triple)
        graph.add(tuple(nodes))
    stated = from_rdflib(graph)
    owlrl.DeductiveClosure(semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
    return stated, closure(load_rules(regime), stated).statements, from_rdflib(graph)


def test_rdfs():
    # What our regime says of classes and of two datatypes by itself, owlrl has among its axioms: tell both.
    rules = load_rules("rdfs")
    text = RDFS_EXAMPLE + "".join(f"\n{s} {p} {o} ." for s, p, o in rules.axioms)
    stated, ours, theirs = compared(text, "rdfs", owlrl.RDFS_Semantics)
    resource = f"<{RDFS}Resource>"
    only_ours = {
        # owlrl applies rdfs4a and rdfs4b in its first round only.
        *((term, TYPE, resource) for term in ends(theirs) - ends(stated)),
        *((p, TYPE, resource) for _, p, _ in theirs),
    }
    assert theirs - ours == set()
    assert ours - theirs == only_ours - theirs
    assert len(ours - stated) > 60
    assert ours == closure(rules, from_rdflib(rdflib.Graph().parse(data=RDFS_EXAMPLE))).statements


def test_owl2rl():
    stated, ours, theirs = compared(OWL_EXAMPLE, "owl2rl", owlrl.OWLRL_Semantics)
    # Datatypes that are not in OWL 2 RL (or, langString, not in its list), but known to owlrl.
    more = (f"<{RDF}HTML>", f"<{RDF}langString>", f"<{XSD}date>", f"<{XSD}time>")
    only_theirs = {(each, *rest) for each in more for rest in ((TYPE, DATATYPE), (SAME, each))}
    above, equal = f"<{RDFS}subPropertyOf>", f"<{OWL}equivalentProperty>"
    only_ours = {
        # dt-eq: the number as it is written most simply, besides as it is stated.
        ("<urn:ex:OneHome>", f"<{OWL}maxCardinality>", f'"1"^^<{XSD}integer>'),
        # scm-spo on (p below q), (q below p), and scm-eqp2 on that: not in owlrl for one property.
        *((f"<urn:ex:{p}>", word, f"<urn:ex:{p}>") for p in ("likes", "loves") for word in (above, equal)),
    }
    # dt-type2: owlrl gives a literal its own datatype; ours are also in those that it is derived from.
    about_literals = {each for each in ours - theirs if each[0][0] == '"'}
    assert theirs - ours == only_theirs
    assert ours - theirs - about_literals == only_ours
    assert {p for _, p, _ in about_literals} <= {TYPE, SAME}
    assert len(ours - stated) > 200
