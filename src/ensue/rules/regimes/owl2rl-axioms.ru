# The rules of OWL 2 RL that have no premises (OWL 2 Profiles, section 4.3): what they say always holds.

# rule: prp-ap
# Table 5: the annotation properties of OWL 2 RL.
INSERT DATA {
    rdfs:label                 a owl:AnnotationProperty .
    rdfs:comment               a owl:AnnotationProperty .
    rdfs:seeAlso               a owl:AnnotationProperty .
    rdfs:isDefinedBy           a owl:AnnotationProperty .
    owl:deprecated             a owl:AnnotationProperty .
    owl:versionInfo            a owl:AnnotationProperty .
    owl:priorVersion           a owl:AnnotationProperty .
    owl:backwardCompatibleWith a owl:AnnotationProperty .
    owl:incompatibleWith       a owl:AnnotationProperty .
} ;

# rule: cls-thing
# Table 6.
INSERT DATA { owl:Thing a owl:Class } ;

# rule: cls-nothing1
INSERT DATA { owl:Nothing a owl:Class } ;

# Table 8, dt-type1: the datatypes.
# use: datatype-axioms
