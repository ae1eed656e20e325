"""Looks out for statements that a plan has assumed away, among all that arrive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ensue.errors import InputError
from ensue.plan.matches import Matches
from ensue.plan.shapes import Shape

Numbers = NDArray[Any]


class Lookout:
    """Finds statements of some shapes, each of which names a predicate.

    >>> terms = ["<urn:a>", "<urn:sub>", "<urn:p>"]
    >>> out = Lookout([(None, "<urn:sub>", None)], terms, terms.index)
    >>> s, p, o = np.array([[0, 2, 0], [0, 1, 2]]).T
    >>> out.first(s, p, o), out.first(s[:1], p[:1], o[:1])
    (1, None)
    """

    def __init__(self, shapes: Iterable[Shape], terms: Sequence[str], pin: Any) -> None:
        """`terms` are texts by number, `pin` gives the number of a text, which it keeps for ever."""
        self._shapes = list(shapes)
        self._matches = Matches(self._shapes)
        self._terms = terms
        predicates = sorted({pin(shape[1]) for shape in self._shapes})
        self._named = np.zeros(max(predicates, default=0) + 2, np.bool_)  # The last: any later term.
        self._named[predicates] = True

    def first(self, s: Numbers, p: Numbers, o: Numbers) -> int | None:
        """The number of the first such statement; None: there is none."""
        there = np.flatnonzero(self._named[np.minimum(p, len(self._named) - 1)])
        if not len(there):
            return None
        found = there[self._matches(self._terms, s[there], p[there], o[there])]
        return int(found[0]) if len(found) else None


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
