# A class that is disjoint with another is in the complement of that.

# rule: disjoint-is-in-complement
INSERT { ?c rdfs:subClassOf ?not }
WHERE  { ?not owl:complementOf ?d . { ?c owl:disjointWith ?d } UNION { ?d owl:disjointWith ?c } }
