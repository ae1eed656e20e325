"""Compilation with numba, cached between processes.

- Only what Python calls is cached (`compiled`). The functions behind it (`part`) are compiled into
  it: loaded from a cache of their own they could not be inlined.
- Reference counts are off: the arrays live longer than any call.
- numba compiles anew when a function's own file has changed, but constants that it imported from
  another file are frozen into the cached code. So the cache is kept in a directory that is named
  after the text of the whole kernel: another text, another cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import gettempdir
from typing import Any, cast

import numba

Function = Callable[..., Any]

_HERE = Path(__file__).parent
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
    ours, _settings.CACHE_DIR = _settings.CACHE_DIR, _cache_directory()
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
def _cache_directory() -> str:
    return str(_first_writable(_candidates()) / digest())


@cache
def digest() -> str:
    """Names the text of the whole kernel."""
    text = blake2b(digest_size=8)
    for source in sorted(_HERE.glob("*.py")):
        text.update(source.read_bytes())
    return text.hexdigest()


def _candidates() -> list[Path]:
    chosen = [Path(_settings.CACHE_DIR)] if _settings.CACHE_DIR else []
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return [*chosen, _HERE / "__pycache__", home / "ensue", Path(gettempdir()) / "ensue"]


def _first_writable(directories: list[Path]) -> Path:
    for directory in directories:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(directory, os.W_OK):
            return directory
    return directories[-1]
