# Seed 003, figure 4: cax-adc with the list handler of figure 3, as printed but for the string, which the print breaks
# over two lines, and PREFIX, which it takes from figure 3.
PREFIX : <http://instans.org/>

# rule: declare
INSERT DATA { :caxadc :listProperty owl:members } ;

# rule: cax-adc
SELECT DISTINCT ?err ?x ?c1 ?c2
WHERE {
  ?x a owl:AllDisjointClasses ;
     owl:members ?y ;
     :element [ :value ?c1 ; :index ?i1 ] ;
     :element [ :value ?c2 ; :index ?i2 ] .
  ?z a ?c1,?c2 .
  FILTER ( ?i1 < ?i2 )
  BIND ("cax-adc false: AllDisjointClasses have common subject" as ?err) } ;
