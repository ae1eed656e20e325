"""Ensue: a stream reasoner for RDF."""
