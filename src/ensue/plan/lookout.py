"""Looks out for statements that a plan has assumed away, among all that arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ensue.errors import InputError
from ensue.plan.shapes import Shape

Numbers = NDArray[Any]

ANY = -1
"""Where a shape names no term."""


class Lookout:
    """Finds statements of some shapes, each of which names a predicate, by the numbers of their terms.

    What that costs follows from how many statements there are, and not from how many terms are known.

    >>> terms = ["<urn:a>", "<urn:sub>", "<urn:p>", "<urn:is>"]
    >>> out = Lookout([(None, "<urn:sub>", None), (None, "<urn:is>", "<urn:p>")], terms.index)
    >>> s, p, o = np.array([[0, 2, 0], [0, 3, 0], [0, 3, 2], [0, 1, 2]]).T
    >>> out.first(s, p, o), out.first(s[:2], p[:2], o[:2])
    (2, None)
    """

    def __init__(self, shapes: Iterable[Shape], pin: Callable[[str], int]) -> None:
        """`pin` gives the number of a text, which it keeps for ever."""
        numbers = [tuple(ANY if term is None else pin(term) for term in shape) for shape in shapes]
        wanted = np.array(numbers, np.int64).reshape(-1, 3)
        self._named = _marks(wanted[:, 1])
        ends = wanted[:, [0, 2]] != ANY
        forms = np.unique(ends, axis=0)
        self._forms = [_Form.of(wanted[(ends == form).all(axis=1)]) for form in forms]

    def first(self, s: Numbers, p: Numbers, o: Numbers) -> int | None:
        """The number of the first such statement; None: there is none."""
        there = np.flatnonzero(_marked(self._named, p))
        if not len(there):
            return None
        found = [rows[0] for form in self._forms if len(rows := form.among(there, s, p, o))]
        return int(min(found)) if found else None


class _Form(NamedTuple):
    """Shapes that name their ends alike: both of them, one or none."""

    predicates: Numbers
    subjects: Numbers | None
    """Marks for the terms that are named there; None: any may stand there."""
    objects: Numbers | None
    pairs: Numbers
    """Predicates with objects, in one number each."""
    triples: frozenset[tuple[int, ...]]

    @classmethod
    def of(cls, wanted: Numbers) -> _Form:
        s, p, o = wanted.T
        subjects, objects = (None if (ends == ANY).all() else _marks(ends) for ends in (s, o))
        return cls(
            _marks(p), subjects, objects, np.unique(_pairs(p, o)), frozenset(map(tuple, wanted.tolist()))
        )

    def among(self, rows: Numbers, s: Numbers, p: Numbers, o: Numbers) -> Numbers:
        """Which of some rows have one of the shapes. Most are out after a look at each of their terms."""
        rows = rows[_marked(self.predicates, p[rows])]
        if self.subjects is not None:
            rows = rows[_marked(self.subjects, s[rows])]
        if self.objects is not None:
            rows = rows[_marked(self.objects, o[rows])]
            rows = rows[np.isin(_pairs(p[rows], o[rows]), self.pairs)] if len(rows) else rows
        if self.subjects is None or not len(rows):
            return rows
        last = o[rows].tolist() if self.objects is not None else [ANY] * len(rows)
        triples = zip(s[rows].tolist(), p[rows].tolist(), last, strict=True)
        return rows[[triple in self.triples for triple in triples]]


def _marks(numbers: Numbers) -> Numbers:
    """For each number up to the greatest whether it is one of these; the last mark is for all beyond."""
    marks = np.zeros(int(numbers.max(initial=0)) + 2, np.bool_)
    marks[numbers] = True
    return marks


def _marked(marks: Numbers, numbers: Numbers) -> Numbers:
    found: Numbers = marks[np.minimum(numbers, len(marks) - 1)]
    return found


def _pairs(p: Numbers, o: Numbers) -> Numbers:
    return np.asarray(p, np.int64) << 32 | np.asarray(o, np.int64)


def list_for_rules(where: str, s: str, p: str, o: str) -> InputError:
    """What stops a job whose rules over lists were unfolded without a statement that they ask for."""
    return InputError(
        f"{where} brings {s} {p} {o}, which rules over lists ask for: they see lists of the background only",
        hint="put it into the background",
    )


def schema_on_the_stream(stream: str, s: str, p: str, o: str) -> InputError:
    """What stops a job whose streams were to bring no schema."""
    return InputError(
        f"schema on the stream <{stream}>: {s} {p} {o}, and what it may concern was left out",
        hint="put it into the background, or do without a fixed schema (--fixed-schema, fixed_schema)",
    )
