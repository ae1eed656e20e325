"""The small-device mode: `python -m ensue.device`. Standard library only (seed 001's point).

N-Triples come in over a socket or stdin, a window moves over them, `rete` keeps it closed, and
answers to simple patterns or derived statements go out. Start reading at `job.py`.
"""
