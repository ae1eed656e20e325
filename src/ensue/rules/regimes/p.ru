# P entailment: a part of OWL (ter Horst 2005, table 7). Made to be used with D*: see `dstar+p`.

# use: functional as rdfp1
# use: inverse-functional as rdfp2
# use: symmetric as rdfp3
# use: transitive as rdfp4

# rule: rdfp5a
INSERT { ?x owl:sameAs ?x } WHERE { ?x ?p ?y } ;

# rule: rdfp5b
INSERT { ?y owl:sameAs ?y } WHERE { ?x ?p ?y } ;

# use: same-symmetric as rdfp6
# use: same-transitive as rdfp7
# use: inverse-forth as rdfp8ax
# use: inverse-back as rdfp8bx

# rule: rdfp9
INSERT { ?c rdfs:subClassOf ?d } WHERE { ?c a owl:Class . ?c owl:sameAs ?d } ;

# rule: rdfp10
INSERT { ?p rdfs:subPropertyOf ?q } WHERE { ?p a rdf:Property . ?p owl:sameAs ?q } ;

# rule: rdfp11
# Equals replace each other.
INSERT { ?t ?p ?z } WHERE { ?x ?p ?y . ?x owl:sameAs ?t . ?y owl:sameAs ?z } ;

# use: equivalent-classes-contain as rdfp12ab
# use: containing-classes-equivalent as rdfp12c
# use: equivalent-properties-contain as rdfp13ab
# use: containing-properties-equivalent as rdfp13c
# use: has-value-is as rdfp14a
# use: has-value-says as rdfp14bx
# use: some-values as rdfp15
# use: all-values as rdfp16
