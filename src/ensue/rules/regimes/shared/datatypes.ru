# Literals and datatypes. A literal is a subject here: inside the closure, never in the output.

PREFIX ensue: <urn:ensue:>
# rule: literal-in-datatype
# (What says of a literal that it is the same as itself is left out, here and elsewhere: another statement
# has the literal already.)
INSERT { ?l a ?d } WHERE { ?x ?p ?l BIND(ensue:datatype(?l) AS ?d) FILTER(!sameTerm(?x, ?l)) } ;

# rule: literal-outside-datatype
# The literal has no such value, or none at all.
INSERT { ?l violation:literal-outside-datatype ?d }
WHERE  { ?l a ?d FILTER(isLiteral(?l) && ensue:notInValueSpace(?l, ?d)) }
