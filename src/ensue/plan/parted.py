"""Routing by declared keys: all statements of a partition go to the shard that owns its key.

No pattern has to hold the key, and rules may be any: a partition is closed on its own. Keys that subjects
have by a property are looked up in the background, so no stream may bring any. A statement in no partition
goes to the shard that owns no key, which counts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ensue.plan.known import Closed
from ensue.plan.shapes import Shape
from ensue.query.tree import ContinuousQuery, Partition


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys that subjects have by a property, as text."""

    property: str
    keys: Mapping[str, tuple[str, ...]]
    also_counted: bool = False
    """Whether some subjects may have fewer keys, or none: what a query's own background does not hold."""

    def also(self, other: KeyTable) -> KeyTable:
        """The keys that subjects have here or there.

        >>> one, other = KeyTable("urn:in", {"a": ("k",)}), KeyTable("urn:in", {"a": ("l",), "b": ("k",)})
        >>> one.also(other).keys
        {'a': ('k', 'l'), 'b': ('k',)}
        """
        if self == other:
            return self
        subjects = dict.fromkeys((*self.keys, *other.keys))
        both = {
            each: tuple(dict.fromkeys((*self.keys.get(each, ()), *other.keys.get(each, ()))))
            for each in subjects
        }
        return KeyTable(self.property, both, also_counted=True)


@dataclass(frozen=True, slots=True)
class ByKey:
    """The partitioned queries of a job, and where keys are found."""

    queries: tuple[tuple[str, Partition], ...] = ()
    tables: tuple[KeyTable, ...] = ()
    elements: tuple[str, ...] = ()
    """The queries whose events are elements of the stream: those go by the names of their graphs."""

    @classmethod
    def of(cls, queries: Iterable[ContinuousQuery], background: Closed) -> ByKey:
        """For some queries, over a closed background that holds the graphs of every FROM besides."""
        found: list[tuple[str, Partition]] = []
        tables: dict[str, KeyTable] = {}
        elements: list[str] = []
        for query in queries:
            if query.event_window is not None:
                elements.append(query.name)
            if query.partition is None:
                continue
            found.append((query.name, query.partition))
            name = query.partition.property
            if name is not None:
                table = tables.get(name) or KeyTable(name, _keys(background, name))
                only_some = table.also_counted or bool(query.default_graphs)
                tables[name] = replace(table, also_counted=only_some)
        return cls(tuple(found), tuple(tables.values()), tuple(elements))

    def also(self, other: ByKey) -> ByKey:
        """The same, with the keys besides that another background has."""
        tables = tuple(map(KeyTable.also, self.tables, other.tables))
        return replace(self, tables=tables)

    @property
    def by_graph(self) -> bool:
        """Whether some query is partitioned by the names of graphs, or its events are graphs."""
        return bool(self.elements) or any(partition.property is None for _, partition in self.queries)

    @property
    def assumed(self) -> tuple[Shape, ...]:
        """What no stream may bring: keys."""
        return tuple((None, f"<{table.property}>", None) for table in self.tables)


def _keys(background: Closed, name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for s, _, o in background.having([(None, f"<{name}>", None)]):
        found.setdefault(s, []).append(o)
    return {subject: tuple(keys) for subject, keys in found.items()}


def owners(table: KeyTable, subjects: Sequence[str], of: Mapping[str, int], nobody: int) -> list[int]:
    """For each subject the shards, as bits, that own a key of it.

    `of` has the bit of the shard that owns each key, and `nobody` that of who gets what has none.

    >>> table = KeyTable("urn:in", {"<urn:a>": ("<urn:k>", "<urn:l>")})
    >>> owners(table, ["<urn:a>", "<urn:b>"], {"<urn:k>": 2, "<urn:l>": 4}, 1)
    [6, 1]
    """
    also = nobody if table.also_counted else 0
    bits = []
    for subject in subjects:
        found = also
        for key in table.keys.get(subject, ()):
            found |= of[key]
        bits.append(found or nobody)
    return bits
