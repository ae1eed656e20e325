"""A partitioned query: evaluated in each partition by itself, and the answers put one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ensue.query.answers import Answers, Row
from ensue.query.dataset import Dataset
from ensue.query.evaluator import Evaluator
from ensue.query.tree import ContinuousQuery, Form

_TRIPLE = ("s", "p", "o")


@dataclass(frozen=True, slots=True)
class There:
    """A partition that holds something."""

    key: str
    """The text of its key."""
    context: int
    newest: int
    """The stamp of the newest statement there: with it the partition goes, and all its answers."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """Answers, and of each the key of its partition."""

    keys: list[str]
    rows: list[Row]
    stamps: list[int] | None

    @classmethod
    def found(cls, evaluator: Evaluator, partitions: Iterable[tuple[There, Dataset]]) -> Keyed:
        """The answers in each of some partitions, in their order, by one evaluation for each."""
        keys: list[str] = []
        rows: list[Row] = []
        stamps: list[int] = []
        known = True
        for each, dataset in partitions:
            answers = evaluator.evaluate(dataset)
            keys += [each.key] * len(answers.rows)
            rows += answers.rows
            known = known and answers.stamps is not None
            stamps += [min(stamp, each.newest) for stamp in answers.stamps or ()]
        return cls(keys, rows, stamps if known else None)

    @classmethod
    def found_at_once(cls, contexts: Sequence[int], answers: Answers, partitions: Iterable[There]) -> Keyed:
        """The answers of all partitions, of which each is in one of these contexts."""
        there = {each.context: each for each in partitions}
        of = [there[context] for context in contexts]
        stamps = None
        if answers.stamps is not None:
            stamps = [min(stamp, each.newest) for stamp, each in zip(answers.stamps, of, strict=True)]
        return cls([each.key for each in of], list(answers.rows), stamps)

    def whole(self, query: ContinuousQuery) -> Answers:
        """The answers of the query: yes once, each triple once, and every solution."""
        rows, stamps = self.rows, self.stamps
        if query.form is not Form.SELECT:
            rows, stamps = _once(rows, stamps)
        return Answers(query.form, _variables(query), rows, stamps)

    def part(self, query: ContinuousQuery) -> Answers:
        """The same as a shard gives it, for `merge.py`: with the keys for a first column."""
        names = _TRIPLE if query.form in (Form.CONSTRUCT, Form.DESCRIBE) else _variables(query)
        rows = [(key, *row) for key, row in zip(self.keys, self.rows, strict=True)]
        return Answers(Form.SELECT, ("", *names), rows, self.stamps)


def in_order(rows: Sequence[Row], stamps: Sequence[int] | None) -> Keyed:
    """What shards gave as their parts, in the order of the keys.

    >>> in_order([("<urn:h>", "1"), ("<urn:g>", "2")], [10, 20])
    Keyed(keys=['<urn:g>', '<urn:h>'], rows=[('2',), ('1',)], stamps=[20, 10])
    """
    order = sorted(range(len(rows)), key=lambda number: rows[number][0] or "")
    keys = [rows[number][0] or "" for number in order]
    held = None if stamps is None else [stamps[number] for number in order]
    return Keyed(keys, [rows[number][1:] for number in order], held)


def _variables(query: ContinuousQuery) -> tuple[str, ...]:
    return tuple(str(name) for name in query.algebra.PV) if query.form is Form.SELECT else ()


def _once(rows: list[Row], stamps: list[int] | None) -> tuple[list[Row], list[int] | None]:
    """Each row once, with the largest of its stamps."""
    if stamps is None:
        return list(dict.fromkeys(rows)), None
    found: dict[Row, int] = {}
    for row, stamp in zip(rows, stamps, strict=True):
        found[row] = max(stamp, found.get(row, stamp))
    return list(found), list(found.values())
