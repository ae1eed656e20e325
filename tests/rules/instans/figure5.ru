# Figure 5 of the INSTANS paper, as printed.
BASE <http://instans.org/>
INSERT { ?x a ?c }
WHERE { GRAPH <static> { ?p rdfs:domain ?c }
        ?x ?p ?y }
