"""The answers of watched patterns: the solutions of a query's basic graph pattern, kept up to date.

A watched pattern is a rule that concludes nothing: compiled code hands its solutions over, and they
are kept here. The key of an answer is its context and the values of all variables, so an answer rests
on one fact for each triple pattern, and its stamp is that of the oldest. A solution that is found
again has risen; one that rests on a doubted fact goes, and is found again if the fact comes back.

A query sees no minted nodes, and no facts with a literal for a subject (`ensue.query.dataset.visible`):
solutions with such are not taken in.
"""

# The compiled functions are typed by numba, from their arguments.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import lru_cache

import numpy as np

from ensue.dictionary import Dictionary
from ensue.maintain.kernel import view
from ensue.maintain.kernel.compiling import allocating, compiled, inlined, part
from ensue.maintain.kernel.folder import Folder
from ensue.maintain.kernel.layout import FULLEST, Array, grown
from ensue.maintain.kernel.pages import zeros
from ensue.maintain.kernel.plans import EVERY_KIND
from ensue.maintain.kernel.tables import (
    AHEAD,
    empty_slot,
    find_slot_of,
    hash_row,
    home_of,
    move_all,
    row_in,
    slot_of,
)
from ensue.maintain.program import CompiledRule, Program
from ensue.model import BACKGROUND, Triple
from ensue.query.dataset import Pattern, Slot
from ensue.terms import Kind

_CONTEXT = 0
"""The column of a key with the context; the variables' values come after it."""

_FREE_SLOT = np.uint64(0)
_HALF = np.uint64(32)
_SUBJECTS = 1 << Kind.IRI | 1 << Kind.BLANK
_PREDICATES = 1 << Kind.IRI


@lru_cache(maxsize=1000)
def watched_rule(patterns: tuple[Pattern, ...]) -> tuple[CompiledRule, tuple[str, ...]]:
    """A basic graph pattern as a rule that concludes nothing, and its variables' names by number.

    Patterns that differ in the names alone are the same rule.

    >>> rule, names = watched_rule((("x", 7, "y"), ("y", 7, "x")))
    >>> rule.premises, names
    (((-1, 7, -2), (-2, 7, -1)), ('x', 'y'))
    """
    numbers: dict[str, int] = {}

    def slot(given: Slot) -> int:
        return given if isinstance(given, int) else ~numbers.setdefault(given, len(numbers))

    premises = tuple((slot(s), slot(p), slot(o)) for s, p, o in patterns)
    live = (False,) * len(premises)
    return CompiledRule("watched", len(numbers), premises, live, (), (), len(numbers)), tuple(numbers)


