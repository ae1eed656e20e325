"""Queries that ask the same over windows of different length: evaluated once, and cut to size.

Where answers carry stamps, those of a shorter window are those of a longer one with a stamp above the
shorter one's threshold. So of all queries with the same plan over the same scope that are due together
only the one that looks back furthest is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from operator import itemgetter

from ensue.query.answers import Answers
from ensue.query.output import Result
from ensue.query.running import RunningQuery
from ensue.windows.registered import Evaluation

Due = tuple[RunningQuery, Evaluation]


def evaluate_together(due: Iterable[Due]) -> list[Result]:
    """The results that are due at one stop, in order."""
    listed = list(due)
    groups: dict[int, list[tuple[int, Due]]] = {}
    for running, evaluation in listed:
        shared = running.shared(evaluation)
        if shared is not None:
            groups.setdefault(shared[0], []).append((shared[1], (running, evaluation)))
    known: dict[str, Answers] = {}
    for group in groups.values():
        if len(group) > 1:
            known |= _cut(sorted(group, key=itemgetter(0)))
    return [running.evaluate(evaluation, known.get(running.name)) for running, evaluation in listed]


def _cut(group: list[tuple[int, Due]]) -> dict[str, Answers]:
    """The answers of each query of a group, from those of the first, which looks back furthest."""
    _, (furthest, evaluation) = group[0]
    every = furthest.ask(evaluation)
    if every.stamps is None:
        return {furthest.name: every}
    return {running.name: _above(every, threshold) for threshold, (running, _) in group}


def _above(every: Answers, threshold: int) -> Answers:
    assert every.stamps is not None
    kept = [stamp > threshold for stamp in every.stamps]
    rows, stamps = list(compress(every.rows, kept)), list(compress(every.stamps, kept))
    return Answers(every.form, every.variables, rows, stamps)
