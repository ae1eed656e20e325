# Seed 003, figure 7: the input handler that tells static data from events, as printed but for these mends:
# - <http:instans.org/default#> lacks its two slashes;
# - the IRI of ub: is broken over two lines;
# - the print has no PREFIX for owl: (it needs no line here).
# element: statement
BASE <http://instans.org/>
PREFIX : <http://instans.org/default#>
PREFIX ub: <http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#>

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