class Watched:
    """The answers of every watched pattern of a program."""

    def __init__(self, program: Program, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._tables = {
            number: AnswerTable(rule) for number, rule in enumerate(program.rules) if not rule.conclusions
        }
        self._numbers = {program.rules[number].premises: number for number in self._tables}

    def copy(self) -> Watched:
        """The same answers, which go their own way from now on."""
        made = copy(self)
        made._tables = {number: table.copy() for number, table in self._tables.items()}
        return made

    def take(self, solutions: Array, stamps: Array, *, doubted: bool) -> tuple[Array, Array]:
        """Take in what was found, or doubted, of watched patterns; what is left is of other rules.

        Solutions are rows of (rule, context, binding...).
        """
        if not self._tables or not len(stamps):
            return solutions, stamps
        others = np.ones(len(stamps), np.bool_)
        for number in np.nonzero(np.bincount(solutions[:, 0]))[0].tolist():
            if number not in self._tables:
                continue
            mine = solutions[:, 0] == number
            others &= ~mine
            if doubted:
                self._tables[number].remove(solutions[mine, 1:])
            else:
                self._tables[number].put(solutions[mine, 1:], stamps[mine], self._dictionary)
        return solutions[others], stamps[others]

    def expire(self, threshold: int) -> None:
        """Drop the answers with a stamp at or below the threshold."""
        for table in self._tables.values():
            table.expire(threshold)

    def of(self, rule: CompiledRule) -> AnswerTable | None:
        """The answers of a watched pattern; None if it is not watched."""
        number = self._numbers.get(rule.premises)
        return None if number is None else self._tables[number]

    def park(self, folder: Folder) -> list[int]:
        """Let the answers lie in a folder from now on; how many there are of each pattern."""
        return [table.park(folder.under(f"answers{n}")) for n, table in self._tables.items()]

    def adopt(self, folder: Folder, counts: list[int]) -> None:
        """Go on with the answers that lie in a folder."""
        for (number, table), count in zip(self._tables.items(), counts, strict=True):
            table.adopt(folder.under(f"answers{number}"), count)

    def __len__(self) -> int:
        """How many answers there are."""
        return sum(map(len, self._tables.values()))

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return sum(table.nbytes for table in self._tables.values())


class AnswerTable:
    """The answers of one watched pattern: rows without gaps, and a hash table that finds them.

    >>> d = Dictionary()
    >>> a, p, b = map(d.encode, ("<urn:a>", "<urn:p>", "<urn:b>"))
    >>> table = AnswerTable(watched_rule((("x", p, "y"),))[0])
    >>> table.put(np.array([[1, a, b], [1, b, a], [1, a, b]]), np.array([5, 6, 7]), d)
    >>> table.expire(6)
    >>> [found.tolist() for found in table.read(1, 6)]
    [[[1], [3]], [7]]
    """

    def __init__(self, rule: CompiledRule) -> None:
        self._checks = _checks(rule.premises)
        self._width = 1 + rule.variables
        self._count = 0
        self._keys = np.zeros((16, self._width), np.int32)
        self._stamps = np.zeros(16, np.int64)
        self._slots = np.zeros(_slots_for(16), np.uint64)

    def __len__(self) -> int:
        return self._count

    def copy(self) -> AnswerTable:
        """The same answers, which go their own way from now on."""
        made = copy(self)
        made._keys, made._stamps, made._slots = self._keys.copy(), self._stamps.copy(), self._slots.copy()
        return made

    @property
    def nbytes(self) -> int:
        """The memory that it takes; rows never written to take none."""
        return self._count * (self._keys.strides[0] + 8) + self._slots.nbytes

    def put(self, solutions: Array, stamps: Array, dictionary: Dictionary) -> None:
        """Take in solutions, rows of (context, binding...): new ones, and such as may have risen."""
        self._reserve(len(stamps))
        seen = (np.frombuffer(buffer, np.uint8) for buffer in (dictionary.kinds, dictionary.depths))
        keys = self._own(solutions)
        self._count = _put_all(
            self._keys, self._stamps, self._slots, self._count, keys, stamps, self._checks, *seen
        )

    def remove(self, solutions: Array) -> None:
        """Take these answers out, where they are there."""
        self._count = _remove_all(self._keys, self._stamps, self._slots, self._count, self._own(solutions))

    def expire(self, threshold: int) -> None:
        """Drop what has a stamp at or below the threshold."""
        self._count = _expire(self._keys, self._stamps, self._slots, self._count, threshold)

    def read(self, context: int, threshold: int) -> tuple[Array, Array]:
        """A column for each variable, and stamps: what a context sees that is fresher than this."""
        return _read(self._keys, self._stamps, self._count, context, threshold)  # type: ignore[no-any-return]

    def read_apart(self, threshold: int) -> tuple[Array, Array, Array]:
        """The contexts of all answers fresher than this, in order, a column for each variable, and stamps."""
        rows = np.flatnonzero(self._stamps[: self._count] > threshold)
        rows = rows[np.argsort(self._keys[rows, _CONTEXT], kind="stable")]
        keys = self._keys[rows]
        return keys[:, _CONTEXT], np.ascontiguousarray(keys[:, _CONTEXT + 1 :].T), self._stamps[rows]

    def park(self, folder: Folder) -> int:
        """Let the answers lie in a folder from now on; how many there are."""
        self._keys = folder.keep("keys", self._keys)
        self._stamps = folder.keep("stamps", self._stamps)
        self._slots = folder.keep("slots", self._slots)
        return self._count

    def adopt(self, folder: Folder, count: int) -> None:
        """Go on with the answers that lie in a folder, so many."""
        self._keys, self._stamps, self._slots = map(folder.find, ("keys", "stamps", "slots"))
        self._count = count

    def _own(self, solutions: Array) -> Array:
        """The columns that this pattern has: a solution has room for the longest rule's."""
        return np.ascontiguousarray(solutions[:, : self._width], np.int32)

    def _reserve(self, more: int) -> None:
        if self._count + more > len(self._keys):
            size = 2 * (self._count + more)
            slots = zeros((_slots_for(size),), np.uint64)
            move_all(self._slots, slots)
            self._keys, self._stamps, self._slots = grown(self._keys, size), grown(self._stamps, size), slots


def _slots_for(rows: int) -> int:
    return int(rows / FULLEST) + 1


def _checks(premises: Iterable[Triple]) -> Array:
    """The kinds, as bits, that the term in a slot must be of for a query to see the facts."""
    allowed: dict[int, int] = {}
    for triple in premises:
        for slot, kinds in zip(triple, (_SUBJECTS, _PREDICATES, EVERY_KIND), strict=True):
            allowed[slot] = allowed.get(slot, EVERY_KIND) & kinds
    return np.array([*allowed.items()], np.int64).reshape(-1, 2)


@compiled
def _put_all(keys, stamps, slots, count, new, new_stamps, checks, kinds, depths):
    """Upsert, the larger stamp wins; how many answers there are then."""
    for i in range(len(new_stamps)):
        _expect(slots, new, min(i + AHEAD, len(new_stamps) - 1))
        if not _seen(new, i, checks, kinds, depths):
            continue
        h = hash_row(new, i)
        at = _locate(keys, slots, h, new, i)
        if at >= 0:
            row = row_in(slots[at])
            stamps[row] = max(stamps[row], new_stamps[i])
        else:
            slots[~at] = slot_of(h, count)
            _copy(keys, count, new, i)
            stamps[count] = new_stamps[i]
            count += 1
    return count


@inlined
def _expect(slots, keys, row):
    """Ask for the memory where a key is looked up soon."""
    view.prefetch(slots, home_of(hash_row(keys, row), len(slots)))


@inlined
def _seen(keys, row, checks, kinds, depths):
    """Whether a query sees the facts that a solution rests on."""
    for k in range(len(checks)):
        slot = checks[k, 0]
        term = np.int64(keys[row, 1 + ~slot]) if slot < 0 else slot
        if depths[term] or not checks[k, 1] >> kinds[term] & 1:
            return False
    return True


@part
def _locate(keys, slots, h, others, i):
    """Where the key `others[i]` has its slot, or `~` of the free slot for it."""
    at = home_of(h, len(slots))
    while slots[at] != _FREE_SLOT:
        if slots[at] >> _HALF == h and _equal(keys, row_in(slots[at]), others, i):
            return at
        at += 1
        if at == len(slots):
            at = 0
    return ~at


@inlined
def _equal(keys, row, others, i):
    k = 0
    while k < keys.shape[1] and keys[row, k] == others[i, k]:
        k += 1
    return k == keys.shape[1]


@inlined
def _copy(keys, row, others, i):
    for k in range(keys.shape[1]):
        keys[row, k] = others[i, k]


@compiled
def _remove_all(keys, stamps, slots, count, gone):
    for i in range(len(gone)):
        at = _locate(keys, slots, hash_row(gone, i), gone, i)
        if at >= 0:
            count = _remove(keys, stamps, slots, count, row_in(slots[at]))
    return count


@compiled
def _expire(keys, stamps, slots, count, threshold):
    row = 0
    while row < count:
        if stamps[row] <= threshold:
            count = _remove(keys, stamps, slots, count, row)
        else:
            row += 1
    return count


@part
def _remove(keys, stamps, slots, count, row):
    """Take a row out and put the last one in its place; how many there are then."""
    size, last = len(slots), count - 1
    empty_slot(slots, 0, size, find_slot_of(slots, 0, size, hash_row(keys, row), row))
    if row != last:
        h = hash_row(keys, last)
        slots[find_slot_of(slots, 0, size, h, last)] = slot_of(h, row)
        _copy(keys, row, keys, last)
        stamps[row] = stamps[last]
    return last


@allocating
def _read(keys, stamps, count, context, threshold):
    rows, size = np.empty(count, np.int32), 0
    for row in range(count):
        if stamps[row] > threshold and keys[row, _CONTEXT] in (context, BACKGROUND):
            rows[size] = row
            size += 1
    columns, found = np.empty((keys.shape[1] - 1, size), np.int32), np.empty(size, np.int64)
    for i in range(size):
        for k in range(len(columns)):
            columns[k, i] = keys[rows[i], 1 + k]
        found[i] = stamps[rows[i]]
    return columns, found
