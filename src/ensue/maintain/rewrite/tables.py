"""Alternatives as tables: statements are looked up in them, thousands at a time.

Alternatives that differ in their terms alone are one table: from the terms that a statement must have to
those that are read for it. A hierarchy of ten thousand types is one table of objects, and costs a look-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ensue.dictionary import Dictionary
from ensue.plan.wider import Reading, Slot
from ensue.query.compiled.relation import numbered
from ensue.query.dataset import Integers
from ensue.rules import builtins
from ensue.terms import Kind

Parts = tuple[Integers, Integers, Integers]
"""Subjects, predicates and objects of statements."""

Form = tuple[int | None, ...]
"""Slots without terms: None where there is one."""

_OF_KIND = {
    Kind.IRI: "<urn:a>",
    Kind.BLANK: "_:a",
    Kind.TRIPLE: "<<( <urn:a> <urn:a> <urn:a> )>>",
    Kind.PLAIN: '"a"',
    Kind.TYPED: '"a"^^<urn:a>',
}
"""A term of each kind: built-in tests of one term look at its kind alone."""


@dataclass(frozen=True, slots=True)
class Check:
    """A condition on statements, its terms as integers: `~n` in `args` is the term n."""

    name: str
    text: str
    variables: tuple[str, ...]
    args: tuple[int, ...]

    def __call__(self, parts: Sequence[Integers], dictionary: Dictionary) -> Integers:
        """Of which statements it holds."""
        if len(self.args) == 1 and not self.text:
            kinds = np.frombuffer(dictionary.kinds, np.uint8)
            passing = np.array([builtins.holds(self.name, "", (), (_OF_KIND[kind],)) for kind in Kind])
            return passing[kinds[parts[self.args[0]]]]
        columns = [parts[arg] if arg >= 0 else np.full(len(parts[0]), ~arg, np.int32) for arg in self.args]
        if self.name in ("equal", "notEqual"):
            wanted: Integers = (columns[0] == columns[1]) == (self.name == "equal")
            return wanted
        return self._one_by_one(columns, dictionary)

    def _one_by_one(self, columns: list[Integers], dictionary: Dictionary) -> Integers:
        """By the terms themselves, each combination of them once."""
        numbers = numbered(columns, len(columns[0]))
        _, first, of_row = np.unique(numbers, return_index=True, return_inverse=True)
        rows = zip(*(column[first].tolist() for column in columns), strict=True)
        terms = (tuple(map(dictionary.decode, row)) for row in rows)
        held = [builtins.holds(self.name, self.text, self.variables, each) for each in terms]
        return np.array(held, np.bool_)[of_row]


class Table:
    """Alternatives of one form.

    >>> d = Dictionary()
    >>> def below(name):
    ...     return Reading((0, "<urn:a>", f"<urn:{name}>"), (0, "<urn:a>", "<urn:Pet>"))
    >>> table, = tables([below("Dog"), below("Cat")], (0, 2), d)
    >>> statements = [[7, 8, 9], [d.encode("<urn:a>")] * 3, [d.encode("<urn:Cat>"), 1, 1]]
    >>> rows, (who, what) = table.read(tuple(np.array(statements, np.int32)))
    >>> rows.tolist(), who.tolist(), d.decode(what[0])
    ([0], [7], '<urn:Pet>')
    """

    def __init__(
        self,
        forms: tuple[Form, Form, tuple[Check, ...]],
        terms: Iterable[tuple[list[int], list[int]]],
        dictionary: Dictionary,
    ) -> None:
        """The forms of statement and fact, and the checks; `terms` are those that each form lacks."""
        raw, self._fact, self._checks = forms
        self._dictionary = dictionary
        self._repeated = [(at, slot) for at, slot in enumerate(raw) if slot is not None and slot != at]
        places = [at for at, slot in enumerate(raw) if slot is None]
        rows = [[*keys, *values] for keys, values in terms]
        every = np.unique(np.array(rows, np.int32).reshape(len(rows), -1), axis=0)
        self._keys = Keys(places, every[:, : len(places)])
        self._values = every[:, len(places) :]
        self._ends = np.append(self._keys.begins[1:], len(every))

    def read(self, parts: Parts) -> tuple[Integers, list[Integers]]:
        """The statements (by number) that have an alternative, and what is read for them, part by part."""
        rows, at = self._keys.find(parts, self._passing(parts))
        if self._checks:
            here = tuple(part[rows] for part in parts)
            holds = np.logical_and.reduce([check(here, self._dictionary) for check in self._checks])
            rows, at = rows[holds], at[holds]
        values = self._keys.begins[at]
        if len(self._values) > len(self._keys.begins):  # For some statement there is more than one fact.
            counts = self._ends[at] - values
            before = np.cumsum(counts) - counts
            values = np.repeat(values - before, counts) + np.arange(counts.sum())
            rows = np.repeat(rows, counts)
        given = iter(self._values.T)
        return rows, [next(given)[values] if slot is None else parts[slot][rows] for slot in self._fact]

    def _passing(self, parts: Parts) -> Integers | None:
        """The statements that have the same where it must be; None: all."""
        if not self._repeated:
            return None
        return np.flatnonzero(np.logical_and.reduce([parts[a] == parts[b] for a, b in self._repeated]))


class Keys:
    """The terms that statements must have in some places: combinations of them, numbered in order.

    >>> keys = Keys([0, 2], np.array([[4, 5], [4, 6]], np.int32))
    >>> rows, numbers = keys.find((np.array([4, 4, 9]), np.array([1, 1, 1]), np.array([6, 9, 6])), None)
    >>> rows.tolist(), numbers.tolist()
    ([0], [1])
    """

    def __init__(self, places: Sequence[int], rows: Integers) -> None:
        """One row may be there more than once; if they are in order, `begins` is where each begins."""
        columns = list(zip(places, rows.T, strict=True))
        self._fixed = [(at, int(terms[0])) for at, terms in columns if (terms == terms[0]).all()]
        self._numbers = [(at, _Numbers(terms)) for at, terms in columns if (terms != terms[0]).any()]
        self.begins = np.zeros(1, np.int64)
        assert prod(len(numbers) for _, numbers in self._numbers) < 2**63, "too many for one integer"
        if self._numbers:
            found = self._combined([numbers.of(rows[:, places.index(at)]) for at, numbers in self._numbers])
            self._every, self.begins = np.unique(found, return_index=True)

    def find(self, parts: Sequence[Integers], rows: Integers | None) -> tuple[Integers, Integers]:
        """Those statements (None: of all) that have a combination, and its number."""
        for at, term in self._fixed:
            here = parts[at] if rows is None else parts[at][rows]
            chosen = np.flatnonzero(here == term)
            rows = chosen if rows is None else rows[chosen]
        chosen = np.arange(len(parts[0])) if rows is None else rows
        if not self._numbers:
            return chosen, np.zeros(len(chosen), np.int64)
        found: list[Integers] = []
        for at, numbers in self._numbers:
            here = numbers.of(parts[at][chosen])
            known = here >= 0
            chosen, found = chosen[known], [each[known] for each in (*found, here)]
        combined = self._combined(found)
        if len(found) == 1:
            return chosen, combined
        number = np.minimum(np.searchsorted(self._every, combined), len(self._every) - 1)
        known = self._every[number] == combined
        return chosen[known], number[known]

    def _combined(self, columns: list[Integers]) -> Integers:
        """One number for those of all places, in the order of rows."""
        whole = np.zeros(len(columns[0]), np.int64)
        for (_, numbers), column in zip(self._numbers, columns, strict=True):
            whole = whole * len(numbers) + column
        return whole


class _Numbers:
    """Terms that stand in one place, numbered from 0 on."""

    def __init__(self, terms: Integers) -> None:
        every = np.unique(terms)
        self._count = len(every)
        self._table = np.full(int(every[-1]) + 2, -1, np.int64)
        self._table[every] = np.arange(len(every))

    def __len__(self) -> int:
        return self._count

    def of(self, terms: Integers) -> Integers:
        """The number of each term, -1 for those that have none."""
        # What is beyond the table falls into its last cell, which has no number.
        found: Integers = self._table[np.minimum(terms, len(self._table) - 1)]
        return found


def tables(readings: Iterable[Reading], wanted: Sequence[int], dictionary: Dictionary) -> list[Table]:
    """Alternatives as tables that give the `wanted` positions of the facts. Their terms are pinned."""
    groups: dict[tuple[Form, Form, tuple[Check, ...]], list[tuple[list[int], list[int]]]] = {}
    for reading in readings:
        fact = [reading.fact[position] for position in wanted]
        checks = tuple(sorted(_checks(reading, dictionary), key=repr))
        terms = groups.setdefault((_form(reading.raw), _form(fact), checks), [])
        terms.append((_terms(reading.raw, dictionary), _terms(fact, dictionary)))
    return [Table(forms, terms, dictionary) for forms, terms in groups.items()]


def _form(slots: Iterable[Slot]) -> Form:
    return tuple(slot if isinstance(slot, int) else None for slot in slots)


def _terms(slots: Iterable[Slot], dictionary: Dictionary) -> list[int]:
    return [dictionary.pin(slot) for slot in slots if isinstance(slot, str)]


def _checks(reading: Reading, dictionary: Dictionary) -> Iterable[Check]:
    for test in reading.tests:
        args = tuple(arg if isinstance(arg, int) else ~dictionary.pin(arg) for arg in test.args)
        yield Check(test.name, test.text, test.variables, args)
