"""The random cases find mistakes: each of these is planted in the running engine, and caught.

What catches it must be a wrong line, not a breakdown, and the case must pass without the mistake.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from query.equivalence.cases import make_case
from query.equivalence.reference import expected
from query.equivalence.replay import compare

from ensue.query.answers import Answers
from ensue.query.background import Background
from ensue.query.emit import Emitter
from ensue.query.materialise import Materialisation
from ensue.query.running import RunningQuery
from ensue.query.scopes import Bound
from ensue.query.timeline import Timeline
from ensue.query.tree import Relation
from ensue.windows.frontier import Gate

CASES = 250


def thresholds_off_by_one(patch):
    right = Bound.threshold
    patch.setattr(Bound, "threshold", lambda bound, window: right(bound, window) - 1)


def sets_of_answers_for_bags(patch):
    def emit(emitter, answers):
        rows, before = dict.fromkeys(answers.rows), emitter._last
        if emitter._relation in (None, Relation.RSTREAM):
            return answers
        emitter._last = Counter(rows)
        came = emitter._relation is Relation.ISTREAM
        given = [row for row in rows if row not in before] if came else list(before.keys() - rows.keys())
        return Answers(answers.form, answers.variables, given)

    patch.setattr(Emitter, "emit", emit)


def differences_to_the_first_evaluation(patch):
    right = Emitter.emit

    def emit(emitter, answers):
        before = emitter._last
        given = right(emitter, answers)
        emitter._last = before or emitter._last
        return given

    patch.setattr(Emitter, "emit", emit)


def offsets_ignored(patch):
    right = Materialisation.__init__

    def init(source, scope, *rest, **options):
        right(source, scope, *rest, **options)
        source._offsets = dict.fromkeys(source._offsets, 0)

    patch.setattr(Materialisation, "__init__", init)


def late_statements_in_windows_that_have_closed(patch):
    patch.setattr(Gate, "is_late", lambda gate, time: False)


def windows_that_are_seen_again_are_not_kept(patch):
    patch.setattr(RunningQuery, "keep", lambda running: None)


def constructed_statements_one_moment_late(patch):
    right = Timeline._pass_on
    patch.setattr(Timeline, "_pass_on", lambda timeline, result, time: right(timeline, result, time + 1))


def retention_one_too_short(patch):
    right = Materialisation.forget
    patch.setattr(Materialisation, "forget", lambda source, threshold: right(source, threshold + 1))


def graphs_of_from_forgotten(patch):
    right = Background.maintainer

    def maintainer(background, graphs, *rest, **options):
        return right(background, frozenset(), *rest, **options)

    patch.setattr(Background, "maintainer", maintainer)


MISTAKES = (
    thresholds_off_by_one,
    sets_of_answers_for_bags,
    differences_to_the_first_evaluation,
    offsets_ignored,
    late_statements_in_windows_that_have_closed,
    windows_that_are_seen_again_are_not_kept,
    constructed_statements_one_moment_late,
    retention_one_too_short,
    graphs_of_from_forgotten,
)


@cache
def prepared(seed):
    case = make_case(seed)
    return case, expected(case)


def difference(seed):
    case, lines = prepared(seed)
    return compare(case, "expiration", "compiled", lines)


def first_wrong():
    """The first seed whose case has a wrong line."""
    for seed in range(1, CASES + 1):
        found = difference(seed)
        if found is not None and found.query:
            return seed
    return None


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_caught(mistake, monkeypatch):
    with monkeypatch.context() as patch:
        mistake(patch)
        seed = first_wrong()
    assert seed is not None, f"not caught in {CASES} cases"
    assert difference(seed) is None
