# Kinds of properties, equality, and what it means that two classes or properties are equivalent.

# rule: same-symmetric
INSERT { ?y owl:sameAs ?x } WHERE { ?x owl:sameAs ?y } ;

# rule: same-transitive
INSERT { ?x owl:sameAs ?z } WHERE { ?x owl:sameAs ?y . ?y owl:sameAs ?z } ;

# rule: functional
INSERT { ?y owl:sameAs ?z } WHERE { ?p a owl:FunctionalProperty . ?x ?p ?y . ?x ?p ?z } ;

# rule: inverse-functional
INSERT { ?x owl:sameAs ?y } WHERE { ?p a owl:InverseFunctionalProperty . ?x ?p ?z . ?y ?p ?z } ;

# rule: symmetric
INSERT { ?y ?p ?x } WHERE { ?p a owl:SymmetricProperty . ?x ?p ?y } ;

# rule: transitive
INSERT { ?x ?p ?z } WHERE { ?p a owl:TransitiveProperty . ?x ?p ?y . ?y ?p ?z } ;

# rule: inverse-forth
INSERT { ?y ?q ?x } WHERE { ?p owl:inverseOf ?q . ?x ?p ?y } ;

# rule: inverse-back
INSERT { ?y ?p ?x } WHERE { ?p owl:inverseOf ?q . ?x ?q ?y } ;

# rule: equivalent-classes-contain
INSERT { ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?c } WHERE { ?c owl:equivalentClass ?d } ;

# rule: containing-classes-equivalent
INSERT { ?c owl:equivalentClass ?d } WHERE { ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?c } ;

# rule: equivalent-properties-contain
INSERT { ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?p } WHERE { ?p owl:equivalentProperty ?q } ;

# rule: containing-properties-equivalent
INSERT { ?p owl:equivalentProperty ?q } WHERE { ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?p }
