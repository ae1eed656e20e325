"""The Lehigh University Benchmark: universities, their departments, an ontology and fourteen queries."""
