# rho-df, the essence of RDFS (Munoz, Perez and Gutierrez 2009, table 1).

# use: sub-property-transitive as 2a
# use: sub-property-statement as 2b
# use: sub-class-transitive as 3a
# use: sub-class-instance as 3b
# use: domain as 4a
# use: range as 4b

# rule: 5a
# A domain holds for the properties below.
INSERT { ?x a ?c } WHERE { ?q rdfs:domain ?c . ?p rdfs:subPropertyOf ?q . ?x ?p ?y } ;

# rule: 5b
INSERT { ?y a ?c } WHERE { ?q rdfs:range ?c . ?p rdfs:subPropertyOf ?q . ?x ?p ?y } ;

# rule: 6a
# Properties and classes are below themselves (6 and 7), as soon as they are used as such.
INSERT { ?p rdfs:subPropertyOf ?p } WHERE { ?x ?p ?y } ;

# rule: 6b
INSERT { ?p rdfs:subPropertyOf ?p . ?q rdfs:subPropertyOf ?q } WHERE { ?p rdfs:subPropertyOf ?q } ;

# rule: 6c
# Without premises: the five words of rho-df themselves.
INSERT DATA {
    rdf:type           rdfs:subPropertyOf rdf:type .
    rdfs:domain        rdfs:subPropertyOf rdfs:domain .
    rdfs:range         rdfs:subPropertyOf rdfs:range .
    rdfs:subClassOf    rdfs:subPropertyOf rdfs:subClassOf .
    rdfs:subPropertyOf rdfs:subPropertyOf rdfs:subPropertyOf .
} ;

# rule: 6d-domain
INSERT { ?p rdfs:subPropertyOf ?p } WHERE { ?p rdfs:domain ?c } ;

# rule: 6d-range
INSERT { ?p rdfs:subPropertyOf ?p } WHERE { ?p rdfs:range ?c } ;

# rule: 7a
INSERT { ?c rdfs:subClassOf ?c . ?d rdfs:subClassOf ?d } WHERE { ?c rdfs:subClassOf ?d } ;

# rule: 7b-domain
INSERT { ?c rdfs:subClassOf ?c } WHERE { ?p rdfs:domain ?c } ;

# rule: 7b-range
INSERT { ?c rdfs:subClassOf ?c } WHERE { ?p rdfs:range ?c } ;

# rule: 7b-type
INSERT { ?c rdfs:subClassOf ?c } WHERE { ?x a ?c }
