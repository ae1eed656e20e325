"""Results on their way from shards: packed, unpacked, and put together."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ensue.errors import EnsueError
from ensue.job import QueryText
from ensue.query.answers import Answers
from ensue.query.output import Result
from ensue.query.share import Cut
from ensue.query.tree import Form
from ensue.spark.merge_rows import MergeRows
from ensue.spark.packed import Packed
from ensue.spark.processor import ANSWERS, COUNTERS
from ensue.spark.results import Merging, Row, pack, unpack

TEXT = """REGISTER ISTREAM q AS SELECT ?y FROM NAMED WINDOW <urn:w> ON <urn:s> [RANGE PT1S]
    WHERE { WINDOW <urn:w> { ?x <urn:p> ?y } }"""
MERGING = Merging(((QueryText(TEXT, "q.rq", "q"), Cut.ANSWERS),))


def part(rows, before=None, until=None):
    return Result("q", 0, 10, Answers(Form.SELECT, ("y",), rows, before=before), until, part=True)


@pytest.mark.parametrize("variables", [("y",), ()])
@pytest.mark.parametrize("before", [None, 0, 2])
@pytest.mark.parametrize("now", [0, 3])
@pytest.mark.parametrize("until", [False, True])
def test_parts_are_unpacked_as_they_were(variables, before, now, until):
    rows, old = (
        None if size is None else [tuple(f"<urn:{at}>" for _ in variables) for at in range(size)]
        for size in (now, before)
    )
    answers = Answers(Form.SELECT, variables, rows, before=old)
    result = Result("q", 0, 10, answers, [*range(now)] if until else None, part=True)
    assert unpack("q", 0, 10, pack(result)) == result


def row(shard, result, close=10):
    return Row(shard, ANSWERS, result.query, result.open, close, pack(result))


def test_differences_are_of_all_parts_together():
    """What one shard loses and another gets has not come."""
    a, b = ("<urn:a>",), ("<urn:b>",)
    parts = [part([a], before=[]), part([b], before=[a])]
    [merged] = MERGING.gathered([row(shard, each) for shard, each in enumerate(parts)], 2)
    assert merged.answers.rows == [b]
    assert not merged.part


def test_the_first_evaluation_is_compared_with_nothing():
    count = QueryText(TEXT.replace("SELECT ?y", "SELECT (COUNT(*) AS ?n)"), "q.rq", "q")
    nothing = Result("q", 0, 10, Answers(Form.SELECT, (), []), part=True)
    merging = Merging(((count, Cut.GROUPS),))
    [merged] = merging.gathered([row(shard, nothing) for shard in range(2)], 2)
    assert len(merged.answers.rows) == 1, "none was counted, which is news"
    again = Result("q", 0, 10, Answers(Form.SELECT, (), [], before=[]), part=True)
    [merged] = merging.gathered([row(shard, again) for shard in range(2)], 2)
    assert merged.answers.rows == []


@pytest.mark.parametrize("closes", [[10], [10, 20], [10, 10, 20]])
def test_shards_that_do_not_agree_are_no_result(closes):
    with pytest.raises(EnsueError, match="do not agree on what is due"):
        MERGING.gathered([row(shard % 2, part([]), close) for shard, close in enumerate(closes)], 2)


def test_on_spark_rows_come_in_any_order_and_counters_go_on():
    a, b = ("<urn:a>",), ("<urn:b>",)
    rows = [
        row(1, part([b], before=[]), 20),
        Row(0, COUNTERS, None, 0, 0, b"{}"),
        row(0, part([a], before=[a]), 20),
        row(1, part([]), 10),
        row(0, part([a])),
    ]
    batches = [pa.RecordBatch.from_pylist([each._asdict()]) for each in rows]
    [done] = list(MergeRows(Packed.of(MERGING), 2)(batches))
    found = [unpack("q", 0, each["close"], each["payload"]) for each in done.to_pylist() if each["query"]]
    assert [(each.close, each.answers.rows) for each in found] == [(10, [a]), (20, [b])]
    assert done.to_pylist()[0]["kind"] == COUNTERS
