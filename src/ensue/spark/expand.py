"""Linear expansion: to each statement of a block all that it implies by linear rules is added, each once.

By the column: the block's terms get the numbers that the epsilon table has for them, each statement the entry
of the table that is its own, and each row of an entry is filled from the statement. What an entry makes is
different for each of its rows, unless the statement's own terms coincide, with each other or with constants
of the table. Where they do, and where something that was made has to be looked up once more, duplicates are
looked for; that is so for few statements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ensue.maintain.kernel.links import ANY, THE_OBJECT, THE_PREDICATE, THE_SUBJECT
from ensue.maintain.kernel.plans import EVERY_KIND
from ensue.plan.epsilon import MARKS, OF_OBJECT, OF_SUBJECT, EpsilonTable, Mark, O, P, S
from ensue.plan.matches import Matches
from ensue.spark.blocks import NO_GRAPH, Block, Texts, text_of
from ensue.terms import Kind

Numbers = NDArray[Any]
Rows = NDArray[np.int64]
_NOWHERE = -1


class _Made(NamedTuple):
    """Statements that were made: from which of the given ones, by which row of the table, and their terms."""

    of: Numbers
    by: Numbers
    s: Numbers
    p: Numbers
    o: Numbers

    def only(self, which: NDArray[Any] | slice) -> _Made:
        """Some of them."""
        return _Made(*(column[which] for column in self))

    @classmethod
    def joined(cls, parts: list[_Made]) -> _Made:
        """One after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Expander:
    """A table at work: it remembers nothing of the blocks.

    >>> from ensue.plan import linear
    >>> from ensue.plan.known import close
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[r: cut(?p <urn:sub> ?q), (?x ?p ?y) -> (?x ?q ?y)]", "r.rules")
    >>> found = linear.find(rules, close(rules, [("<urn:p>", "<urn:sub>", "<urn:q>")]))
    >>> names = {"time": [5], "s": ["<urn:a>"], "p": ["<urn:p>"], "o": ["<urn:b>"]}
    >>> block = Block.of(pa.record_batch({**names, "graph": pa.nulls(1, pa.string())}))
    >>> more = Expander(found.table)(block)
    >>> [more.terms[int(number)].as_py() for number in more.p], more.stamps.tolist()
    (['<urn:p>', '<urn:q>'], [5, 5])
    """

    def __init__(self, table: EpsilonTable) -> None:
        self._table = table
        self._terms = pa.array(table.terms, pa.string())
        self._counts = np.diff(table.starts)
        self._lookup = _Lookup.of(table)
        # By the column, as they are read.
        self._slots = tuple(np.ascontiguousarray(table.rows[:, at]) for at in (S, P, O))
        rows = table.rows
        self._guarded = bool((rows[:, [OF_SUBJECT, OF_OBJECT]] != EVERY_KIND).any())
        self._marks = int(np.bitwise_or.reduce(rows[:, MARKS])) if len(rows) else 0
        self._checked = Matches(table.needed) if table.needed is not None else None
        # Whether a row of the entry may make what another one does, whatever the statement is.
        self._doubles = np.zeros(len(self._counts), np.bool_)
        twice = np.flatnonzero(rows[:, MARKS] & Mark.TWICE)
        self._doubles[np.searchsorted(table.starts, twice, "right") - 1] = True

    def __call__(self, block: Block) -> Block:
        """The block with what its statements imply: after each statement what follows from it.

        Of a table that is restricted, the statements themselves are left out that are not needed.
        """
        work = _Block(self, block)
        parts = [self._needed(part, work) for part in work.parts()]
        kept = np.arange(len(block))
        if self._checked is not None:
            kept = np.flatnonzero(self._checked(Texts(block.terms), block.s, block.p, block.o))
        return work.with_made(kept, parts)

    def _needed(self, made: _Made, work: _Block) -> _Made:
        """Those of what was made that are needed."""
        if self._checked is None or not self._marks & (Mark.CHECKED | Mark.SILENT):
            return made
        marks = self._table.rows[made.by, MARKS]
        kept = marks & Mark.SILENT == 0
        asked = np.flatnonzero(marks & Mark.CHECKED)
        if len(asked):
            some = made.only(asked)
            kept[asked] = self._checked(Texts(work.terms), some.s, some.p, some.o)
        return made.only(kept)

    def used(self, entries: Numbers) -> Numbers:
        """The constants that entries are made of. What is open may need any."""
        if self._marks & Mark.OPEN:
            return np.arange(len(self._terms))
        asked = np.unique(entries)
        rows = np.zeros(len(self._table) + 1, np.int32)
        np.add.at(rows, self._table.starts[asked], 1)
        np.add.at(rows, self._table.starts[asked + 1], -1)
        slots = self._table.rows[np.flatnonzero(np.cumsum(rows[:-1])), S : O + 1]
        return np.unique(slots[slots >= 0])


