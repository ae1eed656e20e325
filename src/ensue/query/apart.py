"""Graphs in parts: what a window of a partitioned query holds, partition by partition.

Each partition is a context of its own, whose number is that of its key plus one: so keys stay known as long
as contexts do. Statements without a graph name, whose graph has the number 0, are in the first context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ensue.dictionary import Dictionary
from ensue.model import Copies, Facts
from ensue.query.dataset import Columns, Graph, Integers, Pattern, PlainGraph, Solutions, are_visible
from ensue.query.plain import Decode, Encode, facts_of, plain_facts

NO_KEY = ""
"""The text of the key that statements without a graph name have: no term is the empty text."""

Present = Mapping[int, int]
"""The contexts that hold a statement, and of each the stamp of the newest."""


class Parts(Protocol):
    """One partitioned graph at one moment."""

    @property
    def still(self) -> Columns:
        """Facts that never change, and that every part has: the same object at every evaluation."""

    @property
    def present(self) -> Present:
        """The partitions that hold a statement."""

    @property
    def unkeyed(self) -> int:
        """How many statements of the window are in no partition."""

    def graph(self, context: int) -> Graph:
        """What one partition holds."""

    def solutions_of_all(self, patterns: tuple[Pattern, ...]) -> tuple[Integers, Solutions] | None:
        """The solutions of a basic graph pattern in all contexts, with those of the background, and whose
        each is; None: nobody maintains them.
        """


def spans(contexts: Integers) -> dict[int, slice]:
    """Where each context is in a column in which those of each lie together.

    >>> spans(np.array([3, 3, 7]))
    {3: slice(0, 2, None), 7: slice(2, 3, None)}
    """
    if not len(contexts):
        return {}
    starts = [0, *(np.flatnonzero(contexts[1:] != contexts[:-1]) + 1).tolist()]
    numbers = contexts[starts].tolist()
    return dict(zip(numbers, map(slice, starts, [*starts[1:], len(contexts)]), strict=True))


@dataclass(frozen=True, slots=True)
class Apart:
    """Facts of several contexts, those of each together.

    >>> facts = Facts.of([(2, 5, 6, 7, 10), (2, 5, 6, 8, 20), (4, 5, 6, 7, 10)])
    >>> both = Apart(Columns.of(facts), spans(np.array(facts.context)))
    >>> both.of(2).o.tolist(), len(both.of(3))
    ([7, 8], 0)
    """

    facts: Columns
    where: Mapping[int, slice]

    @classmethod
    def seen(cls, facts: Facts, dictionary: Dictionary) -> Apart:
        """Of what a maintainer gives of all contexts, that which a query sees."""
        columns, contexts = Columns.of(facts), np.asarray(facts.context, np.int32)
        mask = are_visible(columns.s, columns.p, columns.o, dictionary)
        if not mask.all():
            columns, contexts = columns.take(mask), contexts[mask]
        return cls(columns, spans(contexts))

    def of(self, context: int) -> Columns:
        """The facts of one context: views, not copies."""
        return self.facts.take(self.where.get(context, slice(0)))


@dataclass(frozen=True, slots=True)
class PlainParts:
    """Parts of which nothing but the facts is known."""

    still: Columns
    live: Apart = field(default_factory=lambda: Apart(Columns.none(), {}))
    present: Present = field(default_factory=dict)
    unkeyed: int = 0

    def graph(self, context: int) -> Graph:
        """What one partition holds."""
        return PlainGraph(self.still, self.live.of(context))

    def solutions_of_all(self, patterns: tuple[Pattern, ...]) -> tuple[Integers, Solutions] | None:
        """Nobody maintains any."""
        return None

    def used_terms(self) -> list[Integers]:
        """The columns of integers that they use."""
        facts = self.live.facts
        return [facts.s, facts.p, facts.o, np.array([context - 1 for context in self.present], np.int64)]


def kept_apart(parts: Parts) -> PlainParts:
    """The same parts for later, when the scope will have moved on."""
    if isinstance(parts, PlainParts):
        return parts
    found = {context: parts.graph(context).live for context in sorted(parts.present)}
    sizes = [len(facts) for facts in found.values()]
    ends = np.cumsum([0, *sizes]).tolist()
    where = dict(zip(found, map(slice, ends[:-1], ends[1:]), strict=True))
    return PlainParts(parts.still, Apart(Columns.joined(found.values()), where), parts.present, parts.unkeyed)


def plain_parts(parts: PlainParts, decode: Decode) -> list[Any]:
    """Facts as columns of terms, and for each partition its key, newest stamp and where its facts are."""
    contexts = list(parts.present)
    where = [parts.live.where.get(context, slice(0, 0)) for context in contexts]
    keys = [key or NO_KEY for key in decode([context - 1 for context in contexts])]
    rows = [
        [key, parts.present[context], at.start, at.stop]
        for key, context, at in zip(keys, contexts, where, strict=True)
    ]
    return [plain_facts(parts.live.facts, decode), rows, parts.unkeyed]


def parts_of(plain: Sequence[Any], still: Columns, encode: Encode) -> PlainParts:
    """What `plain_parts` wrote down.

    >>> from ensue.dictionary import Dictionary
    >>> d, facts = Dictionary(), [["<urn:a>"], ["<urn:p>"], ["<urn:b>"], [5]]
    >>> plain = [facts, [["", 5, 0, 1], ["<urn:g>", 4, 0, 0]], 3]
    >>> plain_parts(parts_of(plain, Columns.none(), d.encode_all), d.decode_all) == plain
    True
    """
    facts, rows, unkeyed = plain
    contexts = [1 + (encode([key])[0] if key != NO_KEY else 0) for key, *_ in rows]
    where = {context: slice(*row[2:]) for context, row in zip(contexts, rows, strict=True)}
    present = {context: row[1] for context, row in zip(contexts, rows, strict=True)}
    return PlainParts(still, Apart(facts_of(facts, encode), where), present, unkeyed)


def present_in(copies: Copies) -> dict[int, int]:
    """The contexts of some copies, and of each the stamp of the newest."""
    found: dict[int, int] = {}
    for context, stamp in zip(copies.context, copies.stamp, strict=True):
        found[context] = max(stamp, found.get(context, stamp))
    return found
