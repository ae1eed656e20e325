"""Rules: two syntaxes (`bracketed.py`, `sparql.py`), one tree (`tree.py`); start reading at `load.py`."""
