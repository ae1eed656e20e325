"""What a shard leaves out of what it is brought, statement by statement.

time       1    2    3    4    5    6    7    8    9   10   11
windows   (..... 1 ........]                                      RANGE 5ms STEP 5ms
                              (......... 2 .........]
                                                       (.. still open
over       everything up to 10: whatever comes of it is in this step's windows alone
"""

from __future__ import annotations

import numpy as np
import pytest
from plan.shards import block_of
from plan.support import expand, query_of

from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.maintain.kernel.flatdictionary import FlatDictionary
from ensue.maintain.kernel.occasions import Occasions
from ensue.model import FOREVER, NEVER
from ensue.query.language import parse_query
from ensue.rules.tree import RuleSet
from ensue.spark.blocks import Block
from ensue.spark.plan import plan_of
from ensue.spark.reducing import reducer_of

STREAM = "urn:s"
OVER = 10


def plan(where="?x :p ?y ; :q ?z"):
    job = Job.of([query_of(where)], RuleSet("none", ()), Sent(), Settings())
    return plan_of(job)


def reduced(*parts, where="?x :p ?y ; :q ?z", over=OVER, known=()):
    """The statements that are left of some blocks, each `(time, ":a :p :b")`, as they were given."""
    dictionary = FlatDictionary()
    dictionary.encode_all([expand(term)[0] for term in known])
    blocks = [block_of([(time, *expand(text)) for time, text in part]) for part in parts]
    reducer = reducer_of(plan(where).reduction.semijoins)
    found = reducer([(STREAM, block) for block in blocks], {STREAM: over}, dictionary)
    assert [len(block.times) for _, block in found] == list(map(len, parts)), "every time still counts"
    return [[part[row] for row in block.places] for part, (_, block) in zip(parts, found, strict=True)]


A_P, A_Q, B_P, C_Q = (1, ":a :p :1"), (9, ":a :q :2"), (2, ":b :p :1"), (3, ":c :q :1")


def test_what_has_all_that_is_needed_stays():
    assert reduced([A_P, A_Q, B_P, C_Q]) == [[A_P, A_Q]]


def test_blocks_are_looked_at_together():
    assert reduced([A_P, B_P], [C_Q, A_Q]) == [[A_P], [A_Q]]


def test_what_will_be_seen_again_stays():
    late, open_ = (11, ":d :p :1"), (10, ":e :p :1")
    assert reduced([late, open_, B_P]) == [[late]]


def test_what_will_be_seen_again_counts():
    later = (12, ":b :q :1")
    assert reduced([B_P, C_Q, later]) == [[B_P, later]]


def test_what_was_known_before_stays():
    assert reduced([A_P, B_P, C_Q], known=[":b"]) == [[B_P]]


def test_the_key_may_be_an_object():
    turned = (3, ":1 :q :b")
    assert reduced([B_P, A_P, turned], where="?x :p ?y . ?z :q ?x") == [[B_P, turned]]


def test_what_is_optional_is_not_needed_but_used():
    more, alone = (4, ":a :r :1"), (4, ":b :r :1")
    where = "?x :p ?y ; :q ?z OPTIONAL { ?x :r ?u }"
    assert reduced([A_P, A_Q, more, B_P, alone], where=where) == [[A_P, A_Q, more]]


def test_nothing_is_over_before_time_has_come_that_far():
    assert reduced([B_P, C_Q], over=1) == [[B_P, C_Q]]
    assert reduced([B_P, C_Q], over=NEVER) == [[B_P, C_Q]]


def test_in_the_end_everything_is_over():
    assert reduced([A_P, A_Q, B_P, (FOREVER - 1, ":c :q :1")], over=FOREVER) == [[A_P, A_Q]]


def test_names_beyond_ascii():
    one, other = (1, ":é :p :1"), (2, ":é :q :😀")
    assert reduced([one, other, (1, ":e :p :1")]) == [[one, other]]


def test_a_block_without_statements():
    empty = Block.read(block_of([(1, *expand(":a :p :1"))]).only(np.arange(0)).write())
    reducer = reducer_of(plan().reduction.semijoins)
    [(_, found)] = reducer([(STREAM, empty)], {STREAM: OVER}, FlatDictionary())
    assert (len(found), len(found.times)) == (0, 1)
    assert reducer([], {STREAM: OVER}, FlatDictionary()) == []


def test_where_hashes_meet_more_is_kept():
    said, hashes = Occasions(1), np.array([5, 5], np.uint32)
    column, ones = np.array([0, 1], np.int32), np.array([1, 2], np.uint8)
    said.add(hashes, column, ones)
    assert said.have(3, hashes, column, ones).all()


@pytest.mark.parametrize(
    ("newest", "ended", "heartbeats", "over"),
    [
        ({STREAM: 12}, [], {}, 10),
        ({STREAM: 11}, [], {}, 10),
        ({STREAM: 10}, [], {}, 5),  # At 10 more may come, and the window that closes then is still open.
        ({STREAM: 1}, [], {}, 0),
        ({}, [], {STREAM: 10}, 10),
        ({}, [], {}, NEVER),
        ({STREAM: 3}, [STREAM], {}, FOREVER - 5),
    ],
)
def test_what_is_over_after_a_step(newest, ended, heartbeats, over):
    text = f"SELECT * FROM STREAM <{STREAM}> [RANGE 5ms STEP 5ms] {{ ?x <urn:p> ?y ; <urn:q> ?z }}"
    reasoner = Job.of([parse_query(text, "q.rq", "q")], RuleSet("none", ()), Sent()).resumable()
    found = reasoner.over_after(newest, ended, heartbeats)[STREAM]
    assert found == over or (over > 100 and found >= over)
    assert reasoner.mark().frontier == NEVER, "looking ahead moves nothing"


def test_windows_that_do_not_move_together_are_seen_again():
    text = """SELECT * FROM STREAM <urn:s> [RANGE 5ms STEP 5ms] FROM STREAM <urn:t> [RANGE 7ms STEP 7ms]
        { ?x <urn:p> ?y ; <urn:q> ?z }"""
    reasoner = Job.of([parse_query(text, "q.rq", "q")], RuleSet("none", ()), Sent()).resumable()
    assert set(reasoner.over_after({"urn:s": 50, "urn:t": 50}, [], {}).values()) == {NEVER}
