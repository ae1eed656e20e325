"""Looks out for statements that a plan has assumed away, among all that arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

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
        self._wanted = np.array(numbers, np.int64).reshape(-1, 3)
        predicates = self._wanted[:, 1]
        self._named = np.zeros(int(predicates.max(initial=0)) + 2, np.bool_)  # The last: any later term.
        self._named[predicates] = True
        ends = self._wanted[:, [0, 2]] != ANY
        self._forms = [(form, self._keys(form, ends)) for form in np.unique(ends, axis=0).tolist()]

    def _keys(self, form: list[bool], ends: NDArray[np.bool_]) -> Numbers:
        s, p, o = self._wanted[(ends == form).all(axis=1)].T
        return np.unique(_keyed(form, s, p, o), axis=0)

    def first(self, s: Numbers, p: Numbers, o: Numbers) -> int | None:
        """The number of the first such statement; None: there is none."""
        there = np.flatnonzero(self._named[np.minimum(p, len(self._named) - 1)])
        if not len(there):
            return None
        found = np.zeros(len(there), np.bool_)
        for form, wanted in self._forms:
            found |= _among(_keyed(form, s[there], p[there], o[there]), wanted, with_subject=form[0])
        return int(there[found.argmax()]) if found.any() else None


def _keyed(form: list[bool], s: Numbers, p: Numbers, o: Numbers) -> Numbers:
    """What a form names of each statement, in two numbers: its predicate with its object, and its subject."""
    of_subject, of_object = form
    keys = np.zeros((len(p), 2), np.int64)
    keys[:, 0] = np.asarray(p, np.int64) << 32 | (np.asarray(o, np.int64) if of_object else 0)
    if of_subject:
        keys[:, 1] = s
    return keys


def _among(keys: Numbers, wanted: Numbers, *, with_subject: bool) -> NDArray[np.bool_]:
    found = np.isin(keys[:, 0], wanted[:, 0])
    if with_subject:  # Few shapes name one, and few statements have come so far.
        pairs = set(map(tuple, wanted.tolist()))
        found[found] = [tuple(key) in pairs for key in keys[found].tolist()]
    return found


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
