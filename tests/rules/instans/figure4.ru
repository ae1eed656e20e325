# Figure 4 of the INSTANS paper, as printed (but for line breaks), with the prefix that its figure 3 declares.
PREFIX : <http://instans.org/>

# declare
INSERT DATA { :caxadc :listProperty owl:members } ;

SELECT DISTINCT ?err ?x ?c1 ?c2
WHERE {
    ?x a owl:AllDisjointClasses ;
       owl:members ?y ;
       :element [ :value ?c1 ; :index ?i1 ] ;
       :element [ :value ?c2 ; :index ?i2 ] .
    ?z a ?c1,?c2 .
    FILTER ( ?i1 < ?i2 )
    BIND ("cax-adc false: AllDisjointClasses have common subject" as ?err) } ;
