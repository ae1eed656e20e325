"""Small examples that use most of RDFS's and OWL's words, in Turtle."""

RDFS = """
@prefix : <urn:ex:> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Woman rdfs:subClassOf :Person . :Person rdfs:subClassOf :Animal ; a rdfs:Class .
:hasMother rdfs:subPropertyOf :hasParent ; rdfs:range :Woman .
:hasParent rdfs:subPropertyOf :hasAncestor ; rdfs:domain :Person ; a rdf:Property .
:age rdfs:range xsd:integer . xsd:integer a rdfs:Datatype .
:ann :hasMother :bea ; :age 7 ; rdf:_1 :toy .
rdf:_1 a rdfs:ContainerMembershipProperty .
"""

OWL = """
@prefix : <urn:ex:> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Person a owl:Class . :Woman a owl:Class ; rdfs:subClassOf :Person .
:Mother a owl:Class ; owl:intersectionOf (:Woman :Parent) .
:Parent a owl:Class ; owl:equivalentClass :SomeChild .
:SomeChild owl:someValuesFrom :Person ; owl:onProperty :hasChild .
:OfTwo owl:unionOf (:Cat :Dog) . :Few owl:oneOf (:tim :tom) .
:Bearded owl:hasValue :beard ; owl:onProperty :wears .
:OneHome owl:maxCardinality "1"^^xsd:nonNegativeInteger ; owl:onProperty :home .
:Kind owl:allValuesFrom :Kind ; owl:onProperty :hasChild .
:hasChild a owl:ObjectProperty ; owl:inverseOf :hasParent ; rdfs:range :Person .
:hasMother rdfs:subPropertyOf :hasParent ; a owl:FunctionalProperty .
:knows a owl:SymmetricProperty . :before a owl:TransitiveProperty .
:likes owl:equivalentProperty :loves .
:hasAunt owl:propertyChainAxiom (:hasMother :hasSister) .
:Citizen owl:hasKey (:number) .
:eva a :Woman ; :hasChild :ann, :kim . :ann :hasMother :eva, :eve . :eve :hasSister :sue .
:rex a :Dog . :joe :wears :beard ; :knows :ann ; :home :h1, :h2 ; a :OneHome, :Citizen ; :number 5 .
:jo a :Citizen ; :number 5 . :a :before :b . :b :before :c . :ann :likes :kim . :eva a :Kind .
"""
