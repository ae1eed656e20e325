# Seed 003, figure 8: the rules to pass test simple4, as printed. Prefixes need no line here; nothing is mended.

# rule: first-is-known
INSERT {
  ?x a [ a owl:Class ; owl:unionOf ( ?c0 ?c1 ) ] }
WHERE { ?c0 a owl:Class . ?c1 a owl:Class .
        ?x a ?c0 .
        FILTER (!sameTerm(?c0,?c1))
        FILTER (!isBlank(?c0))
        FILTER (!isBlank(?c1))
        FILTER NOT EXISTS { ?x a [ a owl:Class ;
                                   owl:unionOf ( ?c0 ?c1 ) ] } } ;

# rule: second-is-known
INSERT {
  ?x a [ a owl:Class ; owl:unionOf ( ?c0 ?c1 ) ] }
WHERE { ?c0 a owl:Class . ?c1 a owl:Class .
        ?x a ?c1 .
        FILTER (!sameTerm(?c0,?c1))
        FILTER (!isBlank(?c0))
        FILTER (!isBlank(?c1))
        FILTER NOT EXISTS { ?x a [ a owl:Class ;
                                   owl:unionOf ( ?c0 ?c1 ) ] } } ;
