# What cannot be. The name of a violation is that of the condition in the regime that uses it.

# rule: same-and-different
INSERT { ?x violation:same-and-different ?y } WHERE { ?x owl:sameAs ?y . ?x owl:differentFrom ?y } ;

# rule: in-disjoint-classes
INSERT { ?x violation:in-disjoint-classes ?c } WHERE { ?c owl:disjointWith ?d . ?x a ?c . ?x a ?d } ;

# rule: in-class-and-complement
INSERT { ?x violation:in-class-and-complement ?c } WHERE { ?c owl:complementOf ?d . ?x a ?c . ?x a ?d }
