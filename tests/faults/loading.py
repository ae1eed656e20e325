"""Copies of the protocols' modules, to be run on miniatures, with mistakes planted in their text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import ensue.spark

MODULES = ("ledger", "card", "shelf", "guarded", "shard", "network_shard", "payload_files")


@dataclass(frozen=True)
class Mistake:
    """A mistake in a protocol: a piece of text that occurs once in a module, and what stands in its place."""

    what: str
    module: str
    original: str
    replacement: str


@dataclass(frozen=True)
class Protocols:
    """The modules."""

    ledger: Any
    card: Any
    shelf: Any
    guarded: Any
    shard: Any
    network_shard: Any
    payload_files: Any


def load(mistakes: Iterable[Mistake] = (), names: Mapping[str, Mapping[str, Any]] | None = None) -> Protocols:
    """Copies of the modules; `names` are put into some of them in place of what they have imported."""
    found: dict[str, ModuleType] = {}
    full = {name: f"ensue.spark.{name}" for name in MODULES}
    before = {name: import_module(name) for name in full.values()}
    try:
        for name in MODULES:
            path = Path(ensue.spark.__file__).with_name(f"{name}.py")
            text = path.read_text(encoding="utf-8")
            for mistake in mistakes:
                if mistake.module == name:
                    count = text.count(mistake.original)
                    assert count == 1, (
                        f"{name}.py has {mistake.original!r} {count} times: say where to plant it"
                    )
                    text = text.replace(mistake.original, mistake.replacement)
            module = ModuleType(full[name])
            module.__file__ = str(path)
            sys.modules[full[name]] = module
            exec(compile(text, f"{path} (a copy)", "exec"), module.__dict__)
            module.__dict__.update((names or {}).get(name, {}))
            found[name] = module
    finally:
        sys.modules.update(before)
    return Protocols(**found)
