"""Backgrounds that are larger than what Spark sends along with a task: answers are those of one process."""

from __future__ import annotations

import json
import os
import pickle
import stat
from pathlib import Path

import numpy as np
import pytest

from ensue.errors import EnsueError
from ensue.job import Job, Settings
from ensue.knowledge import InFiles
from ensue.query.language import parse_query
from ensue.rules.load import load_rules
from ensue.rules.tree import RuleSet
from ensue.spark import answers, closure
from ensue.spark.payload_files import PayloadFiles, remove_abandoned
from ensue.spark.plan import plan_of
from ensue.spark.runner import Feed, Run
from ensue.streamfile import read_stream

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
MANY = 20_000
BELOW = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
QUERY = """REGISTER QUERY of AS SELECT ?a ?p FROM STREAM <urn:s> [RANGE 2s STEP 1s]
WHERE { ?a <urn:of> ?p . ?p a <urn:D> }"""


@pytest.fixture(scope="module")
def background(tmp_path_factory):
    """A class with many members."""
    path = tmp_path_factory.mktemp("background") / "members.nt"
    members = "".join(f"<urn:p{number}> {TYPE} <urn:C> .\n" for number in range(MANY))
    path.write_text(f"<urn:C> {BELOW} <urn:D> .\n{members}")
    return path


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    """Statements about some of them, and about others."""
    path = tmp_path_factory.mktemp("stream") / "stream.tsv"
    rows = (f"{100 * n}\t<urn:a{n}> <urn:of> <urn:p{n * 7919 % (MANY + 5000)}> .\n" for n in range(200))
    path.write_text("".join(rows))
    return path


def in_process(job, stream: Path):
    reasoner = job.reasoner()
    for batch in read_stream(str(stream)):
        reasoner.feed("urn:s", batch)
    return listed(reasoner.end())


def listed(results):
    return [(each.query, each.close, sorted(each.answers.rows)) for each in results if each.answers.rows]


def job_over(background, text=QUERY, rules="rdfs", **settings):
    found = load_rules(rules) if rules else RuleSet("none", ())
    return Job.of([parse_query(text)], found, InFiles((background,)), Settings(**settings))


def on_spark(spark, job, stream, shards=1):
    results, counters = [], []

    def take(batch):
        results.extend(batch.results)
        counters.append(batch.counters)

    size = stream.stat().st_size // 4
    feed = Feed({"urn:s": str(stream)}, bytes_per_batch=size)
    plan = plan_of(job, shards=shards)
    assert len(plan.keys) == shards
    Run(spark, plan, feed, take).until_it_ends()
    assert len(counters) > 2
    return listed(results)


@pytest.mark.parametrize(("rules", "shards"), [("rdfs", 1), (None, 2)])
def test_a_job_with_many_statements_in_its_background(spark, background, stream, rules, shards):
    text = QUERY if rules else QUERY.replace("urn:D", "urn:C")
    job = job_over(background, text, rules)
    wanted = in_process(job, stream)
    assert sum(len(rows) for _, _, rows in wanted) > 100
    assert on_spark(spark, job, stream, shards) == wanted


def test_data_frames_over_many_statements(spark, background, stream, tmp_path):
    frame = answers(spark, QUERY, {"urn:s": stream}, "rdfs", background)
    closed = closure(spark, "RANGE 20s STEP 20s", {"urn:s": stream}, "rdfs", background)
    results = in_process(job_over(background), stream)
    rows = ((close, *(term.strip("<>") for term in row)) for _, close, rows in results for row in rows)
    assert written(frame, tmp_path / "answers") == sorted(rows)
    assert len(written(closed.select("close", "s", "o"), tmp_path / "closed")) > 200


def written(frame, folder):
    named = [name for name in ("close", "a", "p", "s", "o") if name in frame.columns]
    writer = frame.select(*named).writeStream.format("json").option("checkpointLocation", f"{folder}/cp")
    writer.trigger(availableNow=True).start(f"{folder}/out").awaitTermination()
    lines = [line for path in (folder / "out").glob("*.json") for line in path.read_text().splitlines()]
    return sorted(tuple(json.loads(line)[name] for name in named) for line in lines)


def test_files_of_payloads_go_with_their_owner(tmp_path):
    files = PayloadFiles(place=tmp_path)
    packed = files.pack(list(range(100_000)))
    assert packed.data is None
    assert len(pickle.dumps(packed)) < 1000
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700
    assert files.pack(list(range(100_000))) == packed
    assert len(list(files.folder.iterdir())) == 1, "the same is written once"
    assert packed.fresh() == list(range(100_000))
    with PayloadFiles(place=tmp_path):
        assert files.folder.exists(), "its owner lives"
    os.close(files._lock)  # As if the process had been killed.
    remove_abandoned(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("harm", ["another content", "cut", "others may write", "gone"])
def test_a_file_that_is_not_what_the_driver_wrote_is_not_loaded(tmp_path, harm):
    with PayloadFiles(place=tmp_path) as files:
        packed = files.pack({"harm": harm, "numbers": np.arange(100_000)})
        path = Path(packed.path)
        if harm == "another content":
            path.write_bytes(bytes(packed.size))
        elif harm == "cut":
            os.truncate(path, packed.size // 2)
        elif harm == "others may write":
            path.chmod(0o666)
            files.folder.chmod(0o755)
        else:
            path.unlink()
        with pytest.raises(EnsueError, match="is not on this host"):
            packed.fresh()


def test_arrays_are_mapped_and_are_each_owners_own(tmp_path):
    with PayloadFiles(place=tmp_path) as files:
        packed = files.pack(np.arange(100_000))
        one, other = packed.fresh(), packed.fresh()
        one[0] = 7
        assert (one[0], other[0]) == (7, 0)
        assert np.array_equal(packed.value(), np.arange(100_000))
        assert not one.flags.owndata
