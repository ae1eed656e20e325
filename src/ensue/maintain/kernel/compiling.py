"""Compilation with numba, cached between processes.

- Only what Python calls is cached (`compiled`). The functions behind it (`part`) are compiled into
  it: loaded from a cache of their own they could not be inlined.
- Reference counts are off: the arrays live longer than any call.
- numba compiles anew when a function's own file has changed, but constants that it imported from
  another file are frozen into the cached code. So the cache is kept in a directory that is named
  after the text of the whole kernel: another text, another cache.
- What is cached is unpickled and executed. So the directory is private (`ensue.private_folder`); where
  no private one can be made, nothing is cached.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numba

from ensue.private_folder import UnsafeFolderError, first_private, private_folder, user_cache

Function = Callable[..., Any]

_HERE = Path(__file__).parent
_log = logging.getLogger("ensue")
_settings: Any = numba.config
_njit: Any = numba.njit
"""Its type does not know of `_nrt`, which switches reference counts off."""


def compiled(function: Function) -> Function:
    """Compile a function when it is first called; find it in the cache from then on."""
    return _cached(function, _nrt=False)


def allocating(function: Function) -> Function:
    """Like `compiled`, for a function that makes and returns an array."""
    return _cached(function)


def _cached(function: Function, **options: Any) -> Function:
    directory = _cache_directory()
    if directory is None:
        return cast("Function", _njit(**options)(function))
    ours, _settings.CACHE_DIR = _settings.CACHE_DIR, str(directory)
    try:
        return cast("Function", _njit(cache=True, **options)(function))
    finally:
        _settings.CACHE_DIR = ours


def part(function: Function) -> Function:
    """A function that only compiled functions call: it becomes part of them."""
    return cast("Function", _njit(_nrt=False)(function))


def inlined(function: Function) -> Function:
    """A small `part` on the hot path, compiled into each place that calls it."""
    return cast("Function", _njit(_nrt=False, forceinline=True)(function))


@cache
def _cache_directory() -> Path | None:
    """Where compiled code is kept: where numba was told to, beside the source, or in the user's cache."""
    if _settings.CACHE_DIR:
        return first_private([Path(_settings.CACHE_DIR, digest())], "compiled code") or _user_cache()
    return _beside_the_source() or _user_cache()


@cache
def digest() -> str:
    """Names the text of the whole kernel."""
    text = blake2b(digest_size=8)
    for source in sorted(_HERE.glob("*.py")):
        text.update(source.read_bytes())
    return text.hexdigest()


def _beside_the_source() -> Path | None:
    """In the package's own `__pycache__`, if nobody else can write there: who can has the source as well."""
    folder = _HERE / "__pycache__"
    try:
        found = private_folder(folder / digest()) if folder.is_dir() else None
    except (OSError, UnsafeFolderError):
        return None
    return found if found is not None and os.access(found, os.W_OK) else None


def _user_cache() -> Path | None:
    found = user_cache(f"kernel/{digest()}")
    if found is None:
        _log.warning("no private folder for compiled code: it is compiled anew in each process")
    return found
