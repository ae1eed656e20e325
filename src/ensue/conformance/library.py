"""The rules that tests are tried with: none, the regimes that ship, and files of ours for single tests.

A file for a test adds to a regime what that test asks beyond it. It is general: it names no individual,
class or property of the test's data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path

from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet

NONE = "no rules"
FILE = "rule file"
BELOW_FILES = "owl2rl"
"""The regime that files for single tests add to."""


Library = Callable[[str], RuleSet]
"""From the name of rules, as `rules_of` takes it, to the rules."""


@cache
def rules_of(way: str) -> RuleSet:
    """The rules by the name of a regime, or of several that are joined by ` + `.

    >>> len(rules_of("no rules").rules), rules_of("transitive-isin").name
    (0, 'transitive-isin')
    """
    return load_rules() if way == NONE else load_rules(*way.split(" + "))


def file_of(test: str) -> str | None:
    """The text of our rules for a test, if there are any."""
    file = resources.files("ensue.conformance") / "rules" / f"{test}.ru"
    return file.read_text("utf-8") if file.is_file() else None


def files_of_ours() -> list[str]:
    """The tests that there are rules of ours for.

    >>> "parent4" in files_of_ours()
    True
    """
    folder = resources.files("ensue.conformance") / "rules"
    return sorted(Path(file.name).stem for file in folder.iterdir() if file.name.endswith(".ru"))
