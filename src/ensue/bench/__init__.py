"""Workloads and experiments: what a figure in the docs was measured with."""
