"""The pipeline on Spark: streams come in as DataFrames, and answers go out as DataFrames.

Only this package imports `pyspark`; `pip install 'ensue[spark]'` brings what it needs, Java included.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# Not when asked for: it has its module's name, and the module would come to stand in its place.
from ensue.spark.session import session

if TYPE_CHECKING:
    from ensue.spark.answer_frame import answers
    from ensue.spark.closure_frame import closure
    from ensue.spark.network_frame import network_answers

__all__ = ["answers", "closure", "network_answers", "session"]

_MODULES = {"answers": "answer_frame", "closure": "closure_frame", "network_answers": "network_frame"}


def __getattr__(name: str) -> object:
    # Loaded when asked for: every worker loads this package, and needs none of them.
    if name in _MODULES:
        return getattr(import_module(f"ensue.spark.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'ensue.spark' has no attribute '{name}'")
