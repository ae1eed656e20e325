"""Linear expansion in integers of a dictionary: each fact followed by all that linear rules make of it.

The same table as `ensue.spark.expand` has for blocks of text. What a rule makes of a statement is when the
statement is, so it has the same time and copy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ensue.dictionary import Dictionary
from ensue.events.batch import Batch
from ensue.events.occurrences import Column, ranges
from ensue.maintain.kernel.links import ANY, THE_OBJECT, THE_PREDICATE, THE_SUBJECT
from ensue.maintain.kernel.plans import EVERY_KIND
from ensue.plan.epsilon import OF_OBJECT, OF_SUBJECT, EpsilonTable, O, P, S
from ensue.query.dataset import are_visible


class Expander:
    """A table at work.

    >>> from ensue.plan import linear
    >>> from ensue.plan.known import Closed, close
    >>> from ensue.rules.load import parse_rules
    >>> rules = parse_rules("[r: (?x <urn:p> ?y) -> (?y <urn:q> ?x)]", "r.rules")
    >>> d = Dictionary()
    >>> a, p, b, q = map(d.encode, ("<urn:a>", "<urn:p>", "<urn:b>", "<urn:q>"))
    >>> one = np.array([7])
    >>> batch = Batch(one, one, np.zeros(1), *(np.array([term], np.int32) for term in (a, p, b)))
    >>> more = Expander(linear.find(rules, close(rules, [])).table, d)(batch)
    >>> list(zip(more.s.tolist(), more.p.tolist(), more.o.tolist())) == [(a, p, b), (b, q, a)]
    True
    """

    def __init__(self, table: EpsilonTable, dictionary: Dictionary) -> None:
        terms = np.array([*map(dictionary.pin, table.terms), 0, 0, 0], np.int64)
        self._dictionary = dictionary
        self._starts, self._rows = table.starts, table.rows.astype(np.int64)
        slots = self._rows[:, S : O + 1]
        self._rows[:, S : O + 1] = np.where(slots < 0, slots, terms[slots])
        keys = np.where(table.keys < 0, ANY, terms[table.keys])
        order = np.argsort(_packed(keys[:, 0], keys[:, 1]))
        self._keys, self._entries = _packed(keys[order, 0], keys[order, 1]), order
        self._is_guarded = bool((self._rows[:, [OF_SUBJECT, OF_OBJECT]] != EVERY_KIND).any())

    def __call__(self, batch: Batch) -> Batch:
        """The facts, and what follows: in order of time still, each once for each copy."""
        if not len(self._rows) or not len(batch):
            return batch
        found, fresh = batch, self._made(batch, np.full(len(batch), True))
        while len(fresh):
            both = _joined(found, fresh)
            first = _firsts(both)
            new = first[first >= len(found)]
            found, fresh = both.take(first), self._again(both.take(new))
        found = found.take(np.argsort(found.copy, kind="stable"))
        seen = are_visible(found.s, found.p, found.o, self._dictionary)
        return found if seen.all() else found.take(seen)

    def _again(self, made: Batch) -> Batch:
        """What follows from what was made, where that has to be looked up."""
        return self._made(made, self._look_up(_packed(made.p, made.o)) >= 0)

    def _look_up(self, keys: Column) -> Column:
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._entries[at], -1)

    def _entry(self, batch: Batch) -> Column:
        """Each entry is complete: that of predicate and object, else of the predicate, else of any."""
        found = self._look_up(_packed(batch.p, batch.o))
        for p in (batch.p, np.full(len(batch), ANY)):
            found = np.where(found >= 0, found, self._look_up(_packed(p, np.full(len(batch), ANY))))
        return found

    def _made(self, batch: Batch, which: Column) -> Batch:
        entries = np.where(which, self._entry(batch), -1)
        begin = np.where(entries >= 0, self._starts[entries], 0)
        end = np.where(entries >= 0, self._starts[entries + 1], 0)
        of, by = ranges(begin.astype(np.int64), end.astype(np.int64))
        rows = self._rows[by]
        if self._is_guarded:
            kinds = np.frombuffer(self._dictionary.kinds, np.uint8).astype(np.int64)
            fits = (
                (rows[:, OF_SUBJECT] >> kinds[batch.s[of]]) & (rows[:, OF_OBJECT] >> kinds[batch.o[of]]) & 1
            )
            of, rows = of[fits == 1], rows[fits == 1]
        given = batch.take(of)
        s, p, o = (_filled(rows[:, at], given) for at in (S, P, O))
        return replace(given, s=s, p=p, o=o)


def _packed(p: Column, o: Column) -> Column:
    return (p.astype(np.int64) + 1) << 32 | (o.astype(np.int64) + 1)


def _filled(slots: Column, given: Batch) -> Column:
    parts = {THE_SUBJECT: given.s, THE_PREDICATE: given.p, THE_OBJECT: given.o}
    found = slots.copy()
    for code, column in parts.items():
        found = np.where(slots == code, column, found)
    return found.astype(np.int32)


def _joined(one: Batch, other: Batch) -> Batch:
    names = ["time", "copy", "stream", "s", "p", "o", *([] if one.key is None else ["key"])]
    return Batch(*(np.concatenate([getattr(one, name), getattr(other, name)]) for name in names))


def _firsts(batch: Batch) -> Column:
    """The first of each fact of each copy, in order."""
    order = np.lexsort((batch.o, batch.p, batch.s, batch.copy))
    new = np.ones(len(batch), np.bool_)
    columns = (batch.copy, batch.s, batch.p, batch.o)
    new[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    return np.sort(order[new])
