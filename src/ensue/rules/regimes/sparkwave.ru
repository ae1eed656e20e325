# The rules of Sparkwave's epsilon network (Komazec, Cerri and Fensel 2012): RDFS as far as it matters
# to a stream, and three rules of OWL.

# use: domain as rdfs2
# use: range as rdfs3
# use: sub-property-statement as rdfs7
# use: sub-class-instance as rdfs9
# use: inverse-forth as inv1
# use: inverse-back as inv2
# use: symmetric as sym
