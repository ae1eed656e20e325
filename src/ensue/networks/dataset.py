"""The quads that a network holds now, indexed, and how they were before the last change.

Each graph keeps its statements three ways, so that a pattern with any of its positions known is looked
up and never searched for. Dictionaries without values stand for sets: they keep their order, so that a
run can be repeated to the letter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from ensue.networks.tree import DEFAULT

Ground = tuple[str, str, str, str]
"""A quad of terms: graph, subject, predicate, object."""


def line_of(quad: Ground) -> str:
    r"""A quad as a line of N-Quads.

    >>> line_of(("<urn:g>", "<urn:a>", "<urn:p>", '"1"')), line_of((DEFAULT, "<urn:a>", "<urn:p>", "_:b"))
    ('<urn:a> <urn:p> "1" <urn:g> .\n', '<urn:a> <urn:p> _:b .\n')
    """
    graph, *triple = quad
    return f"{' '.join((*triple, graph) if graph else triple)} .\n"


_Index = dict[str, dict[str, dict[str, None]]]
_NONE: dict[str, None] = {}
_NO_PAIRS: dict[str, dict[str, None]] = {}


class Lookup(Protocol):
    """A graph that patterns are matched against: what is not given is what is asked for."""

    def has(self, s: str, p: str, o: str) -> bool:
        """Whether a statement is there."""

    def objects(self, s: str, p: str) -> Iterable[str]:
        """Objects by subject and predicate."""

    def subjects(self, p: str, o: str) -> Iterable[str]:
        """Subjects by predicate and object."""

    def predicates(self, s: str, o: str) -> Iterable[str]:
        """Predicates by subject and object."""

    def of_subject(self, s: str) -> Iterable[tuple[str, str]]:
        """Predicates and objects by subject."""

    def of_predicate(self, p: str) -> Iterable[tuple[str, str]]:
        """Subjects and objects by predicate."""

    def of_object(self, o: str) -> Iterable[tuple[str, str]]:
        """Subjects and predicates by object."""

    def every(self) -> Iterable[tuple[str, str, str]]:
        """All statements."""


class View(Protocol):
    """Graphs by their names."""

    def graph(self, name: str) -> Lookup:
        """The graph of that name; an empty one if there is none."""

    def names(self) -> Collection[str]:
        """The names of the graphs that hold something, but the default graph."""


class Graph:
    """The statements of one graph.

    >>> graph = Graph()
    >>> graph.add("<a>", "<p>", "<b>"), graph.add("<a>", "<p>", "<b>"), list(graph.objects("<a>", "<p>"))
    (True, False, ['<b>'])
    """

    __slots__ = ("_osp", "_pos", "_spo")

    def __init__(self) -> None:
        self._spo: _Index = {}
        self._pos: _Index = {}
        self._osp: _Index = {}

    def __bool__(self) -> bool:
        return bool(self._spo)

    def add(self, s: str, p: str, o: str) -> bool:
        """Put a statement in; whether it was not there."""
        known = self._spo.setdefault(s, {}).setdefault(p, {})
        if o in known:
            return False
        known[o] = None
        self._pos.setdefault(p, {}).setdefault(o, {})[s] = None
        self._osp.setdefault(o, {}).setdefault(s, {})[p] = None
        return True

    def remove(self, s: str, p: str, o: str) -> bool:
        """Take a statement out; whether it was there."""
        if not self.has(s, p, o):
            return False
        _drop(self._spo, s, p, o)
        _drop(self._pos, p, o, s)
        _drop(self._osp, o, s, p)
        return True

    def has(self, s: str, p: str, o: str) -> bool:
        """Whether a statement is there."""
        return o in self._spo.get(s, _NO_PAIRS).get(p, _NONE)

    def objects(self, s: str, p: str) -> Iterable[str]:
        """Objects by subject and predicate."""
        return self._spo.get(s, _NO_PAIRS).get(p, _NONE)

    def subjects(self, p: str, o: str) -> Iterable[str]:
        """Subjects by predicate and object."""
        return self._pos.get(p, _NO_PAIRS).get(o, _NONE)

    def predicates(self, s: str, o: str) -> Iterable[str]:
        """Predicates by subject and object."""
        return self._osp.get(o, _NO_PAIRS).get(s, _NONE)

    def of_subject(self, s: str) -> Iterator[tuple[str, str]]:
        """Predicates and objects by subject."""
        return ((p, o) for p, known in self._spo.get(s, _NO_PAIRS).items() for o in known)

    def of_predicate(self, p: str) -> Iterator[tuple[str, str]]:
        """Subjects and objects by predicate."""
        return ((s, o) for o, known in self._pos.get(p, _NO_PAIRS).items() for s in known)

    def of_object(self, o: str) -> Iterator[tuple[str, str]]:
        """Subjects and predicates by object."""
        return ((s, p) for s, known in self._osp.get(o, _NO_PAIRS).items() for p in known)

    def every(self) -> Iterator[tuple[str, str, str]]:
        """All statements."""
        return ((s, p, o) for s, pairs in self._spo.items() for p, known in pairs.items() for o in known)


def _drop(index: _Index, a: str, b: str, c: str) -> None:
    pairs = index[a]
    known = pairs[b]
    del known[c]
    if not known:
        del pairs[b]
        if not pairs:
            del index[a]


_EMPTY = Graph()


class Dataset:
    """The default graph and the named ones.

    >>> dataset = Dataset()
    >>> dataset.add(("<g>", "<a>", "<p>", "<b>")), list(dataset.names()), len(dataset)
    (True, ['<g>'], 1)
    """

    def __init__(self) -> None:
        self._graphs: dict[str, Graph] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Ground]:
        for name, graph in self._graphs.items():
            yield from ((name, *triple) for triple in graph.every())

    def graph(self, name: str) -> Graph:
        """The graph of that name; an empty one if there is none."""
        return self._graphs.get(name, _EMPTY)

    def names(self) -> Collection[str]:
        """The names of the graphs that hold something, but the default graph."""
        return [name for name in self._graphs if name != DEFAULT]

    def add(self, quad: Ground) -> bool:
        """Put a quad in; whether it was not there."""
        name, s, p, o = quad
        graph = self._graphs.get(name)
        if graph is None:
            graph = self._graphs[name] = Graph()
        added = graph.add(s, p, o)
        self._size += added
        return added

    def remove(self, quad: Ground) -> bool:
        """Take a quad out; whether it was there. A graph that holds nothing is not there."""
        name, s, p, o = quad
        graph = self.graph(name)
        removed = graph.remove(s, p, o)
        self._size -= removed
        if removed and not graph:
            del self._graphs[name]
        return removed


class Before:
    """A dataset as it was before some quads went and others came.

    >>> dataset = Dataset()
    >>> dataset.add((DEFAULT, "<a>", "<p>", "<b>"))
    True
    >>> went, came = (DEFAULT, "<a>", "<p>", "<c>"), (DEFAULT, "<a>", "<p>", "<b>")
    >>> before = Before(dataset, removed=[went], added=[came])
    >>> list(before.graph(DEFAULT).objects("<a>", "<p>"))
    ['<c>']
    """

    def __init__(self, dataset: Dataset, removed: Iterable[Ground], added: Iterable[Ground]) -> None:
        self._dataset = dataset
        self._removed = Dataset()
        for quad in removed:
            self._removed.add(quad)
        self._added = Dataset()
        for quad in added:
            self._added.add(quad)

    def graph(self, name: str) -> Lookup:
        """The graph of that name as it was."""
        return _GraphBefore(self._dataset.graph(name), self._removed.graph(name), self._added.graph(name))

    def names(self) -> Collection[str]:
        """The names of the graphs that held something, but the default graph."""
        names = dict.fromkeys([*self._dataset.names(), *self._removed.names()])
        return [name for name in names if any(True for _ in self.graph(name).every())]


class _GraphBefore:
    """What is there now without what came, and what went."""

    __slots__ = ("_added", "_now", "_removed")

    def __init__(self, now: Graph, removed: Graph, added: Graph) -> None:
        self._now, self._removed, self._added = now, removed, added

    def has(self, s: str, p: str, o: str) -> bool:
        if self._now.has(s, p, o):
            return not self._added.has(s, p, o)
        return self._removed.has(s, p, o)

    def objects(self, s: str, p: str) -> Iterator[str]:
        yield from (o for o in self._now.objects(s, p) if not self._added.has(s, p, o))
        yield from self._removed.objects(s, p)

    def subjects(self, p: str, o: str) -> Iterator[str]:
        yield from (s for s in self._now.subjects(p, o) if not self._added.has(s, p, o))
        yield from self._removed.subjects(p, o)

    def predicates(self, s: str, o: str) -> Iterator[str]:
        yield from (p for p in self._now.predicates(s, o) if not self._added.has(s, p, o))
        yield from self._removed.predicates(s, o)

    def of_subject(self, s: str) -> Iterator[tuple[str, str]]:
        yield from ((p, o) for p, o in self._now.of_subject(s) if not self._added.has(s, p, o))
        yield from self._removed.of_subject(s)

    def of_predicate(self, p: str) -> Iterator[tuple[str, str]]:
        yield from ((s, o) for s, o in self._now.of_predicate(p) if not self._added.has(s, p, o))
        yield from self._removed.of_predicate(p)

    def of_object(self, o: str) -> Iterator[tuple[str, str]]:
        yield from ((s, p) for s, p in self._now.of_object(o) if not self._added.has(s, p, o))
        yield from self._removed.of_object(o)

    def every(self) -> Iterator[tuple[str, str, str]]:
        yield from (triple for triple in self._now.every() if not self._added.has(*triple))
        yield from self._removed.every()
