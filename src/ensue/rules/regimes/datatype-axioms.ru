# The datatypes that OWL 2 RL has (OWL 2 Profiles, section 4.2.1) and Ensue knows.

# rule: dt-type1
# Source: OWL 2 Profiles, table 8. In RDFS it is rdfs1, for all that is known.
INSERT DATA {
    rdf:PlainLiteral       a rdfs:Datatype .
    rdf:XMLLiteral         a rdfs:Datatype .
    rdfs:Literal           a rdfs:Datatype .
    xsd:decimal            a rdfs:Datatype .
    xsd:integer            a rdfs:Datatype .
    xsd:nonNegativeInteger a rdfs:Datatype .
    xsd:nonPositiveInteger a rdfs:Datatype .
    xsd:positiveInteger    a rdfs:Datatype .
    xsd:negativeInteger    a rdfs:Datatype .
    xsd:long               a rdfs:Datatype .
    xsd:int                a rdfs:Datatype .
    xsd:short              a rdfs:Datatype .
    xsd:byte               a rdfs:Datatype .
    xsd:unsignedLong       a rdfs:Datatype .
    xsd:unsignedInt        a rdfs:Datatype .
    xsd:unsignedShort      a rdfs:Datatype .
    xsd:unsignedByte       a rdfs:Datatype .
    xsd:float              a rdfs:Datatype .
    xsd:double             a rdfs:Datatype .
    xsd:string             a rdfs:Datatype .
    xsd:normalizedString   a rdfs:Datatype .
    xsd:token              a rdfs:Datatype .
    xsd:language           a rdfs:Datatype .
    xsd:Name               a rdfs:Datatype .
    xsd:NCName             a rdfs:Datatype .
    xsd:NMTOKEN            a rdfs:Datatype .
    xsd:boolean            a rdfs:Datatype .
    xsd:hexBinary          a rdfs:Datatype .
    xsd:base64Binary       a rdfs:Datatype .
    xsd:anyURI             a rdfs:Datatype .
    xsd:dateTime           a rdfs:Datatype .
    xsd:dateTimeStamp      a rdfs:Datatype .
}
