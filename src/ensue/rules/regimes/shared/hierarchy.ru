# The core that nearly all regimes have: classes below classes, properties below properties, domains
# and ranges. A literal may become a subject (range): inside the closure, never in the output.

# rule: sub-class-instance
# What is in a class is in every class above it.
INSERT { ?x a ?d } WHERE { ?c rdfs:subClassOf ?d . ?x a ?c } ;

# rule: sub-class-transitive
INSERT { ?c rdfs:subClassOf ?e } WHERE { ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?e } ;

# rule: sub-property-statement
# What is said with a property is said with every property above it.
INSERT { ?x ?q ?y } WHERE { ?p rdfs:subPropertyOf ?q . ?x ?p ?y } ;

# rule: sub-property-transitive
INSERT { ?p rdfs:subPropertyOf ?r } WHERE { ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?r } ;

# rule: domain
INSERT { ?x a ?c } WHERE { ?p rdfs:domain ?c . ?x ?p ?y } ;

# rule: range
INSERT { ?y a ?c } WHERE { ?p rdfs:range ?c . ?x ?p ?y }
