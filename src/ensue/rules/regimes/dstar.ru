# D* entailment: RDFS with a node that stands in for each literal (ter Horst 2005, table 4).
# The rule gl, from the stand-in back to its literal, is left out: literals may be subjects here.

PREFIX ensue: <urn:ensue:>

# rule: lg-rdfs1
# lg and rdfs1 at once: a plain literal has a stand-in, which is a literal.
INSERT { ?x ?p ?b . ?b a rdfs:Literal }
WHERE  { ?x ?p ?l FILTER(ensue:isPLiteral(?l)) BIND(ensue:assignAnon(?l) AS ?b) } ;

# rule: lg-rdf2-D
# lg and rdf2-D at once: a typed literal has a stand-in, which is in the datatype.
INSERT { ?x ?p ?b . ?b a ?d }
WHERE  { ?x ?p ?l BIND(ensue:isDLiteral(?l) AS ?d) BIND(ensue:assignAnon(?l) AS ?b) } ;

# use: predicate-is-property as rdf1
# use: domain as rdfs2
# use: range as rdfs3
# use: subject-is-resource as rdfs4a
# use: object-is-resource as rdfs4b
# use: sub-property-transitive as rdfs5
# use: property-below-itself as rdfs6
# use: sub-property-statement as rdfs7x
# use: class-below-resource as rdfs8
# use: sub-class-instance as rdfs9
# use: class-below-itself as rdfs10
# use: sub-class-transitive as rdfs11
# use: container-membership as rdfs12
# use: datatype-below-literal as rdfs13
