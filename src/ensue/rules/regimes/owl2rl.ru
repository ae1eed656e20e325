# OWL 2 RL, all of it (OWL 2 Profiles, second edition, section 4.3, tables 4 to 9), under the names of
# its tables. Rules that conclude "false" there conclude a violation here, with the two most telling
# terms. Literals may be subjects inside the closure, never in the output.
#
# What costs: eq-ref makes everything the same as itself, and the equality rules say everything about
# equals; scm-cls, scm-op and scm-dp put every class and property below and above itself. A copy without
# them is much smaller, and a query's plan leaves out what that query cannot see.

PREFIX ensue: <urn:ensue:>
PREFIX list:  <urn:ensue:list:>
# --- Table 4: equality -----------------------------------------------------------------------------------

# rule: eq-ref
INSERT { ?s owl:sameAs ?s . ?p owl:sameAs ?p . ?o owl:sameAs ?o } WHERE { ?s ?p ?o } ;

# use: same-symmetric as eq-sym
# use: same-transitive as eq-trans

# rule: eq-rep-s
INSERT { ?t ?p ?o } WHERE { ?s owl:sameAs ?t . ?s ?p ?o } ;

# rule: eq-rep-p
INSERT { ?s ?q ?o } WHERE { ?p owl:sameAs ?q . ?s ?p ?o } ;

# rule: eq-rep-o
INSERT { ?s ?p ?t } WHERE { ?o owl:sameAs ?t . ?s ?p ?o } ;

# use: same-and-different as eq-diff1

# rule: eq-diff2
INSERT { ?x violation:eq-diff2 ?y }
WHERE  { ?a a owl:AllDifferent . ?a owl:members ?l . ?l list:pair (?x ?y) . ?x owl:sameAs ?y } ;

# rule: eq-diff3
INSERT { ?x violation:eq-diff3 ?y }
WHERE  { ?a a owl:AllDifferent . ?a owl:distinctMembers ?l . ?l list:pair (?x ?y) . ?x owl:sameAs ?y } ;

# --- Table 5: axioms about properties --------------------------------------------------------------------

# prp-ap has no premises: see owl2rl-axioms, below.
# use: domain as prp-dom
# use: range as prp-rng
# use: functional as prp-fp
# use: inverse-functional as prp-ifp

# rule: prp-irp
INSERT { ?x violation:prp-irp ?p } WHERE { ?p a owl:IrreflexiveProperty . ?x ?p ?x } ;

# use: symmetric as prp-symp

# rule: prp-asyp
INSERT { ?x violation:prp-asyp ?p } WHERE { ?p a owl:AsymmetricProperty . ?x ?p ?y . ?y ?p ?x } ;

# use: transitive as prp-trp
# use: sub-property-statement as prp-spo1

# rule: prp-spo2
INSERT { ?x ?p ?y } WHERE { ?p owl:propertyChainAxiom ?l . ?l list:chain (?x ?y) } ;

# rule: prp-eqp1
INSERT { ?x ?q ?y } WHERE { ?p owl:equivalentProperty ?q . ?x ?p ?y } ;

# rule: prp-eqp2
INSERT { ?x ?p ?y } WHERE { ?p owl:equivalentProperty ?q . ?x ?q ?y } ;

# rule: prp-pdw
INSERT { ?x violation:prp-pdw ?p } WHERE { ?p owl:propertyDisjointWith ?q . ?x ?p ?y . ?x ?q ?y } ;

# rule: prp-adp
INSERT { ?x violation:prp-adp ?p }
WHERE  { ?a a owl:AllDisjointProperties . ?a owl:members ?l . ?l list:pair (?p ?q) . ?x ?p ?y . ?x ?q ?y } ;

# use: inverse-forth as prp-inv1
# use: inverse-back as prp-inv2

# rule: prp-key
INSERT { ?x owl:sameAs ?y }
WHERE  { ?c owl:hasKey ?l . ?x a ?c . ?y a ?c
         FILTER NOT EXISTS { ?l rdf:rest*/rdf:first ?p FILTER NOT EXISTS { ?x ?p ?v . ?y ?p ?v } } } ;

# rule: prp-npa1
INSERT { ?x violation:prp-npa1 ?p }
WHERE  { ?n owl:sourceIndividual ?x . ?n owl:assertionProperty ?p . ?n owl:targetIndividual ?y . ?x ?p ?y } ;

# rule: prp-npa2
INSERT { ?x violation:prp-npa2 ?p }
WHERE  { ?n owl:sourceIndividual ?x . ?n owl:assertionProperty ?p . ?n owl:targetValue ?y . ?x ?p ?y } ;

# --- Table 6: classes ------------------------------------------------------------------------------------

