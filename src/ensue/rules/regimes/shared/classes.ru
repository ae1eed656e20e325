# Classes that are described: by the values of a property, by a list.

# rule: has-value-says
# Who is in the class has the value.
INSERT { ?x ?p ?v } WHERE { ?c owl:hasValue ?v . ?c owl:onProperty ?p . ?x a ?c } ;

# rule: has-value-is
# Who has the value is in the class.
INSERT { ?x a ?c } WHERE { ?c owl:hasValue ?v . ?c owl:onProperty ?p . ?x ?p ?v } ;

# rule: some-values
INSERT { ?x a ?c } WHERE { ?c owl:someValuesFrom ?d . ?c owl:onProperty ?p . ?x ?p ?y . ?y a ?d } ;

# rule: all-values
INSERT { ?y a ?d } WHERE { ?c owl:allValuesFrom ?d . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y } ;

# rule: one-of
INSERT { ?x a ?c } WHERE { ?c owl:oneOf ?l . ?l rdf:rest*/rdf:first ?x } ;

# rule: intersection
# Who is in each class of the list is in the intersection.
INSERT { ?x a ?c }
WHERE  { ?c owl:intersectionOf ?l
         FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?d FILTER NOT EXISTS { ?x a ?d } } }
