# The additional rules and the unsatisfiability conditions of SWCLOS2 (its manual, tables 13.4 and
# 13.5). Made to be used with others: they leave out what RDFS and P have.

# --- Rules: table 13.4 --------------------------------------------------------------------------------

# rule: rule1
INSERT { ?x a owl:Thing . ?y a owl:Thing } WHERE { ?x ?p ?y } ;

# rule: rule2a
# As printed: the list is called a class.
INSERT { ?l a owl:Class } WHERE { ?c owl:intersectionOf ?l } ;

# rule: rule2b
INSERT { ?l a owl:Class } WHERE { ?c owl:unionOf ?l } ;

# rule: rule3
INSERT { ?l a owl:Thing } WHERE { ?d owl:distinctMembers ?l } ;

# rule: rule4
INSERT { ?e owl:disjointWith ?f }
WHERE  { ?c owl:disjointWith ?d . ?e rdfs:subClassOf ?c . ?f rdfs:subClassOf ?d } ;

# rule: rule5
INSERT { ?d owl:complementOf ?c } WHERE { ?c owl:complementOf ?d } ;

# rule: rule6
INSERT { ?c owl:disjointWith ?d } WHERE { ?c owl:complementOf ?d } ;

# use: one-of as rule7

# rule: rule8
# As printed; it does not follow in OWL, where the domain and the range of a symmetric property need not
# be equal. Leave it out of your copy if that matters.
INSERT { ?c owl:equivalentClass ?d } WHERE { ?p a owl:SymmetricProperty ; rdfs:domain ?c ; rdfs:range ?d } ;

# rule: rule9
INSERT { ?q owl:equivalentProperty ?p } WHERE { ?p owl:equivalentProperty ?q } ;

# rule: rule10
INSERT { ?p owl:equivalentProperty ?r } WHERE { ?p owl:equivalentProperty ?q . ?q owl:equivalentProperty ?r } ;

# rule: rule11a
INSERT { ?q rdfs:domain ?c } WHERE { ?p owl:equivalentProperty ?q . ?p rdfs:domain ?c } ;

# rule: rule11b
INSERT { ?q rdfs:range ?c } WHERE { ?p owl:equivalentProperty ?q . ?p rdfs:range ?c } ;

# rule: rule12a
# The domain of a property is the range of its inverse. INSTANS reads the printed rule as giving the
# inverse the same domain, which does not follow.
INSERT { ?q rdfs:range ?c } WHERE { ?p owl:inverseOf ?q . ?p rdfs:domain ?c } ;

# rule: rule12b
INSERT { ?q rdfs:domain ?c } WHERE { ?p owl:inverseOf ?q . ?p rdfs:range ?c } ;

# rule: rule13
INSERT { ?y owl:differentFrom ?x } WHERE { ?x owl:differentFrom ?y } ;

# Printed for two classes of the list; that follows only where these are all there are.
# use: intersection as rule14

# --- Conditions: table 13.5 ---------------------------------------------------------------------------

# rule: unsat-one-of
# Said to be one of them, and to be none of them.
INSERT { ?x violation:unsat-one-of ?c }
WHERE  { ?c owl:oneOf ?l . ?x a ?c
         FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?y FILTER NOT EXISTS { ?x owl:differentFrom ?y } } } ;

# use: same-and-different as unsat-same-different

# rule: unsat-disjoint-equivalent
INSERT { ?c violation:unsat-disjoint-equivalent ?d }
WHERE  { ?c owl:disjointWith ?d . ?c owl:equivalentClass|^owl:equivalentClass ?d } ;

# use: in-disjoint-classes as unsat-disjoint

# rule: unsat-domain
# A subject that is in a class disjoint with the property's domain.
INSERT { ?x violation:unsat-domain ?p }
WHERE  { ?p rdfs:domain ?c . ?c owl:disjointWith|^owl:disjointWith ?d . ?x ?p ?y . ?x a ?d } ;

# rule: unsat-range
INSERT { ?y violation:unsat-range ?p }
WHERE  { ?p rdfs:range ?c . ?c owl:disjointWith|^owl:disjointWith ?d . ?x ?p ?y . ?y a ?d } ;

# use: in-class-and-complement as unsat-complement
