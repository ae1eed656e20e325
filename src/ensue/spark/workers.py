"""What Spark's Python workers do for themselves.

After each task Spark has a worker look for garbage among everything that it has, and with numba and pandas
loaded that is a lot: it took a fifth of the workers' time. Nearly all of it stays as long as the worker does;
so at the end of a task a worker that has imported something is told so. (It may do tasks of several kinds:
read first, and decode, which needs numba, later.)
"""

from __future__ import annotations

import gc
import sys

from pyspark import TaskContext

_modules = 0
"""How many had been imported when it was last told."""


def settle() -> None:
    """At the end of a task: what is there by now stays. Nothing happens outside of workers."""
    global _modules
    if len(sys.modules) > _modules and TaskContext.get() is not None:
        _modules = len(sys.modules)
        gc.collect()
        gc.freeze()
