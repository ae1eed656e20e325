# Who has some value has at least one, and the other way round.

# rule: some-is-min-1
INSERT { ?some owl:equivalentClass ?min }
WHERE  { ?some owl:onProperty ?p . ?some owl:someValuesFrom owl:Thing .
         ?min owl:onProperty ?p . ?min owl:minCardinality ?one
         FILTER(?one = 1) }
