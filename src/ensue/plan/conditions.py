"""The four conditions under which a query is divided among shards, by number and in words."""

from __future__ import annotations

from enum import IntEnum


class Condition(IntEnum):
    """What must hold of the variable that a query is divided by."""

    IN_EVERY_PATTERN = 1
    KEPT_BY_RULES = 2
    KNOWN_WHERE = 3
    MERGED = 4

    @property
    def words(self) -> str:
        """What must hold."""
        return _WORDS[self]


_WORDS = {
    Condition.IN_EVERY_PATTERN: "every pattern that a stream can match holds the variable",
    Condition.KEPT_BY_RULES: "what rules conclude about a value rests on statements about that value",
    Condition.KNOWN_WHERE: "each statement can be sent where it is needed, each answer given by one shard",
    Condition.MERGED: "what is done to all answers goes by the variable, or to parts that are merged",
}


class NotDivided(Exception):  # noqa: N818 - no error: a reason for one shard
    """Why a query stays in one shard: which condition fails, and where.

    >>> str(NotDivided(Condition.KNOWN_WHERE, "a count window"))[:31]
    'condition 3 fails (each stateme'
    """

    def __init__(self, condition: Condition, where: str) -> None:
        super().__init__(condition, where)
        self.condition = condition
        self.where = where

    def __str__(self) -> str:
        return f"condition {self.condition:d} fails ({self.condition.words}): {self.where}"
