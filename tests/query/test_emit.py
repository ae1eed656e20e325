"""R/I/DSTREAM against the definition of bag difference."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ensue.query.answers import Answers
from ensue.query.emit import Emitter
from ensue.query.tree import Form, Relation

ROWS = st.lists(st.sampled_from([("<urn:a>", None), ("<urn:a>", "<urn:b>"), ("<urn:c>", None)]), max_size=6)


def select(rows, stamps=None):
    return Answers(Form.SELECT, ("x", "y"), rows, stamps)


def minus(rows, others):
    """The rows in order, each of the others having taken away an equal one."""
    left = list(others)
    kept = []
    for row in rows:
        if row in left:
            left.remove(row)
        else:
            kept.append(row)
    return kept


@given(st.lists(ROWS, max_size=6))
def test_relations_are_bag_differences(evaluations):
    emitters = {relation: Emitter(relation) for relation in (None, *Relation)}
    before = []
    for rows in evaluations:
        given = {relation: list(emitter.emit(select(rows)).rows) for relation, emitter in emitters.items()}
        assert given[None] == given[Relation.RSTREAM] == rows
        assert given[Relation.ISTREAM] == minus(rows, before)
        assert sorted(given[Relation.DSTREAM], key=str) == sorted(minus(before, rows), key=str)
        before = rows


@given(ROWS, ROWS)
def test_rows_keep_their_stamps(before, rows):
    emitter = Emitter(Relation.ISTREAM)
    emitter.emit(select(before))
    found = emitter.emit(select(rows, list(range(len(rows)))))
    assert [rows[stamp] for stamp in found.stamps] == found.rows
    assert found.stamps == sorted(found.stamps)


def test_what_went_comes_in_order_and_has_no_stamp():
    emitter = Emitter(Relation.DSTREAM)
    emitter.emit(select([("<urn:b>", None), ("<urn:a>", None), ("<urn:b>", None)], [1, 2, 3]))
    found = emitter.emit(select([], []))
    assert found.rows == [("<urn:b>", None), ("<urn:b>", None), ("<urn:a>", None)]
    assert (found.stamps, found.variables) == (None, ("x", "y"))


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (Relation.RSTREAM, [False, True, True, False]),
        (Relation.ISTREAM, [False, True, False, False]),
        (Relation.DSTREAM, [False, False, False, True]),
    ],
)
def test_ask(relation, expected):
    emitter = Emitter(relation)
    given = [emitter.emit(Answers(Form.ASK, (), [()] * yes)).truth for yes in (0, 1, 1, 0)]
    assert given == expected


@pytest.mark.parametrize("relation", [Relation.ISTREAM, Relation.DSTREAM])
@given(before=ROWS, rows=ROWS)
def test_a_checkpoint_goes_on_where_it_was(relation, before, rows):
    first, second = Emitter(relation), Emitter(relation)
    first.emit(select(before))
    second.restore(json.loads(json.dumps(first.bag)))
    assert second.bag == first.bag
    assert second.emit(select(rows)) == first.emit(select(rows))


def test_who_gives_all_remembers_nothing():
    for relation in (None, Relation.RSTREAM):
        emitter = Emitter(relation)
        emitter.emit(select([("<urn:a>", None)]))
        assert emitter.bag == []


def test_reset_forgets():
    emitter = Emitter(Relation.ISTREAM)
    emitter.emit(select([("<urn:a>", None)]))
    emitter.reset()
    assert emitter.bag == []
    assert len(emitter.emit(select([("<urn:a>", None)])).rows) == 1
