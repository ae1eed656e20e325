from __future__ import annotations

import pytest

from ensue.bench.ontologies import FILES, read_file
from ensue.maintain import STRATEGIES

from .naive import Naive

# A zoo that says at least one thing of each kind that pdsv has a rule for.
ZOO = """
@prefix : <http://example.org/zoo#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

:Animal a owl:Class . :Place a owl:Class . :Food a owl:Class . :Sex a owl:Class .
:Quokka a owl:Class ; rdfs:subClassOf :Animal,
    [ a owl:Restriction ; owl:onProperty :hasSex ; owl:hasValue :female ],
    [ a owl:Restriction ; owl:onProperty :eats ; owl:someValuesFrom :Leaf ],
    [ a owl:Restriction ; owl:onProperty :eats ; owl:allValuesFrom :Food ] .
:Leaf a owl:Class ; rdfs:subClassOf :Food .
:Beast a owl:Class ; owl:equivalentClass :Animal .
:female a :Sex .

:hasSex a owl:ObjectProperty, owl:FunctionalProperty ; rdfs:domain :Animal ; rdfs:range :Sex .
:eats a owl:ObjectProperty ; rdfs:domain :Animal ; rdfs:range :Food .
:mother a owl:ObjectProperty, owl:FunctionalProperty ; rdfs:subPropertyOf :parent .
:parent a owl:ObjectProperty ; rdfs:domain :Animal ; rdfs:range :Animal ; owl:inverseOf :child .
:begot a owl:ObjectProperty ; owl:equivalentProperty :child .
:child a owl:ObjectProperty .
:keeps a owl:ObjectProperty, owl:InverseFunctionalProperty ; rdfs:range :Animal .
:near a owl:ObjectProperty, owl:SymmetricProperty ; rdfs:domain :Place ; rdfs:range :Place .
:isIn a owl:ObjectProperty, owl:TransitiveProperty ; rdfs:range :Place .
:name a owl:DatatypeProperty ; rdfs:domain :Animal .
:age a owl:DatatypeProperty ; rdfs:range xsd:int .
"""


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    """The statements of the zoo."""
    path = tmp_path_factory.mktemp("zoo") / "zoo.ttl"
    path.write_text(ZOO)
    return read_file(path)


@pytest.fixture
def data(tmp_path, zoo):
    """A data directory in which every ontology is the zoo."""
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o in zoo)
    for name in FILES.values():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(lines)
    return tmp_path


@pytest.fixture
def stand_ins(monkeypatch):
    """No kernel: the oracle stands in for each strategy but rete."""
    for name in ("recompute", "dred", "expiration", "expiration-keep-all"):
        monkeypatch.setitem(STRATEGIES, name, (Naive.__module__, "Naive"))
    monkeypatch.setitem(STRATEGIES, "forgetful", (Naive.__module__, "Forgetful"))
