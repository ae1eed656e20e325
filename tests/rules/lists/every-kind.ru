PREFIX ex: <urn:ex:>
PREFIX list: <urn:ensue:list:>

# rule: cls-uni
INSERT { ?y a ?c } WHERE { ?c owl:unionOf ?l . ?l rdf:rest*/rdf:first ?t . ?y a ?t } ;

# rule: cls-oo
INSERT { ?y a ?c } WHERE { ?c owl:oneOf ?l . ?l rdf:rest*/rdf:first ?y } ;

# rule: scm-int
INSERT { ?c rdfs:subClassOf ?d }
WHERE { GRAPH <urn:ensue:background> { ?c owl:intersectionOf ?l . ?l rdf:rest*/rdf:first ?d } } ;

# rule: eq-diff2
CONSTRUCT { ?x ex:clashes ?y }
WHERE { GRAPH <urn:ensue:background> { ?d a owl:AllDifferent }
        ?d owl:members ?l . ?l list:pair (?x ?y) . ?x owl:sameAs ?y } ;

# rule: cls-int1
INSERT { ?y a ?c }
WHERE { ?c owl:intersectionOf ?l
        FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?t FILTER NOT EXISTS { ?y a ?t } } } ;

# rule: prp-key
INSERT { ?x owl:sameAs ?y }
WHERE { ?c owl:hasKey ?l . ?x a ?c . ?y a ?c
        FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?p . FILTER NOT EXISTS { ?x ?p ?v . ?y ?p ?v } }
        FILTER(?x != ex:nobody) } ;

# rule: prp-spo2
INSERT { ?x ?p ?y } WHERE { ?p owl:propertyChainAxiom ?l . ?l list:chain (?x ?y) }
