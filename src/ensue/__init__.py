"""Ensue: a stream reasoner for RDF."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ensue.networks.networks import Networks
    from ensue.networks.run import NetworkRun
    from ensue.reasoner import Reasoner

__all__ = ["NetworkRun", "Networks", "Reasoner"]

_MODULES = {
    "NetworkRun": "ensue.networks.run",
    "Networks": "ensue.networks.networks",
    "Reasoner": "ensue.reasoner",
}


def __getattr__(name: str) -> object:
    # Loaded when asked for: the small-device mode is part of this package too, and must not pay for it.
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'ensue' has no attribute '{name}'")
