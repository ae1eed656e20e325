# Who has a value in a class has at least one there.

# rule: value-is-min-1
INSERT { ?x a ?min }
WHERE  { ?min owl:onProperty ?p . ?min owl:onClass ?c . ?min owl:minQualifiedCardinality ?one .
         ?x ?p ?y . ?y a ?c
         FILTER(?one = 1) }
