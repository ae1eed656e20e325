"""A store of oxigraph's that holds a dataset and follows it from moment to moment.

What a graph holds now is compared with what it held last time, as integers; only the difference goes
through text. Blank nodes keep their labels, and a graph without facts is there all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat, Store, parse

from ensue.dictionary import Dictionary
from ensue.query.dataset import Columns, Dataset, Graph, Integers
from ensue.query.oxigraph_terms import Spellings

_NO_ROWS = np.zeros((3, 0), np.int32)
_TERM = 2**31 - 1  # the bits of a term's integer


@dataclass(frozen=True, slots=True)
class _Held:
    """What is in the store of one graph: facts that never change, and rows of integers for the others."""

    still: Columns
    live: Integers


class Mirror:
    """The store, and what is in it. `constants` are terms that a query may bring into its answers."""

    def __init__(self, constants: tuple[str, ...] = ()) -> None:
        self._constants = constants
        self._forget(Dictionary())

    def _forget(self, dictionary: Dictionary) -> None:
        self.store = Store()
        self.spellings = Spellings(dictionary, self._constants)
        self._dictionary = dictionary
        self._generation = dictionary.generation
        self._held: dict[str | None, _Held] = {}

    def show(self, dataset: Dataset) -> None:
        """Make the store hold exactly this."""
        # After a sweep an integer can be another term's, so what is held is not known any more.
        if (dataset.dictionary, dataset.dictionary.generation) != (self._dictionary, self._generation):
            self._forget(dataset.dictionary)
        graphs: dict[str | None, Graph] = {None: dataset.default}
        graphs.update(dataset.named)
        for name in self._held.keys() - graphs.keys():
            self.store.remove_graph(_graph_name(name))
            del self._held[name]
        for name, graph in graphs.items():
            self._held[name] = self._follow(name, graph)

    def _follow(self, name: str | None, graph: Graph) -> _Held:
        held = self._held.get(name)
        if held is None or not _same(held.still, graph.still):
            held = self._begin(name, graph.still)
        came, left, live = difference(self._rows(graph.live), held.live)
        for quad in self._quads(name, self._without(left, held.still)):
            self.store.remove(quad)
        self.store.extend(self._quads(name, came))
        return _Held(held.still, live)

    def _begin(self, name: str | None, still: Columns) -> _Held:
        self.store.clear_graph(_graph_name(name))
        if name is not None:
            self.store.add_graph(_graph_name(name))
        self.store.bulk_extend(self._quads(name, self._rows(still)))
        return _Held(still, _NO_ROWS)

    def _rows(self, facts: Columns) -> Integers:
        return np.stack([facts.s, facts.p, self.spellings.by_value(facts.o)])

    def _without(self, rows: Integers, still: Columns) -> Integers:
        """The rows that are not, in another spelling, among the facts that never change."""
        if rows.shape[1] == 0 or not self.spellings.respells:
            return rows
        near = still.take(np.isin(still.s, rows[0]))
        return difference(rows, self._rows(near))[0]

    def _quads(self, name: str | None, rows: Integers) -> Iterator[Quad]:
        decode = self._dictionary.decode
        graph = "" if name is None else f"<{name}>"
        columns = (map(decode, column.tolist()) for column in rows)
        text = "".join([f"{s} {p} {o} {graph} .\n" for s, p, o in zip(*columns, strict=True)])
        return parse(text.encode(), format=RdfFormat.N_QUADS, lenient=True)


def _same(one: Columns, other: Columns) -> bool:
    return one is other or len(one) == len(other) == 0


def _graph_name(name: str | None) -> NamedNode | DefaultGraph:
    return DefaultGraph() if name is None else NamedNode(name)


def difference(now: Integers, before: Integers) -> tuple[Integers, Integers, Integers]:
    """What of the columns of `now` came, what of those of `before` left, and `now` with each column once.

    By sorting numbers, not by numpy's set operations: those take ten times as long.

    >>> now, before = np.array([[1, 1, 2], [0, 0, 0], [7, 7, 7]]), np.array([[2, 3], [0, 0], [7, 7]])
    >>> [part.T.tolist() for part in difference(now, before)]
    [[[1, 0, 7]], [[3, 0, 7]], [[1, 0, 7], [2, 0, 7]]]
    """
    s, p, o = np.concatenate([now, before], axis=1).astype(np.int64)
    # Three integers do not fit into one of 64 bits: two of them get a number together.
    pairs, number = _numbered(s << 32 | p)
    keys = number << 32 | o << 1
    keys[now.shape[1] :] |= 1  # so that within a triple `now` comes before `before`
    keys.sort()
    first, last = _runs(keys >> 1)
    is_now, was_before = (keys[first] & 1) == 0, (keys[last] & 1) == 1
    triples = keys[first] >> 1
    pair = pairs[triples >> 31]
    rows = np.stack([pair >> 32, pair & _TERM, triples & _TERM])
    return rows[:, is_now & ~was_before], rows[:, ~is_now], rows[:, is_now]


def _numbered(values: Integers) -> tuple[Integers, Integers]:
    """The distinct values in order, and for each value its number among them."""
    order = np.argsort(values)
    ordered = values[order]
    first, _ = _runs(ordered)
    starts = np.zeros(len(values), np.int64)
    starts[first[1:]] = 1
    numbers = np.empty(len(values), np.int64)
    numbers[order] = np.cumsum(starts)
    return ordered[first], numbers


def _runs(ordered: Integers) -> tuple[Integers, Integers]:
    """Where runs of equal values begin, and where they end."""
    ends = np.flatnonzero(ordered[1:] != ordered[:-1])
    if len(ordered) == 0:
        return ends, ends
    return np.concatenate([[0], ends + 1]), np.concatenate([ends, [len(ordered) - 1]])
