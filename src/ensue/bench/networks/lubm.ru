# LUBM by departments: INSTANS's input handler (seed 003, figure 7), the eight rules of OWL 2 RL that the benchmark's
# queries need (its table 7), split as in its figure 5 into what is in <static> and what is in the event, and one for
# static data alone. The queries come behind.
# element: statement
# arrives in: default
BASE <http://instans.org/>
PREFIX : <http://instans.org/default#>
PREFIX ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#>

# rule: Activegraph-init
INSERT DATA {
  GRAPH <control> { :activegraph :address <static> } } ;

# rule: Change-to-event-mode
DELETE { GRAPH <control> { :activegraph :address <static> } }
INSERT { GRAPH <control> { :activegraph :address <event> } }
WHERE { ?x a ub:Department
        GRAPH <control> { :activegraph :address <static> } } ;

# rule: Clean-previous-event
DELETE { ?s ?p ?o }
WHERE {
  ?x a owl:Ontology
  GRAPH <control> { :activegraph :address <event> }
  ?s ?p ?o } ;

# rule: Move-static-input
DELETE { ?s ?p ?o }
INSERT { GRAPH <static> { ?s ?p ?o } }
WHERE {
  GRAPH <control> { :activegraph :address <static> }
  ?s ?p ?o
  # Do not eat the change marker
  FILTER NOT EXISTS { ?x a ub:Department } } ;

# What follows from the ontology alone goes to the main graph, and from there to <static>.

# rule: scm-svf1
INSERT { ?c1 rdfs:subClassOf ?c2 }
WHERE { GRAPH <static> { ?c1 owl:someValuesFrom ?y1 ; owl:onProperty ?p .
                         ?c2 owl:someValuesFrom ?y2 ; owl:onProperty ?p .
                         ?y1 rdfs:subClassOf ?y2 } } ;

# What follows from an event.

# rule: cax-sco
INSERT { ?x a ?c2 }
WHERE { GRAPH <static> { ?c1 rdfs:subClassOf ?c2 } ?x a ?c1 } ;

# rule: prp-dom
INSERT { ?x a ?c }
WHERE { GRAPH <static> { ?p rdfs:domain ?c } ?x ?p ?y } ;

# rule: prp-spo1
INSERT { ?x ?p2 ?y }
WHERE { GRAPH <static> { ?p1 rdfs:subPropertyOf ?p2 } ?x ?p1 ?y } ;

# rule: prp-trp
INSERT { ?x ?p ?z }
WHERE { GRAPH <static> { ?p a owl:TransitiveProperty } ?x ?p ?y . ?y ?p ?z } ;

# rule: prp-inv1
INSERT { ?y ?p2 ?x }
WHERE { GRAPH <static> { ?p1 owl:inverseOf ?p2 } ?x ?p1 ?y } ;

# rule: cls-svf1
INSERT { ?x a ?c }
WHERE { GRAPH <static> { ?c owl:someValuesFrom ?d ; owl:onProperty ?p } ?x ?p ?y . ?y a ?d } ;

# Intersections of two: univ-bench has no others.
# rule: cls-int1
INSERT { ?x a ?c }
WHERE { GRAPH <static> { ?c owl:intersectionOf ( ?c1 ?c2 ) } ?x a ?c1 . ?x a ?c2 } ;
