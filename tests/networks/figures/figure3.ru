# Seed 003, figure 3: SPARQL rules for list processing, as printed but for these mends:
# - the print has no PREFIX for rdf: (it needs no line here);
# - "add new list element": the node that DELETE names ?ref stands in WHERE as [ ], so nothing would bind ?ref:
#   WHERE names it too;
# - "add final list element": DELETE takes :nexthead and :listindex off ?list, which has none: they are off ?ref,
#   which WHERE names too.
# element: statement
PREFIX : <http://instans.org/>

# rule: initiate
INSERT { ?list ?rule_init [ :nexthead ?head ;
                            :listindex 1 ] }
WHERE { ?rule :listProperty ?lprop .
        ?list ?lprop ?head
        BIND (IRI(concat(str(?rule),"-init"))
              AS ?rule_init) } ;

# rule: first
INSERT { ?list ?rule [ :nexthead ?nexthead ;
                       :listindex ?nextindex ; ] ;
               :element [ :value ?val ; :index ?index ] }
WHERE { ?rule :listProperty ?lprop .
        BIND (IRI(concat(str(?rule),"-init"))
              AS ?rule_init)
        ?list ?lprop ?head ;
              ?rule_init [ :nexthead ?thishead ;
                           :listindex ?index ] .
        ?thishead rdf:first ?val ;
                  rdf:rest ?nexthead .
        BIND (?index+1 as ?nextindex) } ;

# rule: next
DELETE { ?list ?rule ?ref .
         ?ref :nexthead ?thishead ;
              :listindex ?index }
INSERT { ?list ?rule [ :nexthead ?nexthead ;
                       :listindex ?nextindex ; ] ;
               :element [ :value ?val ; :index ?index ] }
WHERE { ?rule :listProperty ?lprop .
        ?list ?lprop ?head ;
              ?rule ?ref .
        ?ref :nexthead ?thishead ;
             :listindex ?index .
        ?thishead rdf:first ?val ;
                  rdf:rest ?nexthead .
        FILTER (?nexthead != rdf:nil)
        BIND (?index+1 as ?nextindex) } ;

# rule: last
DELETE { ?ref :nexthead ?thishead ;
              :listindex ?index }
INSERT { ?list :element [ :value ?val ;
                          :index ?index ] }
WHERE { ?rule :listProperty ?lprop .
        ?list ?lprop ?head ;
              ?rule ?ref .
        ?ref :nexthead ?thishead ;
             :listindex ?index .
        ?thishead rdf:first ?val ;
                  rdf:rest ?nexthead .
        FILTER (?nexthead = rdf:nil) } ;
