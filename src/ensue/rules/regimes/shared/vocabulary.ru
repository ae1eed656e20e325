# What RDF and RDFS say of their own vocabulary.

# rule: predicate-is-property
INSERT { ?p a rdf:Property } WHERE { ?x ?p ?y } ;

# rule: subject-is-resource
INSERT { ?x a rdfs:Resource } WHERE { ?x ?p ?y } ;

# rule: object-is-resource
INSERT { ?y a rdfs:Resource } WHERE { ?x ?p ?y } ;

# rule: property-below-itself
INSERT { ?p rdfs:subPropertyOf ?p } WHERE { ?p a rdf:Property } ;

# rule: class-below-resource
INSERT { ?c rdfs:subClassOf rdfs:Resource } WHERE { ?c a rdfs:Class } ;

# rule: class-below-itself
INSERT { ?c rdfs:subClassOf ?c } WHERE { ?c a rdfs:Class } ;

# rule: container-membership
INSERT { ?p rdfs:subPropertyOf rdfs:member } WHERE { ?p a rdfs:ContainerMembershipProperty } ;

# rule: datatype-below-literal
INSERT { ?d rdfs:subClassOf rdfs:Literal } WHERE { ?d a rdfs:Datatype }
