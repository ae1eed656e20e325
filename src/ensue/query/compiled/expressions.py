"""SPARQL expressions over columns, with the values that oxigraph gives them.

What an expression means (numbers of several types, dates, languages, errors) is not told again here:
oxigraph evaluates it, once for each *distinct* binding, and the results are remembered between evaluations.
As there, numbers count by value: inside an expression `"01"^^xsd:integer` is 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Literal

from ensue.dictionary import Dictionary
from ensue.query.compiled import aggregates
from ensue.query.compiled.unparse import NotCompiled
from ensue.query.compiled.values_batch import UNBOUND, evaluate
from ensue.query.compiled.values_memory import UNKNOWN, Memory
from ensue.query.compiled.values_order import ranks
from ensue.query.compiled.values_quick import Judge, Verdict
from ensue.query.compiled.values_tree import Aggregate, Expression, aggregate_call, expression
from ensue.query.dataset import Integers
from ensue.rules.expressions import Term, write_term
from ensue.terms import XSD, literal

__all__ = ["Aggregate", "Expression", "NotCompiled", "Values", "aggregate_call", "expression"]

REMEMBERED = 1_000_000
"""Bindings of one expression; with more than that they are forgotten, and evaluated anew when met."""

_RESOLVES = re.compile(r"\b[IU]RI\(", re.IGNORECASE)
"""Calls that make IRIs; without one the base, and the price of having one, can be spared."""

_TRUE = Literal(True)
_TRUTHS = tuple(literal(text, datatype=XSD + "boolean") for text in ("false", "true"))


class Values:
    """Evaluates expressions over columns of a dictionary's integers, 0 for unbound.

    A variable without a column is unbound in every row. `base` is what IRI("relative") is resolved against.

    >>> d = Dictionary()
    >>> x = np.array([d.encode('"a"'), d.encode('"b"@en'), 0], np.int32)
    >>> values = Values(d)
    >>> values.holds(Expression("LANG(?x) = 'en'", ("x",)), {"x": x}, 3).tolist()
    [False, True, False]
    >>> [d.decode(n) if n else None for n in values.values(Expression("UCASE(?x)", ("x",)), {"x": x}, 3)]
    ['"A"', '"B"@en', None]
    >>> values.order([(Expression("?x", ("x",)), True)], {"x": x}, 3).tolist()
    [1, 0, 2]
    """

    def __init__(self, dictionary: Dictionary, base: str | None = None) -> None:
        self._dictionary = dictionary
        self._base = base
        self._judge = Judge(dictionary)
        self._memories: dict[tuple[str, tuple[str, ...]], Memory] = {}
        self._generation = dictionary.generation

    def holds(self, e: Expression, columns: Mapping[str, Integers], length: int) -> NDArray[np.bool_]:
        """In which rows a FILTER lets the binding pass; an error means no."""
        given = _given(e, columns, length)
        # What a FILTER makes of a value that is no boolean; an error stays one.
        asked = f"IF({e.text}, true, false)"
        if e.shape is None:
            return self._looked_up(asked, given, length, _truth).astype(bool)
        verdicts = self._judge.verdicts(e.shape, given, length)
        rows = np.flatnonzero(verdicts == Verdict.OPEN)
        verdicts[rows] = self._looked_up(asked, _rows(given, rows), len(rows), _truth)
        return np.equal(verdicts, Verdict.TRUE)

    def values(self, e: Expression, columns: Mapping[str, Integers], length: int) -> Integers:
        """The value in each row, 0 for an error."""
        given = _given(e, columns, length)
        if e.bare is not None:
            # As it is: oxigraph would rewrite the digits of a number.
            return given[e.bare]
        if e.shape is None:
            return self._looked_up(e.text, given, length, self._number)
        verdicts = self._judge.verdicts(e.shape, given, length)
        found = np.array([*map(self._dictionary.encode, _TRUTHS), 0, 0], np.int32)[verdicts]
        rows = np.flatnonzero(verdicts == Verdict.OPEN)
        found[rows] = self._looked_up(e.text, _rows(given, rows), len(rows), self._number)
        return found

    def order(
        self,
        by: Sequence[tuple[Expression, bool]],
        columns: Mapping[str, Integers],
        length: int,
        then: Sequence[str] = (),
    ) -> Integers:
        """The rows in order: by the first expression, then the next; True is descending.

        Rows that tie are in the order of the texts of `then`, or stay as they are.
        """
        keys = []
        for e, descending in by:
            distinct, inverse = np.unique(self.values(e, columns, length), return_inverse=True)
            rank = ranks(self._texts(distinct))[inverse]
            keys.append(-rank if descending else rank)
        keys += [self._by_text(columns[name]) for name in then if name in columns]
        return np.lexsort(keys[::-1]) if keys else np.arange(length)

    def aggregate(
        self, call: Aggregate, groups: Integers, count: int, columns: Mapping[str, Integers]
    ) -> Integers:
        """What the aggregate gives for each of the groups 0 to count - 1, 0 for an error.

        `groups` says which group each row is in. For COUNT(DISTINCT *) a row is all of its columns.
        """
        if call.argument is None:
            every = list(columns.values())
            rows = Memory(len(every)).numbers(every, len(groups)) if call.distinct else None
            return self._integers(aggregates.counts(groups, count, rows))
        values = self.values(call.argument, columns, len(groups))
        if call.function == "SAMPLE":
            return aggregates.samples(groups, count, values)
        if call.function == "COUNT":
            bound = values != 0
            groups, values = groups[bound], values[bound]
            return self._integers(aggregates.counts(groups, count, values if call.distinct else None))
        return self._computed(call, groups, count, values)

    def _computed(self, call: Aggregate, groups: Integers, count: int, values: Integers) -> Integers:
        if call.distinct or call.function in ("MIN", "MAX"):
            rows = aggregates.first_rows(groups, values)
            groups, values = groups[rows], values[rows]
        if call.function != "GROUP_CONCAT":
            # In an order of their own: sums of floats, and which of equal values is least, depend on it.
            rows = np.argsort(self._by_text(values), kind="stable")
            groups, values = groups[rows], values[rows]
        found = np.full(count, self._number(aggregates.of_nothing(call)), np.int32)
        for group, term in aggregates.computed(call, groups, self._texts(values)).items():
            found[group] = self._number(term)
        return found

    def _by_text(self, column: Integers) -> Integers:
        """The rank of each value among them by its text."""
        distinct, inverse = np.unique(column, return_inverse=True)
        texts = self._texts(distinct)
        rank = np.empty(len(texts), np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return rank[inverse]

    def _integers(self, numbers: Integers) -> Integers:
        distinct, inverse = np.unique(numbers, return_inverse=True)
        texts = (literal(str(number), datatype=XSD + "integer") for number in distinct.tolist())
        return np.array([self._dictionary.encode(text) for text in texts], np.int32)[inverse]

    def _looked_up(
        self, text: str, given: dict[str, Integers], length: int, number: Callable[[Term | None], int]
    ) -> Integers:
        """The number of the expression's value in each row, from memory or else from oxigraph."""
        memory = self._memory(text, tuple(given))
        bindings = memory.numbers(list(given.values()), length)
        found = memory.results(bindings)
        new, rows = np.unique(np.where(found == UNKNOWN, bindings, UNKNOWN), return_index=True)
        if len(new) and new[0] == UNKNOWN:
            new, rows = new[1:], rows[1:]
        if len(new):
            table = {name: self._texts(column[rows]) for name, column in given.items()}
            base = self._base if _RESOLVES.search(text) else None
            values = evaluate(text, table, len(new), base)
            memory.remember(new, np.fromiter(map(number, values), np.int32, len(new)))
            found = memory.results(bindings)
        if len(memory) > REMEMBERED:
            del self._memories[text, tuple(given)]
        return found

    def _memory(self, text: str, variables: tuple[str, ...]) -> Memory:
        if self._generation != self._dictionary.generation:
            self._memories.clear()  # integers stand for other terms now
            self._generation = self._dictionary.generation
        return self._memories.setdefault((text, variables), Memory(len(variables)))

    def _texts(self, numbers: Integers) -> list[str]:
        decode = self._dictionary.decode
        return [decode(number) if number else UNBOUND for number in numbers.tolist()]

    def _number(self, term: Term | None) -> int:
        return 0 if term is None else self._dictionary.encode(write_term(term))


def _given(e: Expression, columns: Mapping[str, Integers], length: int) -> dict[str, Integers]:
    unbound = np.zeros(length, np.int32)
    return {name: columns.get(name, unbound) for name in e.variables}


def _rows(columns: dict[str, Integers], rows: Integers) -> dict[str, Integers]:
    return {name: column[rows] for name, column in columns.items()}


def _truth(term: Term | None) -> int:
    return int(term == _TRUE)
