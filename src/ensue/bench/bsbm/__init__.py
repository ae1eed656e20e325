"""The Berlin SPARQL Benchmark's data: vendors offer products, and people review them."""
