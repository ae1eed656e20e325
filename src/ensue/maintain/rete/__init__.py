"""Rete with temporal tokens (seed 001, chapters 4 and 5): a network that facts flow through.

Read `network.py` (what is built from the rules), `memory.py` (what one context holds in it),
`walk.py` (how a fact flows), then `maintainer.py` (the contract). Standard library only.
"""

from ensue.maintain.rete.maintainer import Rete

__all__ = ["Rete"]
