# The axiomatic statements of RDFS (RDF 1.1 Semantics, section 9), with those of RDF. There is an rdf:_n
# for every n: those are taken that occur.

# use: rdf-axioms

INSERT DATA {
    rdf:type           rdfs:domain rdfs:Resource ;  rdfs:range rdfs:Class .
    rdfs:domain        rdfs:domain rdf:Property ;   rdfs:range rdfs:Class .
    rdfs:range         rdfs:domain rdf:Property ;   rdfs:range rdfs:Class .
    rdfs:subPropertyOf rdfs:domain rdf:Property ;   rdfs:range rdf:Property .
    rdfs:subClassOf    rdfs:domain rdfs:Class ;     rdfs:range rdfs:Class .
    rdf:subject        rdfs:domain rdf:Statement ;  rdfs:range rdfs:Resource .
    rdf:predicate      rdfs:domain rdf:Statement ;  rdfs:range rdfs:Resource .
    rdf:object         rdfs:domain rdf:Statement ;  rdfs:range rdfs:Resource .
    rdfs:member        rdfs:domain rdfs:Resource ;  rdfs:range rdfs:Resource .
    rdf:first          rdfs:domain rdf:List ;       rdfs:range rdfs:Resource .
    rdf:rest           rdfs:domain rdf:List ;       rdfs:range rdf:List .
    rdfs:seeAlso       rdfs:domain rdfs:Resource ;  rdfs:range rdfs:Resource .
    rdfs:isDefinedBy   rdfs:domain rdfs:Resource ;  rdfs:range rdfs:Resource .
    rdfs:comment       rdfs:domain rdfs:Resource ;  rdfs:range rdfs:Literal .
    rdfs:label         rdfs:domain rdfs:Resource ;  rdfs:range rdfs:Literal .
    rdf:value          rdfs:domain rdfs:Resource ;  rdfs:range rdfs:Resource .

    rdf:Alt rdfs:subClassOf rdfs:Container .
    rdf:Bag rdfs:subClassOf rdfs:Container .
    rdf:Seq rdfs:subClassOf rdfs:Container .
    rdfs:ContainerMembershipProperty rdfs:subClassOf rdf:Property .
    rdfs:Datatype rdfs:subClassOf rdfs:Class .
    rdfs:isDefinedBy rdfs:subPropertyOf rdfs:seeAlso .
} ;

# rule: rdfs-n
# Source: section 9: rdf:_1, rdf:_2 ... are container membership properties, of anything, to anything.
INSERT { ?n a rdfs:ContainerMembershipProperty ; rdfs:domain rdfs:Resource ; rdfs:range rdfs:Resource }
WHERE  { { ?x ?n ?y } UNION { ?n ?p ?y } UNION { ?x ?p ?n } FILTER(<urn:ensue:isMembership>(?n)) }
