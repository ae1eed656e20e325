"""Every maintainer against a plain recomputation of the window, on random cases."""
