"""Aggregates over groups of values: counted here, and otherwise as oxigraph has them.

As there, a value that is missing or an error is one for SUM, AVG, MIN, MAX and GROUP_CONCAT of its whole
group, COUNT and SAMPLE pass over it, and GROUP_CONCAT takes nothing but strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from pyoxigraph import Literal

from ensue.query.compiled.values_batch import UNBOUND, solutions
from ensue.query.compiled.values_memory import Numbering
from ensue.query.compiled.values_tree import Aggregate
from ensue.query.dataset import Integers
from ensue.rules.expressions import Term, read_term
from ensue.rules.growth import MAX_TERM
from ensue.terms import literal


def counts(groups: Integers, count: int, values: Integers | None = None) -> Integers:
    """How many rows each group has; of those with the same value, if given, only one.

    >>> groups, values = np.array([0, 0, 2]), np.array([7, 7, 7])
    >>> counts(groups, 3).tolist(), counts(groups, 3, values).tolist()
    ([2, 0, 1], [1, 0, 1])
    """
    if values is not None:
        groups = groups[first_rows(groups, values)]
    return np.bincount(groups, minlength=count)


def first_rows(groups: Integers, values: Integers) -> Integers:
    """The first row of each value in each group, in order.

    >>> first_rows(np.array([1, 1, 0, 1]), np.array([5, 5, 5, 6])).tolist()
    [0, 2, 3]
    """
    _, first = np.unique(Numbering().number(groups, values), return_index=True)
    return np.sort(first)


def samples(groups: Integers, count: int, values: Integers) -> Integers:
    """The first value in each group that has any, 0 for one without.

    >>> samples(np.array([0, 0, 1]), 2, np.array([0, 5, 0])).tolist()
    [5, 0]
    """
    found = np.zeros(count, np.int32)
    rows = np.flatnonzero(values)
    which, first = np.unique(groups[rows], return_index=True)
    found[which] = values[rows[first]]
    return found


def computed(call: Aggregate, groups: Integers, terms: Sequence[str]) -> dict[int, Term | None]:
    """What the aggregate gives for each group that has a row; None for an error.

    DISTINCT is for the caller to see to: it tells terms apart, where oxigraph takes "01" and "1" for one.

    >>> from ensue.query.compiled.values_tree import Expression
    >>> longest = Aggregate("MAX", Expression("?x", ("x",)))
    >>> {group: str(term) for group, term in computed(longest, np.array([0, 0]), ['"a"', '"b"']).items()}
    {0: '"b"'}
    """
    if call.function == "GROUP_CONCAT" and (long := _too_long(call, groups, terms)):
        kept = [at for at, group in enumerate(groups.tolist()) if group not in long]
        rest = computed(call, groups[kept], [terms[at] for at in kept]) if kept else {}
        return rest | dict.fromkeys(long)
    table = {"group": list(map(str, groups.tolist())), "value": terms}
    selected = f"?group ({_text(call)} AS ?found)"
    found = solutions(
        lambda given: f"SELECT {selected} WHERE {{ {given} }} GROUP BY ?group", table, len(terms)
    )
    return {int(row[0].value): row[1] for row in found}


def _too_long(call: Aggregate, groups: Integers, terms: Sequence[str]) -> set[int]:
    """The groups whose values make a longer text together than an expression may make."""
    between = len(call.separator) if call.separator is not None else 1
    lengths: dict[int, int] = {}
    for group, term in zip(groups.tolist(), terms, strict=True):
        lengths[group] = lengths.get(group, -between) + len(term) + between
    if max(lengths.values(), default=0) <= MAX_TERM:
        return set()
    lengths = {}
    for group, text in zip(groups.tolist(), terms, strict=True):  # escapes, quotes and languages do not count
        value = read_term(text) if text != UNBOUND else None
        own = len(value.value) if isinstance(value, Literal) else 0
        lengths[group] = lengths.get(group, -between) + own + between
    return {group for group, length in lengths.items() if length > MAX_TERM}


@lru_cache(maxsize=100)
def of_nothing(call: Aggregate) -> Term | None:
    """What the aggregate gives for an empty group; None for an error.

    >>> str(of_nothing(Aggregate("GROUP_CONCAT", None)))
    '""'
    """
    selected = f"({_text(call)} AS ?found)"
    (row,) = solutions(lambda given: f"SELECT {selected} WHERE {{ {given} }}", {"value": []}, 0)
    found: Term | None = row[0]
    return found


def _text(call: Aggregate) -> str:
    separator = "" if call.separator is None else f"; SEPARATOR = {literal(call.separator)}"
    return f"{call.function}(?value{separator})"
