# Who has no values but a single one, and one in a class, has exactly one there.

# rule: only-one-is-exactly-1
INSERT { ?x a ?exactly }
WHERE  { ?all owl:onProperty ?p . ?all owl:allValuesFrom ?singleton .
         ?singleton owl:oneOf ?list . ?list rdf:rest rdf:nil . ?x a ?all .
         ?exactly owl:onProperty ?p . ?exactly owl:onClass ?c . ?exactly owl:qualifiedCardinality ?one .
         ?x ?p ?y . ?y a ?c
         FILTER(?one = 1) }
