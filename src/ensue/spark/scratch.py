"""Private folders for the time of a job, or of a process."""

from __future__ import annotations

import atexit
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import gettempdir

from ensue.errors import EnsueError
from ensue.private_folder import UnsafeFolderError, private_folder, safe_place, user_cache

_PATIENCE = 10.0
_PAUSE = 0.05


@contextmanager
def scratch(patience: float = _PATIENCE) -> Iterator[Path]:
    """A private folder that is gone in the end, even if somebody still writes into it for some seconds.

    Spark does: when a query has stopped, its threads that tend the state may be at work in its checkpoint.

    >>> with scratch() as folder:
    ...     _ = (folder / "state").write_text("something")
    >>> folder.exists()
    False
    """
    folder = made()
    try:
        yield folder
    finally:
        _remove(folder, time.monotonic() + patience)


@cache
def lasting() -> Path:
    """A private folder for what Spark itself writes, for as long as this process lives."""
    folder = made()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def made() -> Path:
    """A new private folder."""
    return private_folder(place() / f"ensue-{secrets.token_hex(8)}")


def place() -> Path:
    """Where new private folders can be: the temporary directory, or the user's cache if that is not safe."""
    try:
        found: Path | None = safe_place(Path(gettempdir()))
    except (OSError, UnsafeFolderError):
        found = user_cache("scratch")
    if found is None:
        hint = "set TMPDIR to a folder of yours that nobody else can write to"
        raise EnsueError("no private folder for the files of a job", hint=hint)
    return found


def _remove(folder: Path, deadline: float) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(_PAUSE)
        shutil.rmtree(folder, ignore_errors=True)
