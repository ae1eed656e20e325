"""What Spark's Python workers do for themselves.

After each task Spark has a worker look for garbage among everything that it has, and with numba and pandas
loaded that is a lot: it took a fifth of the workers' time. Nearly all of it stays as long as the worker does;
so once a worker has done its first task, and has imported what it needs, it is told so.
"""

from __future__ import annotations

import gc

from pyspark import TaskContext

_has_settled = False


def settle() -> None:
    """At the end of a task: what is there by now stays. Nothing happens outside of workers."""
    global _has_settled
    if not _has_settled and TaskContext.get() is not None:
        _has_settled = True
        gc.collect()
        gc.freeze()
