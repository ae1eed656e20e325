"""From relations to answers: integers become terms again, and CONSTRUCT's template becomes triples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import blake2b

import numpy as np

from ensue.dictionary import Dictionary
from ensue.query.answers import Answers, Row
from ensue.query.compiled.operators import distinct
from ensue.query.compiled.plan import Plan, Template
from ensue.query.compiled.relation import Relation, concatenated, groups
from ensue.query.dataset import Integers, Slot
from ensue.query.tree import Form
from ensue.terms import Kind

_TRIPLE = ("s", "p", "o")


def answers(plan: Plan, solutions: Relation, dictionary: Dictionary, scope: str) -> Answers:
    """What the query answers, given its solutions. `scope` tells its blank nodes from other queries'."""
    if plan.form is Form.ASK:
        return _ask(solutions)
    if plan.form is Form.CONSTRUCT:
        return Construction(plan.template, solutions, dictionary, scope).answers()
    columns = [dictionary.decode_all(solutions.column(name).tolist()) for name in plan.variables]
    rows = list(zip(*columns, strict=True)) if columns else [()] * solutions.length
    return Answers(Form.SELECT, plan.variables, rows, _listed(solutions.stamps))


def _ask(solutions: Relation) -> Answers:
    one = distinct(solutions.project(()))
    rows: list[Row] = [()] * one.length
    return Answers(Form.ASK, (), rows, _listed(one.stamps))


def _listed(stamps: Integers | None) -> list[int] | None:
    return None if stamps is None else stamps.tolist()


def terms(column: Integers, term: Callable[[int], str]) -> list[str | None]:
    """The terms of a column, None for 0. Each is looked up once.

    >>> terms(np.array([7, 0, 7]), "<urn:{}>".format)
    ['<urn:7>', None, '<urn:7>']
    """
    numbers, places = np.unique(column, return_inverse=True)
    found = np.array([term(number) if number else None for number in numbers.tolist()], object)
    listed: list[str | None] = found[places].tolist()
    return listed


class Construction:
    """The triples that a template makes of solutions, each once.

    A blank node of the template is a fresh one for each solution. Until it gets its label it has a number
    beyond the dictionary's.
    """

    def __init__(self, template: Template, solutions: Relation, dictionary: Dictionary, scope: str) -> None:
        self._template = template
        self._solutions = solutions
        self._dictionary = dictionary
        self._scope = scope
        self._kinds = np.frombuffer(dictionary.kinds, np.uint8)
        slots = (slot for triple in template for slot in triple if isinstance(slot, str))
        self._blanks = [name for name in dict.fromkeys(slots) if name.startswith("_:")]
        self._seeds = list(self._seeds_of_solutions()) if self._blanks else []

    def answers(self) -> Answers:
        """The triples; of the stamps that one could have, the largest."""
        found = distinct(concatenated([self._instances(triple) for triple in self._template]))
        columns = (terms(found.column(name), self._term) for name in _TRIPLE)
        return Answers(Form.CONSTRUCT, (), list(zip(*columns, strict=True)), _listed(found.stamps))

    def _instances(self, triple: tuple[Slot, Slot, Slot]) -> Relation:
        """One triple of the template for each solution, where that gives a triple."""
        s, p, o = (self._column(slot) for slot in triple)
        proper = (self._kind(s) < Kind.TRIPLE) & (self._kind(p) == Kind.IRI) & (s != 0) & (p != 0) & (o != 0)
        made = Relation(dict(zip(_TRIPLE, (s, p, o), strict=True)), len(s), self._solutions.stamps)
        return made.where(proper)

    def _column(self, slot: Slot) -> Integers:
        length = self._solutions.length
        if isinstance(slot, int):
            return np.full(length, slot, np.int64)
        if slot in self._blanks:
            every = np.arange(length, dtype=np.int64) * len(self._blanks)
            return every + len(self._kinds) + self._blanks.index(slot)
        return self._solutions.column(slot).astype(np.int64)

    def _kind(self, column: Integers) -> Integers:
        fresh = column >= len(self._kinds)
        return np.where(fresh, Kind.BLANK, self._kinds[np.where(fresh, 0, column)])

    def _term(self, number: int) -> str:
        beyond = number - len(self._kinds)
        if beyond < 0:
            return self._dictionary.decode(number)
        row, blank = divmod(beyond, len(self._blanks))
        digest = blake2b(f"{self._seeds[row]}\0{blank}".encode(), digest_size=12)
        return f"_:c{digest.hexdigest()}"

    def _seeds_of_solutions(self) -> Iterable[str]:
        """What tells solutions apart, the same at each evaluation: so an answer that stays is the same one.

        Equal solutions are told apart by counting them.
        """
        names = sorted(self._solutions.columns)
        columns = [self._solutions.columns[name] for name in names]
        cells = [self._dictionary.decode_all(column.tolist()) for column in columns]
        seen: Counter[int] = Counter()
        for row, group in enumerate(groups(columns, self._solutions.length).of_row.tolist()):
            # A variable without a value says nothing, whether or not it has a column.
            said = (
                (name, cell[row]) for name, cell in zip(names, cells, strict=True) if cell[row] is not None
            )
            yield repr((self._scope, seen[group], *said))
            seen[group] += 1
