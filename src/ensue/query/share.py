"""A query among several shards: what each of them evaluates, and where the rest is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Cut(StrEnum):
    """Where a query is cut in two: what is below is a shard's, what is above is for a merge of all parts."""

    ANSWERS = "answers"
    """Above are SELECT, DISTINCT, ORDER BY, LIMIT and OFFSET, CONSTRUCT's template, or ASK."""
    GROUPS = "groups"
    """Above is GROUP BY, too, with aggregates, HAVING and what is computed from them."""
    PARTITIONS = "partitions"
    """Above is the order of partitions alone: whatever the query asks for is done in each by itself."""


@dataclass(frozen=True, slots=True)
class Share:
    """Which solutions of a query are a shard's own: those in which a variable has a value that it owns.

    Of a partitioned query: those of the partitions whose keys it owns, and there is no variable.
    """

    variable: str
    owns: Callable[[str], bool]
    """Of a value in canonical text."""
    cut: Cut | None = None
    """None: the query is not cut, and what a shard gives are answers."""
