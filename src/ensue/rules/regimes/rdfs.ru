# RDFS entailment (RDF 1.1 Semantics, 9.2.1), with RDF entailment below it.
# Of the statements that hold in every RDFS graph only those are here that say what is a class; all of them
# are in the regime `rdfs-axioms`.

PREFIX ensue: <urn:ensue:>

# Source: 8.1.1: rdfD1, rdfD2.
# use: rdf

# rule: rdfs1
# Source: 9.2.1: every datatype that is known is one. Here those that are the range of a property and the
# two that every RDF graph has; all others are in the regime `datatype-axioms`. (Were it all whose
# literals occur, every literal on a stream could be news about classes.)
INSERT { ?d a rdfs:Datatype } WHERE { ?p rdfs:range ?d FILTER(ensue:isDatatype(?d)) } ;

# rule: rdfs1-always
INSERT DATA { xsd:string a rdfs:Datatype . rdf:langString a rdfs:Datatype } ;

# rule: rdfs-classes
# Source: section 9, the axiomatic statements about rdfs:Class: whatever is used as a class is one. Without
# them rdfs8 and rdfs10 would say nothing of a class that nobody declares.
INSERT DATA {
    rdf:type        rdfs:range rdfs:Class .
    rdfs:domain     rdfs:range rdfs:Class .
    rdfs:range      rdfs:range rdfs:Class .
    rdfs:subClassOf rdfs:domain rdfs:Class ; rdfs:range rdfs:Class .
    rdfs:Datatype   rdfs:subClassOf rdfs:Class .
} ;

# Source: 9.2.1, all that follow.
# use: domain as rdfs2
# use: range as rdfs3
# use: subject-is-resource as rdfs4a
# use: object-is-resource as rdfs4b
# use: sub-property-transitive as rdfs5
# use: property-below-itself as rdfs6
# use: sub-property-statement as rdfs7
# use: class-below-resource as rdfs8
# use: sub-class-instance as rdfs9
# use: class-below-itself as rdfs10
# use: sub-class-transitive as rdfs11
# use: container-membership as rdfs12
# use: datatype-below-literal as rdfs13
