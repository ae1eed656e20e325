"""The columnar kernel: the only place that imports numba."""
