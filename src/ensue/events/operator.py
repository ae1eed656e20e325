"""One temporal operator at work: initiators are remembered, terminators are matched with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ensue.events import allen
from ensue.events.between import cut_off, lies_between
from ensue.events.bound import Bound
from ensue.events.consume import USES_UP, Pairs, detected
from ensue.events.memory import Memory, Tally
from ensue.events.occurrences import (
    UNKNOWN_TIME,
    Column,
    Occurrences,
    Times,
    agree,
    is_exact,
    ranges,
)
from ensue.events.tree import Allen, Strategy
from ensue.model import FOREVER

AT_ONCE = 1_000_000
"""So many pairs are looked at together; where initiators are used up, there are fewer afterwards."""


class Counter:
    """Gives rows their places in the order of detection."""

    def __init__(self) -> None:
        self.given = 0

    def ordered(self, rows: Occurrences, ties: Sequence[Column]) -> Occurrences:
        """The same rows in order: by end, then start, then by these columns, the first before the next."""
        keys = (rows.end, rows.start, *ties)
        numbers = np.arange(self.given, self.given + len(rows))
        self.given += len(rows)
        found = rows if _is_ordered(keys) else rows.take(_order(keys))
        return Occurrences(found.columns, found.start, found.end, numbers)


def _is_ordered(keys: Sequence[Column]) -> bool:
    """Whether rows are in order by these columns, the first before the next, as plain statements are.

    >>> one, two = np.array([1, 1, 2]), np.array([5, 6, 0])
    >>> _is_ordered([one, two]), _is_ordered([two, one])
    (True, False)
    """
    undecided = np.ones(max(0, len(keys[0]) - 1), np.bool_)
    for key in keys:
        before, after = key[:-1], key[1:]
        if (undecided & (after < before)).any():
            return False
        undecided &= after == before
    return True


def _order(keys: Sequence[Column]) -> Column:
    """The order of rows by these columns. Most come in the order of the first, and tie in that of the rest.

    >>> _order([np.array([4, 4, 4, 5]), np.array([3, 1, 3, 0]), np.array([8, 9, 7, 0])]).tolist()
    [1, 2, 0, 3]
    """
    (low, high), (least, most) = ((int(key.min()), int(key.max())) for key in keys[:2])
    if (high - low + 1) * (most - least + 1) < FOREVER:
        # Nearly sorted, so that it takes little.
        order = np.argsort((keys[0] - low) * (most - least + 1) + (keys[1] - least), kind="stable")
        if _is_ordered([key[order] for key in keys]):
            return order
    return np.lexsort(keys[::-1])


class Operand(Protocol):
    """Somebody who finds occurrences as statements come."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of what it gives."""

    @property
    def is_instant(self) -> bool:
        """Whether every occurrence is of one statement."""

    def memories(self) -> Iterator[Memory]:
        """What it remembers, and those below it."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an operator asks of a pair; the initiator's side is called left here."""

    relation: Allen
    strategy: Strategy
    bound: Bound
    """How long a pair may last."""


@dataclass(slots=True)
class _Without:
    """What is not to be between the two."""

    memory: Memory
    cuts_off: bool
    """Whether an initiator with one behind it can never be completed."""


