"""Continuous queries: the language, the windows, the evaluators and what they emit."""
