"""Rules for equality as OWL 2 RL has them, beside some for classes and properties."""

from __future__ import annotations

RULES = """
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
[eq-ref: (?s ?p ?o) -> (?s owl:sameAs ?s), (?p owl:sameAs ?p), (?o owl:sameAs ?o)]
[eq-sym: (?x owl:sameAs ?y) -> (?y owl:sameAs ?x)]
[eq-trans: (?x owl:sameAs ?y), (?y owl:sameAs ?z) -> (?x owl:sameAs ?z)]
[eq-rep-s: (?s owl:sameAs ?t), (?s ?p ?o) -> (?t ?p ?o)]
[eq-rep-p: (?p owl:sameAs ?q), (?s ?p ?o) -> (?s ?q ?o)]
[eq-rep-o: (?o owl:sameAs ?t), (?s ?p ?o) -> (?s ?p ?t)]
[prp-fp: (?p rdf:type owl:FunctionalProperty), (?x ?p ?y), (?x ?p ?z) -> (?y owl:sameAs ?z)]
[prp-dom: (?p rdfs:domain ?c), (?x ?p ?y) -> (?x rdf:type ?c)]
[prp-spo1: (?p rdfs:subPropertyOf ?q), (?x ?p ?y) -> (?x ?q ?y)]
[cax-sco: (?c rdfs:subClassOf ?d), (?x rdf:type ?c) -> (?x rdf:type ?d)]
[scm-sco: (?c rdfs:subClassOf ?d), (?d rdfs:subClassOf ?e) -> (?c rdfs:subClassOf ?e)]
[scm-spo: (?p rdfs:subPropertyOf ?q), (?q rdfs:subPropertyOf ?r) -> (?p rdfs:subPropertyOf ?r)]
"""
