"""What came of a test, and whether that was to be expected."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any


class Status(StrEnum):
    """How a test ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUNNABLE = "not runnable"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test and what came of it."""

    name: str
    iri: str
    status: Status
    way: str
    """With what it passed, or did not: an evaluator, no rules, a regime, a file of rules."""
    why: str = ""
    """What was wrong, if it did not pass."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What else the suite tells about it, as plain data."""


@cache
def exceptions(suite: str) -> Mapping[str, str]:
    """The tests of a suite that do not pass, or cannot be run, each with the reason.

    >>> exceptions("w3c-query")["functions/bnode01"]
    "oxigraph's BNODE(text) is the same node for every solution"
    """
    text = (resources.files("ensue.conformance") / "exceptions.toml").read_text("utf-8")
    found: dict[str, str] = tomllib.loads(text).get(suite, {})
    return found


def unexpected(outcomes: Iterable[Outcome], expected: Mapping[str, str]) -> list[str]:
    """What a run must not be silent about: failures that nobody listed, and passes of what is listed.

    >>> one = Outcome("a", "urn:a", Status.PASSED, "rdfs")
    >>> unexpected([one], {"a": "is too hard", "b": "is absent"})
    ['a passes, but is listed as failing: is too hard', 'b is listed as failing, but there is no such test']
    """
    found, listed = [], dict(expected)
    for outcome in outcomes:
        reason = listed.pop(outcome.name, None)
        if outcome.status is Status.PASSED and reason is not None:
            found.append(f"{outcome.name} passes, but is listed as failing: {reason}")
        elif outcome.status is not Status.PASSED and reason is None:
            found.append(f"{outcome.name} does not pass: {' '.join(outcome.why.split())}")
    return found + [f"{name} is listed as failing, but there is no such test" for name in listed]
