"""A query among several shards: what each of them evaluates, and where the rest is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable


class Cut(StrEnum):
    """Where a query is cut in two: what is below is a shard's, what is above is for a merge of all parts."""

    ANSWERS = "answers"
    """Above are SELECT, DISTINCT, ORDER BY, LIMIT and OFFSET, CONSTRUCT's template, or ASK."""
    GROUPS = "groups"
    """Above is GROUP BY, too, with aggregates, HAVING and what is computed from them."""
    PARTITIONS = "partitions"
    """Above is the order of partitions alone: whatever the query asks for is done in each by itself."""


@runtime_checkable
class ByChecksum(Protocol):
    """Knows what is its own by the checksums of texts, so that many can be asked for at once."""

    def each(self, checksums: Any) -> Any:
        """Which texts with these checksums are one's own: a mask over a column."""


@dataclass(frozen=True, slots=True)
class Share:
    """Which solutions of a query are a shard's own: those in which a variable has a value that it owns.

    Of a partitioned query: those of the partitions whose keys it owns, and there is no variable.
    """

    variable: str
    owns: Callable[[str], bool]
    """Of a value in canonical text; perhaps also `ByChecksum`."""
    cut: Cut | None = None
    """None: the query is not cut, and what a shard gives are answers."""