# cls-thing and cls-nothing1 have no premises: see owl2rl-axioms, below.

# rule: cls-nothing2
INSERT { ?x violation:cls-nothing2 owl:Nothing } WHERE { ?x a owl:Nothing } ;

# use: intersection as cls-int1

# rule: cls-int2
INSERT { ?x a ?d } WHERE { ?c owl:intersectionOf ?l . ?l rdf:rest*/rdf:first ?d . ?x a ?c } ;

# rule: cls-uni
INSERT { ?x a ?c } WHERE { ?c owl:unionOf ?l . ?l rdf:rest*/rdf:first ?d . ?x a ?d } ;

# use: in-class-and-complement as cls-com
# use: some-values as cls-svf1

# rule: cls-svf2
INSERT { ?x a ?c } WHERE { ?c owl:someValuesFrom owl:Thing . ?c owl:onProperty ?p . ?x ?p ?y } ;

# use: all-values as cls-avf
# use: has-value-says as cls-hv1
# use: has-value-is as cls-hv2

# The tables have the number as "0"^^xsd:nonNegativeInteger: here every spelling of it counts.

# rule: cls-maxc1
INSERT { ?x violation:cls-maxc1 ?c }
WHERE  { ?c owl:maxCardinality ?n . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y
         FILTER(ensue:sameValue(?n, 0)) } ;

# rule: cls-maxc2
INSERT { ?y owl:sameAs ?z }
WHERE  { ?c owl:maxCardinality ?n . ?c owl:onProperty ?p . ?x a ?c . ?x ?p ?y . ?x ?p ?z
         FILTER(ensue:sameValue(?n, 1)) } ;

# rule: cls-maxqc1
INSERT { ?x violation:cls-maxqc1 ?c }
WHERE  { ?c owl:maxQualifiedCardinality ?n . ?c owl:onProperty ?p . ?c owl:onClass ?d .
         ?x a ?c . ?x ?p ?y . ?y a ?d
         FILTER(ensue:sameValue(?n, 0)) } ;

# rule: cls-maxqc2
INSERT { ?x violation:cls-maxqc2 ?c }
WHERE  { ?c owl:maxQualifiedCardinality ?n . ?c owl:onProperty ?p . ?c owl:onClass owl:Thing .
         ?x a ?c . ?x ?p ?y
         FILTER(ensue:sameValue(?n, 0)) } ;

# rule: cls-maxqc3
INSERT { ?y owl:sameAs ?z }
WHERE  { ?c owl:maxQualifiedCardinality ?n . ?c owl:onProperty ?p . ?c owl:onClass ?d .
         ?x a ?c . ?x ?p ?y . ?y a ?d . ?x ?p ?z . ?z a ?d
         FILTER(ensue:sameValue(?n, 1)) } ;

# rule: cls-maxqc4
INSERT { ?y owl:sameAs ?z }
WHERE  { ?c owl:maxQualifiedCardinality ?n . ?c owl:onProperty ?p . ?c owl:onClass owl:Thing .
         ?x a ?c . ?x ?p ?y . ?x ?p ?z
         FILTER(ensue:sameValue(?n, 1)) } ;

# use: one-of as cls-oo

# --- Table 7: axioms about classes -----------------------------------------------------------------------

# use: sub-class-instance as cax-sco

# rule: cax-eqc1
INSERT { ?x a ?d } WHERE { ?c owl:equivalentClass ?d . ?x a ?c } ;

# rule: cax-eqc2
INSERT { ?x a ?c } WHERE { ?c owl:equivalentClass ?d . ?x a ?d } ;

# use: in-disjoint-classes as cax-dw

# rule: cax-adc
INSERT { ?x violation:cax-adc ?c }
WHERE  { ?a a owl:AllDisjointClasses . ?a owl:members ?l . ?l list:pair (?c ?d) . ?x a ?c . ?x a ?d } ;

# --- Table 8: datatypes ----------------------------------------------------------------------------------

# These are about all literals, of which there is no end. Here they are about those that occur.
# dt-type1 has no premises: see owl2rl-axioms, below.

# A literal is in its datatype; dt-not-type sees whether that can be.
# use: literal-in-datatype as dt-type2

# rule: dt-type2-base
# And in every datatype that this one is derived from: an xsd:int is an xsd:long.
INSERT { ?l a ?e } WHERE { ?l a ?d FILTER(isLiteral(?l)) BIND(ensue:baseDatatype(?d) AS ?e) } ;

# rule: dt-type2-asked
# And in a narrower one that its value fits: only where a class asks for it.
INSERT { ?l a ?d }
WHERE  { ?c owl:someValuesFrom ?d . ?c owl:onProperty ?p . ?x ?p ?l
         FILTER(isLiteral(?l) && ensue:inValueSpace(?l, ?d)) } ;

