"""Which partitions a statement is in, and which partitions of a scope hold something.

`PARTITION BY GRAPH`: that of its graph name. `PARTITION BY <property>`: those of the keys that its subject
has by the property, in the closed background and among the statements of the window itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ensue.maintain.log import CopyLog
from ensue.model import FOREVER, NEVER, Copies
from ensue.query.apart import Apart, Present, spans
from ensue.query.arrivals import Arrival, Arrivals
from ensue.query.dataset import Columns, Graph, Integers, Pattern, Solutions, column_of_terms
from ensue.query.plain import Decode, Encode

if TYPE_CHECKING:
    from ensue.maintain.kernel.folder import Folder

_UNKEYED = 1
"""The context under which statements without a key are logged, which none of those with a key have."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that subjects have, by a property, in the background: sorted by subject.

    >>> keys = Keys.of(5, np.array([7, 4, 7]), np.array([1, 2, 3]))
    >>> keys.one(7), [found.tolist() for found in keys.each(np.array([7, 5, 4]))]
    ([1, 3], [[0, 0, 2], [1, 3, 2]])
    """

    property: int
    subjects: Integers
    keys: Integers

    @classmethod
    def of(cls, property_: int, subjects: Integers, keys: Integers) -> Keys:
        """From columns in any order."""
        order = np.lexsort((keys, subjects))
        return cls(property_, subjects[order], keys[order])

    def one(self, subject: int) -> list[int]:
        """The keys of a subject."""
        first, last = (int(np.searchsorted(self.subjects, subject, side)) for side in ("left", "right"))
        return [int(key) for key in self.keys[first:last]]

    def each(self, subjects: Integers) -> tuple[Integers, Integers]:
        """Rows of subjects, each as often as it has keys, and the keys."""
        first = np.searchsorted(self.subjects, subjects, "left")
        counts = np.searchsorted(self.subjects, subjects, "right") - first
        rows = np.repeat(np.arange(len(subjects)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, self.keys[first[rows] + within]


class Parting:
    """The partitions of a scope: by graph name, or by the keys that subjects have in the background."""

    def __init__(self, keys: Callable[[], Keys] | None) -> None:
        """`keys` gives those of subjects, when the first statement comes; None: by graph name."""
        self._find_keys = keys
        self._newest: dict[int, int] = {}
        """The contexts that hold a statement, and of each the stamp of the newest."""
        self._unkeyed = CopyLog()
        self._is_stale = False

    @cached_property
    def _keys(self) -> Keys:
        assert self._find_keys is not None
        return self._find_keys()

    def admit(self, arrivals: Arrivals, offset: int) -> Copies:
        """Statements as copies in their partitions, stamped with the time plus an offset."""
        if self._find_keys is None:
            copies = arrivals.copies(arrivals.graph + 1, offset)
        else:
            rows, keys = self._keys.each(arrivals.s)
            copies = arrivals[rows].copies(keys + 1, offset)
            without = np.ones(len(arrivals), np.bool_)
            without[rows] = False
            self._unkeyed.add(arrivals[without].copies(_UNKEYED, offset))
        self._state(np.frombuffer(copies.context, np.int32), np.frombuffer(copies.stamp, np.int64))
        return copies

    def parted(self, arrivals: Arrivals) -> tuple[Arrivals, Integers]:
        """Statements, each as often as it is in a partition, and the keys; they are admitted with that."""
        copies = self.admit(arrivals, 0)
        terms = (np.frombuffer(column, np.int32) for column in (copies.s, copies.p, copies.o, copies.graph))
        keys = np.frombuffer(copies.context, np.int32) - np.int32(1)
        return Arrivals(np.frombuffer(copies.stamp, np.int64), *terms), keys

    def retracted(self, row: Arrival, *, every: bool) -> Copies:
        """A statement that is taken back, as copies in its partitions."""
        _, s, p, o, graph = row
        keys = [graph] if self._find_keys is None else self._keys.one(s)
        copies = Copies()
        for key in keys:
            copies.append(key + 1, s, p, o, 0, graph)
        if not keys:
            while self._unkeyed.take_newest((_UNKEYED, s, p, o), graph) != NEVER and every:
                pass
        self._is_stale = True
        return copies

    def together(self, copies: Copies, threshold: int = NEVER) -> Copies:
        """Copies in their partitions as they came, each once, and those in none above a threshold."""
        if self._find_keys is None:
            return copies
        contexts, s = np.frombuffer(copies.context, np.int32), np.frombuffer(copies.s, np.int32)
        # Who has several keys is in several partitions: once in that of the first.
        first = self._keys.keys[np.searchsorted(self._keys.subjects, s)] if len(s) else s
        found = Copies()
        for row in np.flatnonzero(contexts == first + 1).tolist():
            found.append(
                _UNKEYED, copies.s[row], copies.p[row], copies.o[row], copies.stamp[row], copies.graph[row]
            )
        for _, subject, p, o, graph, stamp in self._unkeyed:
            if stamp > threshold:
                found.append(_UNKEYED, subject, p, o, stamp, graph)
        return found

    def start_over(self, copies: Copies) -> Copies:
        """The background is another: the copies that there are, in the partitions that they are in now."""
        if self._find_keys is None:
            return copies
        came, threshold = self.together(copies), self._unkeyed.threshold
        self.__dict__.pop("_keys", None)
        self._newest, self._unkeyed, self._is_stale = {}, CopyLog(), False
        self._unkeyed.expire(threshold)
        return self.admit(Arrivals.of(came.stamp, came.s, came.p, came.o, came.graph), 0)

    def look_again(self, copies: Callable[[], Iterable[tuple[int, int, int, int, int, int]]]) -> None:
        """Find out anew which partitions hold something, if statements have been taken back since."""
        if self._is_stale:
            rows = [(context, stamp) for context, _, _, _, _, stamp in copies()]
            self._newest = {}
            contexts, stamps = np.array(rows, np.int64).reshape(-1, 2).T
            self._state(contexts, stamps)
            self._is_stale = False

    def present(self, threshold: int) -> dict[int, int]:
        """The contexts that hold a statement above a threshold, in order."""
        return {context: newest for context, newest in sorted(self._newest.items()) if newest > threshold}

    def unkeyed(self, threshold: int) -> int:
        """How many statements above a threshold are in no partition."""
        return self._unkeyed.count(threshold)

    def forget(self, threshold: int) -> None:
        """Let go of what has a stamp at or below a threshold."""
        self._unkeyed.expire(threshold)
        self._newest = {context: newest for context, newest in self._newest.items() if newest > threshold}

    def used_terms(self) -> list[Iterable[int]]:
        """The columns of integers in use: keys of partitions, and statements without one."""
        keys = [context - 1 for context in self._newest]
        return [keys, *(column for pane in self._unkeyed.panes() for column in (pane.s, pane.p, pane.o))]

    def park(self, folder: Folder) -> None:
        """Let what is known lie in a folder, too."""
        folder.keep("newest", np.array(list(self._newest.items()), np.int64).reshape(-1, 2))
        folder.keep("unkeyed", np.array(self._unkeyed.live().stamp, np.int64))

    def adopt(self, folder: Folder, threshold: int) -> None:
        """Go on with what another has put away; nothing is taken back any more."""
        self._newest = dict(folder.find("newest").tolist())
        self._unkeyed = _nobody_s(folder.find("unkeyed").tolist())
        self._unkeyed.expire(threshold)

    def plain(self, decode: Decode) -> list[Any]:
        """What is known, in terms, for `resume`: keys with the newest stamps, and stamps of what has none."""
        keys = decode([context - 1 for context in self._newest])
        return [keys, list(self._newest.values()), list(self._unkeyed.live().stamp)]

    def resume(self, plain: Sequence[Any], encode: Encode) -> None:
        """Go on with what another knew; nothing is taken back any more."""
        keys, newest, unkeyed = plain
        contexts = 1 + column_of_terms(keys, encode)
        self._newest = dict(zip(contexts.tolist(), newest, strict=True))
        self._unkeyed = _nobody_s(unkeyed)

    def _state(self, contexts: Integers, stamps: Integers) -> None:
        order = np.lexsort((stamps, contexts))
        contexts, stamps = contexts[order], stamps[order]
        for context, rows in spans(contexts).items():
            newest = int(stamps[rows.stop - 1])
            self._newest[context] = max(newest, self._newest.get(context, newest))


def _nobody_s(stamps: Iterable[int]) -> CopyLog:
    """Statements without a key, of which no more is known than how many there are of each stamp."""
    found = CopyLog()
    found.add(Copies.of((_UNKEYED, 0, 0, 0, stamp) for stamp in stamps))
    return found


def parted(rows: Iterable[Arrival], keys: Keys | None) -> tuple[Copies, int]:
    """The statements of one window in their partitions, and how many of them are in none.

    `keys` are those of the background; None: by graph name.

    >>> background = Keys.of(5, np.array([7]), np.array([40]))
    >>> rows = [(10, 7, 2, 3, 0), (20, 8, 2, 3, 0), (15, 8, 5, 41, 0), (10, 9, 2, 3, 0)]
    >>> copies, unkeyed = parted(rows, background)
    >>> [(context, s, stamp) for context, s, _, _, _, stamp in copies], unkeyed
    ([(41, 7, 10), (42, 8, 15), (42, 8, 15)], 1)
    """
    copies, unkeyed = Copies(), 0
    window = list(rows)
    if keys is None:
        for time, s, p, o, graph in window:
            copies.append(graph + 1, s, p, o, time, graph)
        return copies, 0
    stated: dict[int, dict[int, int]] = {}
    for time, s, p, o, _ in window:
        if p == keys.property:
            known = stated.setdefault(s, {})
            known[o] = max(time, known.get(o, time))
    found: dict[int, dict[int, int]] = {}
    for time, s, p, o, graph in window:
        if s not in found:
            found[s] = stated.get(s, {}) | dict.fromkeys(keys.one(s), FOREVER)
        for number, since in found[s].items():
            copies.append(number + 1, s, p, o, min(time, since), graph)
        unkeyed += not found[s]
    return copies, unkeyed


class Source(Protocol):
    """What parts of a window are read from: a scope, as it is now."""

    @property
    def still(self) -> Columns:
        """The background with what follows from it."""

    def live_apart(self, threshold: int) -> Apart:
        """What is above a threshold in each context."""

    def solutions_apart(
        self, patterns: tuple[Pattern, ...], threshold: int
    ) -> tuple[Integers, Solutions] | None:
        """The maintained solutions of all contexts, and whose each is."""


class WindowParts:
    """A partitioned scope at a threshold, as it is now: to be used before anything else is admitted.

    Facts and solutions are read once for all partitions, and each gets its rows of them.
    """

    def __init__(self, source: Source, threshold: int, present: Present, unkeyed: int) -> None:
        self._source = source
        self._threshold = threshold
        self._found: dict[tuple[Pattern, ...], tuple[Integers, Solutions] | None] = {}
        self._solved: dict[tuple[Pattern, ...], _Solved | None] = {}
        self.present = present
        self.unkeyed = unkeyed

    @property
    def still(self) -> Columns:
        """The background with what follows from it."""
        return self._source.still

    @cached_property
    def live(self) -> Apart:
        """What every partition holds."""
        return self._source.live_apart(self._threshold)

    def graph(self, context: int) -> Graph:
        """What one partition holds."""
        return _PartGraph(self, context)

    def solutions(self, patterns: tuple[Pattern, ...], context: int) -> Solutions | None:
        """The maintained solutions of a partition, if there are any."""
        if patterns not in self._solved:
            found = self.solutions_of_all(patterns)
            self._solved[patterns] = None if found is None else _Solved(found[1], spans(found[0]))
        solved = self._solved[patterns]
        return None if solved is None else solved.of(context)

    def solutions_of_all(self, patterns: tuple[Pattern, ...]) -> tuple[Integers, Solutions] | None:
        """The maintained solutions of all partitions and of the background, if there are any."""
        if patterns not in self._found:
            self._found[patterns] = self._source.solutions_apart(patterns, self._threshold)
        return self._found[patterns]


@dataclass(frozen=True, slots=True)
class _Solved:
    """The solutions of all contexts, those of each together."""

    solutions: Solutions
    where: dict[int, slice]

    def of(self, context: int) -> Solutions:
        """Those that a context sees: its own, and those of the background."""
        places = [self.where[each] for each in (0, context) if each in self.where] or [slice(0)]
        return Solutions(
            {name: _rows(column, places) for name, column in self.solutions.columns.items()},
            _rows(self.solutions.stamps, places),
        )


def _rows(column: Any, places: list[slice]) -> Integers:
    if len(places) == 1:
        return column[places[0]]  # type: ignore[no-any-return]
    return np.concatenate([column[place] for place in places])


@dataclass(frozen=True, slots=True)
class _PartGraph:
    parts: WindowParts
    context: int

    @property
    def still(self) -> Columns:
        return self.parts.still

    @property
    def live(self) -> Columns:
        return self.parts.live.of(self.context)

    def solutions(self, patterns: tuple[Pattern, ...]) -> Solutions | None:
        return self.parts.solutions(patterns, self.context)
