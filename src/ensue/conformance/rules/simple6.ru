# Whose only value is in a class has all values there.

# rule: functional-all-values
INSERT { ?x a ?all }
WHERE  { ?all owl:onProperty ?p . ?all owl:allValuesFrom ?c . ?p a owl:FunctionalProperty .
         ?x ?p ?y . ?y a ?c }
