"""Where the arrays of shards lie between steps: folders named after the states that they stand for.

Any worker of a host may be asked for the next step of a shard. It *claims* the folder of the state's token
by renaming it, which only one can do, and works in it; when it is done it puts the folder back under the
token of the new state. Who finds no folder makes everything again from the truth. So a step that runs twice,
at once or again, one that dies halfway, and a state that goes back never meet arrays of another state.

The names also say which plan the arrays are for, and since when the machine has been running: files may
outlive what was in memory. Folders that nobody came back for are swept away by their age.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path
from tempfile import gettempdir
from time import time

from ensue.maintain.kernel.folder import Folder, FolderError
from ensue.private_folder import first_private

PLACE = "ENSUE_CACHE"
"""The environment variable that says where, or `off`."""

_CLAIMED = "claimed"
_OLD_SECONDS = 3600.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_SHARED_MEMORY = Path("/dev/shm")


class Shelf:
    """The folders of one plan.

    >>> from tempfile import mkdtemp
    >>> shelf = Shelf(Path(mkdtemp()), "plan")
    >>> folder = shelf.new()
    >>> folder.seal({"now": 5})
    >>> shelf.put(folder, "token")
    >>> shelf.claim("another") is None, shelf.claim("token") is None, shelf.claim("token") is None
    (True, False, True)
    """

    def __init__(self, place: Path, plan: str) -> None:
        self._place, self._plan = place, plan

    @classmethod
    def found(cls, plan: str) -> Shelf | None:
        """The shelf of a plan on this host; None if there is no place for one, or nobody wants it."""
        place = _own_place()
        if place is None:
            return None
        sweep(place)
        return cls(place, f"{_boot()}.{plan}")

    def new(self) -> Folder:
        """An empty folder, for nobody else yet."""
        path = self._mine()
        path.mkdir(mode=0o700)
        return Folder(path)

    def claim(self, token: str) -> Path | None:
        """Take the folder of a state: where it is now, None if there is none (any more)."""
        path = self._mine()
        try:
            self._at(token).rename(path)
        except OSError:
            return None
        return path

    def put(self, folder: Folder, token: str) -> None:
        """Leave a folder, sealed, for whoever comes with this token."""
        os.utime(folder.path)
        folder.path = folder.path.rename(self._at(token))

    def clear(self) -> None:
        """Remove what lies here of this plan."""
        for path in self._place.glob(f"{self._plan}.*"):
            remove(path)

    def _at(self, token: str) -> Path:
        return self._place / f"{self._plan}.{token}"

    def _mine(self) -> Path:
        return self._place / f"{_CLAIMED}.{os.getpid()}.{secrets.token_hex(8)}"


def opened(path: Path) -> Folder | None:
    """The folder at a path; None, and removed, if it is not whole."""
    try:
        return Folder.opened(path)
    except FolderError:
        remove(path)
        return None


def remove(path: Path) -> None:
    """Remove a folder. Who has its files mapped keeps them."""
    shutil.rmtree(path, ignore_errors=True)


def sweep(place: Path, older: float = _OLD_SECONDS) -> None:
    """Remove the folders that nobody has put back for so many seconds, or that were claimed by the dead."""
    now = time()
    for path in _folders(place):
        try:
            if now - path.stat().st_mtime > older or _is_abandoned(path):
                remove(path)
        except OSError:
            continue  # Somebody else was faster.


def _is_abandoned(path: Path) -> bool:
    claimed, _, by = path.stem.partition(".")
    if claimed != _CLAIMED or not by.isdigit():
        return False
    try:
        os.kill(int(by), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _folders(place: Path) -> Iterable[Path]:
    try:
        return list(place.iterdir())
    except OSError:
        return []


def _own_place() -> Path | None:
    """A directory that is ours alone: what lies in it is trusted."""
    wanted = os.environ.get(PLACE)
    if wanted == "off" or not hasattr(os, "getuid") or not hasattr(os, "posix_fallocate"):
        return None
    usable = _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK)
    parent = Path(wanted) if wanted else _SHARED_MEMORY if usable else Path(gettempdir())
    return first_private([parent / f"ensue-{os.getuid()}"], "the arrays of shards")


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()[:8]
    except OSError:
        return "unknown"
