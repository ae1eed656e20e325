"""Which answers of an evaluation are given: all, those that came, or those that went.

Answers differ as bags: of two equal answers one can stay and one go. RSTREAM gives all of them, and
so does C-SPARQL; ISTREAM those that the evaluation before did not have; DSTREAM those that it alone had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ensue.query.answers import Answers, Row
from ensue.query.tree import Relation

Bag = list[tuple[Row, int]]
"""Rows, and how often each is there."""


class Emitter:
    """Gives the answers of one query, evaluation by evaluation.

    >>> from ensue.query.tree import Form
    >>> emitter = Emitter(Relation.ISTREAM)
    >>> once, twice = (Answers(Form.SELECT, ("x",), [("<urn:a>",)] * n) for n in (1, 2))
    >>> [len(emitter.emit(answers).rows) for answers in (once, twice, twice, once)]
    [1, 1, 0, 0]
    """

    def __init__(self, relation: Relation | None) -> None:
        self._relation = relation
        self._last: Counter[Row] = Counter()

    def emit(self, answers: Answers) -> Answers:
        """What is given of these answers, which become the last ones."""
        if not self.remembers:
            return answers
        now = Counter(answers.rows)
        if self._relation is Relation.ISTREAM:
            given = _arrived(answers, self._last)
        else:
            left = list((self._last - now).elements())
            given = Answers(answers.form, answers.variables, left)
        self._last = now
        return given

    @property
    def remembers(self) -> bool:
        """Whether what it gives depends on the evaluation before."""
        return self._relation not in (None, Relation.RSTREAM)

    def reset(self) -> None:
        """Forget the last answers, as if there had been none."""
        self._last = Counter()

    @property
    def bag(self) -> Bag:
        """The last answers, for a checkpoint; empty where nobody needs them."""
        return list(self._last.items())

    def restore(self, bag: Iterable[tuple[Row, int]] | None) -> None:
        """Take up again after a checkpoint; None: there is nothing to take up."""
        self._last = Counter({tuple(row): count for row, count in bag or ()})


class PartEmitter:
    """Gives a shard's parts, with those of the evaluation before where a merge has to compare the two.

    >>> from ensue.query.tree import Form
    >>> emitter = PartEmitter(Relation.DSTREAM)
    >>> part = Answers(Form.SELECT, ("x",), [("<urn:a>",)])
    >>> [emitter.emit(part).before for _ in range(2)]
    [None, [('<urn:a>',)]]
    """

    def __init__(self, relation: Relation | None) -> None:
        self.remembers = Emitter(relation).remembers
        """Whether there is anything to compare."""
        self._last: Sequence[Row] | None = None

    def emit(self, answers: Answers) -> Answers:
        """All of them, which become the last ones."""
        if not self.remembers:
            return answers
        given = replace(answers, before=self._last)
        self._last = answers.rows
        return given

    @property
    def bag(self) -> list[Row] | None:
        """The last part, for a checkpoint; None if there is none."""
        return None if self._last is None else list(self._last)

    def restore(self, bag: Iterable[Row] | None) -> None:
        """Take up again after a checkpoint."""
        self._last = None if bag is None else [tuple(row) for row in bag]


def _arrived(answers: Answers, before: Counter[Row]) -> Answers:
    old = before.copy()
    kept = []
    for number, row in enumerate(answers.rows):
        if old[row] > 0:
            old[row] -= 1
        else:
            kept.append(number)
    stamps = None if answers.stamps is None else [answers.stamps[number] for number in kept]
    return Answers(answers.form, answers.variables, [answers.rows[number] for number in kept], stamps)
