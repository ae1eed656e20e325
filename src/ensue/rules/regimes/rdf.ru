# RDF entailment (RDF 1.1 Semantics, 8.1.1), over the datatypes that Ensue knows (docs/regimes.md).
# The statements that hold in every RDF graph are in the regime `rdf-axioms`.

# Source: 8.1.1. As printed, it gives a typed blank node to each literal. Here the literal itself has
# the type, as in the "generalized" form of the same section: inside the closure a literal may be a
# subject, and nothing is said twice.
# use: literal-in-datatype as rdfD1

# Source: 8.1.1.
# use: predicate-is-property as rdfD2

# Source: 7.1: a graph with a literal outside the lexical space of its datatype is D-unsatisfiable; so is
# one that puts a literal in a datatype to which its value does not belong.
# use: literal-outside-datatype as D-ill-typed
