# The axiomatic statements of RDF (RDF 1.1 Semantics, section 8). There is an rdf:_n for every n: those
# are taken that occur.

INSERT DATA {
    rdf:type      a rdf:Property .
    rdf:subject   a rdf:Property .
    rdf:predicate a rdf:Property .
    rdf:object    a rdf:Property .
    rdf:first     a rdf:Property .
    rdf:rest      a rdf:Property .
    rdf:value     a rdf:Property .
    rdf:nil       a rdf:List .
} ;

# rule: rdf-n
# Source: section 8: rdf:_1, rdf:_2 ... are properties.
INSERT { ?n a rdf:Property }
WHERE  { { ?x ?n ?y } UNION { ?n ?p ?y } UNION { ?x ?p ?n } FILTER(<urn:ensue:isMembership>(?n)) }
