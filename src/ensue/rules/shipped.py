"""The rule files that ship with Ensue: regimes, which users load by name, and the rules that these share."""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

SYNTAXES = {".rules": "bracketed", ".ru": "sparql", ".rq": "sparql", ".sparql": "sparql"}
"""The syntax of a file by its ending; other files are told by how they begin."""


@cache
def regimes() -> dict[str, Traversable]:
    """The file of each regime, by name."""
    return dict(sorted(_files(_folder()).items()))


@cache
def shared() -> dict[str, Traversable]:
    """The files of shared rules, by name."""
    return dict(sorted(_files(_folder() / "shared").items()))


def _folder() -> Traversable:
    return resources.files("ensue.rules") / "regimes"


def _files(folder: Traversable) -> dict[str, Traversable]:
    return {Path(file.name).stem: file for file in folder.iterdir() if Path(file.name).suffix in SYNTAXES}
