# Who has no values but a single one has at most one in any class.

# rule: only-one-is-max-1
INSERT { ?x a ?max }
WHERE  { ?all owl:onProperty ?p . ?all owl:allValuesFrom ?singleton .
         ?singleton owl:oneOf ?list . ?list rdf:rest rdf:nil . ?x a ?all .
         ?max owl:onProperty ?p . ?max owl:onClass ?c . ?max owl:maxQualifiedCardinality ?one
         FILTER(?one = 1) }
