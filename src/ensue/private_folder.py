"""Private folders: directories that no other user of the machine can write to, and their trust check.

Compiled code, class archives, scripts and mapped arrays are executed or believed as they are found. So the
folder that they are kept in belongs to the user who runs Ensue, with mode 0700, and every directory above it
belongs to that user or root and cannot be changed by others (a sticky directory such as `/tmp` can be above).
A folder that fails the check is not used. The check is sound without locks: once the directories above are
safe, nobody else can put another folder in the place of the one that was checked.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import stat
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_HAS_OWNERS = hasattr(os, "getuid")
"""Windows has no owners in this sense: there, a user's folders are his alone by their access lists."""

_log = logging.getLogger("ensue")


class UnsafeFolderError(Exception):
    """A folder that another user could have written to, or could replace; the message says why."""


def private_folder(path: Path) -> Path:
    """Make a folder of mode 0700, or check one that is there; where it really is.

    Raises OSError where it cannot be made, and UnsafeFolderError where it is not private.

    >>> from tempfile import mkdtemp
    >>> made = private_folder(Path(mkdtemp()) / "a" / "b")
    >>> oct(made.stat().st_mode & 0o777)
    '0o700'
    >>> made.chmod(0o755)
    >>> private_folder(made)
    Traceback (most recent call last):
    ensue.private_folder.UnsafeFolderError: others may enter it
    """
    found = safe_place(path.absolute().parent) / path.name
    found.mkdir(mode=0o700, exist_ok=True)
    check_own(found)
    if _HAS_OWNERS and found.lstat().st_mode & _OTHERS:
        raise UnsafeFolderError("others may enter it")
    return found


def safe_place(folder: Path) -> Path:
    """A folder in which nobody else can change what is ours, free of links; made if it is not there.

    Others may write to it only if it is sticky.
    """
    missing, above = [], folder
    while not os.path.lexists(above):
        missing.append(above.name)
        above = above.parent
    _check_links(above)
    above = above.resolve(strict=True)
    for each in (above, *above.parents):
        _check_above(each)
    for name in reversed(missing):
        above = above / name
        above.mkdir(mode=0o700, exist_ok=True)
        _check_above(above)
    return above


def check_own(path: Path) -> None:
    """Check that a folder that is there belongs to us, and that only we can write to it."""
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise UnsafeFolderError("it is not a folder")
    if not _HAS_OWNERS:
        return
    if about.st_uid != os.geteuid():
        raise UnsafeFolderError(f"it belongs to user {about.st_uid}")
    if about.st_mode & _OTHERS_WRITE:
        raise UnsafeFolderError("others may write to it")


def first_private(wanted: Iterable[Path], purpose: str) -> Path | None:
    """The first of some folders that can be made private; None if there is none.

    One that is passed over because it is not safe is named in the log, once.
    """
    for path in wanted:
        try:
            found = private_folder(path)
        except UnsafeFolderError as problem:
            _tell(path, purpose, str(problem))
        except OSError:
            continue
        else:
            if os.access(found, os.W_OK):
                return found
    return None


def user_cache(name: str) -> Path | None:
    """`$XDG_CACHE_HOME/ensue/NAME`, private; else one in the temporary directory.

    None if neither is safe and writable.
    """
    homes = [_home_cache(), Path(gettempdir(), f"ensue-cache-{_user()}")]
    return first_private((home / name for home in homes if home is not None), f"the cache of {name}")


def passing_cache(name: str) -> Path:
    """The folder of `user_cache`; where there can be none, a folder for the life of this process."""
    return user_cache(name) or _passing(name)


@cache
def _passing(name: str) -> Path:
    made = mkdtemp(prefix=f"ensue-{name}-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def _check_links(path: Path) -> None:
    """Check that links in a path are ours or root's: others' may lead to a folder of their choice."""
    for each in (path, *path.parents):
        about = each.lstat()
        if stat.S_ISLNK(about.st_mode) and _HAS_OWNERS and about.st_uid not in (0, os.geteuid()):
            raise UnsafeFolderError(f"{each} is a link of user {about.st_uid}")


def _check_above(path: Path) -> None:
    about = path.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise NotADirectoryError(f"{path} is not a folder")
    if not _HAS_OWNERS:
        return
    if about.st_uid not in (0, os.geteuid()):
        raise UnsafeFolderError(f"{path} belongs to user {about.st_uid}")
    if about.st_mode & _OTHERS_WRITE and not about.st_mode & stat.S_ISVTX:
        raise UnsafeFolderError(f"others may write to {path}")


def _home_cache() -> Path | None:
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):  # A relative one is to be ignored, says the specification.
        return Path(given, "ensue")
    try:
        return Path.home() / ".cache" / "ensue"
    except RuntimeError:  # There is neither HOME nor an entry in the list of users.
        return None


def _user() -> str:
    return str(os.geteuid()) if _HAS_OWNERS else "user"


@cache
def _tell(path: Path, purpose: str, reason: str) -> None:
    _log.warning("%s is not used for %s: %s", path, purpose, reason)
