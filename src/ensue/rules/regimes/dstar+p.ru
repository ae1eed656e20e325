# pD* entailment: D* and P together (ter Horst 2005).

# use: dstar
# use: p
