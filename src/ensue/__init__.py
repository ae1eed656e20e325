"""Ensue: a stream reasoner for RDF."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ensue.reasoner import Reasoner

__all__ = ["Reasoner"]


def __getattr__(name: str) -> object:
    # Loaded when asked for: the small-device mode is part of this package too, and must not pay for it.
    if name in __all__:
        return getattr(import_module("ensue.reasoner"), name)
    raise AttributeError(f"module 'ensue' has no attribute '{name}'")
