# Figure 2 of the INSTANS paper, as printed.

# rdfs9 (cax-sco in OWL 2 RL, 3.(b) in rhodf)
INSERT { ?a a ?y }
WHERE { ?x rdfs:subClassOf ?y . ?a a ?x } ;
# rdfs7 (prp-spo1 in OWL 2 RL, 2.(b) in rhodf)
INSERT { ?s ?q ?o }
WHERE { ?s ?p ?o . ?p rdfs:subPropertyOf ?q
        FILTER (!sameTerm(?p,?q)) } ;