@dataclass(frozen=True, slots=True, eq=False)
class _Lookup:
    """Which entry of a table is that of a predicate and an object, in the table's numbers."""

    of_any: int
    by_predicate: Rows
    """The entry of each predicate; the last is for terms that the table does not know."""
    has_objects: NDArray[np.bool_]
    pairs: Rows
    of_pairs: Rows
    size: int

    @classmethod
    def of(cls, table: EpsilonTable) -> _Lookup:
        size = len(table.terms)
        p, o = table.keys[:, 0].astype(np.int64), table.keys[:, 1].astype(np.int64)
        entries = np.arange(len(p))
        of_any = int(entries[(p == ANY) & (o == ANY)][0])
        by_predicate, has_objects = np.full(size + 1, of_any), np.zeros(size + 1, np.bool_)
        alone, paired = (p != ANY) & (o == ANY), o != ANY
        by_predicate[p[alone]] = entries[alone]
        has_objects[p[paired]] = True
        keys = p[paired] * size + o[paired]
        order = np.argsort(keys)
        return cls(of_any, by_predicate, has_objects, keys[order], entries[paired][order], size)

    def objects(self, p: Numbers, o: Numbers) -> Rows:
        """The entries of predicates with objects; NOWHERE where there is none."""
        found = np.full(len(p), _NOWHERE)
        there = np.flatnonzero(self.has_objects[p] & (o >= 0))
        if len(there):
            keys = p[there].astype(np.int64) * self.size + o[there]
            at = np.minimum(np.searchsorted(self.pairs, keys), len(self.pairs) - 1)
            found[there] = np.where(self.pairs[at] == keys, self.of_pairs[at], _NOWHERE)
        return found


