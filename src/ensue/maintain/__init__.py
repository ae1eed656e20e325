"""Maintainers: one contract (`contract.py`), one file per strategy."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from ensue.errors import UsageError

if TYPE_CHECKING:
    from ensue.dictionary import Dictionary
    from ensue.maintain.contract import Maintainer
    from ensue.rules.tree import RuleSet

STRATEGIES = {
    "recompute": ("ensue.maintain.recompute", "Recompute"),
    "dred": ("ensue.maintain.dred", "Dred"),
    "expiration": ("ensue.maintain.expiration", "Expiration"),
    "expiration-keep-all": ("ensue.maintain.expiration", "KeepAll"),
    "expiration-no-table": ("ensue.maintain.expiration", "NoTable"),
    "rete": ("ensue.maintain.rete", "Rete"),
    "rewrite": ("ensue.maintain.rewrite.maintainer", "Rewrite"),
    "rewrite-union": ("ensue.maintain.rewrite.maintainer", "RewriteUnion"),
    "hybrid": ("ensue.maintain.rewrite.maintainer", "Hybrid"),
}
"""Where each strategy lives. Loaded when asked for: `rete` must not pull in the kernel."""

PARTICULAR = frozenset({"rewrite", "rewrite-union"})
"""The strategies that do not take all rules: that is to be said before anything is pushed."""


def check_strategy(strategy: str) -> None:
    """Raise UsageError where there is no such strategy."""
    if strategy not in STRATEGIES:
        raise UsageError(f"unknown strategy '{strategy}'", hint=f"one of {', '.join(STRATEGIES)}")


def make(strategy: str, rules: RuleSet, dictionary: Dictionary) -> Maintainer:
    """A maintainer by the name of its strategy."""
    check_strategy(strategy)
    module, name = STRATEGIES[strategy]
    return cast("Maintainer", getattr(import_module(module), name)(rules, dictionary))
