"""A folder for the time of a job."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

_PATIENCE = 10.0
_PAUSE = 0.05


@contextmanager
def scratch(patience: float = _PATIENCE) -> Iterator[Path]:
    """A folder that is gone in the end, even if somebody still writes into it for some seconds.

    Spark does: when a query has stopped, its threads that tend the state may be at work in its checkpoint.

    >>> with scratch() as folder:
    ...     _ = (folder / "state").write_text("something")
    >>> folder.exists()
    False
    """
    folder = Path(mkdtemp(prefix="ensue-"))
    try:
        yield folder
    finally:
        _remove(folder, time.monotonic() + patience)


def _remove(folder: Path, deadline: float) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(_PAUSE)
        shutil.rmtree(folder, ignore_errors=True)
