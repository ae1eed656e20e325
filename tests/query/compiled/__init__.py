"""Tests of the compiled evaluator."""