# rule: dt-eq
# The table says that two literals with the same value are the same, for all pairs of them; eq-rep-o
# then writes each as the other. Here a literal that has a simpler spelling is written as that: all
# spellings of a value meet there, no pairs are made, and a plan still knows which predicate it needs.
INSERT { ?s ?p ?c } WHERE { ?s ?p ?l BIND(ensue:simplerSpelling(?l) AS ?c) FILTER(!sameTerm(?s, ?l)) } ;

# rule: dt-diff
# The table says that two literals with different values are different, for all pairs of them. That is
# about literals, so no output can have it: what it leads to is that eq-diff1 finds two of them that are
# said to be the same. These are found here.
INSERT { ?x violation:dt-diff ?y }
WHERE  { ?x owl:sameAs ?y
         FILTER(!sameTerm(?x, ?y) && isLiteral(?x) && isLiteral(?y) && ensue:differentValues(?x, ?y)) } ;

# use: literal-outside-datatype as dt-not-type

# --- Table 9: schema -------------------------------------------------------------------------------------

# rule: scm-cls
INSERT { ?c rdfs:subClassOf ?c ; owl:equivalentClass ?c ; rdfs:subClassOf owl:Thing .
         owl:Nothing rdfs:subClassOf ?c }
WHERE  { ?c a owl:Class } ;

# use: sub-class-transitive as scm-sco
# use: equivalent-classes-contain as scm-eqc1
# use: containing-classes-equivalent as scm-eqc2

# rule: scm-op
INSERT { ?p rdfs:subPropertyOf ?p ; owl:equivalentProperty ?p } WHERE { ?p a owl:ObjectProperty } ;

# rule: scm-dp
INSERT { ?p rdfs:subPropertyOf ?p ; owl:equivalentProperty ?p } WHERE { ?p a owl:DatatypeProperty } ;

# use: sub-property-transitive as scm-spo
# use: equivalent-properties-contain as scm-eqp1
# use: containing-properties-equivalent as scm-eqp2

# rule: scm-dom1
INSERT { ?p rdfs:domain ?d } WHERE { ?p rdfs:domain ?c . ?c rdfs:subClassOf ?d } ;

# rule: scm-dom2
INSERT { ?p rdfs:domain ?c } WHERE { ?q rdfs:domain ?c . ?p rdfs:subPropertyOf ?q } ;

# rule: scm-rng1
INSERT { ?p rdfs:range ?d } WHERE { ?p rdfs:range ?c . ?c rdfs:subClassOf ?d } ;

# rule: scm-rng2
INSERT { ?p rdfs:range ?c } WHERE { ?q rdfs:range ?c . ?p rdfs:subPropertyOf ?q } ;

# rule: scm-hv
INSERT { ?c rdfs:subClassOf ?d }
WHERE  { ?c owl:hasValue ?v . ?c owl:onProperty ?p . ?d owl:hasValue ?v . ?d owl:onProperty ?q .
         ?p rdfs:subPropertyOf ?q } ;

# rule: scm-svf1
INSERT { ?c rdfs:subClassOf ?d }
WHERE  { ?c owl:someValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:someValuesFrom ?z . ?d owl:onProperty ?p .
         ?y rdfs:subClassOf ?z } ;

# rule: scm-svf2
INSERT { ?c rdfs:subClassOf ?d }
WHERE  { ?c owl:someValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:someValuesFrom ?y . ?d owl:onProperty ?q .
         ?p rdfs:subPropertyOf ?q } ;

# rule: scm-avf1
INSERT { ?c rdfs:subClassOf ?d }
WHERE  { ?c owl:allValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:allValuesFrom ?z . ?d owl:onProperty ?p .
         ?y rdfs:subClassOf ?z } ;

# rule: scm-avf2
# The other way round: who has all values of the wider property there, has those of the narrower, too.
INSERT { ?d rdfs:subClassOf ?c }
WHERE  { ?c owl:allValuesFrom ?y . ?c owl:onProperty ?p . ?d owl:allValuesFrom ?y . ?d owl:onProperty ?q .
         ?p rdfs:subPropertyOf ?q } ;

# rule: scm-int
INSERT { ?c rdfs:subClassOf ?d } WHERE { ?c owl:intersectionOf ?l . ?l rdf:rest*/rdf:first ?d } ;

# rule: scm-uni
INSERT { ?d rdfs:subClassOf ?c } WHERE { ?c owl:unionOf ?l . ?l rdf:rest*/rdf:first ?d } ;

# --- Without premises: prp-ap, cls-thing, cls-nothing1, dt-type1 ------------------------------------------

# use: owl2rl-axioms
