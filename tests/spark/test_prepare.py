"""What happens before the shuffle, without Spark: each shard gets what concerns it, and the times of all."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
import pytest

from ensue.errors import InputError
from ensue.job import Job, Settings
from ensue.knowledge import Sent
from ensue.query.language import parse_query
from ensue.rules.load import load_rules, parse_rules
from ensue.rules.tree import RuleSet
from ensue.spark.blocks import Block
from ensue.spark.pieces import BLOCK, DEAD, END
from ensue.spark.plan import plan_of
from ensue.spark.prepare import Prepare, sorter
from ensue.spark.replay_files import CHUNK
from ensue.terms import RDF, RDFS

STREAM = "urn:s"
QUERY = f"SELECT ?x ?y FROM STREAM <{STREAM}> [RANGE 1s STEP 1s] {{ ?x <urn:p> ?y . ?x <urn:q> ?z }}"
BELOW = ("<urn:r>", f"<{RDFS}subPropertyOf>", "<urn:p>", None)


def plan(*, shards=1, rules=None):
    rules = rules or RuleSet("none", ())
    job = Job.of([parse_query(QUERY, "q.rq", "q")], rules, Sent((BELOW,)), Settings(fixed_schema=True))
    return plan_of(job, shards=shards)


def ranges(file, *, ended=False):
    size = file.stat().st_size
    row = {"stream": STREAM, "file": str(file), "number": 0, "begin": 0, "end": size}
    found = [{**row, "scoped": False, "ended": False}]
    if ended:
        found.append({**row, "begin": size, "scoped": False, "ended": True})
    return pa.RecordBatch.from_pylist(found)


def prepared(plan, batch):
    found = Prepare.of({STREAM: plan.lane(STREAM)})([batch])
    return [row for out in found for row in out.to_pylist()]


def said(block):
    texts = block.terms.to_pylist()
    columns = zip(block.stamps.tolist(), block.s, block.p, block.o, strict=True)
    return [(time, *(texts[number] for number in numbers)) for time, *numbers in columns]


def blocks(rows):
    return [Block.read(row["payload"]) for row in rows if row["kind"] == BLOCK]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "s.tsv"
    kinds = ["p", "q", "other"]
    lines = [f"{at}\t<urn:{at // 3}> <urn:{kinds[at % 3]}> <urn:o{at % 5}> .\n" for at in range(30)]
    path.write_text("".join([*lines[:7], "oops\n", *lines[7:]]))
    return path


def test_statements_that_matter_to_no_query_are_left_out_but_their_times_are_not(file):
    rows = prepared(plan(), ranges(file))
    [block] = blocks(rows)
    assert block.times.each().tolist() == list(range(30))
    assert {p for _, _, p, _ in said(block)} == {"<urn:p>", "<urn:q>"}
    assert len(block) == 20
    assert "<urn:other>" not in block.terms.to_pylist()


def test_rules_make_more_statements_matter(tmp_path):
    file = tmp_path / "s.tsv"
    file.write_text("1\t<urn:a> <urn:r> <urn:b> .\n2\t<urn:a> <urn:t> <urn:b> .\n")
    [plain], [ruled] = (
        blocks(prepared(plan(rules=rules), ranges(file))) for rules in (None, load_rules("rdfs-jena"))
    )
    assert said(plain) == []
    assert said(ruled) == [(1, "<urn:a>", "<urn:r>", "<urn:b>")]


def test_each_statement_goes_to_one_shard_and_its_time_to_all(file):
    spread = plan(shards=3)
    assert len(spread.keys) == 3
    rows = prepared(spread, ranges(file))
    parts = blocks(rows)
    assert [row["shard"] for row in rows if row["kind"] == BLOCK] == list(spread.keys)
    assert all(part.times.each().tolist() == list(range(30)) for part in parts)
    [whole] = blocks(prepared(plan(), ranges(file)))
    assert sorted(row for part in parts for row in said(part)) == sorted(said(whole))
    subjects = [{s for _, s, _, _ in said(part)} for part in parts]
    assert sum(map(len, subjects)) == len(set.union(*subjects)) == 10


@pytest.mark.parametrize("every", [1, 50])
def test_what_is_left_of_many_chunks_is_one_block_if_that_is_little(tmp_path, every):
    file = tmp_path / "s.tsv"
    matters = [at for at in range(150_000) if at % every == 0]
    names = dict.fromkeys(matters, "p")
    file.write_text(
        "".join(f"{at}\t<urn:{at // 7}> <urn:{names.get(at, 'other')}> <urn:o> .\n" for at in range(150_000))
    )
    assert file.stat().st_size > 2 * CHUNK
    rows = [row for row in prepared(plan(), ranges(file)) if row["kind"] == BLOCK]
    parts = blocks(rows)
    assert len(parts) == (1 if every == 50 else 2)
    assert [row["place"] for row in rows] == sorted({row["place"] for row in rows})
    assert [time for part in parts for time in part.times.each().tolist()] == list(range(150_000))
    expected = [(at, f"<urn:{at // 7}>", "<urn:p>", "<urn:o>") for at in matters]
    assert [row for part in parts for row in said(part)] == expected


def test_where_nothing_is_left_the_times_still_come(tmp_path):
    file = tmp_path / "s.tsv"
    file.write_text("1\t<urn:a> <urn:other> <urn:b> .\n2\t<urn:a> <urn:other> <urn:b> .\n")
    [block] = blocks(prepared(plan(), ranges(file)))
    assert (block.times.each().tolist(), said(block)) == ([1, 2], [])


def test_dead_letters_say_where_they_were(file):
    [letters] = [row for row in prepared(plan(), ranges(file)) if row["kind"] == DEAD]
    [letter] = json.loads(letters["payload"])
    before = file.read_bytes().index(b"oops")
    assert (letter["file"], letter["offset"], letter["line"]) == (str(file), before, "oops")


def test_every_shard_hears_that_a_stream_has_ended(file):
    rows = prepared(plan(shards=2), ranges(file, ended=True))
    assert [row["kind"] for row in rows[-2:]] == [END, END]
    assert {row["shard"] for row in rows[-2:]} == set(plan(shards=2).keys)
    assert rows[-1]["place"] > max(row["place"] for row in rows if row["kind"] == BLOCK)


def test_schema_on_a_stream_of_which_statements_are_dropped_is_an_error(tmp_path):
    file = tmp_path / "s.tsv"
    file.write_text(f"1\t<urn:a> <{RDFS}subPropertyOf> <urn:p> .\n")
    with pytest.raises(InputError, match="schema on the stream"):
        prepared(plan(rules=load_rules("rdfs-jena")), ranges(file))


def test_tasks_of_a_worker_share_what_sorts_their_blocks():
    prepare, other = (Prepare.of({STREAM: it.lane(STREAM)}) for it in (plan(), plan(shards=2)))
    again = pickle.loads(pickle.dumps(prepare))
    assert sorter(again.lanes, STREAM) is sorter(prepare.lanes, STREAM)
    assert sorter(other.lanes, STREAM) is not sorter(prepare.lanes, STREAM)


LISTS = parse_rules("[r: (?c <urn:any> ?l), member(?l, ?p), (?x ?p ?y) -> (?x <urn:p> ?y)]")
ANY_OF = (
    ("<urn:c>", "<urn:any>", "_:l", None),
    ("_:l", f"<{RDF}first>", "<urn:r>", None),
    ("_:l", f"<{RDF}rest>", f"<{RDF}nil>", None),
)


def plan_over_lists(shards):
    job = Job.of([parse_query(QUERY, "q.rq", "q")], LISTS, Sent(ANY_OF))
    return plan_of(job, shards=shards)


@pytest.mark.parametrize("shards", [1, 2])
def test_rules_over_lists_say_which_statements_matter(tmp_path, shards):
    file = tmp_path / "s.tsv"
    file.write_text("1\t<urn:a> <urn:r> <urn:b> .\n2\t<urn:a> <urn:other> <urn:b> .\n")
    found = plan_over_lists(shards)
    assert len(found.keys) == shards
    got = [line for block in blocks(prepared(found, ranges(file))) for line in said(block)]
    assert got == [(1, "<urn:a>", "<urn:r>", "<urn:b>")]


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("predicate", ["<urn:any>", f"<{RDF}first>", f"<{RDF}rest>"])
def test_a_list_on_a_stream_is_an_error_even_if_nothing_is_said_of_a_fixed_schema(
    tmp_path, predicate, shards
):
    file = tmp_path / "s.tsv"
    file.write_text(f"1\t<urn:a> <urn:r> <urn:b> .\n2\t<urn:a> {predicate} <urn:b> .\n")
    with pytest.raises(
        InputError, match=rf"stream <urn:s> brings <urn:a> {predicate} <urn:b>.*into the background"
    ):
        prepared(plan_over_lists(shards), ranges(file))
