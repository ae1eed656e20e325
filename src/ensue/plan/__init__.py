"""What a job needs of its streams: found from queries, rules and background before anything runs.

A timed fact matters only if some answer can rest on it. `relevance.py` says which statements can matter
at all, `routing.py` which shards need a statement. Both are data, made once, and sent to every worker.
"""
