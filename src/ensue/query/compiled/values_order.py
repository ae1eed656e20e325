"""SPARQL's order of terms, as oxigraph has it, as ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ensue.query.compiled.values_batch import solutions
from ensue.query.dataset import Integers


def ranks(terms: Sequence[str]) -> Integers:
    """The rank of each of some distinct terms, UNBOUND too; the same rank for equal values.

    >>> ranks(['"b"', "UNDEF", "<urn:a>", '"a"']).tolist()
    [3, 0, 1, 2]

    Ties show where two sorts differ that tell equal values apart in opposite ways: all terms before
    a place are the same ones in both exactly where a new rank begins.
    """
    one, other = _sorted(terms, "?at"), _sorted(terms, "DESC(?at)")
    ahead = np.zeros(len(terms), np.int64)
    # From this place on both have the term behind them; where that is so of as many terms as there
    # have been, it is the last of its rank.
    np.add.at(ahead, np.maximum(_places(one), _places(other)), 1)
    last = np.cumsum(ahead) == np.arange(1, len(terms) + 1)
    found = np.empty(len(terms), np.int64)
    found[one] = np.cumsum(last) - last
    return found


def _sorted(terms: Sequence[str], tie: str) -> Integers:
    table = {"at": list(map(str, range(len(terms)))), "term": terms}
    found = solutions(lambda given: f"SELECT ?at WHERE {{ {given} }} ORDER BY ?term {tie}", table, len(terms))
    return np.array([int(row[0].value) for row in found], np.int64)


def _places(order: Integers) -> Integers:
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
