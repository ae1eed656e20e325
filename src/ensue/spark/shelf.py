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
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

from ensue.maintain.kernel.folder import Folder, FolderError
from ensue.private_folder import first_private
from ensue.spark.file_system import SYSTEM, Files

PLACE = "ENSUE_CACHE"
"""The environment variable that says where, or `off`."""

_CLAIMED = "claimed"
_OLD_SECONDS = 3600.0
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

    def __init__(self, place: Path, plan: str, files: Files = SYSTEM, folders: type[Folder] = Folder) -> None:
        self._place, self._plan = place, plan
        self._files, self._folders = files, folders

    @classmethod
    def found(cls, plan: str) -> Shelf | None:
        """The shelf of a plan on this host; None if there is no place for one, or nobody wants it."""
        place = _own_place()
        if place is None:
            return None
        return cls.at(place, plan)

    @classmethod
    def at(cls, place: Path, plan: str, files: Files = SYSTEM, folders: type[Folder] = Folder) -> Shelf:
        """The shelf of a plan in a folder that is ours alone, as long as the machine runs."""
        sweep(place, files=files)
        return cls(place, f"{files.boot()}.{plan}", files, folders)

    def new(self) -> Folder:
        """An empty folder, for nobody else yet."""
        path = self._mine()
        self._files.make_folder(path)
        return self._folders(path)

    def claim(self, token: str) -> Path | None:
        """Take the folder of a state: where it is now, None if there is none (any more)."""
        path = self._mine()
        try:
            self._files.rename(self._at(token), path)
        except OSError:
            return None
        return path

    def opened(self, path: Path) -> Folder | None:
        """The folder at a path, which was claimed; None, and removed, if it is not whole."""
        try:
            return self._folders.opened(path)
        except FolderError:
            self.remove(path)
            return None

    def put(self, folder: Folder, token: str) -> None:
        """Leave a folder, sealed, for whoever comes with this token."""
        self._files.touch(folder.path)
        path = self._at(token)
        self._files.rename(folder.path, path)
        folder.path = path

    def remove(self, path: Path) -> None:
        """Remove a folder. Who has its files mapped keeps them."""
        self._files.remove_tree(path)

    def clear(self) -> None:
        """Remove what lies here of this plan."""
        for name in self._files.names(self._place):
            if name.startswith(f"{self._plan}."):
                self.remove(self._place / name)

    def _at(self, token: str) -> Path:
        return self._place / f"{self._plan}.{token}"

    def _mine(self) -> Path:
        return self._place / f"{_CLAIMED}.{self._files.process()}.{secrets.token_hex(8)}"


def sweep(place: Path, older: float = _OLD_SECONDS, files: Files = SYSTEM) -> None:
    """Remove the folders that nobody has put back for so many seconds, or that were claimed by the dead."""
    with suppress(OSError):
        for name in files.names(place):
            with suppress(OSError):  # Somebody else was faster.
                if files.age(place / name) > older or _is_abandoned(name, files):
                    files.remove_tree(place / name)


def _is_abandoned(name: str, files: Files) -> bool:
    claimed, *by = name.split(".")
    return claimed == _CLAIMED and by[0].isdigit() and not files.is_alive(int(by[0]))


def _own_place() -> Path | None:
    """A directory that is ours alone: what lies in it is trusted."""
    wanted = os.environ.get(PLACE)
    if wanted == "off" or not hasattr(os, "getuid") or not hasattr(os, "posix_fallocate"):
        return None
    usable = _SHARED_MEMORY.is_dir() and os.access(_SHARED_MEMORY, os.W_OK)
    parent = Path(wanted) if wanted else _SHARED_MEMORY if usable else Path(gettempdir())
    return first_private([parent / f"ensue-{os.getuid()}"], "the arrays of shards")