class Operator:
    """Finds the pairs of an operator, step by step."""

    def __init__(
        self,
        meaning: Meaning,
        left: Operand,
        right: Operand,
        without: Sequence[Operand],
        tally: Tally,
    ) -> None:
        """`left` is the initiator's operand, `right` the terminator's."""
        self.meaning = meaning
        self.names = tuple(dict.fromkeys((*left.names, *right.names)))
        self._added = tuple(name for name in right.names if name not in left.names)
        self._right_is_instant = right.is_instant
        shared = tuple(name for name in left.names if name in right.names and name[0] != "@")
        self.memory = Memory(shared, left.names, tally)
        self.counter = Counter()
        self._without = [self._absent(each, left, right, tally) for each in without]
        self._replaces = (
            meaning.strategy is Strategy.RECENT
            and meaning.relation is Allen.BEFORE
            and right.is_instant
            and not without
        )

    def _absent(self, operand: Operand, left: Operand, right: Operand, tally: Tally) -> _Without:
        shared = tuple(name for name in operand.names if name in left.names or name in right.names)
        cuts_off = right.is_instant and is_exact(shared) and set(shared) <= set(left.names)
        return _Without(Memory(shared, shared, tally), cuts_off)

    def memories(self) -> Iterator[Memory]:
        """What is remembered here."""
        yield self.memory
        yield from (each.memory for each in self._without)

    def step(self, left: Occurrences, right: Occurrences, absent: Sequence[Occurrences]) -> Occurrences:
        """What new occurrences of the operands make, with each other and with what is remembered."""
        until = allen.lifetime(self.meaning.relation, left.start, left.end, self.meaning.bound)
        self.memory.add(left, until)
        for each, new in zip(self._without, absent, strict=True):
            # What comes before it has started a moment earlier at the latest.
            each.memory.add(new, self.meaning.bound.until(new.start - 1))
        found = self._found(right)
        self._let_go(absent)
        return found

    def _found(self, right: Occurrences) -> Occurrences:
        parts, ties = [Occurrences.none(self.names)], [np.empty(0, np.int64)]
        done = 0
        while done < len(right) and len(self.memory):
            rest = right.take(slice(done, None)) if done else right
            span = self.meaning.bound.span
            least, most = allen.ends_between(self.meaning.relation, rest.start, rest.end, span)
            begin, end = self.memory.places(self.memory.keys_of(rest), least, most)
            some = len(rest) if self.meaning.strategy is Strategy.UNRESTRICTED else _fitting(begin, end)
            if some < len(rest):
                rest = rest.take(slice(0, some))
            terminator, initiator = ranges(begin[:some], end[:some])
            part, tie = self._composed(self._fit(Pairs(initiator, terminator), rest), rest)
            parts.append(part)
            ties.append(tie)
            done += some
        found = Occurrences.joined(parts)
        return self.counter.ordered(found, [found.order, np.concatenate(ties)])

    def _fit(self, pairs: Pairs, right: Occurrences) -> Pairs:
        """Those pairs that are all that they have to be."""
        left, (i, t) = self.memory.rows, pairs
        start, end = left.start[i], left.end[i]
        fits = allen.holds(self.meaning.relation, start, end, right.start[t], right.end[t])
        fits &= self.meaning.bound.holds(np.minimum(start, right.start[t]), np.maximum(end, right.end[t]))
        key = self.memory.key
        same = agree([left.columns[name][i] for name in key], [right.columns[name][t] for name in key])
        pairs = pairs.only(fits if same is None else fits & same)
        for each in self._without:
            i, t = pairs
            given = [
                left.columns[name][i] if name in left.columns else right.columns[name][t]
                for name in each.memory.key
            ]
            pairs = pairs.only(~lies_between(each.memory, given, left.end[i], right.start[t]))
        return pairs

    def _composed(self, fit: Pairs, right: Occurrences) -> tuple[Occurrences, Times]:
        """What is detected of pairs that fit, and the order of initiators; who is used up is gone then.

        The order of what is composed is that of its terminator, for now.
        """
        strategy, left = self.meaning.strategy, self.memory.rows
        i, t = detected(strategy, fit, left.order[fit.initiator])
        columns = {name: column[i] for name, column in left.columns.items()}
        columns |= {name: right.columns[name][t] for name in self._added}
        start, end = np.minimum(left.start[i], right.start[t]), np.maximum(left.end[i], right.end[t])
        found, order = Occurrences(columns, start, end, right.order[t]), left.order[i]
        if strategy in USES_UP:
            used = np.zeros(len(self.memory), np.bool_)
            used[i] = True
            self.memory.drop(used)
        if strategy is Strategy.CUMULATIVE and len(i):
            return _cumulated(found, order)
        return found, order

    def _let_go(self, absent: Sequence[Occurrences]) -> None:
        """Forget initiators that no terminator to come can take, or that have no use for one."""
        for each, new in zip(self._without, absent, strict=True):
            if each.cuts_off:
                self.memory.drop(cut_off(self.memory, each.memory.key, new))
        if self._replaces and len(self.memory) > 1:
            keys, start = self.memory.keys, self.memory.rows.start
            replaced = np.zeros(len(keys), np.bool_)
            replaced[:-1] = (keys[1:] == keys[:-1]) & (start[1:] >= start[:-1])
            same = agree(*([[self.memory.rows.columns[n][part] for n in self.memory.key] for part in _NEXT]))
            if same is not None:
                replaced[:-1] &= same
            self.memory.drop(replaced)


_NEXT = (slice(None, -1), slice(1, None))


def _fitting(begin: Column, end: Column) -> int:
    """How many terminators, of these candidates each, are looked at together: at least one."""
    total = np.cumsum(np.maximum(end - begin, 0))
    return max(1, int(np.searchsorted(total, AT_ONCE, "right")))


def _cumulated(pairs: Occurrences, order: Times) -> tuple[Occurrences, Times]:
    """One row of all that have the same terminator; where they disagree there is no value."""
    first = np.ones(len(pairs), np.bool_)
    first[1:] = pairs.order[1:] != pairs.order[:-1]
    at = np.flatnonzero(first)
    columns = {}
    for name, column in pairs.columns.items():
        least, most = np.minimum.reduceat(column, at), np.maximum.reduceat(column, at)
        nothing = UNKNOWN_TIME if name[0] == "@" else 0
        columns[name] = np.where(least == most, least, nothing).astype(column.dtype)
    start = np.minimum.reduceat(pairs.start, at)
    return Occurrences(columns, start, pairs.end[at], pairs.order[at]), order[at]
