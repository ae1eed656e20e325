"""What a pass says of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """What a pass of the planner did: in a line, and what it left out and why, line by line."""

    name: str
    line: str
    details: tuple[str, ...] = ()


def schema_may_come(then: str = "") -> str:
    """Why something is not done, and what to say so that it is.

    >>> schema_may_come()
    'schema may come on the streams (if streams never bring schema, say --fixed-schema)'
    """
    return f"schema may come on the streams{then} (if streams never bring schema, say --fixed-schema)"


def counted(number: int, noun: str) -> str:
    """So many of something.

    >>> counted(1, "rule"), counted(2, "rule")
    ('1 rule', '2 rules')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
