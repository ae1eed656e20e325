"""What a pass says of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """What a pass of the planner did: in a line, and what it left out and why, line by line."""

    name: str
    line: str
    details: tuple[str, ...] = ()