class _Block:
    """A block that is being expanded. Its terms are followed by those of the table that it has not."""

    def __init__(self, expander: Expander, block: Block) -> None:
        self._block = block
        self._by = expander
        known = pc.index_in(block.terms, value_set=expander._terms)
        own = pc.fill_null(known, _NOWHERE).to_numpy(zero_copy_only=False).astype(np.int32)
        lookup = expander._lookup
        self._of_object = lookup.objects(own[block.p], own[block.o])
        of_predicate = lookup.by_predicate[own[block.p]]
        self._entries = np.where(self._of_object >= 0, self._of_object, of_predicate)
        # The last ones are for terms that are not in the table, and for slots that are no terms.
        self._here = np.full(len(expander._terms) + 3, _NOWHERE, np.int32)
        self._here[own] = np.arange(len(own), dtype=np.int32)
        used = expander.used(self._entries)
        new = used[self._here[used] == _NOWHERE]
        self._here[new] = len(own) + np.arange(len(new), dtype=np.int32)
        self._new = new
        self._own = np.concatenate([own, new.astype(np.int32)])
        """The table's number of each term."""

    def parts(self) -> list[_Made]:
        """What the block's statements imply, each once for each of them: parts that are in their order."""
        rows = np.flatnonzero(self._by._counts[self._entries]).astype(np.int32)
        doubtful = self._coincide(rows)
        plain, others = self._made_of(rows[~doubtful]), self._made_of(rows[doubtful])
        again = self._open(plain)
        if len(again):
            of_some = np.zeros(len(self._block), np.bool_)
            of_some[plain.of[again]] = True
            chosen = of_some[plain.of]
            plain, others = plain.only(~chosen), _Made.joined([others, plain.only(chosen)])
        if not len(others.of):
            return [plain]
        settled = self._settled(others)
        return [plain, settled.only(np.argsort(settled.of, kind="stable"))]

    def _coincide(self, rows: Numbers) -> Numbers:
        """Whether two rows of a statement's entry may make the same of it, or the statement itself."""
        block, own, entries = self._block, self._own, self._entries[rows]
        s, p, o = block.s[rows], block.p[rows], block.o[rows]
        found: Numbers = (s == o) | (s == p) | (o == p) | (own[s] >= 0) | self._by._doubles[entries]
        found |= (own[o] >= 0) & (self._of_object[rows] < 0)
        found |= (own[p] >= 0) & (entries == self._by._lookup.of_any)
        return found

    def _made_of(self, rows: Numbers) -> _Made:
        block = self._block
        return self._filled(rows, block.s[rows], block.p[rows], block.o[rows], self._entries[rows])

    def _filled(self, of: Rows, s: Numbers, p: Numbers, o: Numbers, entries: Rows) -> _Made:
        """What entries make of statements; `of` is what to call these."""
        table = self._by._table
        counts = self._by._counts[entries]
        which = np.repeat(np.arange(len(of), dtype=np.int32), counts)
        first = (np.cumsum(counts) - counts).astype(np.int32)
        by = np.arange(len(which), dtype=np.int32) + np.repeat(table.starts[entries] - first, counts)
        if self._by._guarded:
            kinds = self._kinds
            fits = (table.rows[by, OF_SUBJECT] >> kinds[s[which]]) & 1
            fits &= (table.rows[by, OF_OBJECT] >> kinds[o[which]]) & 1
            which, by = which[fits == 1], by[fits == 1]
        slots = (self._slot(column[by], which, s, p, o) for column in self._by._slots)
        return _Made(of[which], by, *slots)

    def _slot(self, slots: Numbers, which: Numbers, s: Numbers, p: Numbers, o: Numbers) -> Numbers:
        found = self._here[slots]
        for code, column in ((THE_SUBJECT, s), (THE_PREDICATE, p), (THE_OBJECT, o)):
            there = np.flatnonzero(slots == code)
            if len(there) == len(slots):
                return column[which]
            if len(there):
                found[there] = column[which[there]]
        return found

    def _open(self, made: _Made) -> Rows:
        """Those of what was made that are to be looked up once more, and are found."""
        if not self._by._marks & Mark.OPEN:
            return np.zeros(0, np.int64)
        there = np.flatnonzero(self._by._table.rows[made.by, MARKS] & Mark.OPEN)
        entries = self._by._lookup.objects(self._own[made.p[there]], self._own[made.o[there]])
        return there[entries >= 0]

    def _settled(self, made: _Made) -> _Made:
        """What was made of statements, and all that follows from it, each once, without the statements."""
        block = self._block
        found, fresh = made.only(slice(0, 0)), made
        while len(fresh.of):
            known = len(found.of)
            both = _Made.joined([found, fresh])
            both = both.only(self._firsts(both))
            fresh = both.only(np.arange(known, len(both.of)))
            found = both
            fresh = fresh.only(self._open(fresh))
            own = self._own
            entries = self._by._lookup.objects(own[fresh.p], own[fresh.o])
            fresh = self._filled(fresh.of, fresh.s, fresh.p, fresh.o, entries)
        given = (block.s[found.of], block.p[found.of], block.o[found.of])
        same = (found.s == given[0]) & (found.p == given[1]) & (found.o == given[2])
        return found.only(~same)

    def _firsts(self, made: _Made) -> Rows:
        """The first of each statement made of the same one."""
        order = np.lexsort((made.o, made.p, made.s, made.of))
        columns = [column[order] for column in (made.of, made.s, made.p, made.o)]
        new = np.ones(len(order), np.bool_)
        new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
        return np.sort(order[new])

    @cached_property
    def terms(self) -> pa.StringArray:
        """Those of the block, and then those that it has not."""
        return pa.concat_arrays([self._block.terms, self._by._terms.take(pa.array(self._new))])

    @cached_property
    def _kinds(self) -> NDArray[np.uint8]:
        return kinds_of(self.terms)

    def with_made(self, kept: Rows, parts: list[_Made]) -> Block:
        """These of the block's statements, each followed by what was made of it."""
        block = self._block
        of = np.concatenate([kept, *(part.of for part in parts)])
        # All are in order: a stable sort only merges them.
        order = np.argsort(of, kind="stable")
        s, p, o = (
            np.concatenate([given[kept], *(part[at] for part in parts)])[order]
            for at, given in enumerate((block.s, block.p, block.o), start=2)
        )
        names = np.full(len(of) - len(kept), NO_GRAPH, np.int32)
        graph = np.concatenate([block.graph[kept], names])[order]
        found = Block(block.times, block.places[of[order]], self.terms, s, p, o, graph)
        # Other terms are all in use.
        return found.lean() if len(kept) < len(block) or self._by._marks else found


def kinds_of(terms: pa.StringArray) -> NDArray[np.uint8]:
    """The kinds of terms, by the column.

    >>> texts = ["<urn:a>", "_:b", '"x"', '"x"@en', '"1"^^<urn:int>', "<<( <urn:a> <urn:p> <urn:b> )>>"]
    >>> [Kind(kind).name for kind in kinds_of(pa.array(texts))]
    ['IRI', 'BLANK', 'PLAIN', 'PLAIN', 'TYPED', 'TRIPLE']
    """
    cuts, data = text_of(terms)
    text = np.frombuffer(data, np.uint8)
    found = np.full(len(terms), Kind.IRI, np.uint8)
    if not len(found):
        return found
    first, second, last = text[cuts[:-1]], text[cuts[:-1] + 1], text[cuts[1:] - 1]
    found[first == ord("_")] = Kind.BLANK
    found[(first == ord("<")) & (second == ord("<"))] = Kind.TRIPLE
    found[first == ord('"')] = Kind.PLAIN
    found[(first == ord('"')) & (last == ord(">"))] = Kind.TYPED
    return found
