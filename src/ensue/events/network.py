"""A temporal expression at work: its operators, and the composed occurrences that windows can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ensue.events import allen
from ensue.events.batch import Batch
from ensue.events.bound import Bound
from ensue.events.leaf import Leaf
from ensue.events.memory import Memory, Tally
from ensue.events.occurrences import KEY, UNKNOWN_TIME, Occurrences, Times
from ensue.events.operator import Counter, Meaning, Operator
from ensue.events.repetition import Repetition
from ensue.events.tree import Asked, Expression, Group, Related, Repeat, is_unrestricted
from ensue.windows.spec import Grid

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder

LEFT = "#left"
"""The column that says which occurrence on the left of an optional operator a pair is of."""

MakeLeaf = Callable[[Group, Bound], Leaf]
"""Makes the matcher of a group whose occurrences last so long at most."""


class Node(Protocol):
    """Part of a network: what it gives when statements have come."""

    names: tuple[str, ...]
    is_instant: bool
    named: _Named

    def step(self, batch: Batch, streams: int) -> Occurrences:
        """The new occurrences, in order."""

    def memories(self) -> Iterator[Memory]:
        """What is remembered here and below."""

    def counters(self) -> Iterator[Counter]:
        """Who gives rows their places in order, here and below."""


@dataclass(slots=True)
class _Named:
    """What is common to all parts: columns for the interval, where somebody asks for it by name."""

    columns: tuple[str, ...] = ()

    def extended(self, rows: Occurrences) -> Occurrences:
        if not self.columns:
            return rows
        times = dict(zip(self.columns, (rows.start, rows.end), strict=True))
        return Occurrences({**rows.columns, **times}, rows.start, rows.end, rows.order)


@dataclass(slots=True)
class _GroupNode:
    leaf: Leaf
    named: _Named
    names: tuple[str, ...] = field(init=False)
    is_instant: bool = field(init=False)

    def __post_init__(self) -> None:
        self.names = (*self.leaf.names, *self.named.columns)
        self.is_instant = self.leaf.is_instant

    def step(self, batch: Batch, streams: int) -> Occurrences:
        return self.named.extended(self.leaf.step(batch, streams))

    def memories(self) -> Iterator[Memory]:
        yield from self.leaf.memories()

    def counters(self) -> Iterator[Counter]:
        yield self.leaf.counter


@dataclass(slots=True)
class _RepeatNode:
    below: Node
    repetition: Repetition
    named: _Named
    names: tuple[str, ...] = field(init=False)
    is_instant: bool = False

    def __post_init__(self) -> None:
        self.names = (*self.repetition.names, *self.named.columns)

    def step(self, batch: Batch, streams: int) -> Occurrences:
        return self.named.extended(self.repetition.step(self.below.step(batch, streams)))

    def memories(self) -> Iterator[Memory]:
        yield from self.below.memories()
        yield from self.repetition.memories()

    def counters(self) -> Iterator[Counter]:
        yield from self.below.counters()
        yield self.repetition.counter


@dataclass(slots=True)
class _PairNode:
    initiator: Node
    terminator: Node
    without: list[Node]
    operator: Operator
    named: _Named
    remember_left: Callable[[Occurrences], None] | None = None
    names: tuple[str, ...] = field(init=False)
    is_instant: bool = False

    def __post_init__(self) -> None:
        self.names = (*self.operator.names, *self.named.columns)

    def step(self, batch: Batch, streams: int) -> Occurrences:
        initiators = self.initiator.step(batch, streams)
        if self.remember_left is not None:
            initiators = _with_left(initiators)
            self.remember_left(initiators)
        terminators = self.terminator.step(batch, streams)
        absent = [each.step(batch, streams) for each in self.without]
        return self.named.extended(self.operator.step(initiators, terminators, absent))

    def memories(self) -> Iterator[Memory]:
        for each in (self.initiator, self.terminator, *self.without):
            yield from each.memories()
        yield from self.operator.memories()

    def counters(self) -> Iterator[Counter]:
        for each in (self.initiator, self.terminator, *self.without):
            yield from each.counters()
        yield self.operator.counter


def _with_left(rows: Occurrences) -> Occurrences:
    return Occurrences({**rows.columns, LEFT: rows.order}, rows.start, rows.end, rows.order)


@dataclass(frozen=True, slots=True)
class _WithLeft:
    """The operand on the left of an optional operator, as that sees it."""

    names: tuple[str, ...]
    is_instant: bool

    def memories(self) -> Iterator[Memory]:
        yield from ()


class Network:
    """One expression: what it remembers, and what it has found that windows can still hold."""

    def __init__(
        self, expression: Expression, asked: tuple[Asked, ...], make: MakeLeaf, grid: Grid, tally: Tally
    ) -> None:
        """`grid` are the windows that what is composed has to lie in."""
        self._asked = {each.name for each in asked if each.name is not None}
        self._make, self._tally = make, tally
        self._left_names: tuple[str, ...] = ()
        self.root = self._node(expression, Bound(grid), is_root=True)
        self.results = Occurrences.none(self.root.names)
        self.alone: Occurrences | None = None
        if isinstance(expression, Related) and expression.optional:
            self.alone = Occurrences.none(self._left_names)

    @property
    def is_monotone(self) -> bool:
        """Whether what was found once stays as long as windows can hold it."""
        return self.alone is None

    def step(self, batch: Batch, streams: int) -> int:
        """Take in what came; how many composed occurrences were found."""
        found = self.root.step(batch, streams)
        if len(found):
            self.results = Occurrences.joined([self.results, found])
        return len(found)

    def within(self, open_: int) -> Occurrences:
        """The composed occurrences that began after a window's open."""
        rows = self.results.take(self.results.start > open_)
        if self.alone is None:
            return rows
        kept = (self.alone.start > open_) & ~np.isin(self.alone.order, self.results.columns[LEFT])
        return Occurrences.joined(
            [rows, _padded(self.root.named.extended(self.alone.take(kept)), self.root.names)]
        )

    @property
    def tables(self) -> list[Occurrences]:
        """What was found that windows can still hold."""
        return [self.results, *([] if self.alone is None else [self.alone])]

    def put(self, tables: Sequence[Occurrences]) -> None:
        """Go on with what another has found."""
        self.results = tables[0]
        if self.alone is not None:
            self.alone = tables[1]

    def park(self, folder: Folder) -> None:
        """Let all that is remembered lie in a folder from now on."""
        for number, memory in enumerate(self.root.memories()):
            memory.park(folder.under(f"memory{number}"))
        self.put([table.park(folder.under(f"table{number}")) for number, table in enumerate(self.tables)])

    def adopt(self, folder: Folder) -> None:
        """Go on with what another has put away."""
        for number, memory in enumerate(self.root.memories()):
            memory.adopt(folder.under(f"memory{number}"))
        names = [tuple(table.columns) for table in self.tables]
        self.put([Occurrences.adopted(folder.under(f"table{k}"), each) for k, each in enumerate(names)])

    def forget(self, open_: int) -> None:
        """Let go of what no window holds that opens then or later."""
        self.results = _after(self.results, open_)
        if self.alone is not None:
            self.alone = _after(self.alone, open_)

    def _remember_left(self, rows: Occurrences) -> None:
        assert self.alone is not None
        self.alone = Occurrences.joined([self.alone, rows])

    def _node(self, tree: Expression, bound: Bound, *, is_root: bool = False) -> Node:
        """The part for an expression that may last so long: its own WITHIN is yet to be looked at."""
        own = bound.shorter(tree.within)
        named = _Named(_columns(tree.name) if tree.name in self._asked else ())
        match tree:
            case Group():
                return _GroupNode(self._make(tree, own), named)
            case Repeat():
                below = self._node(tree.operand, _bound(tree.operand, own))
                key = tuple(name for name in (KEY, *tree.variables) if name in below.names)
                run = Repetition(below, key, tree.least, tree.most, own, self._tally)
                return _RepeatNode(below, run, named)
            case Related():
                return self._pair(tree, own, named, is_root=is_root)

    def _pair(self, tree: Related, bound: Bound, named: _Named, *, is_root: bool) -> Node:
        relation, turned = allen.initiated(tree.relation)
        left, right = (self._node(each, _bound(each, bound)) for each in (tree.left, tree.right))
        without = [self._node(each, _bound(each, bound)) for each in tree.without]
        initiator, terminator = (right, left) if turned else (left, right)
        meaning = Meaning(relation, tree.strategy, bound)
        if not (tree.optional and is_root):
            operator = Operator(meaning, initiator, terminator, without, self._tally)
            return _PairNode(initiator, terminator, without, operator, named)
        self._left_names = (*left.names, LEFT)
        operator = Operator(
            meaning, _WithLeft(self._left_names, left.is_instant), right, without, self._tally
        )
        return _PairNode(left, right, without, operator, named, self._remember_left)


def _bound(tree: Expression, bound: Bound) -> Bound:
    """How long an operand may last, of what may last so long: less only where nothing is used up."""
    return bound if is_unrestricted(tree) else bound.whole


def _columns(name: str | None) -> tuple[str, str]:
    return f"@{name} start", f"@{name} end"


def times_of(rows: Occurrences, name: str | None) -> tuple[Times, Times]:
    """The start and end of a named operand of composed occurrences, or (None) of the whole."""
    if name is None:
        return rows.start, rows.end
    start, end = _columns(name)
    return rows.columns[start], rows.columns[end]


def _after(rows: Occurrences, open_: int) -> Occurrences:
    kept = rows.start > open_
    return rows if kept.all() else rows.take(kept)


def _padded(rows: Occurrences, names: tuple[str, ...]) -> Occurrences:
    """The same rows with all columns: where there was none, there is no value."""
    columns = dict(rows.columns)
    for name in names:
        if name not in columns:
            empty = np.int64 if name[0] in "@#" else np.int32
            columns[name] = np.full(len(rows), UNKNOWN_TIME if name[0] == "@" else 0, empty)
    kept = {name: columns[name] for name in names}
    return Occurrences(kept, rows.start, rows.end, rows.order)
